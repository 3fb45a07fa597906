"""Performance profiles (Dolan & More 2002, Math. Programming 91:201) and the area under them (AUP).

The ratio of a model on a task is how many times worse than the best model there it is; its profile at tau is
the share of tasks on which its ratio is at most tau. AUP, as MLGym (arXiv 2502.14499) computes it, is the
area under the profile over log10 tau, from tau 1 to a largest tau. Both depend on the models compared: a new
best model changes every ratio.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]
NegativePolicy = Literal["refused", "failed"]
FailedPolicy = Literal["never", "penalised"]

MARGIN = 1.05
"""MLGym places a failure this many times beyond the largest ratio of its task."""


@dataclass(frozen=True, eq=False)
class Ratios:
    """How many times worse than the best of its task each result is.

    Attributes:
        values: (n_models, n_tasks), 1 for the best, infinite where never within any factor.
        largest: finite ratio of a result that did not fail; NaN without any.
        notes: what was counted as failed, and tasks that nobody solved.
    """

    values: Floats
    largest: float
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class ProfileArea:
    """Areas under performance profiles.

    Attributes:
        values: (n_models,) area in units of log10 tau; at most log10(tau_max).
        tau_max: where the profiles were cut.
        notes: those of the ratios.
    """

    values: Floats
    tau_max: float
    notes: tuple[str, ...] = ()


def performance_ratios(
    scores: ArrayLike,
    higher_is_better: Sequence[bool],
    *,
    negative: NegativePolicy = "refused",
    failed: FailedPolicy = "never",
) -> Ratios:
    """Ratios to the best model: best / score where higher is better, score / best where lower is better.

    A score of 0 has the limit of the ratio: it is infinitely worse than a better one, and a best of 0 leaves
    all others infinitely worse. Tasks that every model failed count against every model.

    Args:
        scores: (n_models, n_tasks), NaN where a model failed. MLGym also counts a score worse than the task's
            baseline as failed: pass NaN for it.
        higher_is_better: one direction per task.
        negative: a negative score has no ratio: `refused` is an error, `failed` counts it as failed (MLGym).
        failed: `never`: a failure is within no factor (Dolan & More); `penalised`: its ratio is 1.05 times
            the largest finite one of the task (MLGym), so that beyond it failures count as solved.

    Raises:
        ValueError: shapes that do not fit, an infinite score, or a negative one unless it counts as failed.
    """
    table = np.array(scores, dtype=np.float64) + 0.0  # a ratio to -0.0 would be minus infinity
    up = np.asarray(higher_is_better, dtype=bool)
    if table.ndim != 2 or up.shape != (table.shape[1],) or table.size == 0:
        raise ValueError(f"need models by tasks and a direction per task, not {table.shape} and {up.shape}")
    if negative not in ("refused", "failed") or failed not in ("never", "penalised"):
        raise ValueError(f"negative={negative!r}, failed={failed!r}: see the documented values")
    if np.isinf(table).any():
        raise ValueError(f"the score of {_first(np.isinf(table))} is infinite; NaN stands for a failure")
    notes: list[str] = []
    below = table < 0
    if below.any():
        if negative == "refused":
            raise ValueError(f"the score of {_first(below)} is negative, so that no ratio exists")
        notes.append(f"{int(below.sum())} negative scores counted as failed")
        table[below] = np.nan

    solved = ~np.isnan(table)
    values = np.full(table.shape, np.inf)
    for task, column in enumerate(table.T):
        given = column[solved[:, task]]
        if given.size == 0:
            notes.append(f"every model failed task {task}")
            continue
        best = given.max() if up[task] else given.min()
        # Scores of 0 (and nearly 0) give infinite ratios; two of them 0 / 0, which is no worse than the best.
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            ratio = best / given if up[task] else given / best
        values[solved[:, task], task] = np.where(given == best, 1.0, ratio)
    reached = np.where(solved & np.isfinite(values), values, -np.inf).max(axis=0)
    if failed == "penalised":
        values = np.where(~solved & np.isfinite(reached), MARGIN * reached, values)
    largest = float(reached.max())
    return Ratios(values, largest if np.isfinite(largest) else math.nan, tuple(notes))


def performance_profile(ratios: Ratios, taus: ArrayLike) -> Floats:
    """(n_models, n_taus) share of all tasks on which the model's ratio is at most tau.

    Raises:
        ValueError: a tau below 1, where no profile exists.
    """
    points = np.asarray(taus, dtype=np.float64)
    if points.ndim != 1 or not (points >= 1).all() or np.isinf(points).any():
        raise ValueError("taus must be a vector of finite factors of at least 1")
    return np.asarray((ratios.values[:, :, None] <= points).mean(axis=1))


def area_under_profile(ratios: Ratios, tau_max: float | None = None) -> ProfileArea:
    """AUP: the exact integral of each profile over log10 tau from 1 to `tau_max`.

    A profile is a step function, so the area is the mean over tasks of log10(tau_max / ratio), or 0 where the
    ratio is larger. MLGym sums 500 steps instead, which differs by less than one step.

    Args:
        ratios: of `performance_ratios`.
        tau_max: largest factor. By default MLGym's: 1.05 times the largest ratio, rounded up to a whole
            number, its log10 rounded up to one decimal, at most 300. It depends on the results, so areas with
            the default compare only models of one table.

    Raises:
        ValueError: a tau_max that is not finite or not above 1.
    """
    if tau_max is None:
        # Without any result every area is 0, whatever the largest factor.
        largest = 1.0 if math.isnan(ratios.largest) else min(ratios.largest, 1e300)
        whole = math.ceil(MARGIN * largest)
        tau_max = 10.0 ** min(math.ceil(10 * math.log10(whole)) / 10, 300.0)
    if not 1 < tau_max < math.inf:
        raise ValueError(f"tau_max must be finite and above 1, not {tau_max}")
    gained = np.log10(tau_max) - np.log10(np.minimum(ratios.values, tau_max))
    return ProfileArea(gained.mean(axis=1), float(tau_max), ratios.notes)


def _first(mask: NDArray[np.bool_]) -> str:
    model, task = np.argwhere(mask)[0]
    return f"model {model} on task {task}"
