"""How well a task tells models apart that have run on it: item analysis of a table of scores."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from harness.errors import InputError
from stats.comparisons import Comparisons
from stats.standings import win_shares

Floats = NDArray[np.float64]

_FEWEST_MODELS = 3
_FEWEST_TASKS = 3


@dataclass(frozen=True)
class Item:
    """One task among the others.

    Attributes:
        correlation: of the task's win shares with the mean of the other tasks', over the models (the
            corrected item-total correlation); NaN where all models have the same mean there.
        spread: standard deviation of its win shares over that of an order without ties; 0 where all models
            tie, as on a task that none or each of them solves.
        models: that have run on it.
    """

    correlation: float
    spread: float
    models: int

    @property
    def discrimination(self) -> float | None:
        """correlation x spread, from -1 (the models in reverse) to 1.

        Proportional to the task's share in the spread of the models' total: the item reliability index of
        Gulliksen (1950).
        """
        if self.spread == 0:
            return 0.0
        return None if math.isnan(self.correlation) else self.correlation * self.spread

    @property
    def error(self) -> float:
        """Standard error of a correlation over that many models where there is none: 1 / sqrt(n - 1)."""
        return 1.0 / math.sqrt(self.models - 1)


def compare(scores: pd.DataFrame) -> Comparisons:
    """Comparisons of a table of scores, see :meth:`stats.comparisons.Comparisons.from_scores`.

    Raises:
        InputError: too few models or tasks for item analysis, or a table that cannot be used.
    """
    try:
        comparisons = Comparisons.from_scores(scores)
    except ValueError as error:
        raise InputError(str(error)) from error
    if len(comparisons.models) < _FEWEST_MODELS or len(comparisons.tasks) < _FEWEST_TASKS:
        raise InputError(
            f"scores: {len(comparisons.models)} models on {len(comparisons.tasks)} tasks; needed are "
            f"{_FEWEST_MODELS} models and {_FEWEST_TASKS} tasks or more"
        )
    return comparisons


def items(comparisons: Comparisons) -> Mapping[str, Item]:
    """The item analysis of every task that enough models have run on, by its name in the scores."""
    shares = win_shares(comparisons)
    seen = ~np.isnan(shares)
    found = {}
    for place, task in enumerate(comparisons.tasks):
        others = seen & (np.arange(len(comparisons.tasks)) != place)
        here = seen[:, place] & others.any(axis=1)
        count = int(here.sum())
        if count < _FEWEST_MODELS:
            continue
        own = shares[here, place]
        rest = np.array([row[mask].mean() for row, mask in zip(shares[here], others[here], strict=True)])
        full = np.linspace(0.0, 1.0, count).std()
        found[task] = Item(_correlation(own, rest), float(min(1.0, own.std() / full)), count)
    return found


def _correlation(x: Floats, y: Floats) -> float:
    """Pearson's; NaN where one is constant but for rounding."""
    if np.ptp(x) < 1e-12 or np.ptp(y) < 1e-12:
        return math.nan
    return float(np.corrcoef(x, y)[0, 1])
