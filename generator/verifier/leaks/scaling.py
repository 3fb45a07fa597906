"""Features that were scaled or filled with the test rows."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd

from generator.defects.base import Finding
from generator.defects.registry import finding
from generator.verifier.leaks.rows import resolution
from generator.verifier.leaks.view import View
from generator.verifier.probing import Floats
from generator.verifier.sampling import sampled_rows
from generator.verifier.targets import to_numbers

_LOOKED = 5_000
_ROWS = 20


def check(view: View) -> Iterator[Finding]:
    """Columns whose mean and spread are 0 and 1 over all rows but not in training, and the like."""
    train, test = view.case.train, view.case.test
    if train is None or test is None or min(len(train), len(test)) < _ROWS:
        return
    found: dict[str, list[str]] = {}
    for name in view.shared:
        columns = [table[name] for table in (train, test)]
        if not all(_worth(column) for column in columns):
            continue
        sides = [to_numbers(column).to_numpy() for column in columns]
        way = _way(sides[0], sides[1], resolution(columns[0]))
        if way:
            found.setdefault(way, []).append(name)
    for way, names in found.items():
        yield finding(
            "fitted_on_test",
            f"{len(names)} columns ({', '.join(names[:6])}) have {way} over training and test rows together, "
            "and not over training rows alone",
            "fit scaling and filling on training rows; data that was published so is as it is",
        )


def _worth(column: pd.Series) -> bool:
    """Whether a sample looks like scaled numbers or like filled ones: long decimals."""
    some = column.iloc[sampled_rows(len(column), _LOOKED)]
    numbers = to_numbers(some)
    if numbers.isna().mean() > 0.5 or numbers.nunique() < 10:
        return False
    return bool(some.str.contains(r"\.\d{3,}|e-", regex=True).mean() > 0.02)


def _way(train: Floats, test: Floats, exact: float) -> str:
    """In words what holds for all rows and not for training rows."""
    train, test = train[np.isfinite(train)], test[np.isfinite(test)]
    both = np.concatenate([train, test])
    if len(train) < _ROWS or np.ptp(train) == 0:
        return ""
    close = max(exact, 1e-6)
    for ddof in (0, 1):
        off, learnt = (max(abs(s.mean()), abs(s.std(ddof=ddof) - 1) / 2) for s in (both, train))
        if off <= close and learnt > 10 * close:
            return "mean 0 and standard deviation 1"
    low, high = both.min(), both.max()
    if low in (0.0, -1.0) and high == 1.0 and (train.min() > low or train.max() < high):
        rare = (both == low).sum() <= 3 and (both == high).sum() <= 3
        if rare and np.mean(np.abs(both * 1e4 - np.round(both * 1e4)) > 1e-6) > 0.5:
            return f"minimum {low:g} and maximum 1"
    low, middle, high = np.percentile(both, [25, 50, 75])
    if max(abs(middle), abs(high - low - 1) / 2) <= close and abs(np.median(train)) > 10 * close:
        return "median 0 and quartiles 1 apart"
    return _filled(train, both)


def _filled(train: Floats, both: Floats) -> str:
    """Whether the most frequent value is the mean of all others, as gaps filled with a mean are."""
    values, counts = np.unique(both, return_counts=True)
    mode = float(values[counts.argmax()])
    if counts.max() < _ROWS or counts.max() < 5 * np.sort(counts)[-2] or len(values) < _ROWS:
        return ""
    others, learnt = both[both != mode], train[train != mode]
    close = 1e-7 * max(float(others.std()), 1e-12)
    if mode % 1 == 0 or abs(others.mean() - mode) > close or abs(learnt.mean() - mode) <= 10 * close:
        return ""
    return "gaps filled with the mean"
