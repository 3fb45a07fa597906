"""Columns that give the target together though none gives it alone: sums, ratios, parts of a one-hot code."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator

import numpy as np
import pandas as pd

from generator.defects.base import Finding
from generator.defects.registry import finding
from generator.verifier.leaks.comparing import Values
from generator.verifier.leaks.view import Truth, View
from generator.verifier.probing import Floats
from generator.verifier.targets import Kind, to_numbers

_ROWS = 2_000
_FIRST = 60
_MOST_CLASSES = 10

Combine = Callable[[Floats, Floats], Floats]

_OF_NUMBERS: dict[str, Combine] = {
    "{a} * {b}": lambda a, b: a * b,
    "{a} / {b}": lambda a, b: a / b,
    "{b} / {a}": lambda a, b: b / a,
    "{a} / {b}^2": lambda a, b: a / b**2,
    "{b} / {a}^2": lambda a, b: b / a**2,
    "max({a}, {b})": np.maximum,
    "min({a}, {b})": np.minimum,
}
_OF_CLASSES: dict[str, Combine] = {
    "whether {a} exceeds {b}": lambda a, b: np.sign(a - b),
    "{a} xor {b}": lambda a, b: ((a != 0) ^ (b != 0)).astype(float),
    "{a} or {b}": lambda a, b: ((a != 0) | (b != 0)).astype(float),
    "{a} and {b}": lambda a, b: ((a != 0) & (b != 0)).astype(float),
}


def check(view: View) -> Iterator[Finding]:
    """Several columns of the test table that give a target exactly."""
    test = view.test
    if len(test) < max(view.limits.copy_rows, 30):
        return
    rows = np.linspace(0, len(test) - 1, min(len(test), _ROWS)).astype(int)
    numbers = {name: to_numbers(test[name]).to_numpy()[rows] for name in view.features}
    numbers = {name: values for name, values in numbers.items() if np.isfinite(values).all()}
    numbers = {name: values for name, values in numbers.items() if np.ptp(values) > 0}
    sums = _Sums(numbers, len(rows)) if numbers else None
    for truth in view.truths:
        how = _how(view, truth, numbers, rows, sums)
        if how:
            yield finding(
                "target_copied",
                f"columns of the test table give {truth.name} together: {truth.name} = {how}",
                "drop one of these columns from the public tables",
            )


class _Sums:
    """Standardised columns and a constant, and the fit of weights to every second row, for all targets.

    Attributes:
        names: of the columns.
        scaled: shape (n, d + 1).
        solve: shape (d + 1, n / 2), the pseudo-inverse of every second row.
    """

    def __init__(self, numbers: dict[str, Floats], rows: int) -> None:
        self.names = list(numbers)
        self.columns = np.column_stack([numbers[name] for name in self.names])
        spread = self.columns.std(axis=0)
        self.scaled = np.column_stack([(self.columns - self.columns.mean(axis=0)) / spread, np.ones(rows)])
        self.solve = np.linalg.pinv(self.scaled[::2], rcond=1e-12)


def _how(view: View, truth: Truth, numbers: dict[str, Floats], rows: np.ndarray, sums: _Sums | None) -> str:
    """A formula for the target, or nothing."""
    if truth.kind is Kind.CLASS:
        codes = pd.factorize(truth.test.iloc[rows], sort=True)[0].astype(float)
        counts = np.bincount(codes.astype(int))
        few = 2 <= len(counts) <= _MOST_CLASSES and counts.min() >= view.limits.copy_rows // 2
        return (
            _indicators(view, truth)
            or (_linear(sums, codes, view.limits.exact) if few else "")
            or _of_two_classes(view, truth, numbers, rows)
        )
    wanted = to_numbers(truth.test).to_numpy()[rows]
    if len(np.unique(wanted)) < 10:
        return ""
    return _linear(sums, wanted, view.limits.exact) or _of_two(
        numbers, wanted, view.limits.exact, view.limits.pair_columns
    )


def _linear(sums: _Sums | None, wanted: Floats, exact: float) -> str:
    """A weighted sum fitted to half of the rows that gives the other half."""
    if sums is None or len(wanted) < 3 * len(sums.names) + 20:
        return ""
    names, columns, scaled = sums.names, sums.columns, sums.scaled
    weights = sums.solve @ wanted[::2]
    if _open(scaled[1::2] @ weights, wanted[1::2]) > exact:
        return ""
    used = [place for place in range(len(names)) if abs(weights[place]) > 1e-3 * wanted.std()]
    if len(used) < 2:
        return ""  # One column alone is reported as a copy.
    # The smallest set that still does it makes the evidence readable.
    for place in list(used):
        fewer = [other for other in used if other != place]
        part = np.column_stack([scaled[:, fewer], np.ones(len(wanted))])
        again = np.linalg.lstsq(part[::2], wanted[::2], rcond=None)[0]
        if len(fewer) >= 2 and _open(part[1::2] @ again, wanted[1::2]) <= exact:
            used = fewer
    part = np.column_stack([columns[:, used], np.ones(len(wanted))])
    found = np.linalg.lstsq(part, wanted, rcond=None)[0]
    terms = [f"{weight:.4g} {names[place]}" for weight, place in zip(found, used, strict=False)]
    return " + ".join(terms[:8]) + (" + ..." if len(terms) > 8 else "")


def _of_two(numbers: dict[str, Floats], wanted: Floats, exact: float, most: int) -> str:
    for a, b in itertools.combinations(list(numbers)[:most], 2):
        for name, combine in _OF_NUMBERS.items():
            with np.errstate(all="ignore"):
                said = combine(numbers[a], numbers[b])
            usable = np.isfinite(said)
            if usable.mean() < 0.9 or np.ptp(said[usable]) == 0:
                continue
            fit = np.corrcoef(said[usable], wanted[usable])[0, 1]
            one = max(abs(np.corrcoef(numbers[c], wanted)[0, 1]) for c in (a, b))
            if 1 - fit**2 <= exact and 1 - one**2 > 10 * exact:
                return name.format(a=a, b=b)
    return ""


def _of_two_classes(view: View, truth: Truth, numbers: dict[str, Floats], rows: np.ndarray) -> str:
    labels = truth.test.iloc[rows]
    classes = labels.nunique()
    if classes > 3 or len(labels) - labels.value_counts().iloc[0] < view.limits.copy_rows:
        return ""
    wanted = Values(labels)
    for a, b in itertools.combinations(list(numbers)[: view.limits.pair_columns], 2):
        for name, combine in _OF_CLASSES.items():
            if "exceeds" not in name and max(len(np.unique(numbers[c])) for c in (a, b)) > 2:
                continue
            if not _may_stand(combine(numbers[a][:_FIRST], numbers[b][:_FIRST]), wanted.codes[:_FIRST]):
                continue
            said = Values(pd.Series(combine(numbers[a], numbers[b])))
            alone = any(len(np.unique(numbers[c])) == classes and _stands(numbers[c], wanted) for c in (a, b))
            if len(said.counts) == classes and not alone and _stands(said.codes, wanted):
                return name.format(a=a, b=b)
    return ""


def _may_stand(said: Floats, codes: np.ndarray) -> bool:
    """Whether each class has one value only, a quick look at a few rows."""
    return all(np.ptp(said[codes == code]) == 0 for code in np.unique(codes))


def _stands(said: np.ndarray, wanted: Values) -> bool:
    """Whether values stand for classes one to one in all rows."""
    codes = pd.factorize(said)[0]
    classes = len(wanted.counts)
    return len(np.unique(codes * classes + wanted.codes)) == classes


def _indicators(view: View, truth: Truth) -> str:
    """Columns of two values, one for each class but at most one: the parts of a one-hot code.

    A single one may be honest: of a zoo's animals, exactly the mammals give milk.
    """
    classes = truth.test.value_counts()
    if len(classes) < 3 or classes.min() < 2 or len(classes) > len(view.features) + 1:
        return ""
    found: dict[str, str] = {}
    for name in view.features:
        cells = view.test[name]
        if cells.nunique() != 2:
            continue
        for label in classes.index:
            is_it = Values(truth.test == label)
            if label not in found and _stands(cells.to_numpy(dtype=object), is_it):
                found[str(label)] = name
    if len(found) < len(classes) - 1:
        return ""
    return "the one-hot code " + ", ".join(list(found.values())[:8])


def _open(said: Floats, wanted: Floats) -> float:
    """The share of the variance that a prediction leaves open."""
    return float(((said - wanted) ** 2).sum() / max(((wanted - wanted.mean()) ** 2).sum(), 1e-300))
