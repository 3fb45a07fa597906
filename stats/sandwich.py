"""Task-clustered intervals of ratings and contrasts.

Comparisons of one task share that task, so they are not independent: intervals from the Fisher information
or from resampled comparisons are far too narrow. The sandwich sums the squared gradients of whole tasks.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, stdtrit

from stats.bradley_terry import Fit, Status
from stats.comparisons import Comparisons
from stats.connectivity import strong_components
from stats.intervals import Intervals, check_level
from stats.newton import inverse_information

Floats = NDArray[np.float64]

CANCELLED = 1e-13
"""Share of the summed variances of two models below which the variance of their difference is rounding."""

SANDWICH = "task-clustered sandwich with T/(T-1), t quantile with T-1 degrees of freedom"


def task_covariance(comparisons: Comparisons, fitted: Fit) -> tuple[Floats, NDArray[np.int64]]:
    """Sandwich covariance of the ratings with tasks as clusters.

    With g_t the (n,) gradient of task t at the fit and B the (pseudo-)inverse of the negative Hessian:
    T/(T-1) * B (sum_t g_t g_t') B. Under a prior, g_t is centred on its mean over the tasks, since the prior
    balances their sum.

    Returns:
        (n, n) covariance in squared rating points, NaN where there is no rating or fewer than two tasks, and
        the (n,) number T of tasks with a comparison among the models that were fitted together.
    """
    if comparisons.models != fitted.models:
        raise ValueError("the fit and the comparisons name different models")
    n = len(fitted.models)
    covariance, tasks = np.full((n, n), np.nan), np.zeros(n, dtype=np.int64)
    for block in fitted.blocks:
        wins = comparisons.wins[:, block[:, None], block[None, :]]
        wins = wins[wins.any(axis=(1, 2))]
        count = len(wins)
        tasks[block] = count
        if count < 2:
            continue
        theta = (fitted.ratings[block] - fitted.offset) / fitted.unit
        p = expit(theta[:, None] - theta[None, :])
        scores = wins.sum(axis=2) - ((wins + wins.transpose(0, 2, 1)) * p).sum(axis=2)
        scores -= scores.mean(axis=0)
        bread = inverse_information(wins.sum(axis=0), theta, fitted.precision)
        spread = scores @ bread
        covariance[np.ix_(block, block)] = fitted.unit**2 * count / (count - 1) * spread.T @ spread
    return covariance, tasks


def rating_intervals(comparisons: Comparisons, fitted: Fit, level: float = 0.95) -> Intervals:
    """(n,) intervals of the ratings about the mean rating.

    NaN without a rating or a second task, and for models that only a prior makes finite: how their ratings
    vary over the tasks says nothing of how far off they are.
    """
    covariance, tasks = task_covariance(comparisons, fitted)
    prior_only = [status is Status.PRIOR for status in fitted.status]
    variance = np.where(prior_only, np.nan, np.diagonal(covariance))
    return _t_intervals(fitted.ratings, variance, tasks, level)


def contrast_intervals(comparisons: Comparisons, fitted: Fit, level: float = 0.95) -> Intervals:
    """(n, n) intervals of R_i - R_j; NaN where only a prior, or nothing, makes it finite."""
    covariance, tasks = task_covariance(comparisons, fitted)
    spread = np.where(by_data(fitted), contrast_variance(covariance), np.nan)
    difference = fitted.ratings[:, None] - fitted.ratings[None, :]
    difference = np.where(np.isfinite(fitted.covariance), difference, np.nan)
    return _t_intervals(difference, spread, np.minimum(tasks[:, None], tasks[None, :]), level)


def contrast_variance(covariance: Floats) -> Floats:
    """(n, n) variances of the differences; what rounding leaves where two errors cancel is 0."""
    variance = np.diagonal(covariance)
    both = variance[:, None] + variance[None, :]
    left = both - 2.0 * covariance
    return np.where(left <= CANCELLED * both, 0.0, left)


def by_data(fitted: Fit) -> NDArray[np.bool_]:
    """(n, n) whether a difference would be finite without a prior."""
    component = strong_components(fitted.wins)
    return np.asarray(component[:, None] == component)


def _t_intervals(estimate: Floats, variance: Floats, tasks: NDArray[np.int64], level: float) -> Intervals:
    """Estimate +- t(T-1) standard errors."""
    check_level(level)
    degrees = np.where(tasks > 1, tasks - 1.0, np.nan)
    # Rounding can leave a variance of zero just below it.
    half = stdtrit(degrees, (1.0 + level) / 2.0) * np.sqrt(np.maximum(variance, 0.0))
    return Intervals(estimate, estimate - half, estimate + half, level, SANDWICH, tasks, "tasks")
