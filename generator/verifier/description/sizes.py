"""Sizes of a package that a number in the description may mean."""

from __future__ import annotations

import functools
from dataclasses import dataclass

import pandas as pd

from generator.tables import UnreadableTable, read_table, table_format
from generator.verifier.case import Case

_MOST_GROUPS = 50
_MOST_RAW = 50


@dataclass(frozen=True)
class Sizes:
    """Sizes that a stated number may mean.

    Attributes:
        case: the verification.
        tables: rows of the public tables by path.
        train, test: sizes that the training side and the test side may have.
        files: numbers of files with one ending or in one folder.
    """

    case: Case
    tables: dict[str, int]
    train: set[int]
    test: set[int]
    files: set[int]

    @property
    def all(self) -> set[int]:
        """Of tables, sides and folders, and of both sides together."""
        both = {a + b for a in self.train for b in self.test}
        return {*self.tables.values(), *self.train, *self.test, *self.files, *both}

    @functools.cached_property
    def groups(self) -> set[int]:
        """How many distinct values each column has, and how often each of a few values occurs."""
        found: set[int] = set()
        for table in self.case.tables.values():
            for name in table.columns:
                counts = table[name].value_counts()
                found.add(len(counts))
                found.update(counts.tolist() if len(counts) <= _MOST_GROUPS else ())
        return found

    @functools.cached_property
    def raw(self) -> set[int]:
        """Rows of the raw tables and the number of raw files; empty without raw data."""
        return _raw_sizes(self.case)


def sizes_of(case: Case) -> Sizes:
    """The sizes of the prepared task."""
    public = case.prepared.public
    tables = {path.relative_to(public).as_posix(): len(table) for path, table in case.tables.items()}
    train, test = case.train, case.test
    answers = case.answers[case.id_column].nunique()
    rows_train = {len(train)} if train is not None else set()
    rows_test = {answers, len(test)} if test is not None else {answers}
    media: dict[str, int] = {}
    for path in public.rglob("*"):
        if path.is_file():
            for key in {path.suffix, path.parent.as_posix()}:
                media[key] = media.get(key, 0) + 1
    train_sizes = rows_train | ({rows for name, rows in tables.items() if "train" in name.lower()})
    test_sizes = rows_test | ({rows for name, rows in tables.items() if "test" in name.lower()})
    for key, count in media.items():
        if "train" in key.rsplit("/", 1)[-1].lower():
            train_sizes.add(count)
        if "test" in key.rsplit("/", 1)[-1].lower():
            test_sizes.add(count)
    return Sizes(case, tables, train_sizes, test_sizes, set(media.values()))


def _raw_sizes(case: Case) -> set[int]:
    """Rows of the raw tables and numbers of raw files; empty without raw data."""
    raw, found = case.task.raw, set[int]()
    if not raw.is_dir():
        return found
    files = [path for path in sorted(raw.rglob("*")) if path.is_file()]
    for path in files:
        if table_format(path) is not None and len(files) <= _MOST_RAW:
            try:
                found.add(len(read_table(path)))
            except (UnreadableTable, ValueError, OSError, pd.errors.ParserError):
                continue
    return found | {len(files)} if files else found
