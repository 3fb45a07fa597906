"""Intervals for ratings and for any statistic of ratings, with the task as the unit.

Comparisons of one task share that task, so they are not independent: intervals from the Fisher information
or from resampled comparisons are far too narrow. Ratings and their contrasts get a task-clustered sandwich;
everything else gets a bootstrap that resamples tasks and refits.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, stdtrit

from stats.bradley_terry import CONVERGED, Fit, fit, inverse_information, solve
from stats.comparisons import Comparisons
from stats.connectivity import strongly_connected

Floats = NDArray[np.float64]

SANDWICH = "task-clustered sandwich with T/(T-1), t quantile with T-1 degrees of freedom"
BATCH_NUMBERS = 1 << 18
"""Numbers per array of a batch of refits: about the size of a processor's cache."""


@dataclass(frozen=True)
class Interval:
    """One interval, and where it comes from.

    Attributes:
        low, high: limits; NaN where undefined.
        level: nominal coverage.
        method: how it was computed.
        n: number of units of the sample.
        unit: what was sampled: `tasks` or `models`.
        replicates: bootstrap replicates drawn; 0 for a formula.
        failed: replicates without a finite value, left out.
    """

    low: float
    high: float
    level: float
    method: str
    n: int
    unit: str
    replicates: int = 0
    failed: int = 0


@dataclass(frozen=True, eq=False)
class Intervals:
    """Intervals for an array of estimates of one shape; `n` counts the units behind each of them."""

    estimate: Floats
    low: Floats
    high: Floats
    level: float
    method: str
    n: NDArray[np.int64]
    unit: str


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
    """(n,) intervals of the ratings about the mean rating; NaN without a rating or a second task."""
    covariance, tasks = task_covariance(comparisons, fitted)
    variance = np.diagonal(covariance)
    return _t_intervals(fitted.ratings, variance, tasks, level)


def contrast_intervals(comparisons: Comparisons, fitted: Fit, level: float = 0.95) -> Intervals:
    """(n, n) intervals of R_i - R_j; NaN between groups that were never compared."""
    covariance, tasks = task_covariance(comparisons, fitted)
    variance = np.diagonal(covariance)
    spread = variance[:, None] + variance[None, :] - 2.0 * covariance
    difference = fitted.ratings[:, None] - fitted.ratings[None, :]
    difference = np.where(np.isfinite(fitted.covariance), difference, np.nan)
    return _t_intervals(difference, spread, np.minimum(tasks[:, None], tasks[None, :]), level)


def _t_intervals(estimate: Floats, variance: Floats, tasks: NDArray[np.int64], level: float) -> Intervals:
    """Estimate +- t(T-1) standard errors."""
    _check_level(level)
    degrees = np.where(tasks > 1, tasks - 1.0, np.nan)
    # Rounding can leave a variance of zero just below it.
    half = stdtrit(degrees, (1.0 + level) / 2.0) * np.sqrt(np.maximum(variance, 0.0))
    return Intervals(estimate, estimate - half, estimate + half, level, SANDWICH, tasks, "tasks")


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


def basic_interval(
    estimate: float,
    replicates: Floats,
    level: float = 0.95,
    *,
    n: int,
    unit: str = "tasks",
    bounds: tuple[float, float] = (-np.inf, np.inf),
) -> Interval:
    """Basic bootstrap interval [2 e - q_high, 2 e - q_low], cut at the bounds of the statistic.

    The default for agreement statistics: resampling tasks adds noise, so that replicates of a correlation lie
    below the estimate as the estimate lies below the truth. The basic interval corrects this bias; the
    percentile interval doubles it.
    """
    low, high, failed = _quantiles(replicates, level)
    limits = np.clip([2.0 * estimate - high, 2.0 * estimate - low], *bounds)
    if not np.isfinite(estimate):
        limits = np.full(2, np.nan)
    return Interval(
        float(limits[0]), float(limits[1]), level, "basic bootstrap", n, unit, len(replicates), failed
    )


def percentile_interval(replicates: Floats, level: float = 0.95, *, n: int, unit: str = "tasks") -> Interval:
    """Percentile bootstrap interval. Not for agreement statistics: it covers them far too rarely."""
    low, high, failed = _quantiles(replicates, level)
    return Interval(low, high, level, "percentile bootstrap", n, unit, len(replicates), failed)


def _quantiles(replicates: Floats, level: float) -> tuple[float, float, int]:
    """Outer quantiles of the finite replicates, and how many are not finite."""
    _check_level(level)
    finite = replicates[np.isfinite(replicates)]
    failed = len(replicates) - len(finite)
    if len(finite) < 2:
        return np.nan, np.nan, failed
    low, high = np.quantile(finite, [(1.0 - level) / 2.0, (1.0 + level) / 2.0])
    return float(low), float(high), failed


def _check_level(level: float) -> None:
    if not 0 < level < 1:
        raise ValueError(f"level must lie between 0 and 1, not {level}")
