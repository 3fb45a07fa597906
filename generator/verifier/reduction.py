"""A large task cut down: fewer rows of everything, still a task that can be worked on and graded.

Probing a metric and training baselines would else cost hours on millions of rows.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import pandas as pd

from generator.tables import table_format
from generator.verifier.sampling import sampled_rows
from harness.tasks.package import Task

if TYPE_CHECKING:
    from generator.verifier.case import Case

Positions = npt.NDArray[np.intp]

_SEED = 25


def reduced(task: Task, case: Case) -> Task:
    """The task itself when it is small enough, else a copy with about ``scored_rows`` rows of each kind.

    Rows are drawn at random, but for a split by group, of which whole groups are kept, and for one in time,
    which keeps the latest training rows and the first test rows after them. Test table, sample and tables
    that tell of test rows alone lose the rows of the ids that are left out. Other files are one more name
    for the same bytes; ``raw/`` is not there.
    """
    most, train = case.limits.sampling.scored_rows, case.train
    if len(case.answers) <= most and (train is None or len(train) <= most):
        return task
    if any(path is not None and not _writable(path) for path in (case.train_path, case.test_path)):
        return task
    kept = case.answers.iloc[_kept_answers(case, most)]
    left_out = set(case.answers[case.id_column]) - set(kept[case.id_column])
    root = case.scratch / "reduced" / task.id
    for path in sorted(path for path in task.root.rglob("*") if path.is_file()):
        if path.is_relative_to(task.raw):
            continue
        place = root / path.relative_to(task.root)
        place.parent.mkdir(parents=True, exist_ok=True)
        table = case.tables.get(path)
        if path == task.answer_path:
            kept.to_csv(place, index=False)
            continue
        rows = None if table is None or not _writable(path) else _rows(case, path, table, left_out, most)
        if table is None or rows is None:
            link(path, place)
        else:
            write_rows(path, place, table, rows)
    return Task(root, task.spec)


def time_order(table: pd.DataFrame, column: str | None) -> Positions:
    """Positions of the rows from the earliest to the latest; as they stand where no time can be read."""
    if column is None or column not in table.columns:
        return np.arange(len(table))
    cells = table[column]
    when = pd.to_numeric(cells, errors="coerce")
    if when.isna().mean() > 0.5:
        when = pd.to_datetime(cells, errors="coerce", format="mixed", utc=True)
    return np.asarray(when.argsort(kind="stable")) if when.notna().any() else np.arange(len(table))


def whole_groups(names: pd.Series, count: int, seed: int) -> Positions:
    """Positions of the rows of random groups, as many groups as it takes to have ``count`` rows."""
    codes = np.asarray(pd.factorize(names)[0])
    order = np.random.default_rng(seed).permutation(codes.max() + 1)
    sizes = np.bincount(codes)[order].cumsum()
    return np.flatnonzero(np.isin(codes, order[: int(np.searchsorted(sizes, count)) + 1]))


def write_rows(path: Path, place: Path, table: pd.DataFrame, rows: Positions) -> None:
    """Write some rows of a table of strings in the format of ``path``, with numbers as numbers where it has
    types."""
    cut, kind = table.iloc[rows], table_format(path)
    if kind == "csv":
        name = path.name.lower().removesuffix(".gz")
        cut.to_csv(place, index=False, sep="\t" if name.endswith((".tsv", ".tab")) else ",")
        return
    typed = pd.DataFrame({name: _typed(cut[name]) for name in cut.columns})
    if kind == "parquet":
        typed.to_parquet(place, index=False)
    else:
        typed.to_json(place, orient="records", lines=kind == "jsonl")


def link(path: Path, place: Path) -> None:
    """One more name for a file, or a copy where the file system allows none."""
    try:
        os.link(path, place)
    except OSError:
        shutil.copyfile(path, place)


def _writable(path: Path) -> bool:
    return table_format(path) in ("csv", "json", "jsonl", "parquet")


def _kept_answers(case: Case, most: int) -> Positions:
    """Positions of the answers that stay, in their order."""
    answers, split, test = case.answers, case.task.spec.split, case.test
    if len(answers) <= most:
        return np.arange(len(answers))
    column = {"group": split.group_column, "time": split.time_column}.get(split.kind)
    if test is None or column is None or column not in test.columns:
        return np.arange(most) if split.kind == "time" else sampled_rows(len(answers), most)
    by_id = test.drop_duplicates(case.id_column).set_index(case.id_column)[[column]]
    beside = by_id.reindex(answers[case.id_column]).fillna("").reset_index(drop=True)
    if split.kind == "time":
        return np.sort(time_order(beside, column)[:most])
    return whole_groups(beside[column], most, _SEED)


def _rows(case: Case, path: Path, table: pd.DataFrame, left_out: set[str], most: int) -> Positions | None:
    """Positions of the rows of a table that stay; ``None`` for all of them."""
    if path == case.train_path:
        split = case.task.spec.split
        if len(table) <= most:
            return None
        if split.kind == "time":
            return np.sort(time_order(table, split.time_column)[-most:])
        if split.kind == "group" and split.group_column in table.columns:
            return whole_groups(table[split.group_column], most, _SEED)
        return sampled_rows(len(table), most)
    if case.id_column not in table.columns or not left_out:
        return None
    ids = table[case.id_column]
    # Rows about training rows stay, also where these are numbered as the test rows are.
    if (
        path not in (case.test_path, case.prepared.sample_path)
        and not ids.isin(case.answers[case.id_column]).all()
    ):
        return None
    return np.flatnonzero(~ids.isin(left_out))


def _typed(cells: pd.Series) -> pd.Series:
    """Numbers where every cell is one and is written as such a number is; empty cells are missing."""
    empty = cells == ""
    numbers = pd.to_numeric(cells.mask(empty), errors="coerce")
    padded = cells.str.match(r"^[+-]?0\d")
    if bool((numbers.notna() | empty).all()) and not bool(padded.any()) and not bool(empty.all()):
        return numbers
    return cells.mask(empty, None)
