"""Differences between models: how far apart, how sure, and who wins on a new task.

Where two models have no finite difference (one of them is undefeated, say), the tasks on which they met can
still tell them apart: by an exact sign test, which needs as many tasks as it needs.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.special import bdtr, expit, stdtr, stdtrit

from stats.bradley_terry import Fit
from stats.comparisons import Comparisons
from stats.intervals import check_level
from stats.sandwich import SANDWICH, by_data, contrast_variance, task_covariance

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Adjustment = Literal["holm", "fdr_bh", "none"]

T_TEST = "t test, task-clustered sandwich"
SIGN_TEST = "exact sign test over tasks"

NO_SPREAD = 1e-9
"""Standard error, in natural-log units, at or below which only rounding is left."""


@dataclass(frozen=True, eq=False)
class Pairwise:
    """Differences of every two models, (n, n) each; what does not exist is NaN.

    Attributes:
        difference: R_i - R_j in rating points.
        standard_error: from the task-clustered sandwich; NaN with fewer than two tasks.
        n_tasks: T, tasks behind the standard error, with T - 1 degrees of freedom; 0 where none exists.
        testable: whether the difference can be tested by t: it and a standard error above rounding exist.
    """

    difference: Floats
    standard_error: Floats
    n_tasks: Ints
    testable: NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Contrasts:
    """Every pair of models, `first` before `second` in the order of `models`; arrays of length n(n-1)/2.

    Attributes:
        models: n names, in the order of the fit.
        first, second: indices into `models`.
        difference: rating of `first` minus rating of `second`, in rating points.
        standard_error, low, high: of the difference, each pair for itself (not jointly).
        t: difference / standard error.
        p: two-sided, of "equally good"; `test` names the test behind it, empty if there is none.
        p_adjusted: over all pairs that have a p value.
        probability, probability_low, probability_high: that `first` beats `second` on a new task.
        n_tasks: tasks behind each interval, or, for a sign test, tasks that were not tied.
        notes: per pair, why something is missing; empty if nothing is.
        adjust: method of the adjustment.
        level, method, unit: of the intervals.
    """

    models: tuple[str, ...]
    first: Ints
    second: Ints
    difference: Floats
    standard_error: Floats
    low: Floats
    high: Floats
    t: Floats
    p: Floats
    p_adjusted: Floats
    test: tuple[str, ...]
    probability: Floats
    probability_low: Floats
    probability_high: Floats
    n_tasks: Ints
    notes: tuple[str, ...]
    adjust: str
    level: float
    method: str
    unit: str

    def frame(self) -> pd.DataFrame:
        """One row per pair, models by name."""
        columns = (
            "difference", "standard_error", "low", "high", "t", "p", "p_adjusted", "test", "probability",
            "probability_low", "probability_high", "n_tasks", "notes",
        )  # fmt: skip
        names = np.array(self.models, dtype=object)
        return pd.DataFrame(
            {"model": names[self.first], "other": names[self.second]}
            | {column: getattr(self, column) for column in columns}
        )


def contrasts(
    comparisons: Comparisons, fitted: Fit, level: float = 0.95, adjust: Adjustment = "holm"
) -> Contrasts:
    """All pairwise differences with task-clustered intervals, p values and winning probabilities.

    Where no t test exists (no finite difference, fewer than two tasks, or no spread between the tasks), the
    p value is that of the exact sign test over the tasks on which the two models met and did not tie. Pairs
    that never met and have no difference stay undecided: all NaN.

    Args:
        comparisons: what `fitted` was fitted on.
        fitted: of `stats.bradley_terry.fit`.
        level: nominal coverage of each interval.
        adjust: for testing many pairs at once: `holm` bounds the chance of any false difference, `fdr_bh`
            the expected share of false ones among those found; `none`.
    """
    check_level(level)
    check_adjustment(adjust)
    n = len(fitted.models)
    i, j = np.triu_indices(n, 1)
    pairs = pairwise(comparisons, fitted)
    difference, error, testable = pairs.difference[i, j], pairs.standard_error[i, j], pairs.testable[i, j]
    tasks = pairs.n_tasks[i, j]
    freedom = np.where(tasks > 1, tasks - 1.0, np.nan)
    half = stdtrit(freedom, (1.0 + level) / 2.0) * error
    t = np.divide(difference, error, out=np.full(len(i), np.nan), where=testable)
    p = np.where(testable, 2.0 * stdtr(freedom, -np.abs(t)), np.nan)
    test, notes = [T_TEST if usable else "" for usable in testable], [""] * len(i)
    wins, met = tasks_won(comparisons)
    won, lost = wins[i, j], wins[j, i]
    signed = ~testable & met[i, j]
    p[signed], tasks[signed] = sign_test(won[signed], lost[signed]), (won + lost)[signed]
    for k in np.flatnonzero(~testable):
        notes[k] = _why(fitted, pairs, i[k], j[k])
        if signed[k]:
            test[k] = SIGN_TEST
        else:
            notes[k] += ", and the two never met"
    per_unit = 1.0 / fitted.unit
    return Contrasts(
        models=fitted.models,
        first=i,
        second=j,
        difference=difference,
        standard_error=error,
        low=difference - half,
        high=difference + half,
        t=t,
        p=p,
        p_adjusted=adjusted(p, adjust),
        test=tuple(test),
        probability=expit(difference * per_unit),
        probability_low=expit((difference - half) * per_unit),
        probability_high=expit((difference + half) * per_unit),
        n_tasks=tasks,
        notes=tuple(notes),
        adjust=adjust,
        level=level,
        method=SANDWICH,
        unit="tasks",
    )


def pairwise(comparisons: Comparisons, fitted: Fit) -> Pairwise:
    """Differences and standard errors of all pairs at once."""
    covariance, tasks = task_covariance(comparisons, fitted)
    error = np.where(by_data(fitted), np.sqrt(contrast_variance(covariance)), np.nan)
    together = np.zeros(error.shape, dtype=bool)
    for block in fitted.blocks:
        together[np.ix_(block, block)] = True
    difference = np.where(together, fitted.ratings[:, None] - fitted.ratings[None, :], np.nan)
    return Pairwise(
        difference,
        error,
        np.where(together, np.minimum(tasks[:, None], tasks[None, :]), 0),
        np.asarray(error > NO_SPREAD * fitted.unit),
    )


def tasks_won(comparisons: Comparisons) -> tuple[Ints, NDArray[np.bool_]]:
    """(n, n) number of tasks on which i won more than j, and whether the two ever met."""
    wins = comparisons.wins
    won = (wins > wins.transpose(0, 2, 1)).sum(axis=0)
    total = comparisons.total
    return np.asarray(won, dtype=np.int64), np.asarray(total + total.T > 0)


def sign_test(won: Ints, lost: Ints) -> Floats:
    """Exact two-sided p values of winning and losing a task being equally likely; 1 if all were tied."""
    # The law is symmetric, so both tails are as likely.
    return np.asarray(np.minimum(1.0, 2.0 * bdtr(np.minimum(won, lost), won + lost, 0.5)))


def check_adjustment(adjust: str) -> None:
    """Refuse an unknown adjustment."""
    if adjust not in ("holm", "fdr_bh", "none"):
        raise ValueError(f"adjust={adjust!r}: expected 'holm', 'fdr_bh' or 'none'")


def adjusted(p: Floats, method: Adjustment) -> Floats:
    """Adjust the p values that exist for their number; NaN stays NaN."""
    from statsmodels.stats.multitest import multipletests

    result, known = p.copy(), np.isfinite(p)
    if method != "none" and known.any():
        result[known] = multipletests(p[known], method=method)[1]
    return result


def _why(fitted: Fit, pairs: Pairwise, i: int, j: int) -> str:
    """Why a pair has no t test."""
    if np.isfinite(pairs.standard_error[i, j]):
        return "every task says the same: no spread to test by"
    if np.isfinite(pairs.difference[i, j]):
        one = pairs.n_tasks[i, j] < 2
        return "one task: no standard error" if one else "finite only by the prior: no standard error"
    unrated = [k for k in (i, j) if not np.isfinite(fitted.ratings[k])]
    if unrated:
        return "; ".join(f"{fitted.models[k]} is {fitted.status[k]}: no finite difference" for k in unrated)
    return "in groups that were never compared: no common scale"
