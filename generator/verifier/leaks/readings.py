"""Columns of a forecast that move with the target of the same moment: it was known when they were written."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd
from scipy.stats import spearmanr

from generator.defects.base import Finding, Severity
from generator.defects.registry import finding
from generator.verifier.leaks.rows import Rows, all_rows
from generator.verifier.leaks.shifts import orders_in_time
from generator.verifier.leaks.view import View
from generator.verifier.probing import Floats, strength
from generator.verifier.sampling import sampled_rows
from generator.verifier.targets import Kind, to_numbers

_ROWS = 5_000
_LEAST = 50
#: By how much steps of the same moment must be more alike than those of the target a row earlier.
_MARGIN = 0.1


def check(view: View) -> Iterator[Finding]:
    """Numeric columns whose level is the target's and whose steps are too, at the same moment.

    The level alone proves nothing in a smooth series, where the value before, an honest feature, has it too.
    The step from one row to the next of an honest feature is that of the target at another moment.
    """
    rows = all_rows(view.case) if view.case.task.spec.objective == "forecasting" else None
    if rows is None:
        return
    for order, series in orders_in_time(view, rows):
        for name in view.shared[: view.limits.columns]:
            for target, wanted in rows.outcomes.items():
                found = _check_column(view, name, target, _Series(rows, name, wanted, order, series))
                if found is not None:
                    yield found
        return


class _Series:
    """A column and the target in order of time, and their steps within each series."""

    def __init__(self, rows: Rows, name: str, wanted: Floats, order: np.ndarray, series: np.ndarray) -> None:
        self.column: Floats = to_numbers(rows.table[name].iloc[order]).to_numpy()
        self.wanted = wanted[order]
        self.series = series

    def usable(self) -> bool:
        """Whether both have many values."""
        filled = np.isfinite(self.column)
        many = min(len(np.unique(self.column[filled])), len(np.unique(self.wanted))) >= 10
        return bool(many and filled.mean() >= 0.7 and filled.sum() >= _LEAST)

    def level(self) -> float:
        """What a tree on the column tells of the target."""
        some = np.flatnonzero(np.isfinite(self.column))
        some = some[sampled_rows(len(some), _ROWS)]
        return strength(
            self.column[some].reshape(-1, 1), pd.Series(self.wanted[some]).astype(str), Kind.NUMBER
        ).gain

    def steps(self, lag: int) -> tuple[float, int]:
        """Rank correlation of the column's steps with those of the target so many rows earlier, and of how
        many."""
        grouped = pd.DataFrame({"x": self.column, "y": self.wanted}).groupby(self.series)
        moves = grouped.diff()
        moves["y"] = moves["y"].groupby(self.series).shift(lag)
        moves = moves.dropna()
        if len(moves) < _LEAST or moves["x"].nunique() < 3 or moves["y"].nunique() < 3:
            return 0.0, len(moves)
        return abs(float(spearmanr(moves["x"], moves["y"]).statistic)), len(moves)


def _check_column(view: View, name: str, target: str, found: _Series) -> Finding | None:
    limits = view.limits
    if not found.usable():
        return None
    together, count = found.steps(0)
    sure = together * count**0.5 >= limits.z
    if not sure or together < limits.step_warning or together < found.steps(1)[0] + _MARGIN:
        return None
    level = found.level()
    if level < limits.proxy_warning:
        return None
    serious = level >= limits.proxy and together >= limits.step
    return finding(
        "proxy_column",
        f"{name} seems known only with {target}: a tree on it reaches {level:.3f} of the way to perfect, and "
        f"its steps from row to row go with those of {target} at the same moment (rank correlation "
        f"{together:.2f})",
        f"drop {name} if it is not known before {target}",
        Severity.ERROR if serious else Severity.WARNING,
    )
