"""How far two task sets agree, where their comparisons are known: intervals speak of tasks like these."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from stats.agreement.correlation import STATISTICS
from stats.agreement.inversion import ResampledSets, inverted_intervals
from stats.agreement.pair import PART_WHOLE, Agreement, agree
from stats.bootstrap import bootstrap_ratings, jackknife_ratings
from stats.bradley_terry import Fit, Prior, Status, fit
from stats.comparisons import Comparisons
from stats.intervals import Interval, basic_interval, bca_interval, percentile_interval

Floats = NDArray[np.float64]
IntervalMethod = Literal["inverted", "basic", "bca", "percentile"]

PERCENTILE_WARNING = (
    "percentile intervals of agreement cover far less than their level: replicates lie below the estimate as "
    "the estimate lies below the truth"
)


def agree_sets(
    a: Comparisons,
    b: Comparisons,
    name_a: str = "a",
    name_b: str = "b",
    *,
    part_whole: bool = False,
    level: float = 0.95,
    method: IntervalMethod = "inverted",
    replicates: int = 1000,
    seed: int = 0,
    prior: Prior | None = None,
) -> Agreement:
    """Agreement of the ratings of two task sets, with intervals that speak of tasks like these.

    Both sets are rated; then the tasks of each (and the attempts within tasks) are resampled independently
    and the ratings refitted. Replicates without a finite fit are left out and counted. The `n` of the
    intervals is the number of tasks of the smaller set.

    Args:
        a, b: comparisons of the two sets. Models without a rating in both are left out, and so are all but
            the largest of groups that were never compared.
        prior: applied to both fits, or None for maximum likelihood.
        part_whole, name_a, name_b, level: as in `agree`.
        method: of the intervals. `inverted` (see `stats.agreement.inversion`; the slope gets a basic one),
            `basic`, `bca` with a task jackknife, or `percentile`, which a note warns of. How often each
            covers the truth is measured in the project's benchmarks.
        replicates, seed: of the bootstrap; one seed, independent streams.
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
        by_prior = [
            m
            for m, s in zip(fitted.models, fitted.status, strict=True)
            if s is Status.PRIOR and m in result.models
        ]
        if by_prior:
            notes.append(
                f"{name}: {', '.join(by_prior)} finite only by the prior, which resampled tasks hardly move: "
                "the intervals leave that uncertainty out"
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
    streams = np.random.default_rng(seed).spawn(3)
    rated = [_Rated(sets, fitted, result.models) for sets, fitted in ((a, fit_a), (b, fit_b))]
    drawn = [r.resampled(replicates, stream) for r, stream in zip(rated, streams[:2], strict=True)]
    usable = np.isfinite(drawn[0]).all(axis=1) & np.isfinite(drawn[1]).all(axis=1)
    failed = int((~usable).sum())
    if failed:
        notes.append(f"{failed} of {replicates} bootstrap replicates have no finite fit and were left out")
    if method == "percentile":
        notes.append(PERCENTILE_WARNING)
    values = {name: np.full(replicates, np.nan) for name in STATISTICS}
    for name, (statistic, _) in STATISTICS.items():
        if usable.any():
            values[name][usable] = statistic(drawn[0][usable], drawn[1][usable])
    if method == "inverted":
        sets = ResampledSets.of(rated[0].ratings, rated[1].ratings, *drawn)
        intervals = _inverted(sets, result, values, level, n, streams[2])
    else:
        intervals = _from_replicates(rated, result, values, level, n, method)
    return replace(result, intervals=intervals, notes=tuple(notes))


@dataclass(frozen=True, eq=False)
class _Rated:
    """One set, and the ratings in it of the models that both sets rate."""

    comparisons: Comparisons
    fitted: Fit
    models: tuple[str, ...]

    @property
    def places(self) -> list[int]:
        return [self.fitted.models.index(model) for model in self.models]

    @property
    def ratings(self) -> Floats:
        return self.fitted.ratings[self.places]

    def resampled(self, replicates: int, stream: np.random.Generator) -> Floats:
        return bootstrap_ratings(self.comparisons, replicates, stream, fitted=self.fitted)[:, self.places]

    def jackknife(self) -> Floats:
        return jackknife_ratings(self.comparisons, self.fitted)[:, self.places]


def _inverted(
    sets: ResampledSets,
    result: Agreement,
    values: dict[str, Floats],
    level: float,
    n: int,
    stream: np.random.Generator,
) -> dict[str, Interval]:
    """R2 follows r, and the slope is a basic interval; the order is that of the statistics."""
    tested = {name: entry for name, entry in STATISTICS.items() if name not in ("r_squared", "slope")}
    found = inverted_intervals(sets, tested, level, n=n, seed=stream)
    r = found["pearson_r"]
    squares = sorted((r.low**2, r.high**2))
    found["r_squared"] = replace(r, low=0.0 if r.low <= 0 <= r.high else squares[0], high=squares[1])
    found["slope"] = basic_interval(result.slope, values["slope"], level, n=n)
    return {name: found[name] for name in STATISTICS}


def _from_replicates(
    rated: Sequence[_Rated],
    result: Agreement,
    values: dict[str, Floats],
    level: float,
    n: int,
    method: IntervalMethod,
) -> dict[str, Interval]:
    """Basic, BCa or percentile intervals."""
    left_out: list[tuple[Floats, Floats]] = []
    if method == "bca":
        x, y = rated[0].ratings, rated[1].ratings
        without_x, without_y = rated[0].jackknife(), rated[1].jackknife()
        left_out = [(without_x, np.broadcast_to(y, without_x.shape))]
        left_out.append((np.broadcast_to(x, without_y.shape), without_y))
    intervals = {}
    for name, (statistic, bounds) in STATISTICS.items():
        estimate = getattr(result, name)
        if method == "bca":
            jackknife = [np.asarray(statistic(*pair)) for pair in left_out]
            intervals[name] = bca_interval(estimate, values[name], jackknife, level, n=n)
        elif method == "basic":
            intervals[name] = basic_interval(estimate, values[name], level, n=n, bounds=bounds)
        elif method == "percentile":
            intervals[name] = percentile_interval(values[name], level, n=n)
        else:
            raise ValueError(f"method={method!r}: expected 'inverted', 'basic', 'bca' or 'percentile'")
    return intervals


def _one_scale(fitted: Fit) -> dict[str, float]:
    """Ratings of the largest set of models that were fitted together."""
    block = max(fitted.blocks, key=len, default=np.empty(0, dtype=np.int64))
    return {fitted.models[i]: float(fitted.ratings[i]) for i in block}
