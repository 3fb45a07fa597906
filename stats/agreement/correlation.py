"""Statistics of two vectors of ratings, each along the last axis, so that one call serves a whole bootstrap.

Where scipy has them they are scipy's; degenerate vectors give NaN, never a number in silence.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from stats.agreement.concordance import ccc
from stats.agreement.overlap import top_k_overlap

Floats = NDArray[np.float64]
Statistic = Callable[[Floats, Floats], Floats]


def pearson_r(x: ArrayLike, y: ArrayLike) -> Floats:
    """Pearson's r along the last axis; NaN for a constant vector, fewer than two values, or an infinity."""
    from scipy.stats import pearsonr

    a, b = _pair(x, y)
    if a.shape[-1] < 2:
        return np.full(a.shape[:-1], np.nan)
    # A vector with an infinity has no moments; as a constant it yields NaN without a warning for each row.
    finite = (np.isfinite(a) & np.isfinite(b)).all(axis=-1, keepdims=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return np.asarray(pearsonr(np.where(finite, a, 0.0), np.where(finite, b, 0.0), axis=-1).statistic)


def r_squared(x: ArrayLike, y: ArrayLike) -> Floats:
    """R2 of the linear regression: the square of Pearson's r."""
    return np.asarray(pearson_r(x, y) ** 2)


def slope(x: ArrayLike, y: ArrayLike) -> Floats:
    """Least-squares slope of y on x along the last axis; NaN for a constant x or an infinity."""
    a, b = _pair(x, y)
    with np.errstate(invalid="ignore", divide="ignore"):
        centred = a - a.mean(axis=-1, keepdims=True)
        value = (centred * b).sum(axis=-1) / (centred**2).sum(axis=-1)
    return np.where(np.ptp(a, axis=-1) > 0, value, np.nan)


def spearman_rho(x: ArrayLike, y: ArrayLike) -> Floats:
    """Spearman's rho along the last axis: Pearson's r of average ranks; infinities rank as extremes."""
    from scipy.stats import rankdata

    a, b = _pair(x, y)
    missing = np.isnan(a).any(axis=-1) | np.isnan(b).any(axis=-1)
    return np.where(missing, np.nan, pearson_r(rankdata(a, axis=-1), rankdata(b, axis=-1)))


def kendall_tau_b(x: ArrayLike, y: ArrayLike) -> Floats:
    """Kendall's tau-b along the last axis; infinities rank as extremes."""
    from scipy.stats import kendalltau

    a, b = _pair(x, y)
    if a.shape[-1] < 2:
        return np.full(a.shape[:-1], np.nan)
    # Only the statistic is used; the choice of p value avoids exact ones, which are slow, and the asymptotic
    # one at n = 2, where scipy divides by zero.
    method: Literal["auto", "asymptotic"] = "auto" if a.shape[-1] == 2 else "asymptotic"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return np.asarray(kendalltau(a, b, axis=-1, method=method).statistic)


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


def _pair(x: ArrayLike, y: ArrayLike) -> tuple[Floats, Floats]:
    a, b = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)
    if a.shape != b.shape or a.ndim == 0:
        raise ValueError(f"need two arrays of one shape, not {a.shape} and {b.shape}")
    return a, b
