"""Reliability of several sets as measurements of the same models: Cronbach's alpha and the ICC.

Alpha (Cronbach 1951) is pingouin's, of rows without a missing value, since it counts rows that it leaves out
into its sample size; the limits, which it rounds, are Feldt's (1965, Psychometrika 30:357). The ICC comes
from the mean squares (McGraw & Wong 1996, Psychol Methods 1:30, as corrected in 1:390): pingouin refuses
fewer than five values and any level but 95 %, and rounds the limits. The forms for many tables at once serve
searches through thousands of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import fdtri

from stats.intervals import check_level
from stats.vectors import check_range

Floats = NDArray[np.float64]

ICC_NAMES = MappingProxyType(
    {
        "ICC(1,1)": "ICC(1,1)",
        "ICC(2,1)": "ICC(A,1)",
        "ICC(3,1)": "ICC(C,1)",
        "ICC(1,k)": "ICC(1,k)",
        "ICC(2,k)": "ICC(A,k)",
        "ICC(3,k)": "ICC(C,k)",
    }
)
"""Shrout & Fleiss's names, which the paper uses, to McGraw & Wong's, which pingouin and R's irr print."""


@dataclass(frozen=True)
class Reliability:
    """One coefficient.

    Attributes:
        value: the coefficient; may be negative; NaN where undefined.
        low, high: limits; NaN where undefined.
        level: their nominal coverage.
        method: name of the interval.
        n, k: models used, and sets.
        notes: what was left out or is undefined, and why.
    """

    value: float
    low: float
    high: float
    level: float
    method: str
    n: int
    k: int
    notes: tuple[str, ...] = ()


def cronbach_alpha(matrix: ArrayLike, level: float = 0.95) -> Reliability:
    """Raw (not standardised) alpha of n models by k sets, with Feldt's interval.

    Raises:
        ValueError: fewer than two sets, infinite values, or a bad level.
    """
    values, notes = _complete(matrix)
    n, k = values.shape
    check_level(level)
    method = "Feldt F interval; models as the sample"
    if np.isnan(alpha_of(values)):
        reason = "fewer than two models" if n < 2 else "the models' totals do not vary"
        return Reliability(np.nan, np.nan, np.nan, level, method, n, k, (*notes, f"undefined: {reason}"))
    import pandas as pd
    import pingouin

    alpha = float(pingouin.cronbach_alpha(data=pd.DataFrame(values), ci=level)[0])
    degrees = n - 1, (n - 1) * (k - 1)
    low, high = (1 - (1 - alpha) * fdtri(*degrees, (1 + side * level) / 2) for side in (1, -1))
    return Reliability(alpha, float(low), float(high), level, method, n, k, notes)


def alpha_of(tables: Floats) -> Floats:
    """Alpha of (..., n, k) tables: k / (k - 1) (1 - sum of the variances / variance of the sums).

    NaN for fewer than two models, or where the sums differ by no more than rounding, which would give a huge
    negative number.
    """
    n, k = tables.shape[-2:]
    if n < 2:
        return np.full(tables.shape[:-2], np.nan)
    sums = tables.sum(axis=-1)
    varies = sums.max(axis=-1) - sums.min(axis=-1) > 1e-12 * k * np.abs(tables).max(axis=(-2, -1))
    parts = tables.var(axis=-2, ddof=1).sum(axis=-1)
    total = np.where(varies, sums.var(axis=-1, ddof=1), np.nan)
    return np.asarray(k / (k - 1) * (1.0 - parts / total))


def icc(matrix: ArrayLike, level: float = 0.95) -> dict[str, Reliability]:
    """All six intraclass correlations of n models (targets) by k sets (raters), with intervals.

    The keys are Shrout & Fleiss's names. ICC(2,1) is two-way random effects, absolute agreement, single
    measurement; McGraw & Wong call it ICC(A,1). From the mean squares of the analysis of variance, between
    models B, within models W, between sets J, and residual E:

        ICC(1,1) = (B - W) / (B + (k-1) W)                          ICC(1,k) = 1 - W / B
        ICC(2,1) = (B - E) / (B + (k-1) E + k (J - E) / n)          ICC(2,k) = (B - E) / (B + (J - E) / n)
        ICC(3,1) = (B - E) / (B + (k-1) E)                          ICC(3,k) = 1 - E / B

    Raises:
        ValueError: fewer than two sets, infinite values, or a bad level.
    """
    values, notes = _complete(matrix)
    check_level(level)
    n, k = values.shape
    method = "McGraw & Wong F interval; models as the sample"
    if n < 2 or np.ptp(values) == 0:
        reason = "fewer than two models" if n < 2 else "all values are equal"
        undefined = Reliability(np.nan, np.nan, np.nan, level, method, n, k, (*notes, f"undefined: {reason}"))
        return dict.fromkeys(ICC_NAMES, undefined)
    if np.ptp(values, axis=1).max() == 0:
        return dict.fromkeys(ICC_NAMES, Reliability(1.0, 1.0, 1.0, level, method, n, k, notes))
    squares = mean_squares(values)
    between, within, sets, error = squares
    with np.errstate(divide="ignore", invalid="ignore"):
        absolute = np.float64(_absolute(squares, n, k))
        forms = {
            "ICC(1": _one_way(between, within, n, k, n * (k - 1), level),
            "ICC(2": (absolute, *_absolute_limits(between, sets, error, absolute, n, k, level)),
            "ICC(3": _one_way(between, error, n, k, (n - 1) * (k - 1), level),
        }
        results = {f"{form},1)": np.array(single) for form, single in forms.items()}
        results |= {f"{form},k)": _of_mean(np.array(single), k) for form, single in forms.items()}
    return {name: _icc_result(results[name], level, method, n, k, notes) for name in ICC_NAMES}


def icc_2_1_of(tables: Floats) -> Floats:
    """ICC(2,1) of (..., n, k) tables; NaN for fewer than two models, or where all values are equal."""
    n, k = tables.shape[-2:]
    if n < 2:
        return np.full(tables.shape[:-2], np.nan)
    varies = tables.max(axis=(-2, -1)) > tables.min(axis=(-2, -1))
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(varies, _absolute(mean_squares(tables), n, k), np.nan)


def icc_2_1(matrix: ArrayLike, level: float = 0.95) -> Reliability:
    """The paper's ICC(2,1)."""
    return icc(matrix, level)["ICC(2,1)"]


def _of_mean(single: Floats, k: int) -> Floats:
    """Spearman-Brown, from one set to the mean of k sets; NaN where the implied variance is not positive."""
    below = 1 + (k - 1) * single
    return np.where(below > 1e-12, k * single / below, np.nan)


def mean_squares(tables: Floats) -> Floats:
    """(4, ...) mean squares of (..., n, k) tables without repeats, in units of each table's total variance.

    Between rows (models), within rows, between columns (sets), and residual.
    """
    n, k = tables.shape[-2:]
    # Shifting and scaling change no coefficient, but keep the mean squares clear of rounding.
    values = tables - tables.mean(axis=(-2, -1), keepdims=True)
    values = values / values.std(axis=(-2, -1), keepdims=True)
    rows, columns = values.mean(axis=-1, keepdims=True), values.mean(axis=-2, keepdims=True)
    within = ((values - rows) ** 2).sum(axis=(-2, -1)) / (n * (k - 1))
    residual = ((values - rows - columns) ** 2).sum(axis=(-2, -1)) / ((n - 1) * (k - 1))
    between, sets = k * rows[..., 0].var(axis=-1, ddof=1), n * columns[..., 0, :].var(axis=-1, ddof=1)
    squares = np.array([between, within, sets, residual])
    return np.where(squares < 1e-24, 0.0, squares)  # what rounding leaves of a zero


def _absolute(squares: Floats, n: int, k: int) -> Floats:
    """ICC(2,1) from the mean squares."""
    between, _, sets, error = squares
    return np.asarray((between - error) / (between + (k - 1) * error + k * (sets - error) / n))


def _one_way(
    between: np.float64, noise: np.float64, n: int, k: int, degrees: int, level: float
) -> tuple[np.float64, np.float64, np.float64]:
    """ICC(1,1), or ICC(3,1) with the residual as noise, and its limits."""
    ratio, tail = between / noise, (1 + level) / 2
    f = np.array([ratio, ratio / fdtri(n - 1, degrees, tail), ratio * fdtri(degrees, n - 1, tail)])
    value, low, high = np.where(np.isinf(f), 1.0, (f - 1) / (f + k - 1))
    return value, low, high


def _absolute_limits(
    between: np.float64, sets: np.float64, error: np.float64, value: np.float64, n: int, k: int, level: float
) -> tuple[np.float64, np.float64]:
    """Limits of ICC(2,1), with Satterthwaite's degrees of freedom."""
    a = k * value / (n * (1 - value))
    b = 1 + k * value * (n - 1) / (n * (1 - value))
    degrees = (a * sets + b * error) ** 2 / (
        (a * sets) ** 2 / (k - 1) + (b * error) ** 2 / ((n - 1) * (k - 1))
    )
    tail = (1 + level) / 2
    f_low, f_high = fdtri(n - 1, degrees, tail), fdtri(degrees, n - 1, tail)
    spread = k * sets + (k * n - k - n) * error
    low = n * (between - f_low * error) / (f_low * spread + n * between)
    high = n * (f_high * between - error) / (spread + n * f_high * between)
    return low, high


def _icc_result(
    figures: Floats, level: float, method: str, n: int, k: int, notes: tuple[str, ...]
) -> Reliability:
    """A coefficient with its limits; what is not finite is NaN, with a note."""
    value, low, high = (float(figure) if np.isfinite(figure) else np.nan for figure in figures)
    if np.isnan(value):
        notes += ("undefined: the models' means do not vary",)
    elif np.isnan(low) or np.isnan(high):
        notes += ("no interval: its F quantile or limit does not exist",)
    return Reliability(value, low, high, level, method, n, k, notes)


def _complete(matrix: ArrayLike) -> tuple[Floats, tuple[str, ...]]:
    """Rows without NaN, and a note of how many were left out."""
    values = np.asarray(matrix, dtype=np.float64)
    if values.ndim != 2 or values.shape[1] < 2:
        raise ValueError(f"need a matrix of models by two or more sets, not shape {values.shape}")
    if np.isinf(values).any():
        raise ValueError("reliability needs finite values")
    complete = values[~np.isnan(values).any(axis=1)]
    check_range(complete, "the matrix")
    left_out = len(values) - len(complete)
    return complete, ((f"{left_out} models with a missing value left out",) if left_out else ())
