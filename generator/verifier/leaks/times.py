"""Test rows that are earlier than training rows."""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd

from generator.defects.base import Finding, Severity
from generator.defects.registry import finding
from generator.verifier.case import Case
from generator.verifier.targets import to_numbers


def check(case: Case) -> Iterator[Finding]:
    """Rows of a split in time that are on the wrong side."""
    time, train, test = case.task.spec.split.time_column, case.train, case.test
    if train is None or test is None or time not in train.columns or time not in test.columns:
        return
    moments = [to_times(table[time]) for table in (train, test)]
    early = float((moments[1] <= moments[0].max()).mean()) if moments[0].notna().any() else 0.0
    if early > case.limits.leaks.time_warning:
        yield finding(
            "time_leak",
            f"{early:.1%} of the test rows are not later than the last training row by {time}",
            "cut at a moment: train before it, test after it",
            Severity.ERROR if early > case.limits.leaks.time_error else Severity.WARNING,
        )


def to_times(column: pd.Series) -> pd.Series:
    """Numbers as they are, else the moments that dates stand for; what is neither is missing."""
    numbers = to_numbers(column)
    if numbers.notna().mean() > 0.9:
        return numbers
    moments = pd.to_datetime(column, errors="coerce", utc=True, format="mixed")
    return pd.Series(moments.astype("int64").where(moments.notna()), dtype=float)
