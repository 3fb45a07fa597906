"""Two vectors of one length, checked."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]


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
    return a, b
