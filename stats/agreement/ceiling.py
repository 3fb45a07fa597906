"""How far two sets could agree at most, given that each is a finite number of tasks.

Under the model of classical test theory, two sets that measure the very same thing correlate by
sqrt(reliability_a * reliability_b) (Spearman 1904), where the reliability is a set's correlation with itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from stats.agreement.correlation import pearson_r
from stats.agreement.split_half import SplitHalf, chosen_among, rated_together, split_half
from stats.bootstrap import BATCH_NUMBERS, weighted_ratings
from stats.bradley_terry import Fit, Prior, fit
from stats.comparisons import Comparisons
from stats.intervals import Interval, check_level, percentile_interval
from stats.sandwich import task_covariance

Floats = NDArray[np.float64]

METHOD = "percentile bootstrap of tasks, with sandwich reliabilities in each replicate"


@dataclass(frozen=True)
class Ceiling:
    """Agreement of two sets beside the most that their own noise allows.

    Attributes:
        a, b: names of the sets.
        models: rated in both; all figures speak of them.
        reliability_a, reliability_b: each set with itself.
        observed: Pearson's r of the two sets.
        expected: sqrt(reliability_a * reliability_b), the r of two such sets that measure the same.
        disattenuated: observed / expected, an estimate of the r without noise; it may exceed 1.
        interval: of `disattenuated`, not cut at 1.
        notes: what is undefined or was left out, and why.
    """

    a: str
    b: str
    models: tuple[str, ...]
    reliability_a: SplitHalf
    reliability_b: SplitHalf
    observed: float
    expected: float
    disattenuated: float
    interval: Interval
    notes: tuple[str, ...] = ()

    @property
    def sentence(self) -> str:
        """The finding in words."""
        if np.isnan(self.expected):
            return f"No ceiling of the agreement of {self.a} and {self.b} is known: {'; '.join(self.notes)}."
        return (
            f"{self.a} agrees with itself at r = {self.reliability_a.value:.2f} and {self.b} with itself at "
            f"{self.reliability_b.value:.2f}, so two such sets that measure the same would agree at "
            f"{self.expected:.2f}; {self.b} agrees with {self.a} at {self.observed:.2f}."
        )


def ceiling(
    a: Comparisons,
    b: Comparisons,
    name_a: str = "a",
    name_b: str = "b",
    *,
    splits: int = 200,
    replicates: int = 1000,
    level: float = 0.95,
    seed: int = 0,
    prior: Prior | None = None,
) -> Ceiling:
    """Set the agreement of two sets of tasks beside the agreement of each with itself.

    For the interval of the disattenuated r the tasks of both sets (not the attempts within them) are
    resampled independently, and each replicate takes its own reliabilities, from the sandwich: halves of
    resampled tasks share tasks, so a split-half value would be too high. Since r and the reliabilities of a
    replicate fall together, their ratio stays centred and the percentile interval covers (92-99 % at nominal
    95 % in a simulation of 8 models and 10 to 100 tasks); the basic one covers 49-84 %.

    Args:
        a, b: comparisons of two sets that share no task.
        name_a, name_b: their names.
        splits: random halves of each set.
        replicates: of the bootstrap; 0 for no interval.
        level, seed: of the interval.
        prior: for all fits, or None for maximum likelihood.
    """
    if name_a == name_b:
        raise ValueError(f"both sets are named {name_a!r}")
    if replicates < 0:
        raise ValueError(f"replicates must not be negative, but are {replicates}")
    check_level(level)
    fits = {name_a: fit(a, prior=prior), name_b: fit(b, prior=prior)}
    rated = [{fitted.models[i] for i in rated_together(fitted)} for fitted in fits.values()]
    models = tuple(sorted(rated[0] & rated[1]))
    notes = []
    if left_out := sorted((set(a.models) | set(b.models)) - set(models)):
        notes.append(f"left out, not rated together with the others in both sets: {', '.join(left_out)}")
    if shared := set(a.tasks) & set(b.tasks):
        notes.append(f"the sets share {len(shared)} tasks, which raises their agreement: no ceiling holds")
    streams = np.random.default_rng(seed).spawn(4)
    halves = [
        split_half(sets, splits=splits, seed=stream, prior=prior, models=models, level=level)
        for sets, stream in zip((a, b), streams[:2], strict=True)
    ]
    notes += [f"{name}: {note}" for name, half in zip(fits, halves, strict=True) for note in half.notes]
    x, y = (fitted.ratings[[fitted.models.index(model) for model in models]] for fitted in fits.values())
    observed = float(pearson_r(x, y)) if models else np.nan
    expected = _geometric_mean(*(np.array(half.value) for half in halves))
    disattenuated = float(observed / expected)
    if np.isnan(expected) and np.isfinite([half.value for half in halves]).all():
        notes.append("no ceiling: a reliability is not positive, so the set tells no models apart")
    if disattenuated > 1:
        notes.append("the disattenuated r exceeds 1: the sets agree better than their noise lets expect")
    interval = Interval(np.nan, np.nan, level, METHOD, min(len(a.tasks), len(b.tasks)), "tasks")
    if replicates > 0 and np.isfinite(disattenuated):
        drawn = [
            _resampled(sets, fitted, models, replicates, stream)
            for sets, fitted, stream in zip((a, b), fits.values(), streams[2:], strict=True)
        ]
        (x, reliability_a), (y, reliability_b) = drawn
        values = pearson_r(x, y) / _geometric_mean(reliability_a, reliability_b)
        limits = percentile_interval(values, level, n=interval.n)
        interval = Interval(
            limits.low, limits.high, level, METHOD, limits.n, limits.unit, replicates, limits.failed
        )
        if limits.failed:
            notes.append(
                f"{limits.failed} of {replicates} bootstrap replicates have no finite fit or no positive "
                "reliability and were left out"
            )
    return Ceiling(
        name_a, name_b, models, halves[0], halves[1], observed, float(expected), disattenuated, interval,
        tuple(notes),
    )  # fmt: skip


def sandwich_reliability(comparisons: Comparisons, fitted: Fit, models: Sequence[str] | None = None) -> float:
    """1 - error variance / variance of the ratings, the error from the task-clustered sandwich.

    Cheap, since nothing is refitted, but too low for few tasks: the errors of models far from the mean are
    large on the Elo scale (0.66 for 0.73 at 10 tasks of 8 simulated models, 0.955 for 0.964 at 100; split
    halves give 0.72 and 0.967). May be negative; NaN without a second task or with equal ratings.
    """
    chosen = chosen_among(fitted, models)
    covariance = task_covariance(comparisons, fitted)[0][np.ix_(chosen, chosen)]
    if len(chosen) < 2:
        return float("nan")
    error = (np.trace(covariance) - covariance.sum() / len(chosen)) / (len(chosen) - 1)
    spread = fitted.ratings[chosen].var(ddof=1)
    return float(1.0 - error / spread) if spread > 0 else float("nan")


def _resampled(
    comparisons: Comparisons,
    fitted: Fit,
    models: Sequence[str],
    replicates: int,
    stream: np.random.Generator,
) -> tuple[Floats, Floats]:
    """(B, m) strengths of the models on resampled tasks, and the (B,) sandwich reliabilities."""
    block, tasks = rated_together(fitted), len(comparisons.tasks)
    chosen = np.array([list(block).index(i) for i in chosen_among(fitted, models)])
    wins = comparisons.wins[:, block[:, None], block[None, :]]
    draws = stream.multinomial(tasks, np.full(tasks, 1.0 / tasks), size=replicates).astype(np.float64)
    theta = (weighted_ratings(comparisons, fitted, draws)[:, block] - fitted.offset) / fitted.unit
    reliability = np.full(replicates, np.nan)
    batch = max(1, BATCH_NUMBERS // (tasks * len(block)))
    for first in range(0, replicates, batch):
        part = slice(first, first + batch)
        reliability[part] = _reliabilities(wins, draws[part], theta[part], fitted.precision, chosen)
    return theta[:, chosen], reliability


def _reliabilities(
    wins: Floats, weights: Floats, theta: Floats, precision: float, chosen: NDArray[np.int64]
) -> Floats:
    """(B,) sandwich reliabilities of task-weighted fits, as `sandwich_reliability` has them for one fit."""
    size = wins.shape[1]
    p = expit(theta[:, :, None] - theta[:, None, :])
    total = np.tensordot(weights, wins, axes=1)
    information = -(total + total.transpose(0, 2, 1)) * p * (1.0 - p)
    diagonal = np.arange(size)
    information[:, diagonal, diagonal] = 0.0
    weight = -information.sum(axis=2)
    information[:, diagonal, diagonal] = weight + precision
    # The constant fills the null space; what it adds to the inverse drops out when errors are centred.
    information += (weight.mean(axis=1) / size)[:, None, None]
    counts = (wins + wins.transpose(0, 2, 1)).reshape(len(wins), size, size)
    scores = wins.sum(axis=2) - np.einsum("tij,bij->bti", counts, p)
    compared = wins.any(axis=(1, 2))
    drawn = weights[:, compared].sum(axis=1)
    scores -= (weights[:, :, None] * scores).sum(axis=1, keepdims=True) / drawn[:, None, None]
    finite = np.isfinite(theta).all(axis=1)
    errors = np.full_like(scores, np.nan)
    if finite.any():
        errors[finite] = np.linalg.solve(information[finite], scores[finite].transpose(0, 2, 1)).transpose(
            0, 2, 1
        )
    errors = errors[:, :, chosen]
    errors -= errors.mean(axis=2, keepdims=True)
    squares = (weights[:, compared, None] * errors[:, compared] ** 2).sum(axis=(1, 2))
    with np.errstate(divide="ignore", invalid="ignore"):
        error = squares * drawn / (drawn - 1.0) / (len(chosen) - 1)
        return np.asarray(1.0 - error / theta[:, chosen].var(axis=1, ddof=1))


def _geometric_mean(a: Floats, b: Floats) -> Floats:
    """sqrt(a b); NaN unless both are positive."""
    positive = (a > 0) & (b > 0)
    return np.sqrt(np.where(positive, a * b, np.nan))
