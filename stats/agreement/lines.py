"""Lines between two sets of ratings where both carry error: Deming's and Passing & Bablok's.

Least squares takes x as exact, which flattens the slope of one set of ratings on another. Here both sets are
measurements, and exchanging them gives the same line (nearly the same, for Passing & Bablok's with an even
number of slopes). A slope of 1 means that both spread the models alike.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtri, stdtrit

from stats.intervals import Interval, check_level
from stats.vectors import LARGEST, SMALLEST, finite_pair

Floats = NDArray[np.float64]

JACKKNIFE = "jackknife with t(n-2) (Linnet 1990); models as the sample"
RANKED_SLOPES = "ranked slopes (Passing & Bablok 1983); models as the sample"


@dataclass(frozen=True)
class Line:
    """y = intercept + slope * x.

    Attributes:
        slope, intercept: NaN where no line exists.
        slope_interval, intercept_interval: they take the models as the sample, not the tasks.
        n: points.
        method: estimator, with its assumption on the errors.
        notes: what is undefined, and why.
    """

    slope: float
    intercept: float
    slope_interval: Interval
    intercept_interval: Interval
    n: int
    method: str
    notes: tuple[str, ...] = ()


def deming(x: ArrayLike, y: ArrayLike, ratio: float = 1.0, level: float = 0.95) -> Line:
    """Maximum-likelihood line when x and y both have normal errors whose variances stand in a known ratio.

    With l = `ratio` and d = s_yy - l s_xx, the slope is (d + sqrt(d^2 + 4 l s_xy^2)) / (2 s_xy), and the line
    passes through the means (Deming 1943).

    Args:
        x, y: n finite values each.
        ratio: error variance of y divided by that of x (not the reverse, as some packages have it);
            `error_ratio` estimates it from two sets of ratings. 1 is orthogonal regression.
        level: nominal coverage of the intervals, b +- t(n-2) times the standard error of the jackknife.

    Raises:
        ValueError: vectors of different or no length, values that are not finite, a ratio that is not
            positive and finite, or a bad level.
    """
    a, b = finite_pair(x, y)
    check_level(level)
    if not 0 < ratio < np.inf:
        raise ValueError(f"the ratio of error variances must be positive and finite, not {ratio}")
    n, method = a.size, f"Deming, error variance of y / error variance of x = {ratio:g}"
    slope, intercept = (float(part[0]) for part in _deming_lines(a[None], b[None], ratio))
    notes = _without_line(a, b)
    if not notes and np.isnan(slope):
        notes = ("no line: x and y are uncorrelated and no direction spreads more than the others",)
    if notes or n < 3:
        notes = notes or ("two points: the line passes through both and has no interval",)
        return Line(slope, intercept, *_no_intervals(level, JACKKNIFE, n), n, method, notes)
    rest = ~np.eye(n, dtype=bool)
    without = _deming_lines(
        np.broadcast_to(a, (n, n))[rest].reshape(n, n - 1),
        np.broadcast_to(b, (n, n))[rest].reshape(n, n - 1),
        ratio,
    )
    undefined = int(np.isnan(without[0]).sum())
    if undefined:
        notes = (f"no interval: without one of {undefined} models no line exists",)
    intervals = []
    for estimate, others in zip((slope, intercept), without, strict=True):
        error = np.sqrt((n - 1) / n * ((others - others.mean()) ** 2).sum())
        half = float(stdtrit(n - 2, (1 + level) / 2) * error)
        intervals.append(Interval(estimate - half, estimate + half, level, JACKKNIFE, n, "models"))
    return Line(slope, intercept, intervals[0], intervals[1], n, method, notes)


def error_ratio(covariance_x: ArrayLike, covariance_y: ArrayLike) -> float:
    """Mean squared standard error of y divided by that of x, the `ratio` of `deming`.

    Args:
        covariance_x, covariance_y: covariances of the ratings of the same models in the two sets, such as
            `stats.sandwich.task_covariance` gives them.

    Raises:
        ValueError: matrices of different shapes, or a set whose errors are unknown or zero.
    """
    x, y = (np.diagonal(np.asarray(c, dtype=np.float64)) for c in (covariance_x, covariance_y))
    if x.shape != y.shape:
        raise ValueError(f"the sets rate {x.size} and {y.size} models; the ratio needs the same ones")
    for name, variances in (("x", x), ("y", y)):
        if not (np.isfinite(variances).all() and (variances >= 0).all() and variances.any()):
            raise ValueError(f"the standard errors of {name} must be known and not all zero")
        if not SMALLEST <= variances.mean() <= LARGEST:
            raise ValueError(f"the variances of {name} must lie between {SMALLEST:g} and {LARGEST:g}")
    return float(y.mean() / x.mean())


def passing_bablok(x: ArrayLike, y: ArrayLike, level: float = 0.95) -> Line:
    """Shifted median of the slopes of all pairs of points (Passing & Bablok 1983, J Clin Chem 21:709).

    Slopes are ranked from -1 upwards through 0 and the vertical, and those below -1 last, which is the shift
    K of the paper and makes the estimate the same from either axis (nearly so for an even number of slopes,
    whose median is the mean of the middle two). Equal points give no slope, slopes of
    exactly -1 are dropped, vertical ones are kept. The errors may have any distribution, of spreads in the
    ratio that the slope has. (Theil's slope, `scipy.stats.theilslopes`, lacks the shift: it takes x as
    exact.)

    Args:
        x, y: n finite values each, rising together.
        level: nominal coverage; the limits are slopes that occurred, so few points allow none.

    Raises:
        ValueError: vectors of different or no length, values that are not finite, or a bad level.
    """
    a, b = finite_pair(x, y)
    check_level(level)
    n, method = a.size, "Passing-Bablok"
    nothing = _no_intervals(level, RANKED_SLOPES, n)
    notes = _without_line(a, b)
    if notes:
        return Line(np.nan, np.nan, *nothing, n, method, notes)
    i, j = np.triu_indices(n, 1)
    rise, run = b[i] - b[j], a[i] - a[j]
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        slopes = np.where(run == 0, np.where(rise == 0, np.nan, np.inf), rise / run)
    ranked = np.concatenate([np.sort(slopes[slopes > -1]), np.sort(slopes[slopes < -1])])
    count = ranked.size
    middle = ranked[[(count - 1) // 2, count // 2]] if count else np.full(2, np.nan)
    # In an order that falls below -1 after the vertical, a median at or past the vertical has no line.
    if not (-1 < middle[0] <= middle[1] < np.inf):
        notes = ("no line: the median slope is vertical or x and y do not rise together",)
        return Line(np.nan, np.nan, *nothing, n, method, notes)
    slope = float(middle.mean())
    intercept = float(np.median(b - slope * a))
    if slope <= 0:
        notes = ("x and y do not rise together, as Passing-Bablok takes for granted",)
    half = float(ndtri((1 + level) / 2)) * np.sqrt(n * (n - 1) * (2 * n + 5) / 18)
    first = round((count - half) / 2)
    if first < 1:
        notes += (f"no interval: {n} points have too few slopes for the level {level:g}",)
        return Line(slope, intercept, *nothing, n, method, notes)
    low, high = float(ranked[first - 1]), float(ranked[count - first])
    if not low <= high < np.inf:
        notes += ("no interval: it reaches the vertical",)
        return Line(slope, intercept, *nothing, n, method, notes)
    return Line(
        slope,
        intercept,
        Interval(low, high, level, RANKED_SLOPES, n, "models"),
        Interval(
            float(np.median(b - high * a)), float(np.median(b - low * a)), level, RANKED_SLOPES, n, "models"
        ),
        n,
        method,
        notes,
    )


def _deming_lines(x: Floats, y: Floats, ratio: float) -> tuple[Floats, Floats]:
    """Slopes and intercepts along the last axis; NaN where the line is vertical or has no direction."""
    mean_x, mean_y = x.mean(axis=-1), y.mean(axis=-1)
    # A constant is centred to exactly zero, despite rounding.
    u = np.where(np.ptp(x, axis=-1, keepdims=True) > 0, x - mean_x[..., None], 0.0)
    v = np.where(np.ptp(y, axis=-1, keepdims=True) > 0, y - mean_y[..., None], 0.0)
    s_xx, s_yy, s_xy = (u * u).sum(axis=-1), (v * v).sum(axis=-1), (u * v).sum(axis=-1)
    d = s_yy - ratio * s_xx
    root = np.hypot(d, 2.0 * np.sqrt(ratio) * s_xy)
    with np.errstate(divide="ignore", invalid="ignore"):
        # Two forms of one root; each is free of cancellation on its side.
        slope = np.where(d >= 0, (d + root) / (2.0 * s_xy), 2.0 * ratio * s_xy / (root - d))
    slope = np.where(np.isfinite(slope) & (s_xx > 0) & (s_yy > 0), slope, np.nan)
    return slope, mean_y - slope * mean_x


def _without_line(x: Floats, y: Floats) -> tuple[str, ...]:
    """Why no line exists, if so."""
    if x.size == 1:
        return ("one point: no line",)
    return tuple(f"{name} is constant: no line" for name, v in (("x", x), ("y", y)) if np.ptp(v) == 0)


def _no_intervals(level: float, method: str, n: int) -> tuple[Interval, Interval]:
    nothing = Interval(np.nan, np.nan, level, method, n, "models")
    return nothing, nothing
