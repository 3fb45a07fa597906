"""Ratings refitted on resampled tasks, for intervals of whatever follows from ratings."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from stats.bradley_terry import Fit, fit
from stats.comparisons import Comparisons
from stats.connectivity import strongly_connected
from stats.newton import CONVERGED, solve

Floats = NDArray[np.float64]

BATCH_NUMBERS = 1 << 18
"""Numbers per array of a batch of refits: about the size of a processor's cache."""


def bootstrap_ratings(
    comparisons: Comparisons,
    replicates: int = 1000,
    seed: int | np.random.Generator = 0,
    *,
    fitted: Fit | None = None,
) -> Floats:
    """Ratings refitted on resampled tasks.

    T tasks are drawn with replacement from the T tasks. A replicate in which the models fitted together are
    no longer strongly connected has no finite maximum, and is NaN for them; callers count these.

    Args:
        comparisons: two or more tasks.
        replicates: B.
        seed: an integer gives the same replicates every time.
        fitted: the fit of all tasks; its scale and prior are used. Fitted with the defaults if absent.

    Returns:
        (B, n) ratings; NaN columns for models that the full data give no rating.
    """
    count, n = len(comparisons.tasks), len(comparisons.models)
    if count < 2:
        raise ValueError("a task bootstrap needs at least two tasks")
    if replicates < 1:
        raise ValueError("replicates must be positive")
    fitted = fit(comparisons) if fitted is None else fitted
    draws = np.random.default_rng(seed).multinomial(count, np.full(count, 1.0 / count), size=replicates)
    ratings = np.full((replicates, n), np.nan)
    for block in fitted.blocks:
        if len(block) == 1:
            ratings[:, block] = fitted.offset
            continue
        size = len(block)
        flat = comparisons.wins[:, block[:, None], block[None, :]].reshape(count, -1)
        start = (fitted.ratings[block] - fitted.offset) / fitted.unit
        batch = max(1, BATCH_NUMBERS // size**2)
        for first in range(0, replicates, batch):
            wins = (draws[first : first + batch] @ flat).reshape(-1, size, size)
            exists = np.ones(len(wins), dtype=bool) if fitted.precision > 0 else strongly_connected(wins)
            if exists.any():
                solution = solve(wins[exists], fitted.precision, start)
                good = solution.gradient_norm < CONVERGED
                rows = first + np.flatnonzero(exists)[good]
                ratings[rows[:, None], block[None, :]] = fitted.offset + fitted.unit * solution.theta[good]
    return ratings


def failed_replicates(ratings: Floats, fitted: Fit) -> int:
    """Number of bootstrap replicates that lack a rating which the full data have."""
    rated = np.isfinite(fitted.ratings)
    return int(np.isnan(ratings[:, rated]).any(axis=1).sum())
