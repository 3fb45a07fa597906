"""All rows of training and test side by side: what was computed over both can only be told from both."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from generator.verifier.case import Case
from generator.verifier.probing import Floats
from generator.verifier.targets import Kind, to_numbers

_MOST_CLASSES = 10


@dataclass(frozen=True)
class Rows:
    """Training rows, then test rows, at full size, with the outcomes of both.

    Attributes:
        table: shared columns, cells as strings.
        in_test: shape (n,), which rows are test rows.
        outcomes: shape (n,) by name: a number target, or whether a row is of a class.
    """

    table: pd.DataFrame
    in_test: np.ndarray
    outcomes: dict[str, Floats]


def all_rows(case: Case) -> Rows | None:
    """The rows whose outcomes are known, or nothing when a side or every target is missing."""
    train, test = case.train, case.test
    if train is None or test is None or not case.features:
        return None
    filled = [train[name].str.strip() != "" for name in case.targets if name in train.columns]
    train = train[np.logical_and.reduce(filled)] if filled else train
    answers = case.answers.drop_duplicates(case.id_column).set_index(case.id_column)
    test = test[test[case.id_column].isin(answers.index)]
    known = [target for target in case.targets if target in train.columns]
    if not known or test.empty or train.empty:
        return None
    columns = list(case.features)
    time = case.task.spec.split.time_column
    if time == case.id_column and time in train.columns:
        columns.append(time)
    table = pd.concat([train[columns], test[columns]], ignore_index=True)
    in_test = np.arange(len(table)) >= len(train)
    outcomes: dict[str, Floats] = {}
    for target in known[: case.limits.leaks.targets]:
        truth = answers.loc[test[case.id_column], target]
        cells = pd.concat([train[target], truth], ignore_index=True)
        numbers = to_numbers(cells)
        if case.kinds[target] is Kind.NUMBER or (numbers.notna().all() and numbers.nunique() == 2):
            if numbers.notna().all():
                outcomes[target] = numbers.to_numpy()
        elif case.kinds[target] is Kind.CLASS:
            labels = cells.value_counts().index
            if len(labels) <= _MOST_CLASSES:
                # Whoever encodes a category may have numbered the classes first.
                outcomes[f"{target} as a number"] = pd.factorize(cells, sort=True)[0].astype(float)
            for label in labels[:_MOST_CLASSES]:
                outcomes[f"{target} = {label}"] = (cells == label).to_numpy(dtype=float)
    return Rows(table, in_test, outcomes)


def resolution(cells: pd.Series) -> float:
    """Half of the last decimal place that a column of numbers as strings is written with.

    A binary float that was read and written again, 2.3530000000000002, counts by its first 12 digits.
    """
    some = to_numbers(cells.iloc[:500]).dropna().map("{:.12g}".format)
    digits = some.str.extract(r"\.(\d+)$")[0].dropna().str.len()
    return 0.51 * 10.0 ** -float(digits.max()) if len(digits) else 0.51


def near_zero(spread: float) -> float:
    """Below this a difference of numbers with that spread is an error of arithmetic."""
    return 1e-9 * max(spread, 1e-300)
