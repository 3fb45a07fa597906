"""How a chosen set compares with random ones of its size from the same pool."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from generator.selection.discrimination import find
from generator.selection.pool import UNIT, Candidate, Pool, twins
from stats.bradley_terry import FirthPrior, fit
from stats.comparisons import Comparisons
from stats.sandwich import by_data, contrast_variance, task_covariance

_SEED = 30
_DRAWS = 1000
_FITTED = 200
"""Of the draws, those that are rated, as a fit takes milliseconds: their mean is known to 7 % of their SD."""

MEASURES: dict[str, str] = {
    "discrimination": "mean discrimination",
    "kinds": "effective number of kinds",
    "off_quota": "share of places off the quotas, mean of the axes",
    "datasets": "datasets",
    "twins": "twins",
    "elo_se": "standard error of an Elo difference",
    "elo_z": "mean Elo difference in its standard errors",
}
"""What is compared. The effective number of kinds is exp(H), with H the entropy of modality with objective
(Hill 1973). Errors of Elo are clustered by task; the same scores have chosen the set, which flatters it."""


@dataclass(frozen=True)
class Measure:
    """One measure of the set, with its mean and central 95 % among random sets."""

    chosen: float
    mean: float
    low: float
    high: float


def compare_with_random(
    pool: Pool, chosen: Sequence[Candidate], comparisons: Comparisons | None = None
) -> dict[str, Measure]:
    """The measures by name (:data:`MEASURES`); those of Elo only with scores, and where they exist.

    Random sets are drawn from the pool with a fixed seed, and without regard to datasets and quotas.
    """
    rng = np.random.default_rng(_SEED)
    places = [rng.choice(len(pool.candidates), pool.size, replace=False) for _ in range(_DRAWS)]
    draws = [[pool.candidates[place] for place in draw] for draw in places]
    names = {} if comparisons is None else {task: task for task in comparisons.tasks}
    ours, theirs = _plain(pool, chosen), [_plain(pool, draw) for draw in draws]
    if comparisons is not None:
        rated = _elo(comparisons, names, chosen)
        others = [_elo(comparisons, names, draw) for draw in draws[:_FITTED]]
        theirs = [plain | elo for plain, elo in zip(theirs[:_FITTED], others, strict=True)] + theirs[_FITTED:]
        ours |= rated
    measures = {}
    for name, value in ours.items():
        values = [draw[name] for draw in theirs if name in draw]
        if values:
            low, high = np.quantile(values, (0.025, 0.975))
            measures[name] = Measure(value, float(np.mean(values)), float(low), float(high))
    return measures


def _plain(pool: Pool, chosen: Sequence[Candidate]) -> dict[str, float]:
    shares = np.array(list(Counter(each.levels[0] for each in chosen).values())) / len(chosen)
    steps = pool.steps(chosen)
    return {
        "discrimination": sum(each.worth for each in chosen) / UNIT / len(chosen),
        "kinds": math.exp(-float((shares * np.log(shares)).sum())),
        "off_quota": sum(steps) / len(steps) / len(chosen),
        "datasets": float(len({each.dataset for each in chosen})),
        "twins": float(twins(chosen)),
    }


def _elo(comparisons: Comparisons, names: Mapping[str, str], chosen: Sequence[Candidate]) -> dict[str, float]:
    """Over all pairs of models whose difference the data make finite; empty where there is none."""
    tasks = [task for each in chosen if (task := find(names, each.key)) is not None]
    if len(tasks) < 2:
        return {}
    part = comparisons.subset(tasks=sorted(tasks))
    fitted = fit(part, prior=FirthPrior())
    covariance, _ = task_covariance(part, fitted)
    error = np.sqrt(contrast_variance(covariance))
    upper = np.triu(by_data(fitted) & np.isfinite(error) & (error > 0), k=1)
    if not upper.any():
        return {}
    difference = np.abs(fitted.ratings[:, None] - fitted.ratings[None, :])
    return {
        "elo_se": float(error[upper].mean()),
        "elo_z": float((difference[upper] / error[upper]).mean()),
    }
