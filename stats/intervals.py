"""What an interval says about itself, and intervals from bootstrap replicates."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


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

    Resampling tasks adds noise, so that replicates of a correlation lie below the estimate as the estimate
    lies below the truth. The basic interval corrects this bias, as if it did not depend on the truth; the
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


def bca_interval(
    estimate: float,
    replicates: Floats,
    jackknife: Sequence[Floats],
    level: float = 0.95,
    *,
    n: int,
    unit: str = "tasks",
) -> Interval:
    """Bias-corrected and accelerated bootstrap interval (Efron 1987, JASA 82:171).

    Args:
        estimate: from the full data.
        replicates: (B,) bootstrap values.
        jackknife: per sample (such as the two sets), the values with each of its units left out. With several
            samples the acceleration sums over all units; values that do not exist are left out.
        level, n, unit: as in the result.

    Returns:
        NaN limits if all replicates lie on one side of the estimate, or no unit has influence: the method has
        no answer then.
    """
    from scipy.stats import norm

    check_level(level)
    finite = replicates[np.isfinite(replicates)]
    failed = len(replicates) - len(finite)
    low = high = np.nan
    below = ((finite < estimate).mean() + (finite <= estimate).mean()) / 2 if len(finite) else np.nan
    # l_i = (m - 1) (mean - value without i), each divided by its sample's m in the empirical third moment.
    influence = [
        (1.0 - 1.0 / len(values)) * (values.mean() - values)
        for values in (sample[np.isfinite(sample)] for sample in jackknife)
        if len(values)
    ]
    pooled = np.concatenate(influence) if influence else np.zeros(0)
    pooled = pooled / (np.abs(pooled).max(initial=0.0) or 1.0)  # only their shape counts
    spread = float((pooled**2).sum())
    if 0 < below < 1 and spread > 0 and np.isfinite(estimate):
        bias = norm.ppf(below)
        acceleration = float((pooled**3).sum()) / (6.0 * spread**1.5)
        z = bias + norm.ppf([(1.0 - level) / 2.0, (1.0 + level) / 2.0])
        low, high = np.quantile(finite, norm.cdf(bias + z / (1.0 - acceleration * z)))
    method = "BCa bootstrap with a jackknife"
    return Interval(float(low), float(high), level, method, n, unit, len(replicates), failed)


def check_level(level: float) -> None:
    """Refuse what is no probability."""
    if not 0 < level < 1:
        raise ValueError(f"level must lie between 0 and 1, not {level}")


def _quantiles(replicates: Floats, level: float) -> tuple[float, float, int]:
    """Outer quantiles of the finite replicates, and how many are not finite."""
    check_level(level)
    finite = replicates[np.isfinite(replicates)]
    failed = len(replicates) - len(finite)
    if len(finite) < 2:
        return np.nan, np.nan, failed
    low, high = np.quantile(finite, [(1.0 - level) / 2.0, (1.0 + level) / 2.0])
    return float(low), float(high), failed
