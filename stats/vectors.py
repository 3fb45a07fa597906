"""Vectors and arrays of numbers, checked."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]

LARGEST, SMALLEST = 1e100, 1e-100
"""Largest size, and smallest spread, of values whose squares stay well within the range of floats."""


def same_shape(x: ArrayLike, y: ArrayLike) -> tuple[Floats, Floats]:
    """Both as arrays of floats of one shape, for statistics along the last axis, or a ValueError."""
    a, b = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)
    if a.shape != b.shape or a.ndim == 0:
        raise ValueError(f"need two arrays of one shape, not {a.shape} and {b.shape}")
    return a, b


def finite_pair(x: ArrayLike, y: ArrayLike) -> tuple[Floats, Floats]:
    """Both as vectors of n > 0 finite floats, or a ValueError that says what is wrong."""
    a, b = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)
    if a.ndim != 1 or a.shape != b.shape or a.size == 0:
        raise ValueError(f"need two vectors of one length, not shapes {a.shape} and {b.shape}")
    for name, values in (("first", a), ("second", b)):
        wrong = np.flatnonzero(~np.isfinite(values))
        if wrong.size:
            raise ValueError(
                f"need finite values: entry {wrong[0]} of the {name} vector is {values[wrong[0]]}"
            )
        check_range(values, f"the {name} vector")
    return a, b


def check_range(values: Floats, name: str) -> None:
    """Refuse finite values (NaN apart) whose squares overflow, or whose spread vanishes in squares."""
    known = values[~np.isnan(values)]
    if not known.size:
        return
    low, high = float(known.min()), float(known.max())
    if max(-low, high) > LARGEST or 0 < high - low < SMALLEST:
        raise ValueError(
            f"{name}: values from {low} to {high}; moments need sizes up to {LARGEST:g} and a spread of "
            f"at least {SMALLEST:g} (or none): change the unit"
        )


def common_scale(values: Floats) -> Floats:
    """A power of two along the last axis, (..., 1), by which division is exact and leaves sizes below 1."""
    largest = np.abs(values).max(axis=-1, keepdims=True, initial=0.0)
    usable = np.isfinite(largest) & (largest > 0)
    exponent = np.frexp(np.where(usable, largest, 0.5))[1]
    # 2^1024 is out of range; half of it will do.
    return np.asarray(np.ldexp(1.0, np.clip(exponent, -1021, 1023)))
