"""How far two samples of numbers are apart, and whether that can be chance."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.stats import ks_2samp

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Distance:
    """The two-sample test of Kolmogorov and Smirnov.

    Attributes:
        size: the largest difference of the two distribution functions, 0 to 1.
        chance: the probability of one as large when both samples come from one distribution.
    """

    size: float
    chance: float


def between(left: Floats, right: Floats) -> Distance:
    """The distance of two samples without NaN, shapes (n,) and (m,)."""
    test = ks_2samp(left, right, method="asymp")
    return Distance(float(test.statistic), float(test.pvalue))
