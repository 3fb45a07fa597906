"""A large task cut down: fewer rows of everything, still a task that can be worked on and graded.

Probing a metric and training baselines would else cost hours on millions of rows.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import pandas as pd

from generator.verifier.sampling import sampled_rows
from harness.tasks.package import Task

if TYPE_CHECKING:
    from generator.verifier.case import Case


def reduced(task: Task, case: Case) -> Task:
    """The task itself when it is small enough, else a copy with at most ``scored_rows`` rows.

    Training rows are drawn at random, but for a split in time, which keeps the latest, and the first
    test rows after them. Other tables lose the rows of test ids that are left out.
    """
    most, train = case.limits.sampling.scored_rows, case.train
    answers = case.answers
    if len(answers) <= most and (train is None or len(train) <= most):
        return task
    dated = task.spec.split.kind == "time"
    kept = answers.iloc[:most] if dated else answers.iloc[sampled_rows(len(answers), most)]
    left_out = set(answers[case.id_column]) - set(kept[case.id_column])
    root = case.scratch / "reduced" / task.id
    for path in sorted(path for path in task.root.rglob("*") if path.is_file()):
        place = root / path.relative_to(task.root)
        place.parent.mkdir(parents=True, exist_ok=True)
        table = case.tables.get(path)
        if path == task.answer_path:
            kept.to_csv(place, index=False)
        elif table is None or path.suffix != ".csv":
            _link(path, place)
        else:
            _cut(case, path, table, left_out, most, dated).to_csv(place, index=False)
    return Task(root, task.spec)


def _cut(
    case: Case, path: Path, table: pd.DataFrame, left_out: set[str], most: int, dated: bool
) -> pd.DataFrame:
    if path == case.train_path:
        return table.iloc[-most:] if dated else table.iloc[sampled_rows(len(table), most)]
    if case.id_column in table.columns and left_out:
        return table[~table[case.id_column].isin(left_out)]
    return table


def _link(path: Path, place: Path) -> None:
    """One more name for a file, or a copy where the file system allows none."""
    try:
        os.link(path, place)
    except OSError:
        shutil.copyfile(path, place)
