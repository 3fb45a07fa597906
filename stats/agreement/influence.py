"""Which models and which tasks a finding rests on: everything recomputed without each of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from stats.agreement.correlation import STATISTICS
from stats.agreement.pair import Table, align
from stats.agreement.split_half import rated_together
from stats.bradley_terry import Fit, GaussianPrior, Prior, fit
from stats.comparisons import Comparisons

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

TIED = 1e-6
"""Rating points; models nearer to each other than this tie."""


@dataclass(frozen=True, eq=False)
class Influence:
    """Statistics of agreement without each model, or without each task, in turn.

    Attributes:
        left_out: m names, the rows: of models, or of tasks.
        sets: the set that each task belongs to; empty for models.
        statistics: s names of `STATISTICS`, the columns.
        full: (s,) with everything; NaN where undefined.
        without: (m, s) without the row's model or task; NaN where undefined then.
        swaps: for tasks, the (m,) pairs of models that change places in the ranking of the task's own set;
            empty for models.
        n: models in `full`.
        notes: what is undefined or was left out, and why.
    """

    left_out: tuple[str, ...]
    sets: tuple[str, ...]
    statistics: tuple[str, ...]
    full: Floats
    without: Floats
    swaps: Ints
    n: int
    notes: tuple[str, ...] = ()

    @property
    def change(self) -> Floats:
        """(m, s) `without` - `full`."""
        return self.without - self.full

    def ordered(self, statistic: str) -> Ints:
        """Rows by the size of their influence on a statistic, largest first; those without a value last."""
        size = np.abs(self.change[:, self.statistics.index(statistic)])
        return np.argsort(-np.nan_to_num(size, nan=-1.0), kind="stable")

    @property
    def most_influential(self) -> Mapping[str, str | None]:
        """The name whose absence changes each statistic most; None if nothing changes or is defined."""
        found: dict[str, str | None] = {}
        for column, statistic in enumerate(self.statistics):
            change = np.abs(self.change[:, column])
            moves = bool((change > 1e-12).any())
            found[statistic] = self.left_out[int(self.ordered(statistic)[0])] if moves else None
        return found


@dataclass(frozen=True, eq=False)
class TaskInfluence:
    """What each task does to the ratings of its own set; arrays of length T follow `tasks`.

    Attributes:
        tasks: T names.
        models: n names, in the order of the comparisons.
        change: (T, n) rating without the task minus rating with it; NaN for models without a rating. Ratings
            are relative to their mean, so all of a row is NaN where a model loses its rating.
        largest: (T,) largest absolute change, in rating points; NaN for such a row.
        swaps: (T,) pairs of models that stand the other way round without the task.
        unrated: per task, the models that have a finite rating only thanks to it.
        notes: what is undefined, and why.
    """

    tasks: tuple[str, ...]
    models: tuple[str, ...]
    change: Floats
    largest: Floats
    swaps: Ints
    unrated: tuple[tuple[str, ...], ...]
    notes: tuple[str, ...] = ()

    @property
    def ordered(self) -> Ints:
        """Tasks by influence: those that carry a model's rating first, then by `largest`."""
        return np.argsort(-np.nan_to_num(self.largest, nan=np.inf), kind="stable")


def leave_one_model_out(a: Table, b: Table, name_a: str = "a", name_b: str = "b") -> Influence:
    """Every statistic of two rating tables without each model in turn.

    The ratings of the other models stay as they are: whether the finding hangs on one model, not what the
    ratings would be had it never taken part.

    Args:
        a, b: model name to rating. Models without a number in both are left out by name.
        name_a, name_b: names of the sets.
    """
    models, matrix, dropped = align({name_a: a, name_b: b})
    notes = [f"left out: {', '.join(dropped)}"] if dropped else []
    n = len(models)
    if n < 3:
        notes.append(f"n = {n}: without one model no correlation is left")
    rest = ~np.eye(n, dtype=bool)
    x, y = (
        np.broadcast_to(column, (n, n))[rest].reshape(n, max(n - 1, 0))
        for column in (matrix[:, 0], matrix[:, 1])
    )
    full, without = _all(matrix[:, 0], matrix[:, 1]), _all(x, y)
    return Influence(
        models, (), tuple(STATISTICS), full, without, np.empty(0, dtype=np.int64), n, tuple(notes)
    )


def leave_one_task_out(
    a: Comparisons,
    b: Comparisons,
    name_a: str = "a",
    name_b: str = "b",
    *,
    prior: Prior | None = None,
) -> Influence:
    """Every statistic of the ratings of two sets without each task in turn, a's tasks first.

    Args:
        a, b: comparisons of two or more tasks each. Models that are not rated together with the others in
            both sets are left out.
        name_a, name_b: names of the sets.
        prior: for all fits, or None for maximum likelihood.

    Raises:
        ValueError: equal names, or a set of one task.
    """
    if name_a == name_b:
        raise ValueError(f"both sets are named {name_a!r}")
    for sets in (a, b):
        _two_tasks(sets)
    fits = fit(a, prior=prior), fit(b, prior=prior)
    rated = [{fitted.models[i] for i in rated_together(fitted)} for fitted in fits]
    models = tuple(sorted(rated[0] & rated[1]))
    notes = []
    if left_out := sorted((set(a.models) | set(b.models)) - set(models)):
        notes.append(f"left out, not rated together with the others in both sets: {', '.join(left_out)}")
    places = [[fitted.models.index(model) for model in models] for fitted in fits]
    x, y = (fitted.ratings[place] for fitted, place in zip(fits, places, strict=True))
    parts, swaps = [], []
    for sets, fitted, place, name in zip((a, b), fits, places, (name_a, name_b), strict=True):
        ratings, changed, unrated = _without_each_task(sets, fitted)
        ratings = ratings[:, place]
        other = np.broadcast_to(y if name == name_a else x, ratings.shape)
        parts.append(_all(*((ratings, other) if name == name_a else (other, ratings))))
        swaps.append(changed)
        notes += [
            f"{name}: without {task}, {', '.join(lost)} has no finite rating: no figures"
            for task, lost in zip(sets.tasks, unrated, strict=True)
            if lost
        ]
    return Influence(
        left_out=(*a.tasks, *b.tasks),
        sets=(name_a,) * len(a.tasks) + (name_b,) * len(b.tasks),
        statistics=tuple(STATISTICS),
        full=_all(x, y),
        without=np.concatenate(parts),
        swaps=np.concatenate(swaps),
        n=len(models),
        notes=tuple(notes),
    )


def task_influence(
    comparisons: Comparisons, fitted: Fit | None = None, *, prior: Prior | None = None
) -> TaskInfluence:
    """What leaving out each task does to the ratings and the ranking.

    Args:
        comparisons: two or more tasks.
        fitted: their fit; made with `prior` if absent.
        prior: for that fit.

    Raises:
        ValueError: fewer than two tasks.
    """
    _two_tasks(comparisons)
    fitted = fit(comparisons, prior=prior) if fitted is None else fitted
    if comparisons.models != fitted.models:
        raise ValueError("the fit and the comparisons name different models")
    ratings, swaps, unrated = _without_each_task(comparisons, fitted)
    change = ratings - fitted.ratings
    rated = np.isfinite(fitted.ratings)
    largest = np.abs(change[:, rated]).max(axis=1) if rated.any() else np.full(len(change), np.nan)
    notes = [
        f"{model} has no rating with all tasks ({status})"
        for model, rating, status in zip(fitted.models, fitted.ratings, fitted.status, strict=True)
        if np.isnan(rating)
    ]
    return TaskInfluence(comparisons.tasks, comparisons.models, change, largest, swaps, unrated, tuple(notes))


def _without_each_task(
    comparisons: Comparisons, fitted: Fit
) -> tuple[Floats, Ints, tuple[tuple[str, ...], ...]]:
    """(T, n) ratings without each task, (T,) pairs that swap, and the models that lose their rating.

    Each fit is made from the start, not near the full one, since without a task groups may fall apart.
    """
    wins, total = comparisons.wins, comparisons.total
    times = (wins > 0).sum(axis=0)
    ratings = np.full((len(wins), len(fitted.models)), np.nan)
    swaps, unrated = np.zeros(len(wins), dtype=np.int64), []
    for t, task in enumerate(wins):
        # A difference of sums may miss zero by rounding, and would pass for a win.
        rest = np.where(times > (task > 0), total - task, 0.0)
        if not rest.any():
            unrated.append(
                tuple(m for m, r in zip(fitted.models, fitted.ratings, strict=True) if np.isfinite(r))
            )
            continue
        refit = fit(
            rest,
            models=fitted.models,
            scale=fitted.scale,
            base=fitted.base,
            offset=fitted.offset,
            prior=fitted.prior,
        )
        lost = _lost(fitted, refit)
        unrated.append(tuple(fitted.models[i] for i in lost))
        swaps[t] = (_order(fitted) * _order(refit) < 0).sum() // 2
        if not lost:
            ratings[t] = refit.ratings
    return ratings, swaps, tuple(unrated)


def _two_tasks(comparisons: Comparisons) -> None:
    if len(comparisons.tasks) < 2:
        raise ValueError("leaving one task out needs at least two tasks")


def _lost(before: Fit, after: Fit) -> list[int]:
    """Models that are no longer rated together with most of those they were rated with."""
    lost: set[int] = set()
    for block in before.blocks:
        kept = max((set(block) & set(part) for part in after.blocks), key=len, default=set())
        lost |= set(block) - kept
    return sorted(int(i) for i in lost)


def _order(fitted: Fit) -> Floats:
    """(n, n) +1 where i stands above j, -1 below, 0 where they tie or nothing is known."""
    level = np.nan_to_num(np.sign(fitted.order[:, None] - fitted.order[None, :]))
    apart = fitted.ratings[:, None] - fitted.ratings[None, :]
    # Equal win totals on a complete schedule give equal ratings, but for the rounding.
    within = np.where(np.abs(apart) > TIED, np.sign(apart), 0.0)
    together = fitted.group[:, None] == fitted.group[None, :]
    return np.where(
        together | isinstance(fitted.prior, GaussianPrior), np.where(level != 0, level, within), 0.0
    )


def _all(x: Floats, y: Floats) -> Floats:
    """(..., s) every statistic of x and y along the last axis."""
    if x.shape[-1] == 0:
        return np.full((*x.shape[:-1], len(STATISTICS)), np.nan)
    return np.stack([statistic(x, y) for statistic, _ in STATISTICS.values()], axis=-1)
