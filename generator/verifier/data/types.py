"""Types of the shared features: numbers stay numbers, dates keep their form, and units stay the same."""

from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np
import pandas as pd

from generator.defects.base import Finding, Severity
from generator.defects.registry import finding
from generator.verifier.case import Case
from generator.verifier.data.distance import Floats, between
from generator.verifier.data.sides import Sides, counts_rows, sides
from generator.verifier.targets import to_numbers

_DRAWN = ("random", "stratified")
_MOST = 5
_FIX = "read and write both sides with the same code"
_DATE = re.compile(
    r"9{1,4}(?P<mark>[-/. ])9{1,2}(?P=mark)9{1,4}|99999999|9{1,2}[-/. ]a+[-/. ]9{2,4}|a+ 9{1,2},? 9{4}"
)


def check(case: Case) -> Iterator[Finding]:
    """Features that are of another type, form or unit in test; the worst of them, when they are many."""
    both = sides(case)
    found = [] if both is None else list(_compare(case, both))
    found.sort(key=lambda one: one.severity is not Severity.ERROR)
    yield from found[:_MOST]
    if len(found) > _MOST:
        left = found[_MOST:]
        yield finding(
            "type_drift", f"{len(left)} more features differ in the same ways", _FIX, left[0].severity
        )


def _compare(case: Case, both: Sides) -> Iterator[Finding]:
    for name in both.features:
        columns = [table[name].str.strip() for table in (both.train, both.test)]
        columns = [column[column != ""] for column in columns]
        if min(map(len, columns)) < case.limits.data.drift_rows:
            continue
        numbers = [to_numbers(column) for column in columns]
        yield from _check_parsing(case, both, name, columns, numbers)
        if min(column.notna().mean() for column in numbers) >= case.limits.data.numeric_share:
            yield from _check_unit(case, both, name, [column.dropna().to_numpy() for column in numbers])
        elif max(column.notna().mean() for column in numbers) < 1 - case.limits.data.numeric_share:
            yield from _check_form(both, name, columns)


def _check_parsing(
    case: Case, both: Sides, name: str, columns: list[pd.Series], numbers: list[pd.Series]
) -> Iterator[Finding]:
    limits = case.limits.data
    shares = [float(column.notna().mean()) for column in numbers]
    low, high = min(shares), max(shares)
    if high < limits.numeric_share or high - low < limits.mixed_drop:
        return
    worded = shares.index(low)
    cell = columns[worded][numbers[worded].isna()].iloc[0]
    yield finding(
        "type_drift",
        f"{name} is a number in {shares[0]:.1%} of the training cells and {shares[1]:.1%} of the test cells, "
        f"{cell[:40]!r} for one that is none{both.said}",
        _FIX,
        None if low < limits.worded_share else Severity.WARNING,
    )


def _check_form(both: Sides, name: str, columns: list[pd.Series]) -> Iterator[Finding]:
    """Dates in a form that training does not show."""
    forms = [column.map(_form) for column in columns]
    if min(float(form.str.match(_DATE).mean()) for form in forms) < 0.95:
        return
    share = float((~forms[1].isin(set(forms[0]))).mean())
    if share > 0.5:
        yield finding(
            "type_drift",
            f"{name} holds dates like {columns[0].iloc[0][:30]!r} in training and like "
            f"{columns[1].iloc[0][:30]!r} in test ({share:.1%} of the test cells){both.said}",
            _FIX,
        )


def _form(cell: str) -> str:
    """``2026-11-29`` as ``9999-99-99``; one digit for a day or month counts as two."""
    form = re.sub(r"[^\W\d_]+", "a", re.sub(r"\d", "9", cell))
    return re.sub(r"(?<!9)9(?!9)", "99", form)


def _check_unit(case: Case, both: Sides, name: str, numbers: list[Floats]) -> Iterator[Finding]:
    """Numbers of another unit: once both sides are divided by their median, they are the same."""
    numbers = [column[np.isfinite(column)] for column in numbers]
    if min(map(len, numbers)) < case.limits.data.drift_rows or min(map(_distinct, numbers)) < 5:
        return
    if all(map(counts_rows, numbers)):
        return  # each side may be numbered by itself
    train, test = numbers
    raw = between(train, test)
    drawn = case.task.spec.split.kind in _DRAWN
    if raw.size < 0.5 or raw.chance * len(both.features) > case.limits.data.certain:
        return
    middles = [float(np.median(column)) for column in numbers]
    factor = middles[1] / middles[0] if middles[0] else 0.0
    scaled = factor > 0 and between(train * factor, test).size < 0.2
    # Later times and other groups may be larger, but seldom by just a hundred or a thousand.
    powers = np.log10(factor) if scaled else 0.0
    exact = abs(powers) > 1.9 and abs(powers - round(powers)) < 0.05
    if not drawn and not exact:
        return
    rescaled = [_is_rescaled(column) for column in numbers]
    certain = exact or abs(powers) > 0.1 or rescaled[0] != rescaled[1]
    how = f", all of it a factor of {factor:.4g}" if scaled else ""
    how += f", scaled in {'training' if rescaled[0] else 'test'} only" * (rescaled[0] != rescaled[1])
    yield finding(
        "type_drift",
        f"{name} has the median {middles[0]:.4g} in training and {middles[1]:.4g} in test "
        f"(Kolmogorov-Smirnov distance {raw.size:.2f}{how}){both.said}",
        "give both sides the same unit and the same scaling",
        None if certain else Severity.WARNING,
    )


def _is_rescaled(values: Floats) -> bool:
    """Whether numbers have mean 0 and deviation 1, or fill the range from 0 to 1, as scalers leave them."""
    near = 1 / np.sqrt(len(values))
    standard = abs(values.mean()) < near and abs(values.std() - 1) < near
    fractions = bool((values % 1 != 0).any())
    return bool(standard or (fractions and values.min() == 0 and values.max() == 1))


def _distinct(values: Floats) -> int:
    return len(np.unique(values))
