"""The two sides of the split, beside one another: the test table and the training table like it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from generator.verifier.case import Case
from generator.verifier.data.distance import Floats
from generator.verifier.sampling import sampled, told
from generator.verifier.targets import to_numbers


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
    path, train = case.train_path, case.train
    if train is None or not set(asked) & set(train.columns):
        path = _alike(case, set(asked))
        train = None if path is None else case.tables[path]
    if path is None or train is None:
        return None
    most = case.limits.sampling.rows
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


def names_rows(cells: pd.Series) -> bool:
    """Whether a column numbers or names the rows of one side: whole numbers or codes, hardly one twice."""
    if cells.nunique() < 0.99 * len(cells):
        return False
    numbers = to_numbers(cells)
    if bool(numbers.notna().all()):
        return bool((numbers % 1 == 0).all())
    return bool((cells.str.count(r"\s") == 0).all())


def counts_rows(numbers: Floats) -> bool:
    """Whether numbers count the rows: whole ones, none of them twice, and few left out between them."""
    whole = bool((numbers % 1 == 0).all()) and len(np.unique(numbers)) == len(numbers)
    return whole and float(np.ptp(numbers)) < 10 * len(numbers)
