"""How many of the best models of one set are among the best of another."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from stats.vectors import same_shape

Floats = NDArray[np.float64]


def top_k_overlap(x: ArrayLike, y: ArrayLike, k: int) -> Floats:
    """Share of the k best of x that are among the k best of y, along the last axis.

    Ties at the cut are broken at random, independently in x and y, and the expected overlap is returned. Two
    unrelated rankings of n models share k / n on average. NaN if k > n or a value is NaN.
    """
    a, b = same_shape(x, y)
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
