"""Small cases for the search for leaks: prepared packages written by hand, without sandbox or code."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pandas as pd

from generator.defects.base import Finding
from generator.verifier.case import Case
from generator.verifier.leaks import gate
from generator.verifier.thresholds.config import DEFAULTS
from harness.sandboxes.bubblewrap import Bubblewrap
from harness.tasks.package import load_task

_TOML = """\
schema_version = 1
id = "{id}"
title = "A task"
set = "reference"
modality = "tabular"
objective = "{objective}"
id_column = "{id_column}"
target_columns = {targets}
difficulty = "easy"
[source]
name = "made here"
licence = "CC0-1.0"
sha256 = "{zeros}"
[metric]
name = "accuracy"
higher_is_better = true
best = 1.0
[split]
{split}
"""


@dataclass
class Made:
    """The tables of a package before they are written.

    Attributes:
        train: with id and targets.
        test: with id and targets, which are taken off when it is written.
        id_column: of the ids.
        targets: columns to predict.
        objective: as task.toml says it.
        split: lines of the table ``[split]``.
        extra: further columns of the test table, such as a target that was left there.
        sample: values of the sample submission by target; the first training value without.
    """

    train: pd.DataFrame
    test: pd.DataFrame
    id_column: str
    targets: list[str]
    objective: str = "classification"
    split: str = 'kind = "random"\nseed = 1'
    extra: dict[str, Sequence[object]] = field(default_factory=dict)
    sample: dict[str, Sequence[object]] = field(default_factory=dict)

    def put(self, name: str, make: object) -> Made:
        """Add a column to both tables: ``make`` is called with each."""
        assert callable(make)
        self.train[name], self.test[name] = make(self.train), make(self.test)
        return self

    def case(self, root: Path) -> Case:
        """The package on disk, opened."""
        public, private = root / "public", root / "private"
        for folder in (root / "raw", public, private):
            folder.mkdir(parents=True)
        self.train.to_csv(public / "train.csv", index=False)
        self.test.drop(columns=self.targets).assign(**self.extra).to_csv(public / "test.csv", index=False)
        answers = self.test[[self.id_column, *self.targets]]
        answers.to_csv(private / "test_answer.csv", index=False)
        filling = {
            name: self.sample.get(name, [self.train[name].iloc[0]] * len(answers)) for name in self.targets
        }
        answers.assign(**filling).to_csv(public / "sample_submission.csv", index=False)
        toml = _TOML.format(
            id=root.name,
            objective=self.objective,
            id_column=self.id_column,
            targets=str(self.targets).replace("'", '"'),
            zeros="0" * 64,
            split=self.split,
        )
        (root / "task.toml").write_text(toml)
        task = load_task(root)
        return Case(task, Bubblewrap(), root, DEFAULTS, prepared=task)

    def findings(self, root: Path) -> dict[str, Finding]:
        """What the whole search finds, by code, errors before warnings."""
        found = sorted(gate.check(self.case(root)), key=lambda one: one.severity != "warning")
        return {one.code: one for one in found}


def divided(
    table: pd.DataFrame, id_column: str, targets: list[str], share: float = 0.4, seed: int = 5, **more: str
) -> Made:
    """A table with ids that carry nothing, divided at random."""
    rows = np.random.default_rng(seed)
    table = table.iloc[rows.permutation(len(table))].reset_index(drop=True)
    table.insert(0, id_column, rows.permutation(len(table)) + 1000)
    cut = int(len(table) * (1 - share))
    return Made(
        table.iloc[:cut].reset_index(drop=True),
        table.iloc[cut:].reset_index(drop=True),
        id_column,
        targets,
        **more,
    )
