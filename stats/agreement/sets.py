"""How far two task sets agree, where their comparisons are known: intervals speak of tasks like these."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from stats.agreement.correlation import STATISTICS
from stats.agreement.pair import PART_WHOLE, Agreement, agree
from stats.bootstrap import bootstrap_ratings
from stats.bradley_terry import Fit, GaussianPrior, fit
from stats.comparisons import Comparisons
from stats.intervals import basic_interval

Floats = NDArray[np.float64]


def agree_sets(
    a: Comparisons,
    b: Comparisons,
    name_a: str = "a",
    name_b: str = "b",
    *,
    part_whole: bool = False,
    level: float = 0.95,
    replicates: int = 1000,
    seed: int = 0,
    prior: GaussianPrior | None = None,
) -> Agreement:
    """Agreement of the ratings of two task sets, with intervals that speak of tasks like these.

    Both sets are rated; then the tasks of each are resampled independently, the ratings refitted, and the
    statistics given basic bootstrap intervals. Replicates without a finite fit are left out and counted. The
    `n` of the intervals is the number of tasks of the smaller set. Rank correlations and overlaps of few
    models take few values, and their intervals cover less than the level says.

    Args:
        a, b: comparisons of the two sets. Models without a rating in both are left out, and so are all but
            the largest of groups that were never compared.
        prior: applied to both fits, or None for maximum likelihood.
        part_whole, name_a, name_b, level: as in `agree`.
        replicates, seed: of the bootstrap; one seed, two independent streams.
    """
    fit_a, fit_b = fit(a, prior=prior), fit(b, prior=prior)
    table_a, table_b = _one_scale(fit_a), _one_scale(fit_b)
    result = agree(table_a, table_b, name_a, name_b, part_whole=part_whole, level=level)
    notes = list(result.notes)
    for name, fitted, table in ((name_a, fit_a, table_a), (name_b, fit_b, table_b)):
        apart = [
            m for m, r in zip(fitted.models, fitted.ratings, strict=True) if np.isfinite(r) and m not in table
        ]
        if apart:
            notes.append(
                f"{name}: {', '.join(apart)} left out: never compared with the others, so on no common scale"
            )
    shared = len(set(a.tasks) & set(b.tasks))
    if shared:
        notes.append(
            f"{PART_WHOLE}: the sets share {shared} tasks; they were resampled as if independent, so the "
            "intervals do not hold"
        )
    n = min(len(a.tasks), len(b.tasks))
    if n < 2 or not result.models:
        notes.append("no task bootstrap: it needs two tasks in each set and a model rated in both")
        return replace(result, intervals={}, notes=tuple(notes))
    streams = np.random.default_rng(seed).spawn(2)
    x, y = (
        bootstrap_ratings(sets, replicates, stream, fitted=fitted)[:, _places(fitted.models, result.models)]
        for sets, stream, fitted in zip((a, b), streams, (fit_a, fit_b), strict=True)
    )
    usable = np.isfinite(x).all(axis=1) & np.isfinite(y).all(axis=1)
    failed = int((~usable).sum())
    if failed:
        notes.append(f"{failed} of {replicates} bootstrap replicates have no finite fit and were left out")
    intervals = {}
    for name, (statistic, bounds) in STATISTICS.items():
        drawn = np.full(replicates, np.nan)
        drawn[usable] = statistic(x[usable], y[usable]) if usable.any() else np.nan
        intervals[name] = basic_interval(getattr(result, name), drawn, level, n=n, bounds=bounds)
    return replace(result, intervals=intervals, notes=tuple(notes))


def _one_scale(fitted: Fit) -> dict[str, float]:
    """Ratings of the largest set of models that were fitted together."""
    block = max(fitted.blocks, key=len, default=np.empty(0, dtype=np.int64))
    return {fitted.models[i]: float(fitted.ratings[i]) for i in block}


def _places(models: Sequence[str], wanted: Sequence[str]) -> list[int]:
    index = {model: i for i, model in enumerate(models)}
    return [index[model] for model in wanted]
