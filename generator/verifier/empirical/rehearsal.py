"""A rehearsal: the training rows cut in two as the task itself was, so that the same baselines can be scored
by the same metric on answers that are certainly right."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pandas as pd

from generator.verifier.case import Case, open_case
from generator.verifier.reduction import link, time_order, whole_groups, write_rows
from generator.verifier.sampling import sampled_rows
from harness.errors import TaskError
from harness.tasks.package import Task

_SEED = 24
_SHARE = 3


@contextmanager
def open_rehearsal(case: Case) -> Iterator[Case | None]:
    """The rehearsal of a task as a case of its own, or ``None`` where its training rows do not allow one.

    One training row in three, as many as there are answers at most, becomes a test row: whole groups where
    the task is split by group, the latest rows where it is split in time, else random ones.
    """
    with open_case(case.scored, case.provider, case.limits) as outer:
        task = _build(outer, outer.scratch / "rehearsal")
        if task is None:
            yield None
            return
        with open_case(task, case.provider, case.limits) as inner:
            inner.say = case.say
            yield inner


def _build(case: Case, folder: Path) -> Task | None:
    """The package, made of the public files of the scored task."""
    train, key, id_column = case.train, case.key, case.id_column
    if train is None or case.train_path is None or id_column not in train.columns:
        return None
    wanted = list(dict.fromkeys([*key.columns, *key.answers.columns]))
    if not set(wanted) <= set(train.columns) or train[id_column].duplicated().any():
        return None
    held = _held_out(case, train)
    if held is None:
        return None
    known = np.setdiff1d(np.arange(len(train)), held)
    root = folder / case.task.id
    test = train.iloc[held].reset_index(drop=True)
    sample = _sample(case, test)
    columns = list(train.columns) if case.test is None else [name for name in case.test if name in train]
    hidden = [name for name in columns if name not in case.targets]
    for path in sorted(path for path in case.task.public.rglob("*") if path.is_file()):
        place = root / path.relative_to(case.task.root)
        place.parent.mkdir(parents=True, exist_ok=True)
        if path == case.train_path:
            write_rows(path, place, train, known)
        elif path == case.test_path:
            write_rows(path, place, test[hidden], np.arange(len(test)))
        elif path == case.task.sample_path:
            sample.to_csv(place, index=False)
        else:
            link(path, place)
    for path in (case.task.root / "task.toml", case.task.metric_path, case.task.description_path):
        shutil.copyfile(path, root / path.name)
    (root / "private").mkdir()
    task = Task(root, case.task.spec)
    test[list(key.answers.columns)].to_csv(task.answer_path, index=False)
    try:
        task.require_prepared()
    except TaskError:
        return None
    return task


def _sample(case: Case, test: pd.DataFrame) -> pd.DataFrame:
    """The task's sample for other ids: its rows again and again."""
    sample = case.sample()
    rows = np.arange(len(test)) % len(sample)
    shown = sample.iloc[rows].reset_index(drop=True)
    return shown.assign(**{case.id_column: test[case.id_column]})


def _held_out(case: Case, train: pd.DataFrame) -> np.ndarray | None:
    """Positions of the rows to ask about, ``None`` when there are too few."""
    count = min(len(case.key.answers), len(train) // _SHARE)
    if count < case.limits.empirical.rehearsal_rows:
        return None
    split = case.task.spec.split
    column = split.group_column if split.kind == "group" else split.time_column
    if split.kind == "group" and column in train.columns:
        held = whole_groups(train[column], count, _SEED)
        return held if len(held) < len(train) * 2 // _SHARE else None
    if split.kind == "time":
        return time_order(train, column)[-count:]
    return sampled_rows(len(train), count, _SEED)
