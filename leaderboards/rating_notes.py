"""What must be said beside ratings: who has none and why, what they rest on, and what to do about it."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from stats.bradley_terry import Fit, GaussianPrior, Status
from stats.comparisons import Comparisons
from stats.ratings import Ratings

FEW_TASKS = 10
_NO_WIDTH = 1e-6
"""Elo below which only rounding gives an interval its width."""


def rating_notes(ratings: Ratings) -> list[str]:
    """Models without a plain rating, and intervals or a fit that need a word."""
    fitted = ratings.fitted
    notes = [*_separated(fitted), *_groups(fitted)]
    if names := _named(fitted, Status.UNCOMPARED):
        notes.append(f"{names}: met no other model; run them on tasks that others have results on")
    if names := _named(fitted, Status.PRIOR):
        notes.append(
            f"{names}: finite only because of the prior; another prior gives another number, and no interval "
            "of it exists"
        )
    if not fitted.converged:
        notes.append(f"the fit did not converge: gradient {fitted.gradient_norm:.1e} per comparison")
    ties = ratings.comparisons.ties
    if ties is not None and ties.any() and np.allclose(ties / 2, ratings.comparisons.wins, 1e-12, 0):
        notes.append("every comparison is a tie: equal ratings here say that nothing was decided")
    elif len(ratings.models) > 1:
        narrow = np.flatnonzero(ratings.elo_high - ratings.elo_low < _NO_WIDTH)
        if narrow.size:
            names = ", ".join(ratings.models[i] for i in narrow)
            notes.append(
                f"{names}: every task says the same, so the interval has no width; no proof of precision"
            )
    return notes


def task_notes(comparisons: Comparisons, clustered: bool) -> list[str]:
    """What few tasks, or none that are known, mean for the intervals.

    Args:
        comparisons: what was rated.
        clustered: whether the tasks are known.
    """
    if not clustered:
        return [
            "no intervals: results of one task are alike, so intervals are clustered by task; the file has "
            "no column task and counts as one"
        ]
    tasks = int(comparisons.wins.any(axis=(1, 2)).sum())
    if len(comparisons.models) == 1:
        return [f"{comparisons.models[0]}: met no other model, so its rating is what all ratings average to"]
    if tasks < 2:
        return ["no intervals: they need comparisons on two tasks, better on ten"]
    if tasks < FEW_TASKS:
        return [f"only {tasks} tasks: the intervals are rough; use {FEW_TASKS} tasks or more"]
    return []


def _separated(fitted: Fit) -> list[str]:
    """Undefeated and winless models."""
    rated = {int(g) for g in fitted.group[np.isfinite(fitted.ratings)]}
    places: dict[str, list[str]] = {}
    for i in np.flatnonzero([status is Status.SEPARATED for status in fitted.status]):
        order = fitted.order[i]
        if np.isnan(order):
            place = "neither above nor below the rated models"
        elif int(fitted.group[i]) not in rated:
            place = "only ordered among each other"
        else:
            place = "above the rated models" if order > 0 else "below the rated models"
        places.setdefault(place, []).append(fitted.models[i])
    if not places:
        return []
    listed = "; ".join(f"{', '.join(names)} ({place})" for place, names in places.items())
    return [
        f"no finite rating: {listed}. Their results tell the order but no distance: add tasks, or models "
        "nearer to them; `mlesmith rate --prior firth` gives finite numbers under a prior"
    ]


def _groups(fitted: Fit) -> list[str]:
    """Groups of models without a chain of comparisons between them."""
    groups: dict[int, list[str]] = {}
    for model, group, status in zip(fitted.models, fitted.group, fitted.status, strict=True):
        if status is not Status.UNCOMPARED:
            groups.setdefault(int(group), []).append(model)
    if len(groups) < 2:
        return []
    listed = " and ".join(f"[{', '.join(names)}]" for names in groups.values())
    if isinstance(fitted.prior, GaussianPrior):
        return [f"never compared: {listed}; only the prior puts them on one scale: run them on common tasks"]
    return [
        f"never compared: {listed}; ratings and ranks hold within each group only: run them on common tasks, "
        "or `mlesmith rate --prior-sd 300` for one scale under a prior"
    ]


def _named(fitted: Fit, status: Status) -> str:
    names: Iterable[str] = (m for m, s in zip(fitted.models, fitted.status, strict=True) if s is status)
    return ", ".join(names)
