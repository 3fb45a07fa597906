"""Features that are the target at another moment: of a later row, or a moving mean with the row itself."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pandas as pd

from generator.defects.base import Finding, Severity
from generator.defects.registry import finding
from generator.verifier.leaks.rows import Rows, all_rows
from generator.verifier.leaks.times import to_times
from generator.verifier.leaks.view import View, is_dated
from generator.verifier.probing import Floats
from generator.verifier.sampling import sampled_rows
from generator.verifier.targets import to_numbers

_STEPS = (1, 2, 3, 7)
_WINDOWS = (2, 3, 4, 5, 7, 12, 14, 24, 30)
_ROWS = 20_000
_LEAST = 30
_LOOKED = 2_000


@dataclass(frozen=True)
class Signal:
    """The target at another moment.

    Attributes:
        words: what it is.
        values: shape (m,), for some test rows; NaN where there is none.
        serious: whether it holds values of the row itself or of later ones; else of earlier test rows.
    """

    words: str
    values: Floats
    serious: bool


def check(view: View) -> Iterator[Finding]:
    """Numeric columns of dated rows that hold the target of neighbouring rows."""
    rows = all_rows(view.case)
    if rows is None:
        return
    tests = np.flatnonzero(rows.in_test)
    tests = tests[sampled_rows(len(tests), _LOOKED)]
    signals = [
        signal
        for order, series in orders_in_time(view, rows)
        for signal in _signals(rows, order, series, tests)
    ]
    if not signals:
        return
    for name in view.shared[: view.limits.columns]:
        values = to_numbers(rows.table[name].iloc[tests]).to_numpy()
        if np.isfinite(values).mean() < 0.7 or len(np.unique(values)) < 10:
            continue
        itself = any(_equal(values, wanted[tests]) for wanted in rows.outcomes.values())
        found = next((signal for signal in signals if not itself and _equal(values, signal.values)), None)
        if found is not None:
            yield finding(
                "future_aggregate",
                f"{name} is {found.words}: answers of test rows can be read from it",
                f"drop {name}, or compute it from values known before the test rows",
                Severity.ERROR if found.serious else Severity.WARNING,
            )


def orders_in_time(view: View, rows: Rows) -> Iterator[tuple[np.ndarray, np.ndarray]]:
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


def _signals(rows: Rows, order: np.ndarray, series: np.ndarray, tests: np.ndarray) -> Iterator[Signal]:
    for outcome, wanted in rows.outcomes.items():
        if len(np.unique(wanted)) < 10:
            continue
        grouped = pd.Series(wanted[order]).groupby(series)

        def placed(values: Floats) -> Floats:
            everywhere = np.full(len(rows.in_test), np.nan)
            everywhere[order] = values
            return np.asarray(everywhere[tests])

        for step in _STEPS:
            yield Signal(f"{outcome} {step} rows later", placed(grouped.shift(-step).to_numpy()), True)
            if _inside(rows.in_test[order], series, step):
                yield Signal(f"{outcome} {step} rows earlier", placed(grouped.shift(step).to_numpy()), False)
        for window in _WINDOWS:
            for centred in (False, True):
                mean = grouped.rolling(window, center=centred, min_periods=1).mean()
                place = "around" if centred else "up to"
                said = mean.reset_index(level=0, drop=True).sort_index().to_numpy()
                yield Signal(f"the mean of {outcome} over {window} rows {place} its own", placed(said), True)


def _equal(column: Floats, said: Floats) -> bool:
    """Whether test rows hold these values, but for rounding."""
    usable = np.isfinite(column) & np.isfinite(said)
    if usable.sum() < _LEAST or usable.mean() < 0.5:
        return False
    a, b = column[usable], said[usable]
    spread = float(b.std())
    return spread > 0 and bool(np.mean(np.abs(a - b) <= 2e-3 * spread) >= 0.95)


def _inside(tests: np.ndarray, series: np.ndarray, step: int) -> bool:
    """Whether most test rows stand that many places after another test row of their series."""
    pairs = tests[step:] & tests[:-step] & (series[step:] == series[:-step])
    return bool(pairs.sum() >= 0.5 * tests.sum())
