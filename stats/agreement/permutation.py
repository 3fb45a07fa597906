"""Does the order of the models in one set say anything about the other? Permutation tests of agreement.

Under the null hypothesis every pairing of the models' values in the two sets is equally likely. The models
are the sample: the test speaks of models like these, not of other tasks.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import factorial
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from stats.agreement.correlation import STATISTICS

Floats = NDArray[np.float64]
Alternative = Literal["greater", "two-sided"]

EXACT = 8
"""Models up to which all n! pairings are visited (8! = 40,320)."""


@dataclass(frozen=True)
class PermutationTest:
    """Result of a permutation test of agreement.

    Attributes:
        name, statistic: of the statistic, and its value.
        p: probability of so strong an agreement if the pairing were random; NaN if undefined.
        alternative: `greater`, or `two-sided` (twice the smaller tail, at most 1).
        exact: whether all pairings were visited.
        resamples: pairings visited.
        n, unit: models.
        seed: of random pairings.
        note: what is undefined; empty if nothing is.
    """

    name: str
    statistic: float
    p: float
    alternative: Alternative
    exact: bool
    resamples: int
    n: int
    unit: str
    seed: int
    note: str = ""


def permutation_test_agreement(
    x: ArrayLike,
    y: ArrayLike,
    statistic: str = "spearman_rho",
    *,
    alternative: Alternative = "greater",
    resamples: int = 9_999,
    seed: int = 0,
) -> PermutationTest:
    """Test one statistic of agreement against random pairing.

    Args:
        x, y: (n,) ratings of the same models; infinities rank as extremes in the rank statistics.
        statistic: a name in `STATISTICS`, but for the slope, which depends on the unit of y and tests what r
            does.
        alternative: agreement only, or disagreement as well.
        resamples: random pairings for more than eight models; p is then (count + 1) / (resamples + 1) per
            tail.
        seed: of the random pairings.

    Raises:
        ValueError: an unknown statistic or alternative, vectors of different lengths, or a NaN by position.
    """
    if statistic not in STATISTICS or statistic == "slope":
        names = ", ".join(name for name in STATISTICS if name != "slope")
        raise ValueError(f"statistic={statistic!r}: expected one of {names}")
    if alternative not in ("greater", "two-sided"):
        raise ValueError(f"alternative={alternative!r}: expected 'greater' or 'two-sided'")
    if resamples < 1:
        raise ValueError(f"resamples must be positive, not {resamples}")
    a, b = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)
    if a.ndim != 1 or a.shape != b.shape:
        raise ValueError(f"need two vectors of one length, not shapes {a.shape} and {b.shape}")
    missing = np.flatnonzero(np.isnan(a) | np.isnan(b))
    if missing.size:
        raise ValueError(f"position {missing[0]} has no number in both vectors; leave such models out")
    n = a.size
    value = float(STATISTICS[statistic][0](a, b)) if n else np.nan
    exact = factorial(n) <= max(factorial(EXACT), resamples)
    visited = factorial(n) if exact else resamples
    if n < 2 or not np.isfinite(value):
        note = f"{statistic} of these {n} models is undefined, and so is its test"
        return PermutationTest(statistic, value, np.nan, alternative, exact, 0, n, "models", seed, note)
    from scipy.stats import permutation_test

    p = permutation_test(
        (a,), _against(b, statistic), permutation_type="pairings", alternative=alternative, vectorized=True,
        n_resamples=visited, batch=1 << 12, axis=-1, rng=np.random.default_rng(seed),
    ).pvalue  # fmt: skip
    return PermutationTest(statistic, value, float(p), alternative, exact, visited, n, "models", seed)


def _against(y: Floats, statistic: str) -> Callable[..., Floats]:
    """The statistic of a batch of permuted x with y, equal values made equal despite rounding."""
    if statistic == "kendall_tau_b":
        # Permuting changes no ties: concordant minus discordant pairs order the permutations as tau-b does,
        # in whole numbers and a tenth of the time.
        i, j = np.triu_indices(y.size, 1)
        ahead = (y[i] > y[j]).astype(np.float64) - (y[i] < y[j])
        return lambda x, axis: np.asarray(((x[..., i] > x[..., j]) * 1.0 - (x[..., i] < x[..., j])) @ ahead)
    function = STATISTICS[statistic][0]
    return lambda x, axis: np.round(function(x, np.broadcast_to(y, x.shape)), 12)
