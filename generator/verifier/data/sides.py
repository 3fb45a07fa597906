"""The two sides of the split, beside one another: the test table and the training table like it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from generator.verifier.case import Case
from generator.verifier.sampling import sampled, told


@dataclass(frozen=True)
class Sides:
    """A sample of both tables.

    Attributes:
        path: of the training table.
        train: training rows, at most ``limits.sampling.rows``, cells as strings.
        test: test rows, the same.
        features: the columns that both have, but for id and targets, in the order of the test table.
        said: in words, how many rows were looked at, when not all were.
    """

    path: Path
    train: pd.DataFrame
    test: pd.DataFrame
    features: list[str]
    said: str


def sides(case: Case) -> Sides | None:
    """Test rows and training rows, or nothing when no table is like the test table.

    Labels may stand in a table of their own; then the table like the test table is another one.
    """
    test = case.test
    if test is None:
        return None
    own = {case.id_column, *case.targets}
    asked = [name for name in test.columns if name not in own]
    path = case.train_path
    if path is None or not set(asked) & set(case.tables[path].columns):
        path = _alike(case, set(asked))
    if path is None:
        return None
    train, most = case.tables[path], case.limits.sampling.rows
    return Sides(
        path,
        sampled(train, most),
        sampled(test, most),
        [name for name in asked if name in train.columns],
        told(min(most, max(len(train), len(test))), max(len(train), len(test))),
    )


def _alike(case: Case, columns: set[str]) -> Path | None:
    """The table that shares most columns with test, at least half of them."""
    best, found = len(columns) / 2, None
    for path, table in case.tables.items():
        if path not in (case.test_path, case.prepared.sample_path):
            shared = len(columns & set(table.columns))
            if shared > 0 and shared >= best and (found is None or shared > best):
                best, found = shared, path
    return found
