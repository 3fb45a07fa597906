"""Statistics of two vectors of ratings, each along the last axis, so that one call serves a whole bootstrap.

Degenerate vectors give NaN, never a number in silence.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

import numpy as np
from numpy.typing import ArrayLike, NDArray

from stats.agreement.concordance import ccc
from stats.agreement.overlap import top_k_overlap
from stats.vectors import common_scale, same_shape

Floats = NDArray[np.float64]
Statistic = Callable[[Floats, Floats], Floats]

PAIRS_AT_ONCE = 1 << 20
"""Pairs of models, over all vectors, whose order is held in memory."""
SORTED_BEYOND = 200
"""Models from which on sorting is quicker than comparing all pairs."""


def pearson_r(x: ArrayLike, y: ArrayLike) -> Floats:
    """Pearson's r along the last axis; NaN for a constant vector, fewer than two values, or an infinity.

    The textbook formula: scipy's function gives the same to the last digits (a test holds it) and needs a
    hundred times as long for the replicates of a bootstrap.
    """
    a, b = same_shape(x, y)
    if a.shape[-1] < 2:
        return np.full(a.shape[:-1], np.nan)
    with np.errstate(invalid="ignore", divide="ignore"):
        product = (_direction(a) * _direction(b)).sum(axis=-1)
    varies = (a.max(axis=-1) > a.min(axis=-1)) & (b.max(axis=-1) > b.min(axis=-1))
    return np.where(varies, np.clip(product, -1.0, 1.0), np.nan)


def r_squared(x: ArrayLike, y: ArrayLike) -> Floats:
    """R2 of the linear regression: the square of Pearson's r."""
    return np.asarray(pearson_r(x, y) ** 2)


def slope(x: ArrayLike, y: ArrayLike) -> Floats:
    """Least-squares slope of y on x along the last axis; NaN for a constant x, an infinity, or no value."""
    a, b = same_shape(x, y)
    if a.shape[-1] == 0:
        return np.full(a.shape[:-1], np.nan)
    unit_x, unit_y = common_scale(a), common_scale(b)
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        centred = a / unit_x - (a / unit_x).mean(axis=-1, keepdims=True)
        value = (centred * (b / unit_y)).sum(axis=-1) / (centred**2).sum(axis=-1)
        value *= (unit_y / unit_x)[..., 0]
    return np.where((a.max(axis=-1) > a.min(axis=-1)) & np.isfinite(value), value, np.nan)


def spearman_rho(x: ArrayLike, y: ArrayLike) -> Floats:
    """Spearman's rho along the last axis: Pearson's r of average ranks; infinities rank as extremes."""
    from scipy.stats import rankdata

    a, b = same_shape(x, y)
    missing = np.isnan(a).any(axis=-1) | np.isnan(b).any(axis=-1)
    return np.where(missing, np.nan, pearson_r(rankdata(a, axis=-1), rankdata(b, axis=-1)))


def kendall_tau_b(x: ArrayLike, y: ArrayLike) -> Floats:
    """Kendall's tau-b along the last axis; infinities rank as extremes.

    With s_ij and t_ij the signs of the differences in x and y, tau-b is sum s t / sqrt(sum s^2 sum t^2) over
    the pairs i < j: scipy's value without its p value, which costs a millisecond per vector.
    """
    a, b = same_shape(x, y)
    n = a.shape[-1]
    if n < 2:
        return np.full(a.shape[:-1], np.nan)
    rows_a, rows_b = a.reshape(-1, n), b.reshape(-1, n)
    tau = np.empty(len(rows_a))
    if n > SORTED_BEYOND:
        from scipy.stats import kendalltau

        # Sorting beats listing the pairs of so many, and its variance is never used.
        pairs = zip(rows_a, rows_b, strict=True)
        tau = np.array([kendalltau(*pair, method="asymptotic").statistic for pair in pairs])
        return tau.reshape(a.shape[:-1])
    first, second = np.triu_indices(n, 1)
    batch = max(1, PAIRS_AT_ONCE // first.size)
    for start in range(0, len(tau), batch):
        here = slice(start, start + batch)
        s = _order(rows_a[here, first], rows_a[here, second])
        t = _order(rows_b[here, first], rows_b[here, second])
        untied = np.sqrt((s * s).sum(axis=1) * (t * t).sum(axis=1))
        tau[here] = np.divide((s * t).sum(axis=1), untied, out=np.full(len(s), np.nan), where=untied > 0)
    missing = np.isnan(rows_a).any(axis=1) | np.isnan(rows_b).any(axis=1)
    return np.where(missing, np.nan, tau).reshape(a.shape[:-1])


def top3_overlap(x: ArrayLike, y: ArrayLike) -> Floats:
    """Expected overlap of the three best."""
    return top_k_overlap(x, y, 3)


def top5_overlap(x: ArrayLike, y: ArrayLike) -> Floats:
    """Expected overlap of the five best."""
    return top_k_overlap(x, y, 5)


STATISTICS: Mapping[str, tuple[Statistic, tuple[float, float]]] = MappingProxyType(
    {
        "pearson_r": (pearson_r, (-1.0, 1.0)),
        "r_squared": (r_squared, (0.0, 1.0)),
        "slope": (slope, (-np.inf, np.inf)),
        "spearman_rho": (spearman_rho, (-1.0, 1.0)),
        "kendall_tau_b": (kendall_tau_b, (-1.0, 1.0)),
        "ccc": (ccc, (-1.0, 1.0)),
        "top3_overlap": (top3_overlap, (0.0, 1.0)),
        "top5_overlap": (top5_overlap, (0.0, 1.0)),
    }
)
"""Statistics of two vectors (or of batches along the last axis), with the bounds of their values."""


def _direction(values: Floats) -> Floats:
    """Vectors centred and scaled to length 1."""
    values = values / common_scale(values)
    centred = values - values.mean(axis=-1, keepdims=True)
    largest = np.abs(centred).max(axis=-1, keepdims=True)
    scaled = centred / largest  # squares of very small or very large values would leave the range of floats
    return np.asarray(scaled / np.sqrt((scaled**2).sum(axis=-1, keepdims=True)))


def _order(left: Floats, right: Floats) -> Floats:
    """Sign of left - right, defined for infinities too."""
    return np.asarray((left > right).astype(np.float64) - (left < right))
