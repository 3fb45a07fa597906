"""Generalisability theory: what a mean score owes to the model, the task and the attempt.

Every score is y = mean + model + task + model x task + attempt: all effects random, models and tasks crossed,
attempts nested in both. The components come in closed form from the expected mean squares of the analysis of
variance, and from them follows how reliably a benchmark of a given length orders models (Brennan 2001,
Generalizability Theory).

Raw scores of different tasks have no common scale: pass normalised scores or `stats.standings.win_shares`.
Win shares sum to the same total on every task, so they have no task component, and the absolute coefficient
equals the relative one.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from stats.intervals import Interval
from stats.vectors import check_range

Floats = NDArray[np.float64]
Kind = Literal["relative", "absolute"]

EFFECTS = ("model", "task", "model_task", "attempt")
CONFOUNDED = "one attempt per model and task: model_task holds both model x task and attempt"


@dataclass(frozen=True)
class Components:
    """Variances of the random effects, in squared score units.

    Attributes:
        model: true differences between models: what a benchmark is after.
        task: tasks harder than others, for all models alike.
        model_task: models better at some tasks than at others; with one attempt also the attempt.
        attempt: repeats of one model on one task; NaN with one attempt.
        raw: the same four before estimates below zero were set to 0.
        n_models, n_tasks: behind the estimates.
        n_attempts: harmonic mean per model and task.
        notes: what was left out, set to 0, confounded or undefined.
    """

    model: float
    task: float
    model_task: float
    attempt: float
    raw: Mapping[str, float]
    n_models: int
    n_tasks: int
    n_attempts: float
    notes: tuple[str, ...] = ()


def variance_components(values: ArrayLike) -> Components:
    """Estimate the components by the analysis of variance of the means of every model on every task.

    With n models, T tasks, and h the harmonic mean of the attempts, the mean squares MS of the (n, T) means
    and the pooled variance within cells have the expectations
    E MS_model = attempt / h + model_task + T model, E MS_task = attempt / h + model_task + n task,
    E MS_model_task = attempt / h + model_task, E within = attempt.
    Solved for the components they are unbiased whatever the numbers of attempts, and equal the usual analysis
    of variance (and REML, where no estimate is negative) if these are equal.

    Only tasks that every model has are used; models without any value are left out first.

    Args:
        values: (n_models, n_tasks, n_attempts) or (n_models, n_tasks) scores on one scale, NaN where missing.

    Returns:
        The components; all NaN, with a note, with fewer than two models or tasks.

    Raises:
        ValueError: another shape, or infinite values.
    """
    cells, notes = _complete(values)
    n, tasks = cells.shape[:2]
    if n < 2 or tasks < 2:
        reason = f"undefined: {n} models and {tasks} complete tasks, needed are two of each"
        unknown = dict.fromkeys(EFFECTS, math.nan)
        return Components(
            **unknown,
            raw=MappingProxyType(unknown),
            n_models=n,
            n_tasks=tasks,
            n_attempts=math.nan,
            notes=(*notes, reason),
        )

    # Without the common level, equal values give exactly zero.
    cells = cells - np.nanmin(cells)
    attempts = (~np.isnan(cells)).sum(axis=2)
    means = np.nanmean(cells, axis=2)
    harmonic = float(1.0 / np.mean(1.0 / attempts))
    spare = int(attempts.sum()) - n * tasks
    within = float(np.nansum((cells - means[:, :, None]) ** 2)) / spare if spare else math.nan

    by_model, by_task, grand = means.mean(axis=1), means.mean(axis=0), means.mean()
    square_model = tasks * float(((by_model - grand) ** 2).sum()) / (n - 1)
    square_task = n * float(((by_task - grand) ** 2).sum()) / (tasks - 1)
    rest = means - by_model[:, None] - by_task[None, :] + grand
    square_rest = float((rest**2).sum()) / ((n - 1) * (tasks - 1))
    raw = {
        "model": (square_model - square_rest) / tasks,
        "task": (square_task - square_rest) / n,
        "model_task": square_rest - (within / harmonic if spare else 0.0),
        "attempt": within,
    }
    # Differences of this size are rounding of a component that is zero.
    rounding = 1e-12 * max(square_model, square_task, square_rest)
    raw = {name: 0.0 if abs(value) <= rounding else value for name, value in raw.items()}
    if not spare:
        notes = (*notes, CONFOUNDED)
    below = [f"{name} ({value:.3g})" for name, value in raw.items() if value < 0]
    if below:
        notes = (*notes, f"estimated below zero, set to 0: {', '.join(below)}")
    clipped = {name: math.nan if math.isnan(value) else max(value, 0.0) for name, value in raw.items()}
    return Components(
        **clipped, raw=MappingProxyType(raw), n_models=n, n_tasks=tasks, n_attempts=harmonic, notes=notes
    )


def reliability_curve(
    components: Components, tasks: ArrayLike, attempts: int = 1, kind: Kind = "relative"
) -> Floats:
    """Reliability of the models' means over each number of tasks.

    `relative`: the generalisability coefficient, model / (model + model_task / T + attempt / (T a)), for the
    order of models and their differences. `absolute`: the dependability Phi, which adds task / T to the
    error, for their level on other tasks of the kind.

    Args:
        components: of `variance_components`.
        tasks: numbers of tasks T, each at least 1.
        attempts: a, per model and task.

    Returns:
        An array like `tasks`, in [0, 1]; NaN where nothing varies or the components are undefined.

    Raises:
        ValueError: fewer than one task or attempt, an unknown kind, or several attempts asked of components
            in which attempts could not be told apart.
    """
    lengths = np.asarray(tasks, dtype=np.float64)
    if not (lengths >= 1).all():
        raise ValueError("the number of tasks must be at least 1")
    error = _error(components, attempts, kind) / lengths
    total = components.model + error
    undefined = np.full(total.shape, np.nan)
    return np.asarray(np.divide(components.model, total, out=undefined, where=total > 0))


def coefficient(components: Components, tasks: int, attempts: int = 1, kind: Kind = "relative") -> float:
    """One point of the `reliability_curve`."""
    return float(reliability_curve(components, tasks, attempts, kind))


def tasks_needed(
    components: Components, reliability: float = 0.9, attempts: int = 1, kind: Kind = "relative"
) -> float:
    """Smallest number of tasks whose coefficient reaches the wanted reliability.

    Returns:
        A whole number; infinity if the models do not differ, NaN if nothing varies or is defined.

    Raises:
        ValueError: as `reliability_curve`, or a reliability outside (0, 1).
    """
    if not 0 < reliability < 1:
        raise ValueError(f"reliability must lie between 0 and 1, not {reliability}")
    error = _error(components, attempts, kind)
    if not components.model > 0:
        return math.inf if components.model == 0 and error > 0 else math.nan
    wanted = reliability / (1.0 - reliability) * error / components.model
    # A whole number of tasks must not become one more by rounding.
    return float(max(1, math.ceil(wanted * (1.0 - 1e-12))))


def reliability_interval(values: ArrayLike, tasks: int | None = None, level: float = 0.95) -> Interval:
    """Interval of the relative coefficient, at the attempts of the data.

    The coefficient at the data's own length is Cronbach's alpha with tasks as items, so Feldt's F interval
    holds: exactly for normal effects and equal numbers of attempts, approximately else. Another number of
    tasks is a monotone function of it (Spearman-Brown), so its limits carry over. Cut at 0, below which the
    coefficient of the model cannot lie.

    Args:
        values: as `variance_components`.
        tasks: length of the benchmark; by default the number of complete tasks in the data.
        level: nominal coverage.
    """
    from stats.agreement.reliability import cronbach_alpha

    cells, _ = _complete(values)
    n, length = cells.shape[:2]
    wanted = length if tasks is None else tasks
    if tasks is not None and not tasks >= 1:
        raise ValueError("the number of tasks must be at least 1")
    counts = np.unique((~np.isnan(cells)).sum(axis=2))
    method = "Feldt F interval" if counts.size <= 1 else "Feldt F interval, approximate: unequal attempts"
    if n < 2 or length < 2:
        return Interval(math.nan, math.nan, level, method, n, "models")
    alpha = cronbach_alpha(np.nanmean(cells, axis=2), level)
    factor = wanted / length
    limits = np.maximum([alpha.low, alpha.high], 0.0)
    low, high = factor * limits / (1.0 + (factor - 1.0) * limits)
    return Interval(float(low), float(high), level, method, n, "models")


def _error(components: Components, attempts: int, kind: Kind) -> float:
    """Error variance of a model's mean over one task."""
    if kind not in ("relative", "absolute"):
        raise ValueError(f"kind={kind!r}: expected 'relative' or 'absolute'")
    if attempts < 1:
        raise ValueError("the number of attempts must be at least 1")
    noise = components.attempt / attempts
    if math.isnan(components.attempt) and not math.isnan(components.model):
        if attempts != 1:
            raise ValueError(f"no coefficient for {attempts} attempts: {CONFOUNDED}")
        noise = 0.0
    return components.model_task + noise + (components.task if kind == "absolute" else 0.0)


def _complete(values: ArrayLike) -> tuple[Floats, tuple[str, ...]]:
    """(n, T, a) values of the tasks that every model with any value has, and notes of what was left out."""
    cells = np.asarray(values, dtype=np.float64)
    if cells.ndim == 2:
        cells = cells[:, :, None]
    if cells.ndim != 3:
        raise ValueError(f"need models by tasks by attempts, not shape {cells.shape}")
    if np.isinf(cells).any():
        model, task = np.argwhere(np.isinf(cells))[0][:2]
        raise ValueError(f"infinite value of model {model} on task {task}: components need finite values")
    notes: tuple[str, ...] = ()
    present = np.asarray(~np.isnan(cells).all(axis=2))
    seen = np.flatnonzero(present.any(axis=1))
    if len(seen) < len(cells):
        notes = (*notes, f"{len(cells) - len(seen)} models without any value left out")
    complete = np.flatnonzero(present[seen].all(axis=0))
    if len(complete) < cells.shape[1]:
        left_out = cells.shape[1] - len(complete)
        notes = (*notes, f"{left_out} of {cells.shape[1]} tasks left out: a model has no value there")
    cells = cells[np.ix_(seen, complete)]
    check_range(cells, "the scores")
    return cells, notes
