"""Shared parts: a small real task (the iris measurements of scikit-learn) and a sandbox."""

from __future__ import annotations

import shutil
from pathlib import Path

import pandas as pd
import pytest
from sklearn.datasets import load_iris

from harness.errors import SandboxUnavailable
from harness.sandboxes.base import SandboxProvider
from harness.sandboxes.bubblewrap import Bubblewrap
from harness.tasks.package import Task, load_task, raw_hash
from harness.tasks.preparing import prepare_task

TOML = """\
schema_version = 1
id = "iris"
title = "Name the iris"
set = "reference"
modality = "tabular"
objective = "classification"
id_column = "flower"
target_columns = ["species"]
difficulty = "easy"
[source]
name = "iris"
licence = "BSD-3-Clause"
sha256 = "{sha256}"
[metric]
name = "accuracy"
higher_is_better = true
best = 1.0
worst = 0.0
[split]
kind = "random"
seed = 7
"""

PREPARE = """\
from pathlib import Path

import pandas as pd


def prepare(raw: Path, public: Path, private: Path) -> None:
    flowers = pd.read_csv(raw / "iris.csv").sample(frac=1, random_state=7)
    flowers.insert(0, "flower", [f"{i:03d}" for i in range(len(flowers))])
    test = flowers.iloc[:50]
    flowers.iloc[50:].to_csv(public / "train.csv", index=False)
    test.drop(columns="species").to_csv(public / "test.csv", index=False)
    test[["flower"]].assign(species="setosa").to_csv(public / "sample_submission.csv", index=False)
    test[["flower", "species"]].to_csv(private / "test_answer.csv", index=False)
"""

METRIC = """\
from mledojo.metrics.base import CompetitionMetrics, InvalidSubmissionError


class IrisMetrics(CompetitionMetrics):
    def __init__(self):
        super().__init__(higher_is_better=True)

    def evaluate(self, y_true, y_pred):
        merged = y_true.merge(y_pred, on="flower", suffixes=("", "_said"), validate="one_to_one")
        return (merged["species"] == merged["species_said"]).mean()

    def validate_submission(self, submission, ground_truth):
        known = {"setosa", "versicolor", "virginica"}
        unknown = set(submission["species"]) - known
        if unknown:
            raise InvalidSubmissionError(f"unknown species {sorted(unknown)[0]!r}")
        return "fine"
"""

DESCRIPTION = """\
Name the species of each iris from its four measurements. Submissions are scored by accuracy, the share of
test rows with the right species; higher is better.

train.csv holds flowers with their species, test.csv those to name. A submission has the columns flower, which
identifies the row, and species: setosa, versicolor or virginica.
"""


@pytest.fixture(scope="session")
def sandbox() -> SandboxProvider:
    """A real bubblewrap; tests that need one are skipped, with the reason, where none can start."""
    provider = Bubblewrap()
    try:
        provider.check()
    except SandboxUnavailable as error:
        pytest.skip(str(error))
    return provider


def write_iris(root: Path) -> Path:
    """Write the iris task package, not yet prepared."""
    (root / "raw").mkdir(parents=True)
    data = load_iris(as_frame=True)
    table: pd.DataFrame = data.data.round(1)
    table["species"] = [data.target_names[code] for code in data.target]
    table.to_csv(root / "raw" / "iris.csv", index=False)
    (root / "task.toml").write_text(TOML.format(sha256=raw_hash(root / "raw")))
    (root / "prepare.py").write_text(PREPARE)
    (root / "metric.py").write_text(METRIC)
    (root / "description.txt").write_text(DESCRIPTION)
    return root


@pytest.fixture(scope="session")
def _prepared_iris(tmp_path_factory: pytest.TempPathFactory, sandbox: SandboxProvider) -> Path:
    root = write_iris(tmp_path_factory.mktemp("tasks") / "iris")
    prepare_task(load_task(root), sandbox)
    return root


@pytest.fixture
def iris(_prepared_iris: Path, tmp_path: Path) -> Task:
    """A prepared task of its own for each test."""
    return load_task(Path(shutil.copytree(_prepared_iris, tmp_path / "iris")))
