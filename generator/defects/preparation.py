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
    ),
    "missing_output": Defect(
        Gate.PREPARATION,
        Severity.ERROR,
        "prepare.py does not write a file the grader needs",
    ),
    "linked_output": Defect(
        Gate.PREPARATION,
        Severity.ERROR,
        "prepare.py leaves links that point out of its output",
    ),
    "not_deterministic": Defect(
        Gate.PREPARATION,
        Severity.ERROR,
        "two runs of prepare.py give different bytes",
    ),
    "reads_leftovers": Defect(
        Gate.PREPARATION,
        Severity.ERROR,
        "prepare.py gives something else where it ran before",
    ),
    "stale_data": Defect(
        Gate.PREPARATION,
        Severity.ERROR,
        "the shipped data are not what prepare.py makes",
    ),
    "not_prepared": Defect(
        Gate.PREPARATION,
        Severity.INFO,
        "the package comes without public/ and private/",
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
    ),
    "ids_differ": Defect(
        Gate.PREPARATION,
        Severity.ERROR,
        "sample and answers do not hold the same ids",
    ),
    "rows_lost": Defect(
        Gate.PREPARATION,
        Severity.WARNING,
        "many usable raw rows are in neither train nor test",
    ),
    "rows_invented": Defect(
        Gate.PREPARATION,
        Severity.ERROR,
        "prepared rows have no counterpart in the raw data",
    ),
    "values_fabricated": Defect(
        Gate.PREPARATION,
        Severity.ERROR,
        "prepared cells hold values that the raw data do not",
    ),
    "misparsed_table": Defect(
        Gate.PREPARATION,
        Severity.ERROR,
        "a table was read with the wrong delimiter, header or encoding",
    ),
}
