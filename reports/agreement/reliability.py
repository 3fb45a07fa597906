"""How reliably a set of tasks orders models, and how many tasks it would take."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from stats.comparisons import Comparisons
from stats.intervals import Interval
from stats.standings import win_shares
from stats.variance import (
    CONFOUNDED,
    Components,
    coefficient,
    reliability_curve,
    reliability_interval,
    tasks_needed,
    variance_components,
)

TARGET = 0.9
BELOW_ZERO = "estimated below zero"
LONGEST = 1000
"""Tasks up to which the curve is drawn at most."""


@dataclass(frozen=True)
class Length:
    """Reliability of the models' mean win shares over the tasks of one set.

    Attributes:
        tasks, models: behind the estimate: the tasks that every model has.
        reliability: expected correlation with as many other tasks like these; NaN if undefined.
        interval: of it; the models are the sample.
        target: a wanted reliability.
        needed: tasks that reach it; infinity if the models do not differ, NaN if undefined.
        needed_low, needed_high: the same at the ends of `interval`.
        curve: (tasks, reliability) points, rising.
        notes: what was left out or is undefined.
    """

    tasks: int
    models: int
    reliability: float
    interval: Interval
    target: float
    needed: float
    needed_low: float
    needed_high: float
    curve: tuple[tuple[int, float], ...]
    notes: tuple[str, ...]


def lengths(
    sets: Mapping[str, Comparisons], *, target: float = TARGET, level: float = 0.95
) -> dict[str, Length]:
    """The reliability of each set now and with other numbers of tasks, on one grid for all.

    The share of opponents that a model beat on a task is its score there. With several attempts per model and
    task, these are averaged, so the figures hold for as many.
    """
    shares = {name: win_shares(comparisons) for name, comparisons in sets.items()}
    parts = {name: variance_components(values) for name, values in shares.items()}
    needed = {name: tasks_needed(components, target) for name, components in parts.items()}
    ends = [2 * c.n_tasks for c in parts.values()] + [int(1.2 * n) for n in needed.values() if n < LONGEST]
    grid = np.unique(np.geomspace(1, min(max([10, *ends]), LONGEST), 48).round().astype(int))
    return {
        name: _length(components, needed[name], target, grid, reliability_interval(shares[name], level=level))
        for name, components in parts.items()
    }


def _length(
    components: Components, needed: float, target: float, grid: np.ndarray, interval: Interval
) -> Length:
    known = not math.isnan(components.model) and components.n_tasks > 0
    values = reliability_curve(components, grid) if known else np.full(len(grid), np.nan)
    # Win shares have no task component, and attempts are averaged: no remark on either.
    notes = [note for note in components.notes if note != CONFOUNDED and not note.startswith(BELOW_ZERO)]
    if known and components.raw["model"] < 0:
        notes.append("the models differ no more than chance makes them: reliability 0")
    now = coefficient(components, components.n_tasks) if known else math.nan
    if known and math.isnan(now):
        notes.append("every model beat the same share on every task: nothing varies")
    return Length(
        tasks=components.n_tasks,
        models=components.n_models,
        reliability=now,
        interval=interval,
        target=target,
        needed=needed,
        needed_low=_tasks_for(target, interval.high, components.n_tasks),
        needed_high=_tasks_for(target, interval.low, components.n_tasks),
        curve=tuple((int(t), float(r)) for t, r in zip(grid, values, strict=True) if math.isfinite(r)),
        notes=tuple(notes),
    )


def _tasks_for(target: float, reliability: float, tasks: int) -> float:
    """Tasks that reach the target if so many have this reliability: Spearman-Brown, solved for the length."""
    if math.isnan(reliability):
        return math.nan
    if reliability <= 0:
        return math.inf
    wanted = tasks * target * (1 - reliability) / ((1 - target) * reliability)
    return float(max(1, math.ceil(wanted * (1 - 1e-12))))
