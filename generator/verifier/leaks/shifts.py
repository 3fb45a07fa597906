"""Features that are the target at another moment: of a later row, or a moving mean with the row itself."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd

from generator.defects.base import Finding, Severity
from generator.defects.registry import finding
from generator.verifier.leaks.rows import Rows, all_rows
from generator.verifier.leaks.times import to_times
from generator.verifier.leaks.view import View, is_dated
from generator.verifier.probing import Floats
from generator.verifier.targets import to_numbers

_STEPS = (1, 2, 3, 7)
_WINDOWS = (2, 3, 4, 5, 7, 12, 14, 24, 30)
_ROWS = 20_000
_LEAST = 30


def check(view: View) -> Iterator[Finding]:
    """Numeric columns of dated rows that hold the target of neighbouring rows."""
    rows = all_rows(view.case)
    if rows is None:
        return
    orders = list(_orders(view, rows))
    if not orders:
        return
    for name in view.shared[: view.limits.columns]:
        values = to_numbers(rows.table[name]).to_numpy()
        if np.isfinite(values).mean() < 0.7 or len(np.unique(values)) < 10:
            continue
        found = _found(rows, values, orders)
        if found is None:
            continue
        outcome, words, serious = found
        yield finding(
            "future_aggregate",
            f"{name} is {words} {outcome}: answers of test rows can be read from it",
            f"drop {name}, or compute it from values known before the test rows",
            Severity.ERROR if serious else Severity.WARNING,
        )


def _orders(view: View, rows: Rows) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Rows by time, as positions and the series that each belongs to; of all rows, and by each category."""
    times = _times(view, rows)
    if times is None:
        return
    entities = [np.zeros(len(times), dtype=np.intp)]
    for name in view.shared:
        distinct = rows.table[name].nunique()
        if 2 <= distinct <= len(times) // _LEAST and len(entities) < 5:
            entities.append(pd.factorize(rows.table[name])[0])
    for series in entities:
        order = np.lexsort([times, series])[:_ROWS]
        moments = pd.DataFrame({"series": series[order], "time": times[order]})
        if moments.duplicated().mean() < 0.02:
            yield order, series[order]


def _times(view: View, rows: Rows) -> Floats | None:
    declared = view.case.task.spec.split.time_column
    if declared in rows.table.columns:
        return to_times(rows.table[declared]).to_numpy(dtype=float)
    dated = next((name for name in rows.table.columns if is_dated(rows.table[name])), None)
    return None if dated is None else to_times(rows.table[dated]).to_numpy(dtype=float)


def _found(
    rows: Rows, values: Floats, orders: list[tuple[np.ndarray, np.ndarray]]
) -> tuple[str, str, bool] | None:
    """The outcome, how it is told, and whether by rows of the future."""
    for outcome, wanted in rows.outcomes.items():
        if len(np.unique(wanted)) < 10:
            continue
        for order, series in orders:
            column, tests = values[order], rows.in_test[order]
            grouped = pd.Series(wanted[order]).groupby(series)
            if _equal(column, wanted[order], tests):
                return None  # It is the target itself, and reported as that.
            for step in _STEPS:
                if _equal(column, grouped.shift(-step).to_numpy(), tests):
                    return outcome, f"the {step}-step later", True
            for window in _WINDOWS:
                for centred in (False, True):
                    mean = grouped.rolling(window, center=centred, min_periods=1).mean()
                    said = mean.reset_index(level=0, drop=True).sort_index().to_numpy()
                    if _equal(column, said, tests):
                        place = "centred on" if centred else "up to and with"
                        return outcome, f"the mean over {window} rows {place} the row itself, of", True
            for step in _STEPS:
                if _equal(column, grouped.shift(step).to_numpy(), tests) and _inside(tests, series, step):
                    return outcome, f"the {step}-step earlier", False
    return None


def _equal(column: Floats, said: Floats, tests: np.ndarray) -> bool:
    """Whether test rows hold these values, but for rounding."""
    usable = tests & np.isfinite(column) & np.isfinite(said)
    if usable.sum() < _LEAST or usable.sum() < 0.5 * tests.sum():
        return False
    a, b = column[usable], said[usable]
    spread = float(b.std())
    return spread > 0 and bool(np.mean(np.abs(a - b) <= 2e-3 * spread) >= 0.95)


def _inside(tests: np.ndarray, series: np.ndarray, step: int) -> bool:
    """Whether most test rows stand that many places after another test row of their series."""
    pairs = tests[step:] & tests[:-step] & (series[step:] == series[:-step])
    return bool(pairs.sum() >= 0.5 * tests.sum())
