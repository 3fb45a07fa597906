"""Reliability of several sets as measurements of the same models: Cronbach's alpha and the ICC.

Both come from pingouin, wrapped: rows with a missing value are left out before (not after) its sample size is
taken, its rounding is undone, and its changing names are mapped to those of Shrout & Fleiss (1979).
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import fdtri

Floats = NDArray[np.float64]

ICC_NAMES = MappingProxyType(
    {
        "ICC(1,1)": "ICC(1,1)",
        "ICC(A,1)": "ICC(2,1)",
        "ICC(C,1)": "ICC(3,1)",
        "ICC(1,k)": "ICC(1,k)",
        "ICC(A,k)": "ICC(2,k)",
        "ICC(C,k)": "ICC(3,k)",
    }
)
"""McGraw & Wong's names, which pingouin prints, to Shrout & Fleiss's, which the paper uses."""


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
    if not 0 < level < 1:
        raise ValueError(f"level must lie between 0 and 1, not {level}")
    method = "Feldt F interval; models as the sample"
    if n < 2 or np.ptp(values.sum(axis=1)) == 0:
        reason = "fewer than two models" if n < 2 else "the models' totals do not vary"
        return Reliability(np.nan, np.nan, np.nan, level, method, n, k, (*notes, f"undefined: {reason}"))
    import pandas as pd
    import pingouin

    alpha = float(pingouin.cronbach_alpha(data=pd.DataFrame(values), ci=level)[0])
    # pingouin rounds the interval to three decimals, so it is taken from the same F quantiles here.
    degrees = n - 1, (n - 1) * (k - 1)
    low, high = (1 - (1 - alpha) * fdtri(*degrees, (1 + side * level) / 2) for side in (1, -1))
    return Reliability(alpha, float(low), float(high), level, method, n, k, notes)


def icc(matrix: ArrayLike) -> dict[str, Reliability]:
    """All six intraclass correlations of n models (targets) by k sets (raters), with 95 % intervals.

    The keys are Shrout & Fleiss's names. ICC(2,1) is two-way random effects, absolute agreement, single
    measurement; McGraw & Wong call it ICC(A,1).

    Raises:
        ValueError: fewer than two sets, or infinite values.
    """
    values, notes = _complete(matrix)
    n, k = values.shape
    method = "McGraw & Wong F interval; models as the sample"
    reason = ""
    if n < 2 or values.size < 5:
        reason = "needs two models and five values"
    elif np.ptp(values) == 0:
        reason = "all values are equal"
    if reason:
        undefined = Reliability(np.nan, np.nan, np.nan, 0.95, method, n, k, (*notes, f"undefined: {reason}"))
        return dict.fromkeys(ICC_NAMES.values(), undefined)
    # Shifting and scaling change no coefficient, but keep mean squares clear of rounding.
    table = _pingouin_icc((values - values.mean()) / values.std())
    perfect = bool(np.ptp(values, axis=1).max() == 0)
    results = {}
    for label, value, (low, high) in zip(table["Type"], table["ICC"], table["CI95"], strict=True):
        if perfect:
            value = low = high = 1.0
        results[ICC_NAMES[label]] = Reliability(
            float(value), float(low), float(high), 0.95, method, n, k, notes
        )
    return results


def icc_2_1(matrix: ArrayLike) -> Reliability:
    """The paper's ICC(2,1)."""
    return icc(matrix)["ICC(2,1)"]


def _pingouin_icc(values: Floats) -> Any:
    """pingouin's table at full precision, its warnings about undefined limits silenced."""
    import pandas as pd
    import pingouin

    n, k = values.shape
    long = pd.DataFrame(
        {"model": np.repeat(np.arange(n), k), "set": np.tile(np.arange(k), n), "value": values.ravel()}
    )
    rounding = pingouin.options.get("round.column.CI95")
    pingouin.options["round.column.CI95"] = None
    try:
        with warnings.catch_warnings(), np.errstate(divide="ignore", invalid="ignore"):
            warnings.simplefilter("ignore")
            return pingouin.intraclass_corr(data=long, targets="model", raters="set", ratings="value")
    finally:
        pingouin.options["round.column.CI95"] = rounding


def _complete(matrix: ArrayLike) -> tuple[Floats, tuple[str, ...]]:
    """Rows without NaN, and a note of how many were left out."""
    values = np.asarray(matrix, dtype=np.float64)
    if values.ndim != 2 or values.shape[1] < 2:
        raise ValueError(f"need a matrix of models by two or more sets, not shape {values.shape}")
    if np.isinf(values).any():
        raise ValueError("reliability needs finite values")
    complete = values[~np.isnan(values).any(axis=1)]
    left_out = len(values) - len(complete)
    return complete, ((f"{left_out} models with a missing value left out",) if left_out else ())
