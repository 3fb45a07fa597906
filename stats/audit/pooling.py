"""What the ratings of a whole must be, given those of its parts.

Ratings give each model's expected wins, s_i(R) = sum_j 1 / (1 + 10^((R_j - R_i) / 400)); at the maximum of
the likelihood they equal the observed wins. If every model met every other on every task with equal weight,
the wins on a pooled set are those of its parts added up, so

    s_i(R of the whole) = sum_p share_p * s_i(R of part p),     shares of the tasks, summing to one,

holds for every model, and it fixes the whole's ratings. That is sharper than "between its parts", which is a
theorem only for two models: with more, a pooled rating can lie a little outside. Where results are missing
the equation holds only roughly; how roughly, the other models tell.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

Floats = NDArray[np.float64]

UNIT = 400.0 / float(np.log(10.0))
"""Rating points per unit of natural-log strength."""

ROUNDING_UNITS = 2.0
"""Units of the last printed place by which rounded ratings may miss the equation: half a unit for the whole,
about half for the parts, as much again for the common shift."""

FARTHEST = 2000.0
"""Rating points between neighbours in rank beyond which they share no wins to speak of (1 in 100,000)."""

SPREADS = 8.0
"""Robust standard deviations beyond which a model is an outlier. In simulated tables of 5 to 15 models and
two sets of 50 tasks, none was flagged with no result missing, and 0 to 10 % of them (27 % of those of 15
models with 1 % missing) when results were missing at random; at 5 deviations it was up to half of them."""


@dataclass(frozen=True, eq=False)
class Pooling:
    """How a whole follows from its parts.

    Attributes:
        whole, parts: names of the sets.
        shares: estimated share of each part in the whole's tasks.
        deviations: (n,) rating points by which the whole differs from the pooled parts, to first order, their
            median taken out.
        tolerance: deviation above which a model is an outlier.
        exact: all models but the outliers follow within rounding: no result is missing, or hardly any.
    """

    whole: str
    parts: tuple[str, ...]
    shares: tuple[float, ...]
    deviations: Floats
    tolerance: float
    exact: bool

    @property
    def outliers(self) -> NDArray[np.intp]:
        """Models that do not follow as the others do."""
        return np.flatnonzero(np.abs(self.deviations) > self.tolerance)


def pool(
    whole: Floats,
    parts: Floats,
    decimals: int,
    name: str = "whole",
    part_names: Sequence[str] = (),
    shares: Sequence[float] | None = None,
) -> Pooling | None:
    """Compare a whole's (n,) ratings with its (p, n) parts.

    Shares that are not given are those of least absolute deviations: a wrong rating stands out and does not
    bend them.

    Returns:
        None where nothing can be said: a missing rating, fewer than p + 3 models (the shares and the common
        shift are estimated from the same ratings), or ratings so far apart that no wins are left to expect.
    """
    p, n = parts.shape
    ratings = np.vstack([whole, parts])
    if n < p + 3 or not np.isfinite(ratings).all() or np.diff(np.sort(ratings)).max() > FARTHEST:
        return None
    chances = expit((whole[:, None] - whole[None, :]) / UNIT)
    information = -chances * chances.T
    information[np.arange(n), np.arange(n)] -= information.sum(axis=1)
    # Newton's step at the whole turns differences in expected wins into rating points.
    wins = np.column_stack([_expected_wins(whole), *map(_expected_wins, parts)])
    points = UNIT * np.linalg.solve(information + 1.0 / n, wins - wins.mean(axis=0))
    estimated = _shares(points[:, 0], points[:, 1:]) if shares is None else np.array(shares)
    deviations = points[:, 0] - points[:, 1:] @ estimated
    deviations -= np.median(deviations)
    rounding = ROUNDING_UNITS * 10.0**-decimals
    # The fit goes through p of the points; they say nothing of the spread.
    spread = 1.4826 * float(np.median(np.sort(np.abs(deviations))[p:]))
    tolerance = max(rounding, SPREADS * spread)
    exact = bool(np.abs(deviations[np.abs(deviations) <= tolerance]).max() <= rounding)
    return Pooling(name, tuple(part_names), tuple(map(float, estimated)), deviations, tolerance, exact)


def _expected_wins(ratings: Floats) -> Floats:
    """Expected wins of each model against all, itself counted as a half."""
    return np.asarray(expit((ratings[:, None] - ratings[None, :]) / UNIT).sum(axis=1))


def _shares(whole: Floats, parts: Floats) -> Floats:
    """Shares >= 0 of sum 1 that minimise sum |whole - parts @ shares - shift|, as a linear programme."""
    from scipy.optimize import linprog

    n, p = parts.shape
    # Unknowns: shares, shift, and a bound on the size of each deviation.
    signed = np.column_stack([parts, np.ones(n)])
    bounds = np.eye(n)
    solved = linprog(
        np.r_[np.zeros(p + 1), np.ones(n)],
        A_ub=np.block([[signed, -bounds], [-signed, -bounds]]),
        b_ub=np.r_[whole, -whole],
        A_eq=np.r_[np.ones(p), np.zeros(n + 1)][None],
        b_eq=[1.0],
        bounds=[*[(0, 1)] * p, (None, None), *[(0, None)] * n],
    )
    return np.asarray(solved.x, dtype=np.float64)[:p]
