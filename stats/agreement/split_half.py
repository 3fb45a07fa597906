"""How far a set agrees with itself: the correlation of two random halves of its tasks, stepped up.

A set does not agree perfectly with itself: rated on other tasks of the same kind, the models move. The
correlation of two such ratings is the reliability of the set.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from stats.agreement.correlation import STATISTICS
from stats.bootstrap import weighted_ratings
from stats.bradley_terry import Fit, Prior, fit
from stats.comparisons import Comparisons
from stats.intervals import check_level

Floats = NDArray[np.float64]

MIN_TASKS = 4
"""Halves of fewer than two tasks say nothing."""


@dataclass(frozen=True)
class SplitHalf:
    """How far a set agrees with another one like it.

    Attributes:
        value: reliability of the whole set: its correlation with another set of as many tasks of the same
            kind. Median over the splits, stepped up by Spearman-Brown; NaN where undefined.
        half: median correlation of the two halves, before it is stepped up.
        low, high: quantiles of `value` over the splits. They show what the choice of the halves does and are
            no confidence interval.
        level: share of the splits between them.
        statistic: the correlation of the halves.
        n, tasks: models and tasks.
        splits, failed: splits drawn, and those without a finite fit of both halves, left out.
        notes: what is undefined or was left out, and why.
    """

    value: float
    half: float
    low: float
    high: float
    level: float
    statistic: str
    n: int
    tasks: int
    splits: int
    failed: int
    notes: tuple[str, ...] = ()


def split_half(
    comparisons: Comparisons,
    statistic: str = "pearson_r",
    splits: int = 200,
    seed: int | np.random.Generator = 0,
    prior: Prior | None = None,
    *,
    models: Sequence[str] | None = None,
    level: float = 0.95,
) -> SplitHalf:
    """Correlation of the ratings from two random halves of the tasks, stepped up to the whole set.

    Halves have h = T // 2 tasks each; with T odd, one task stays out of each split. A correlation r of the
    halves becomes k r / (1 + (k - 1) r) with k = T / h, the Spearman-Brown formula. Splits in which a model
    beats, or loses to, all others in a half have no finite fit; if they are many, the median is of the easy
    ones, and a prior is the way out.

    Args:
        comparisons: of four or more tasks.
        statistic: `pearson_r`, for which the formula was made, or `spearman_rho`, for which it is a custom.
        splits, seed: random halves drawn.
        prior: for the fits, or None for maximum likelihood.
        models: those whose ratings are correlated; by default all that were rated together.
        level: share of the splits between `low` and `high`.

    Raises:
        ValueError: another statistic, no split, a bad level, or a model that has no rating.
    """
    if statistic not in ("pearson_r", "spearman_rho"):
        raise ValueError(f"statistic={statistic!r}: expected 'pearson_r' or 'spearman_rho'")
    if splits < 1:
        raise ValueError("splits must be positive")
    check_level(level)
    fitted = fit(comparisons, prior=prior)
    chosen = chosen_among(fitted, models)
    tasks, n = len(comparisons.tasks), len(chosen)
    reason = ""
    if tasks < MIN_TASKS:
        reason = f"{tasks} tasks: halves need at least {MIN_TASKS}"
    elif n < 3:
        reason = f"{n} models: a correlation that says something needs three"
    if reason:
        return SplitHalf(
            np.nan, np.nan, np.nan, np.nan, level, statistic, n, tasks, 0, 0, (f"undefined: {reason}",)
        )
    size = tasks // 2
    order = np.random.default_rng(seed).permuted(np.tile(np.arange(tasks), (splits, 1)), axis=1)
    halves = np.zeros((2, splits, tasks))
    for half_tasks, members in zip(halves, (order[:, :size], order[:, size : 2 * size]), strict=True):
        np.put_along_axis(half_tasks, members, 1.0, axis=1)
    first, second = (weighted_ratings(comparisons, fitted, half)[:, chosen] for half in halves)
    usable = np.isfinite(first).all(axis=1) & np.isfinite(second).all(axis=1)
    correlations = STATISTICS[statistic][0](first[usable], second[usable])
    correlations = correlations[np.isfinite(correlations)]
    failed = splits - len(correlations)
    notes: tuple[str, ...] = ()
    if failed:
        notes = (f"{failed} of {splits} splits have no finite fit of both halves and were left out",)
    if not len(correlations):
        return SplitHalf(np.nan, np.nan, np.nan, np.nan, level, statistic, n, tasks, splits, failed, notes)
    outer = np.array([0.5, (1 - level) / 2, (1 + level) / 2])
    half = float(np.median(correlations))
    value, low, high = _stepped_up(np.quantile(correlations, outer), tasks / size)
    if np.isnan(value):
        notes += ("undefined: the halves correlate too negatively to be stepped up",)
    return SplitHalf(
        float(value), half, float(low), float(high), level, statistic, n, tasks, splits, failed, notes
    )


def _stepped_up(r: Floats, factor: float) -> Floats:
    """Spearman-Brown for a test `factor` times as long; NaN where the formula has no positive variance."""
    below = 1.0 + (factor - 1.0) * r
    return np.where(below > 1e-12, factor * r / np.where(below > 1e-12, below, 1.0), np.nan)


def rated_together(fitted: Fit) -> NDArray[np.int64]:
    """Indices of the largest set of models that were fitted together."""
    return max(fitted.blocks, key=len, default=np.empty(0, dtype=np.int64))


def chosen_among(fitted: Fit, models: Sequence[str] | None) -> NDArray[np.int64]:
    """Indices of the models, or of all that were rated together; one that was not is named in an error."""
    block = rated_together(fitted)
    if models is None:
        return block
    place = {fitted.models[i]: i for i in block}
    if unrated := [model for model in models if model not in place]:
        raise ValueError(f"not rated together with the others: {', '.join(unrated)}")
    return np.array([place[model] for model in models], dtype=np.int64)
