"""What running prepare.py shows."""

from __future__ import annotations

from generator.defects.base import Defect, Gate, Severity

PREPARATION: dict[str, Defect] = {
    "prepare_failed": Defect(
        Gate.PREPARATION,
        Severity.ERROR,
        "prepare.py ended with an error",
    ),
    "prepare_timeout": Defect(
        Gate.PREPARATION,
        Severity.ERROR,
        "prepare.py ran longer than its limit",
    ),
    "prepare_needs_network": Defect(
        Gate.PREPARATION,
        Severity.ERROR,
        "prepare.py fails without a network",
    ),
    "prepare_needs_place": Defect(
        Gate.PREPARATION,
        Severity.ERROR,
        "prepare.py works in one folder or on one machine only",
    ),
    "prepare_alters_raw": Defect(
        Gate.PREPARATION,
        Severity.ERROR,
        "prepare.py writes to or deletes from raw/",
        "raw/ differs after the run",
    ),
    "missing_output": Defect(
        Gate.PREPARATION,
        Severity.ERROR,
        "prepare.py does not write a file the grader needs",
        "prepare.py did not write private/test_answer.csv",
    ),
    "linked_output": Defect(
        Gate.PREPARATION,
        Severity.ERROR,
        "prepare.py leaves links that point out of its output",
        "public/notes.csv is a link to ../private/test_answer.csv",
    ),
    "not_deterministic": Defect(
        Gate.PREPARATION,
        Severity.ERROR,
        "two runs of prepare.py give different bytes",
        (
            "two runs in empty folders differ: public/train.csv from line 2. What matters is "
            "nothing: it draws at random without a seed, or asks for the time, a process id or an "
            "address"
        ),
    ),
    "reads_leftovers": Defect(
        Gate.PREPARATION,
        Severity.ERROR,
        "prepare.py gives something else where it ran before",
        "a run on top of older output and one in empty folders differ: public/notes.txt from line 3",
    ),
    "stale_data": Defect(
        Gate.PREPARATION,
        Severity.ERROR,
        "the shipped data are not what prepare.py makes",
        "what is shipped is not what prepare.py makes: private/test_answer.csv from line 2",
    ),
    "not_prepared": Defect(
        Gate.PREPARATION,
        Severity.INFO,
        "the package comes without public/ and private/",
        "public/ and private/ are not there; they were made for this check",
    ),
    "unreadable_table": Defect(
        Gate.PREPARATION,
        Severity.ERROR,
        "the answers or the sample are not a CSV table",
    ),
    "columns_differ": Defect(
        Gate.PREPARATION,
        Severity.ERROR,
        "sample, answers and task.toml do not agree on the submission's columns",
        "sample_submission.csv lacks species and has kind besides",
    ),
    "ids_differ": Defect(
        Gate.PREPARATION,
        Severity.ERROR,
        "sample and answers do not hold the same ids",
        "0 ids only in the sample, 1 only in the answers, flower '017' for one",
    ),
    "rows_lost": Defect(
        Gate.PREPARATION,
        Severity.WARNING,
        "many usable raw rows are in neither train nor test",
        (
            "913 of 1,313 usable rows of raw/titanic_all.csv (69.5%) are in neither train nor test; "
            "what is there are its first 400 rows"
        ),
    ),
    "rows_invented": Defect(
        Gate.PREPARATION,
        Severity.ERROR,
        "prepared rows have no counterpart in the raw data",
        (
            "150 of 1,463 prepared rows (10.3%) have no row in raw/titanic_all.csv with the same "
            "name, class, sex, survived"
        ),
    ),
    "values_fabricated": Defect(
        Gate.PREPARATION,
        Severity.ERROR,
        "prepared cells hold values that the raw data do not",
        (
            "age: 86 of 1,311 cells are not what the same rows hold in raw/titanic_all.csv, as "
            "'52.0' for '28.0'"
        ),
    ),
    "misparsed_table": Defect(
        Gate.PREPARATION,
        Severity.ERROR,
        "a table was read with the wrong delimiter, header or encoding",
        (
            "train.csv: column name holds 'Davis, Master John MorganÃ©' and the like in 456 of 456 "
            "cells: it was read in a wrong encoding"
        ),
    ),
}
