"""Ranks, win rates and other orders of models, beside the ratings."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import expit

from stats.bradley_terry import Fit
from stats.comparisons import Comparisons

Floats = NDArray[np.float64]


def ranks(values: ArrayLike) -> Floats:
    """Ranks along the last axis: 1 + number of larger values, so ties share the best rank.

    NaN has no rank (NaN) and takes none away; infinities rank as extremes.
    """
    array = np.asarray(values, dtype=np.float64)
    better = (array[..., None, :] > array[..., :, None]).sum(axis=-1)
    return np.where(np.isnan(array), np.nan, better + 1.0)


def rating_ranks(fitted: Fit, ratings: Floats | None = None) -> Floats:
    """Ranks of fitted models, within their connected group.

    Models without a number rank by their order above or below those with one. Models with neither, and
    replicates that failed, are NaN.

    Args:
        fitted: the fit of the full data.
        ratings: (n,) or (B, n) ratings to rank instead of the fit's own, such as bootstrap replicates.
    """
    values = fitted.ratings if ratings is None else ratings
    order, group = fitted.order, fitted.group
    has_number = np.isfinite(fitted.ratings)
    comparable = np.ones((len(order), len(order)), dtype=bool)
    if fitted.prior is None:
        comparable = group[None, :] == group[:, None]
    # [.., i, j]: whether j is placed above i
    above = order[None, :] > order[:, None]
    higher = (order[None, :] == order[:, None]) & (values[..., None, :] > values[..., :, None])
    place = 1.0 + (comparable & (above | higher)).sum(axis=-1)
    unknown = np.isnan(order) | (has_number & np.isnan(values))
    return np.where(unknown, np.nan, place)


def rank_intervals(fitted: Fit, replicates: Floats, level: float = 0.95) -> tuple[Floats, Floats]:
    """Marginal percentile intervals of the ranks from bootstrap ratings (B, n).

    Each covers its own model's rank; jointly they cover less. Failed replicates are left out. The limits are
    ranks that occurred.

    Returns:
        (n,) lowest (best) and (n,) highest (worst) rank; NaN where no replicate has a rank.
    """
    if not 0 < level < 1:
        raise ValueError(f"level must lie between 0 and 1, not {level}")
    placed = rating_ranks(fitted, replicates)
    low, high = np.full(placed.shape[1], np.nan), np.full(placed.shape[1], np.nan)
    for i in range(placed.shape[1]):
        usable = placed[np.isfinite(placed[:, i]), i]
        if usable.size:
            low[i] = np.quantile(usable, (1.0 - level) / 2.0, method="lower")
            high[i] = np.quantile(usable, (1.0 + level) / 2.0, method="higher")
    return low, high


def win_probabilities(ratings: ArrayLike, scale: float = 400.0, base: float = 10.0) -> Floats:
    """(n, n) probability that i beats j under the Bradley-Terry model; one half on the diagonal."""
    array = np.asarray(ratings, dtype=np.float64)
    return np.asarray(expit((array[:, None] - array[None, :]) * np.log(base) / scale))


def top_k_overlap(x: ArrayLike, y: ArrayLike, k: int) -> Floats:
    """Share of the k best of x that are among the k best of y, along the last axis.

    Ties at the cut are broken at random, independently in x and y, and the expected overlap is returned. Two
    unrelated rankings of n models share k / n on average. NaN if k > n or a value is NaN.
    """
    a, b = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)
    if k < 1:
        raise ValueError(f"k must be positive, not {k}")
    if a.shape[-1] < k:
        return np.full(a.shape[:-1], np.nan)
    overlap = (_top_membership(a, k) * _top_membership(b, k)).sum(axis=-1) / k
    return np.asarray(np.where(np.isnan(a).any(axis=-1) | np.isnan(b).any(axis=-1), np.nan, overlap))


def _top_membership(values: Floats, k: int) -> Floats:
    """Probability of each value to be among the k largest under random tie-breaking."""
    cut = np.sort(values, axis=-1)[..., -k, None]
    above, at_cut = values > cut, values == cut
    free = k - above.sum(axis=-1, keepdims=True)
    share = free / np.maximum(at_cut.sum(axis=-1, keepdims=True), 1)
    return np.asarray(above + at_cut * share)


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
