"""Lin's concordance correlation coefficient (Lin 1989, Biometrics 45:255), which no library here offers.

    ccc = 2 s_xy / (s_x^2 + s_y^2 + (mean_x - mean_y)^2) = r * C_b

with moments of divisor n, as Lin has it (some libraries divide by n - 1 and print another number).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtri

from stats.intervals import Interval

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
    """

    ccc: float
    pearson_r: float
    bias_correction: float
    scale_shift: float
    location_shift: float
    standard_error: float
    interval: Interval


def ccc(x: ArrayLike, y: ArrayLike) -> Floats:
    """Lin's coefficient along the last axis; NaN if both are the same constant or a value is not finite."""
    a, b = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)
    with np.errstate(invalid="ignore", divide="ignore"):
        shift = a.mean(axis=-1) - b.mean(axis=-1)
        numerator = 2.0 * _covariance(a, b)
        return np.asarray(numerator / (_covariance(a, a) + _covariance(b, b) + shift**2))


def lin_ccc(x: ArrayLike, y: ArrayLike, level: float = 0.95, unit: str = "models") -> Concordance:
    """Lin's coefficient of two vectors of n finite values, with parts and interval."""
    a, b = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)
    if a.ndim != 1 or a.shape != b.shape or a.size == 0:
        raise ValueError(f"need two vectors of one length, not shapes {a.shape} and {b.shape}")
    n, value = a.size, float(ccc(a, b))
    with np.errstate(invalid="ignore", divide="ignore"):
        s_x, s_y = np.sqrt(_covariance(a, a)), np.sqrt(_covariance(b, b))
        r = _covariance(a, b) / (s_x * s_y)
        u = (a.mean() - b.mean()) / np.sqrt(s_x * s_y)
        variance = (
            (1 - r**2) * value**2 * (1 - value**2) / r**2
            + 2 * value**3 * (1 - value) * u**2 / r
            - value**4 * u**4 / (2 * r**2)
        ) / (n - 2 if n > 2 else np.nan)
        error = np.sqrt(np.maximum(variance, 0.0))
        half = ndtri((1 + level) / 2) * error / (1 - value**2)
        low, high = np.tanh(np.arctanh(value) + np.array([-half, half]))
        accuracy = value / r
    method = "Lin z transform, corrected variance"
    return Concordance(
        ccc=value,
        pearson_r=float(r),
        bias_correction=float(accuracy),
        scale_shift=float(np.divide(s_x, s_y) if s_y > 0 else np.nan),
        location_shift=float(u),
        standard_error=float(error),
        interval=Interval(float(low), float(high), level, method, n, unit),
    )


def _covariance(a: Floats, b: Floats) -> Floats:
    """Covariance with divisor n along the last axis; exactly 0 if either is constant, despite rounding."""
    product = (a - a.mean(axis=-1, keepdims=True)) * (b - b.mean(axis=-1, keepdims=True))
    constant = (np.ptp(a, axis=-1) == 0) | (np.ptp(b, axis=-1) == 0)
    return np.asarray(np.where(constant, 0.0, product.mean(axis=-1)))
