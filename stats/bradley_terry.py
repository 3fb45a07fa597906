"""Bradley-Terry ratings on the Elo scale, by Newton's method on the aggregated win matrix.

    P(i beats j) = 1 / (1 + base^((R_j - R_i) / scale)),     R = offset + (scale / ln base) * theta

A tie counts as half a win for each side. The mean rating is the offset, unless an anchor shifts them all.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from stats.comparisons import Comparisons
from stats.connectivity import Connectivity, analyse
from stats.firth import solve_firth
from stats.newton import CONVERGED, check_weights, inverse_information, solve

Floats = NDArray[np.float64]

SAME = 1e-10
"""Strengths closer than this, 2e-8 Elo, are held apart by rounding only."""


class Status(StrEnum):
    """What stands behind a model's rating."""

    RATED = "rated"
    SEPARATED = "separated"
    """Never beaten by, or never won against, the models below or above it: an order, no number."""
    DISCONNECTED = "disconnected"
    """Rated, but only within its group: no chain of comparisons leads to the other groups."""
    PRIOR = "prior"
    """The number is finite only because of the prior."""
    UNCOMPARED = "uncompared"
    """Met no other model."""


@dataclass(frozen=True)
class GaussianPrior:
    """Independent normal priors on the ratings, centred at the offset; `sd` in rating points."""

    sd: float

    def __post_init__(self) -> None:
        if not 1e-3 <= self.sd <= 1e9:
            raise ValueError(f"prior sd must lie between 1e-3 and 1e9 rating points, not {self.sd}")


@dataclass(frozen=True)
class FirthPrior:
    """Jeffreys' prior, which takes the first-order bias from the ratings (Firth 1993, Biometrika 80).

    Finite wherever a chain of comparisons connects the models; it has no scale to choose.
    """


Prior = GaussianPrior | FirthPrior


@dataclass(frozen=True, eq=False)
class Fit:
    """A fitted Bradley-Terry model; all arrays follow `models`.

    Attributes:
        wins: (n, n) the win matrix that was fitted.
        ratings: (n,) rating points; the mean of each group's finite ratings is `offset`. NaN where none
            exists.
        order: (n,) place of models without a number (see `Connectivity.order`); 0 for those with one.
        group: (n,) id of the connected group.
        status: one `Status` per model.
        iterations: Newton steps of the longest fit.
        gradient_norm: largest gradient component per comparison at the solution.
        converged: whether `gradient_norm` is below 1e-9.
        offset: mean rating of each group; with an anchor, what the anchor makes of it.
        anchor: the model whose rating was set, and that rating.
    """

    models: tuple[str, ...]
    wins: Floats
    ratings: Floats
    order: Floats
    group: NDArray[np.int64]
    status: tuple[Status, ...]
    iterations: int
    gradient_norm: float
    converged: bool
    scale: float
    base: float
    offset: float
    prior: Prior | None
    anchor: tuple[str, float] | None

    @property
    def unit(self) -> float:
        """Rating points per unit of natural-log strength."""
        return self.scale / float(np.log(self.base))

    @property
    def precision(self) -> float:
        """Normal prior precision of a natural-log strength; 0 without a normal prior."""
        return _precision(self.prior, self.unit)

    @property
    def strengths(self) -> Floats:
        """(n,) natural-log strengths, with mean 0 in each group."""
        return (self.ratings - self.offset) / self.unit

    @property
    def blocks(self) -> tuple[NDArray[np.int64], ...]:
        """Index arrays of the models that were fitted together."""
        rated = np.isfinite(self.ratings)
        if isinstance(self.prior, GaussianPrior):
            return (np.flatnonzero(rated),)
        return tuple(np.flatnonzero(rated & (self.group == g)) for g in np.unique(self.group[rated]))

    @cached_property
    def covariance(self) -> Floats:
        """(n, n) inverse Fisher information in squared points, for ratings centred on their mean.

        NaN outside a group. It takes comparisons as independent; those of one task are not: intervals come
        from `stats.sandwich`.
        """
        n = len(self.models)
        covariance = np.full((n, n), np.nan)
        for block in self.blocks:
            among = np.ix_(block, block)
            inverse = np.zeros((1, 1))
            if len(block) > 1:
                inverse = inverse_information(self.wins[among], self.strengths[block], self.precision)
            covariance[among] = self.unit**2 * inverse
        covariance.setflags(write=False)
        return covariance


def fit(
    data: Comparisons | ArrayLike,
    *,
    models: Sequence[str] | None = None,
    scale: float = 400.0,
    base: float = 10.0,
    offset: float = 1000.0,
    anchor: tuple[str, float] | None = None,
    prior: Prior | None = None,
    strict: bool = False,
) -> Fit:
    """Maximum-likelihood ratings, or the posterior mode under an explicit prior.

    Without a prior, the strongly connected core of each connected group is fitted. Models that lie wholly
    above or below it get no number but an order and the status `separated`; if there are several groups, each
    is rated apart with the status `disconnected`. With a prior every compared model gets a number, and those
    outside a core the status `prior`; a normal prior ties all groups together, Firth's rates each apart.

    Args:
        data: comparisons, or a (n, n) win matrix with ties as half a win each way.
        models: names, for a matrix.
        scale, base, offset: the rating scale.
        anchor: a rated model and the rating it shall have. All ratings are shifted alike, for display:
            differences and intervals stay what they are.
        prior: `GaussianPrior`, `FirthPrior`, or None for plain maximum likelihood.
        strict: raise instead of returning a model that is not plainly `rated`.

    Raises:
        ValueError: no model, no comparison among two or more models, weights that lie too far apart to be
            summed, a bad scale, an anchor without a rating, or, with `strict`, models without a plain rating,
            by name.
    """
    if not (scale > 0 and base > 1 and np.isfinite([scale, base, offset]).all()):
        raise ValueError("scale must be positive, base above 1 and offset finite")
    comparisons = data if isinstance(data, Comparisons) else Comparisons.from_wins(data, models)
    names = comparisons.models
    wins = comparisons.wins[0] if len(comparisons.tasks) == 1 else comparisons.total
    n = len(names)
    if n == 0:
        raise ValueError("no models to rate")
    if n > 1 and not wins.any():
        raise ValueError("no comparisons: no two models have a result on the same task, or all weights are 0")
    unit = scale / float(np.log(base))
    check_weights(wins, names, _precision(prior, unit))

    graph = analyse(wins)
    # One model has no one to meet, and is rated all the same.
    compared = np.asarray(wins.any(axis=1) | wins.any(axis=0) | (n == 1))
    theta = np.full(n, np.nan)
    iterations, gradient_norm = 0, 0.0
    for block in _blocks(graph, compared, prior):
        if len(block) == 1:
            theta[block] = 0.0
            continue
        among = wins[None] if len(block) == n else wins[np.ix_(block, block)][None]
        firth = isinstance(prior, FirthPrior)
        solution = solve_firth(among) if firth else solve(among, _precision(prior, unit))
        theta[block] = _without_rounding(solution.theta[0])
        iterations = max(iterations, solution.iterations)
        gradient_norm = max(gradient_norm, float(solution.gradient_norm[0]))
    order = np.where(compared, graph.order if prior is None else 0.0, np.nan)
    status = _statuses(graph, compared, prior)
    unrated = [f"{m} ({s})" for m, s in zip(names, status, strict=True) if s is not Status.RATED]
    if strict and unrated:
        raise ValueError(f"no plain maximum-likelihood rating for: {', '.join(unrated)}")
    if anchor is not None:
        offset = _anchored(names, theta * unit, anchor)
    return Fit(
        names, wins, offset + unit * theta, order, graph.group, status, iterations, gradient_norm,
        gradient_norm < CONVERGED, scale, base, offset, prior, anchor,
    )  # fmt: skip


def _precision(prior: Prior | None, unit: float) -> float:
    return (unit / prior.sd) ** 2 if isinstance(prior, GaussianPrior) else 0.0


def _blocks(graph: Connectivity, compared: NDArray[np.bool_], prior: Prior | None) -> list[NDArray[np.int64]]:
    """Models to fit together: cores, with a normal prior all that were compared, with Firth's the groups."""
    if len(compared) == 1 or isinstance(prior, GaussianPrior):
        return [np.flatnonzero(compared)]
    if prior is None:
        return [core for core in graph.cores if core.size]
    return [np.flatnonzero(compared & (graph.group == g)) for g in np.unique(graph.group[compared])]


def _without_rounding(theta: Floats) -> Floats:
    """Strengths that only rounding holds apart, set to their mean, so that equal records share a rank."""
    order = np.argsort(theta)
    apart = np.diff(theta[order]) > SAME
    if apart.all():
        return theta
    run = np.concatenate([[0], np.cumsum(apart)])
    equal = np.empty_like(theta)
    equal[order] = (np.bincount(run, theta[order]) / np.bincount(run))[run]
    return equal


def _anchored(names: tuple[str, ...], points: Floats, anchor: tuple[str, float]) -> float:
    """The mean rating at which the anchor has its rating."""
    name, rating = anchor
    if name not in names:
        raise ValueError(f"the anchor {name!r} is not among the models")
    if not np.isfinite(rating):
        raise ValueError(f"the anchor's rating must be finite, not {rating}")
    own = float(points[names.index(name)])
    if np.isnan(own):
        raise ValueError(f"the anchor {name!r} has no rating of its own")
    return float(rating) - own


def _statuses(graph: Connectivity, compared: NDArray[np.bool_], prior: Prior | None) -> tuple[Status, ...]:
    """Status of each model; alone, a model is rated at the offset."""
    n = len(compared)
    if n == 1 or len(graph.cores[0]) == n:
        return (Status.RATED,) * n
    several = len({int(g) for g in graph.group[compared]}) > 1
    apart = several and not isinstance(prior, GaussianPrior)
    in_core = {int(i) for core in graph.cores for i in core}

    def status(i: int) -> Status:
        if not compared[i]:
            return Status.UNCOMPARED
        if i in in_core and not several:
            return Status.RATED
        if i in in_core and apart:
            return Status.DISCONNECTED
        return Status.SEPARATED if prior is None else Status.PRIOR

    return tuple(status(i) for i in range(n))
