"""Ranks of rated models, and their intervals."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import expit

from stats.bradley_terry import Fit

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
