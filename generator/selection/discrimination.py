"""The discrimination of every task: of its ladder, or of real models where there are results."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TypeVar

import numpy as np

from generator.selection.facts import Facts
from generator.selection.items import Item, items
from generator.selection.ladder import ladder_discrimination
from stats.comparisons import Comparisons

T = TypeVar("T")

DIGITS = 3
"""Discrimination is rounded to so many digits, and then compared exactly."""


class Origin(StrEnum):
    """What a discrimination was computed from."""

    SCORES = "scores"
    LADDER = "ladder"
    SCALED_LADDER = "ladder on the scale of the scores"
    UNKNOWN = "unknown"


@dataclass(frozen=True)
class Discrimination:
    """How well a task tells models apart; see :mod:`generator.selection.ladder` and ``items``.

    Attributes:
        value: at most 1; 0 where nothing is known.
        origin: what it was computed from.
        item: with results of models, what they say.
    """

    value: float
    origin: Origin
    item: Item | None = None

    def words(self) -> str:
        """For people."""
        if self.origin is Origin.UNKNOWN:
            return "nothing tells how well it discriminates, which counts as 0"
        told = f"discrimination {self.value:.2f} from {_NOUNS[self.origin]}"
        if self.item is None:
            return told
        if self.item.spread == 0:
            return f"{told}: all {self.item.models} models tie"
        against = ", against the other tasks" if self.item.correlation < 0 else ""
        return (
            f"{told}: item-rest correlation {self.item.correlation:.2f}{against} (by "
            f"chance up to {min(1.0, 2 * self.item.error):.2f}), spread {self.item.spread:.2f}, "
            f"{self.item.models} models"
        )


_NOUNS = {
    Origin.SCORES: "scores of models",
    Origin.LADDER: "the ladder of baselines",
    Origin.SCALED_LADDER: "the ladder of baselines, on the scale of the scores",
}


def discriminations(
    pool: Sequence[Facts], comparisons: Comparisons | None = None
) -> dict[str, Discrimination]:
    """The discrimination of every task, by key.

    Where there are scores they count, by ``<set>/<id>`` or ``<id>``. Ladders of tasks without are brought to
    their scale by the ratio of both means over the tasks that have both, so that neither kind is preferred.
    """
    ladders = {facts.key: ladder_discrimination(facts.ladder) for facts in pool}
    analysed = {} if comparisons is None else items(comparisons)
    by_scores = {facts.key: found for facts in pool if (found := find(analysed, facts.key)) is not None}
    scale = _scale(ladders, by_scores)
    told: dict[str, Discrimination] = {}
    for key, ladder in ladders.items():
        item = by_scores.get(key)
        value = None if item is None else item.discrimination
        if value is not None:
            told[key] = Discrimination(_rounded(value), Origin.SCORES, item)
        elif ladder is not None:
            origin = Origin.SCALED_LADDER if by_scores else Origin.LADDER
            told[key] = Discrimination(_rounded(min(1.0, scale * ladder)), origin)
        else:
            told[key] = Discrimination(0.0, Origin.UNKNOWN)
    return told


def find(by_task: Mapping[str, T], key: str) -> T | None:
    """What a table of results holds of a task, named with its set or by its id alone."""
    return by_task.get(key, by_task.get(key.partition("/")[2]))


def _scale(ladders: Mapping[str, float | None], by_scores: Mapping[str, Item]) -> float:
    """What makes ladders comparable with scores; 1 where no task has both."""
    pairs = [
        (ladder, value)
        for key, item in by_scores.items()
        if (ladder := ladders[key]) is not None and (value := item.discrimination) is not None
    ]
    if not pairs:
        return 1.0
    ladder, value = np.mean(pairs, axis=0)
    return float(max(0.0, value) / ladder) if ladder > 0 else 1.0


def _rounded(value: float) -> float:
    return 0.0 if math.isclose(value, 0.0, abs_tol=10**-DIGITS / 2) else round(value, DIGITS)
