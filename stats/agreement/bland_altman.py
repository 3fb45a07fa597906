"""Bland-Altman analysis: how far apart two measurements of the same models are, in their own unit."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import stdtrit

from stats.intervals import check_level
from stats.vectors import finite_pair

Floats = NDArray[np.float64]
LimitsMethod = Literal["exact", "1999", "1986"]


@dataclass(frozen=True)
class BlandAltman:
    """Differences x - y against means (x + y) / 2.

    Attributes:
        n: pairs.
        bias: mean difference.
        sd: standard deviation of the differences, divisor n - 1.
        loa_low, loa_high: limits of agreement, bias -+ multiplier * sd.
        multiplier: 1.96 unless asked otherwise; Bland & Altman 1986 print 2.
        level: nominal coverage of the intervals below.
        bias_interval: t interval of the bias.
        loa_low_interval, loa_high_interval: intervals of the limits.
        limits_method: `exact` (non-central t, Carkeet 2015), or the t quantile with the variance of Bland &
            Altman `1999`, s^2 (1/n + multiplier^2 / (2(n-1))), or `1986`, 3 s^2 / n.
        slope, slope_p: regression of the difference on the mean (proportional bias), two-sided p value.
        notes: what is undefined, and why.
    """

    n: int
    bias: float
    sd: float
    loa_low: float
    loa_high: float
    multiplier: float
    level: float
    bias_interval: tuple[float, float]
    loa_low_interval: tuple[float, float]
    loa_high_interval: tuple[float, float]
    limits_method: LimitsMethod
    slope: float
    slope_p: float
    notes: tuple[str, ...]


def bland_altman(
    x: ArrayLike,
    y: ArrayLike,
    *,
    multiplier: float = 1.96,
    level: float = 0.95,
    limits_method: LimitsMethod = "exact",
) -> BlandAltman:
    """Bland-Altman figures of two vectors of n finite values in one unit.

    With one pair only the bias is defined; with two, the slope has no p value.

    Raises:
        ValueError: vectors of different or no length, values that are not finite, a multiplier that is not
            positive and finite, or an unknown method.
    """
    a, b = finite_pair(x, y)
    check_level(level)
    if not 0 < multiplier < np.inf:
        raise ValueError("the multiplier must be positive and finite")
    if limits_method not in ("exact", "1999", "1986"):
        raise ValueError(f"limits_method={limits_method!r}: expected 'exact', '1999' or '1986'")
    difference, n = a - b, a.size
    bias = float(difference.mean())
    nan = (float("nan"), float("nan"))
    if n == 1:
        return BlandAltman(
            1, bias, *nan, nan[0], multiplier, level, nan, nan, nan, limits_method, *nan,
            ("one pair: only the bias is defined",),
        )  # fmt: skip
    sd = float(difference.std(ddof=1))
    t = float(stdtrit(n - 1, (1 + level) / 2))
    half = t * sd / float(np.sqrt(n))
    low, high = bias - multiplier * sd, bias + multiplier * sd
    inner, outer = _limit_offsets(n, sd, multiplier, level, limits_method)
    slope, slope_p, notes = _proportional_bias(difference, (a + b) / 2)
    return BlandAltman(
        n=n,
        bias=bias,
        sd=sd,
        loa_low=low,
        loa_high=high,
        multiplier=multiplier,
        level=level,
        bias_interval=(bias - half, bias + half),
        loa_low_interval=(bias - outer, bias - inner),
        loa_high_interval=(bias + inner, bias + outer),
        limits_method=limits_method,
        slope=slope,
        slope_p=slope_p,
        notes=notes,
    )


def _limit_offsets(
    n: int, sd: float, multiplier: float, level: float, method: LimitsMethod
) -> tuple[float, float]:
    """Distances from the bias to the inner and outer end of a limit's interval."""
    if method == "exact":
        from scipy.stats import nct

        quantiles = nct.ppf([(1 - level) / 2, (1 + level) / 2], n - 1, multiplier * np.sqrt(n))
        inner, outer = quantiles * sd / np.sqrt(n)
        return float(inner), float(outer)
    share = 3 / n if method == "1986" else 1 / n + multiplier**2 / (2 * (n - 1))
    error = sd * np.sqrt(share)
    half = float(stdtrit(n - 1, (1 + level) / 2)) * error
    return multiplier * sd - half, multiplier * sd + half


def _proportional_bias(difference: Floats, mean: Floats) -> tuple[float, float, tuple[str, ...]]:
    """Slope of the difference on the mean, its p value, and notes."""
    from scipy.stats import linregress

    if np.ptp(mean) == 0:
        return np.nan, np.nan, ("all means are equal: no proportional-bias slope",)
    if mean.size == 2:
        return (
            float(np.diff(difference)[0] / np.diff(mean)[0]),
            np.nan,
            ("two pairs: the slope has no p value",),
        )
    line = linregress(mean, difference)
    return float(line.slope), float(line.pvalue), ()
