"""Test rows that are earlier than training rows, or stand between training rows of a smooth series."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pandas as pd

from generator.defects.base import Finding, Severity
from generator.defects.registry import finding
from generator.verifier.case import Case
from generator.verifier.targets import to_numbers

if TYPE_CHECKING:
    from generator.verifier.leaks.view import View


def check(view: View) -> Iterator[Finding]:
    """Rows of a split in time that are on the wrong side."""
    yield from check_declared(view.case)


def check_declared(case: Case) -> Iterator[Finding]:
    """Rows of a split in time that are on the wrong side."""
    time, train, test = case.task.spec.split.time_column, case.train, case.test
    if train is None or test is None or time not in train.columns or time not in test.columns:
        return
    early = earlier(train[time], test[time])
    if early > case.limits.leaks.time_warning:
        yield finding(
            "time_leak",
            f"{early:.1%} of the test rows are not later than the last training row by {time}",
            "cut at a moment: train before it, test after it",
            Severity.ERROR if early > case.limits.leaks.time_error else Severity.WARNING,
        )


def earlier(train: pd.Series, test: pd.Series) -> float:
    """The share of test rows that are not later than the last training row."""
    learnt, asked = to_times(train), to_times(test)
    return float((asked <= learnt.max()).mean()) if learnt.notna().any() else 0.0


def to_times(column: pd.Series) -> pd.Series:
    """Numbers as they are, else the moments that dates stand for; what is neither is missing."""
    numbers = to_numbers(column)
    if numbers.notna().mean() > 0.9:
        return numbers
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # spellings such as 1959Q1, which pandas will read otherwise one day
        moments = pd.to_datetime(column, errors="coerce", utc=True, format="mixed")
    return pd.Series(moments.astype("int64").where(moments.notna()), dtype=float)
