"""Lin's concordance correlation coefficient (Lin 1989, Biometrics 45:255), which no library here offers.

    ccc = 2 s_xy / (s_x^2 + s_y^2 + (mean_x - mean_y)^2) = r * C_b

with moments of divisor n, as Lin has it. Some libraries divide the (co)variances by n - 1, leave the squared
shift, and print another number: `ddof=1` gives theirs.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtri

from stats.intervals import Interval, check_level
from stats.vectors import common_scale, finite_pair, same_shape

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Concordance:
    """Lin's coefficient and its parts.

    Attributes:
        ccc: concordance; NaN if both vectors are constant and equal, 0 if only one varies.
        pearson_r: precision.
        bias_correction: accuracy C_b = ccc / r.
        scale_shift: s_x / s_y.
        location_shift: (mean_x - mean_y) / sqrt(s_x s_y).
        standard_error: of `ccc`, with the corrected variance (Biometrics 56:324) and divisor n - 2.
        interval: through the z transform; NaN for fewer than three pairs or perfect concordance.
        asymptotic_interval: `ccc` +- z times its standard error, which may leave [-1, 1]; for comparison with
            programs that print it.
        notes: what is undefined, and why.
    """

    ccc: float
    pearson_r: float
    bias_correction: float
    scale_shift: float
    location_shift: float
    standard_error: float
    interval: Interval
    asymptotic_interval: Interval
    notes: tuple[str, ...] = ()


def ccc(x: ArrayLike, y: ArrayLike, ddof: int = 0) -> Floats:
    """Lin's coefficient along the last axis; NaN if both are the same constant or a value is not finite.

    Args:
        x, y: arrays of one shape.
        ddof: the (co)variances divide by n - ddof: 0 as Lin, 1 as some libraries.

    Raises:
        ValueError: arrays of different shapes.
    """
    a, b = same_shape(x, y)
    if a.shape[-1] == 0:
        return np.full(a.shape[:-1], np.nan)
    scale = np.maximum(common_scale(a), common_scale(b))
    a, b = a / scale, b / scale
    with np.errstate(invalid="ignore", divide="ignore"):
        shift = a.mean(axis=-1) - b.mean(axis=-1)
        # The weight of the squared shift carries the divisor.
        weight = (a.shape[-1] - ddof) / a.shape[-1]
        spread = _covariance(a, a) + _covariance(b, b)
        return np.asarray(2.0 * _covariance(a, b) / (spread + weight * shift**2))


def lin_ccc(x: ArrayLike, y: ArrayLike, level: float = 0.95, unit: str = "models") -> Concordance:
    """Lin's coefficient of two vectors of n finite values, with parts and intervals.

    Raises:
        ValueError: vectors of different or no length, values that are not finite, or a bad level.
    """
    a, b = finite_pair(x, y)
    check_level(level)
    n, value = a.size, ccc(a, b)
    with np.errstate(invalid="ignore", divide="ignore"):
        s_x, s_y = np.sqrt(_covariance(a, a)), np.sqrt(_covariance(b, b))
        r = _covariance(a, b) / (s_x * s_y)
        u = (a.mean() - b.mean()) / np.sqrt(s_x * s_y)
        accuracy = 2 / (s_x / s_y + s_y / s_x + u**2)
        # Written with C_b for ccc / r, which also holds at r = 0.
        variance = (
            (1 - r**2) * accuracy**2 * (1 - value**2)
            + 2 * value**2 * accuracy * (1 - value) * u**2
            - value**2 * accuracy**2 * u**4 / 2
        ) / (n - 2 if n > 2 else np.nan)
        error = np.sqrt(np.maximum(variance, 0.0))
        reach = float(ndtri((1 + level) / 2)) * error
        low, high = np.tanh(np.arctanh(value) + reach / (1 - value**2) * np.array([-1, 1]))
    method = "Lin z transform, corrected variance"
    return Concordance(
        ccc=float(value),
        pearson_r=float(r),
        bias_correction=float(accuracy),
        scale_shift=float(np.divide(s_x, s_y) if s_y > 0 else np.nan),
        location_shift=float(u) if s_x * s_y > 0 else np.nan,
        standard_error=float(error),
        interval=Interval(float(low), float(high), level, method, n, unit),
        asymptotic_interval=Interval(
            float(value - reach),
            float(value + reach),
            level,
            "asymptotic normal, corrected variance",
            n,
            unit,
        ),
        notes=_notes(a, b, float(value), float(error)),
    )


def _notes(x: Floats, y: Floats, value: float, error: float) -> tuple[str, ...]:
    """Why something is undefined."""
    if np.ptp(x) == 0 or np.ptp(y) == 0:
        if np.isnan(value):
            return ("both vectors are the same constant: the CCC is undefined",)
        return ("a vector is constant: the CCC is 0 by definition, its parts and interval undefined",)
    if x.size < 3:
        return (f"n = {x.size}: no interval, which needs three pairs",)
    if error == 0:
        return ("no sampling error: r is +1 or -1 without a shift, so the z interval is undefined",)
    return ()


def _covariance(a: Floats, b: Floats) -> Floats:
    """Covariance with divisor n along the last axis; exactly 0 if either is constant, despite rounding."""
    product = (a - a.mean(axis=-1, keepdims=True)) * (b - b.mean(axis=-1, keepdims=True))
    constant = (a.max(axis=-1) == a.min(axis=-1)) | (b.max(axis=-1) == b.min(axis=-1))
    return np.asarray(np.where(constant, 0.0, product.mean(axis=-1)))
