"""A sound package of the diabetes data, as a competent model writes it, and how to spoil it."""

from __future__ import annotations

from typing import Any

from tests.generator.agents.endpoint import Move, Script, moves

DERIVATION = """\
import pandas as pd


def table(raw):
    return pd.read_csv(raw / "diabetes.csv")
"""

PREPARE = '''\
"""Deals the patients out at random."""

from pathlib import Path

import numpy as np
import pandas as pd

SEED = 11
ID = "patient"
TARGET = "progression"


def prepare(raw: Path, public: Path, private: Path) -> None:
    table = pd.read_csv(raw / "diabetes.csv").drop_duplicates()
    rng = np.random.default_rng(SEED)
    table = table.iloc[rng.permutation(len(table))].reset_index(drop=True)
    table.insert(0, ID, 1000 + rng.permutation(len(table)))
    test, train = table.iloc[:120], table.iloc[120:]
    train.to_csv(public / "train.csv", index=False)
    test.drop(columns=TARGET).to_csv(public / "test.csv", index=False)
    sample = test[[ID]].assign(**{TARGET: float(train[TARGET].median())})
    sample.to_csv(public / "sample_submission.csv", index=False)
    test[[ID, TARGET]].to_csv(private / "test_answer.csv", index=False)
'''

METRIC = '''\
"""Mean absolute error."""

import numpy as np
import pandas as pd

from mledojo.metrics.base import CompetitionMetrics, InvalidSubmissionError

ID, TARGET = "patient", "progression"


class ProgressionMetrics(CompetitionMetrics):
    def __init__(self):
        super().__init__(higher_is_better=False)

    def evaluate(self, y_true, y_pred):
        self.validate_submission(y_pred, y_true)
        truth = y_true.set_index(y_true[ID].astype(str))[TARGET].astype(float)
        said = y_pred.set_index(y_pred[ID].astype(str))[TARGET].astype(float)
        return float(np.abs(said.loc[truth.index].to_numpy() - truth.to_numpy()).mean())

    def validate_submission(self, submission, ground_truth):
        for name in (ID, TARGET):
            if name not in submission.columns:
                raise InvalidSubmissionError(f"missing column: {name}")
        ids, expected = submission[ID].astype(str), ground_truth[ID].astype(str)
        if ids.duplicated().any() or set(ids) != set(expected):
            raise InvalidSubmissionError(f"{ID} must hold each test id once and no other")
        values = pd.to_numeric(submission[TARGET], errors="coerce").to_numpy(float)
        if not np.isfinite(values).all():
            raise InvalidSubmissionError(f"{TARGET} must hold finite numbers")
        return "valid"
'''

DESCRIPTION = """\
How fast diabetes goes on
=========================

Predict `progression`, a measure of the disease one year after the other measurements, for each patient of
`test.csv`. The patients were separated into training and test rows at random.

Files
-----

- `train.csv`: 322 patients with `progression`.
- `test.csv`: 120 patients without it.
- `sample_submission.csv`: a valid submission that knows nothing.

Columns
-------

- `patient`: identifies the row; it was dealt at random.
- `age`: in years. `sex`: 1 or 2. `bmi`: body mass index. `bp`: average blood pressure.
- `s1` to `s6`: six measurements of the blood serum (`s1`, `s2`, `s3`, `s4`, `s5`, `s6`).
- `progression`: the number to predict, only in `train.csv`.

Metric
------

Mean absolute error (`mae`): the mean of |prediction - truth|. Lower is better; a perfect submission scores 0.

Submission
----------

Write `submission.csv` with the columns `patient` and `progression`, one row for each patient of `test.csv`.
`progression` holds a finite number.
"""

FILES = {"prepare.py": PREPARE, "metric.py": METRIC, "description.txt": DESCRIPTION}
MAE = {"name": "mae", "higher_is_better": False, "best": 0.0, "worst": None, "reason": "Errors count alike."}


def idea(**changed: Any) -> dict[str, Any]:
    """A sound idea, as a model writes it."""
    return {
        "id": "diabetes-course",
        "title": "How fast diabetes goes on",
        "modality": "tabular",
        "objective": "regression",
        "targets": ["progression"],
        "difficulty": "medium",
        "rationale": "The serum tells of the course to some degree.",
        "tags": ["medicine"],
        "problem": "Predict the course of the disease within a year from one examination.",
        "data_use": "All columns of diabetes.csv; progression is the target.",
        "processing": "The table as it is.",
        "scoring": MAE,
        "split": {"kind": "random", "columns": [], "reason": "each patient is there once"},
        "ignored": [],
        "data_files": ["diabetes.csv"],
        "media_column": "",
        "derivation": DERIVATION,
    } | changed


def layout(**changed: Any) -> dict[str, Any]:
    """How the files of the sound package are laid out."""
    return {
        "id_column": "patient",
        "target_columns": ["progression"],
        "metric": MAE,
        "split_kind": "random",
        "split_column": "",
        "seed": 11,
    } | changed


def brainstorm(*ideas: dict[str, Any]) -> Script:
    """Looks at the data and hands in ideas."""
    return moves(
        Move("list_files", {"path": "raw"}),
        Move("table_summary", {"path": "diabetes.csv"}),
        Move("finish", {"ideas": [*ideas]}),
    )


def design(files: dict[str, str] | None = None, **laid: Any) -> Script:
    """Writes files and hands them in."""
    written = FILES | (files or {})
    return moves(
        *(Move("write_file", {"path": name, "content": text}) for name, text in written.items()),
        Move("finish", layout(**laid)),
    )


def refactor(files: dict[str, str] | None = None) -> Script:
    """Reads the draft, perhaps rewrites some of it, and hands it in."""
    return moves(
        Move("read_file", {"path": "description.txt", "offset": 0}),
        *(Move("write_file", {"path": name, "content": text}) for name, text in (files or {}).items()),
        Move("finish", {"changed": "Nothing that matters."}),
    )
