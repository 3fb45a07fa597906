"""A share of outcomes with its interval, and the spread of some numbers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

LEVEL = 0.95


@dataclass(frozen=True)
class Share:
    """How many of how many.

    Attributes:
        count: of those that are of the kind.
        of: of all.
        low, high: 95 % interval; ``None`` with fewer than two datasets, as one says nothing of others.
    """

    count: int
    of: int
    low: float | None = None
    high: float | None = None

    @property
    def value(self) -> float | None:
        """The share; ``None`` of nothing."""
        return self.count / self.of if self.of else None


@dataclass(frozen=True)
class Spread:
    """Where numbers lie: how many there are, their mean, quartiles and largest."""

    count: int
    mean: float
    lower_quartile: float
    median: float
    upper_quartile: float
    largest: float


def share_of(outcomes: Iterable[tuple[str, bool]]) -> Share:
    """The share of true outcomes among all.

    The interval is Wilson's (1927). Outcomes of one dataset resemble each other, so where a dataset has
    several, the number of trials is the effective one, p (1 - p) / v, with v the variance of a ratio over
    sampled clusters, and the normal quantile gives way to Student's. The trials are at most the outcomes.
    Where all outcomes are alike, which leaves no variance to estimate, they are the datasets.

    Args:
        outcomes: dataset and outcome.
    """
    clusters: dict[str, list[bool]] = {}
    for dataset, outcome in outcomes:
        clusters.setdefault(dataset, []).append(outcome)
    sizes = np.array([len(each) for each in clusters.values()], dtype=float)
    hits = np.array([sum(each) for each in clusters.values()], dtype=float)
    count, of, datasets = int(hits.sum()), int(sizes.sum()), len(clusters)
    if datasets < 2:
        return Share(count, of)
    from scipy.special import ndtri, stdtrit

    value, single = count / of, bool((sizes == 1).all())
    variance = datasets / (datasets - 1) * float(((hits - value * sizes) ** 2).sum()) / of**2
    alike = count in (0, of)
    if single or alike:
        trials = float(datasets)
    else:
        trials = min(value * (1 - value) / variance, float(of)) if variance > 0 else float(of)
    upper = (1 + LEVEL) / 2
    reach = float(ndtri(upper) if single or alike else stdtrit(datasets - 1, upper))
    return Share(count, of, *_wilson(value, trials, reach))


def _wilson(value: float, trials: float, reach: float) -> tuple[float, float]:
    """The shares p with ``|value - p| = reach sqrt(p (1 - p) / trials)``."""
    pull = reach**2 / trials
    centre = (value + pull / 2) / (1 + pull)
    half = float(np.sqrt(pull * value * (1 - value) + pull**2 / 4)) / (1 + pull)
    # They lie within [0, 1] but for rounding.
    return max(0.0, float(centre - half)), min(1.0, float(centre + half))


def spread_of(values: Sequence[float]) -> Spread | None:
    """The spread of some numbers, with quartiles by linear interpolation; ``None`` of nothing."""
    if not values:
        return None
    lower, median, upper = map(float, np.quantile(np.asarray(values, dtype=float), (0.25, 0.5, 0.75)))
    return Spread(len(values), float(np.mean(values)), lower, median, upper, float(max(values)))


def tally(values: Iterable[int]) -> Mapping[int, int]:
    """How often each whole number occurs, in ascending order."""
    found: dict[int, int] = {}
    for value in values:
        found[value] = found.get(value, 0) + 1
    return dict(sorted(found.items()))
