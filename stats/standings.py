"""Simpler orders of models that boards of the field show beside a rating."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from stats.comparisons import Comparisons

Floats = NDArray[np.float64]


def mean_win_rate(comparisons: Comparisons) -> Floats:
    """(n,) mean over the tasks of the share of opponents beaten, ties as half; NaN without a comparison."""
    won = comparisons.wins.sum(axis=2)
    met = won + comparisons.wins.sum(axis=1)
    rates = np.divide(won, met, out=np.zeros_like(won), where=met > 0)
    tasks = comparisons.n_tasks
    missing = np.full(len(tasks), np.nan)
    return np.asarray(np.divide(rates.sum(axis=0), tasks, out=missing, where=tasks > 0))


def borda(comparisons: Comparisons) -> Floats:
    """(n,) Borda points: opponents beaten, ties as half, summed over the tasks."""
    return np.asarray(comparisons.wins.sum(axis=(0, 2)))


def position_score(score: float, boards: Sequence[ArrayLike], *, higher_is_better: bool) -> float:
    """Mean position score on human leaderboards (HumanRank of MLE-Dojo).

    The position on a board of N rows is 1 + the number of rows strictly better; the score is
    (N - position + 1) / N: 1 at the top, 0 below every row.

    Raises:
        ValueError: no board, an empty board, or a NaN.
    """
    if not boards:
        raise ValueError("position score needs at least one board")
    sign = 1.0 if higher_is_better else -1.0
    shares = []
    for board in boards:
        rows = np.asarray(board, dtype=np.float64)
        if rows.size == 0 or np.isnan(rows).any() or np.isnan(score):
            raise ValueError("position score needs a score and non-empty boards without NaN")
        position = 1 + int((sign * rows > sign * score).sum())
        shares.append((rows.size - position + 1) / rows.size)
    return float(np.mean(shares))
