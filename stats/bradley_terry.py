"""Bradley-Terry ratings on the Elo scale, by Newton's method on the aggregated win matrix.

    P(i beats j) = 1 / (1 + base^((R_j - R_i) / scale)),     R = offset + (scale / ln base) * theta

A tie counts as half a win for each side. The mean rating is the offset.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from numpy.typing import ArrayLike, NDArray

from stats.comparisons import Comparisons
from stats.connectivity import Connectivity, analyse
from stats.newton import CONVERGED, inverse_information, solve

Floats = NDArray[np.float64]


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
        if not 0 < self.sd < np.inf:
            raise ValueError(f"prior sd must be positive and finite, not {self.sd}")


@dataclass(frozen=True, eq=False)
class Fit:
    """A fitted Bradley-Terry model; all arrays follow `models`.

    Attributes:
        ratings: (n,) rating points; the mean of each group's finite ratings is `offset`. NaN where none
            exists.
        covariance: (n, n) inverse Fisher information in squared points, for ratings centred on their mean;
            NaN outside a group. It takes comparisons as independent; those of one task are not: intervals
            come from `stats.intervals`.
        order: (n,) place of models without a number (see `Connectivity.order`); 0 for those with one.
        group: (n,) id of the connected group.
        status: one `Status` per model.
        iterations: Newton steps of the longest fit.
        gradient_norm: largest gradient component per comparison at the solution.
        converged: whether `gradient_norm` is below 1e-9.
    """

    models: tuple[str, ...]
    ratings: Floats
    covariance: Floats
    order: Floats
    group: NDArray[np.int64]
    status: tuple[Status, ...]
    iterations: int
    gradient_norm: float
    converged: bool
    scale: float
    base: float
    offset: float
    prior: GaussianPrior | None

    @property
    def unit(self) -> float:
        """Rating points per unit of natural-log strength."""
        return self.scale / float(np.log(self.base))

    @property
    def precision(self) -> float:
        """Prior precision of a natural-log strength; 0 without a prior."""
        return 0.0 if self.prior is None else (self.unit / self.prior.sd) ** 2

    @property
    def blocks(self) -> tuple[NDArray[np.int64], ...]:
        """Index arrays of the models that were fitted together."""
        rated = np.isfinite(self.ratings)
        if self.prior is not None:
            return (np.flatnonzero(rated),)
        return tuple(np.flatnonzero(rated & (self.group == g)) for g in np.unique(self.group[rated]))


def fit(
    data: Comparisons | ArrayLike,
    *,
    models: Sequence[str] | None = None,
    scale: float = 400.0,
    base: float = 10.0,
    offset: float = 1000.0,
    prior: GaussianPrior | None = None,
    strict: bool = False,
) -> Fit:
    """Maximum-likelihood ratings, or the posterior mode under an explicit prior.

    Without a prior, the strongly connected core of each connected group is fitted. Models that lie wholly
    above or below it get no number but an order and the status `separated`; if there are several groups, each
    is rated apart with the status `disconnected`. With a prior, every compared model gets a number.

    Args:
        data: comparisons, or a (n, n) win matrix with ties as half a win each way.
        models: names, for a matrix.
        scale, base, offset: the rating scale.
        prior: `GaussianPrior`, or None for plain maximum likelihood.
        strict: raise instead of returning a model that is not plainly `rated`.

    Raises:
        ValueError: no model, no comparison among two or more models, a bad scale, or, with `strict`, models
            without a plain rating, by name.
    """
    if not (scale > 0 and base > 1 and np.isfinite([scale, base, offset]).all()):
        raise ValueError("scale must be positive, base above 1 and offset finite")
    comparisons = data if isinstance(data, Comparisons) else Comparisons.from_wins(data, models)
    names, wins = comparisons.models, comparisons.total
    n = len(names)
    if n == 0:
        raise ValueError("no models to rate")
    if n > 1 and not wins.any():
        raise ValueError("no comparisons: no two models have a result on the same task")

    unit = scale / float(np.log(base))
    precision = 0.0 if prior is None else (unit / prior.sd) ** 2
    graph = analyse(wins)
    compared = np.asarray((wins + wins.T).any(axis=1))
    blocks = [core for core in graph.cores if core.size] if prior is None else [np.flatnonzero(compared)]

    ratings, covariance = np.full(n, np.nan), np.full((n, n), np.nan)
    iterations, gradient_norm = 0, 0.0
    for block in blocks:
        among = np.ix_(block, block)
        solution = solve(wins[among][None], precision)
        theta = solution.theta[0]
        ratings[block] = offset + unit * theta
        covariance[among] = unit**2 * inverse_information(wins[among], theta, precision)
        iterations = max(iterations, solution.iterations)
        gradient_norm = max(gradient_norm, float(solution.gradient_norm[0]))
    order = np.where(compared, graph.order if prior is None else 0.0, np.nan)
    if n == 1:
        ratings, covariance, order = np.array([offset]), np.zeros((1, 1)), np.zeros(1)
    status = (Status.RATED,) if n == 1 else _statuses(graph, compared, with_prior=prior is not None)
    unrated = [f"{m} ({s})" for m, s in zip(names, status, strict=True) if s is not Status.RATED]
    if strict and unrated:
        raise ValueError(f"no plain maximum-likelihood rating for: {', '.join(unrated)}")
    return Fit(
        names, ratings, covariance, order, graph.group, status, iterations, gradient_norm,
        gradient_norm < CONVERGED, scale, base, offset, prior,
    )  # fmt: skip


def _statuses(graph: Connectivity, compared: NDArray[np.bool_], *, with_prior: bool) -> tuple[Status, ...]:
    """Status of each of two or more models."""
    several = len({int(g) for g in graph.group[compared]}) > 1
    in_core = {int(i) for core in graph.cores for i in core}

    def status(i: int) -> Status:
        if not compared[i]:
            return Status.UNCOMPARED
        if i in in_core and not several:
            return Status.RATED
        if with_prior:
            return Status.PRIOR
        return Status.DISCONNECTED if i in in_core else Status.SEPARATED

    return tuple(status(i) for i in range(len(compared)))
