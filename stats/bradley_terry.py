"""Bradley-Terry ratings on the Elo scale, by Newton's method on the aggregated win matrix.

    P(i beats j) = 1 / (1 + base^((R_j - R_i) / scale)),     R = offset + (scale / ln base) * theta

With W_ij the weighted wins of i over j (ties as half wins) and N = W + W', the log-likelihood
sum_ij W_ij log sigma(theta_i - theta_j) has gradient_i = sum_j W_ij - N_ij p_ij, and its negative Hessian is
the Laplacian of the graph with weights N_ij p_ij (1 - p_ij), whose null vector is the common shift. The shift
is fixed by sum(theta) = 0: the mean rating is the offset.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import expit

from stats.comparisons import Comparisons
from stats.connectivity import Connectivity, analyse

Floats = NDArray[np.float64]

MAX_ITERATIONS = 100
CONVERGED = 1e-9


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


@dataclass(frozen=True, eq=False)
class Solution:
    """Natural-log strengths (B, n) with zero mean, steps taken, and largest gradient per comparison (B,)."""

    theta: Floats
    iterations: int
    gradient_norm: Floats


def solve(wins: Floats, precision: float = 0.0, start: Floats | None = None) -> Solution:
    """Fit a batch of (B, n, n) win matrices at once by damped Newton steps.

    Each matrix must be strongly connected, or `precision` positive. With D the spread of a step, the step is
    taken whole if D <= 1 and shortened by log(1 + D) / D otherwise: every logistic term is generalised
    self-concordant with constant D along the step, so the likelihood rises at each step and no line search is
    needed (Sun & Tran-Dinh 2019, Math. Program. 178).
    """
    n = wins.shape[1]
    counts = wins + wins.transpose(0, 2, 1)
    won = wins.sum(axis=2)
    lost = wins.sum(axis=1)
    # Log odds of winning any comparison: halves the steps against a start at 0.
    odds = np.log((won + precision) / (lost + precision)) if start is None else start
    theta = np.broadcast_to(odds - odds.mean(axis=-1, keepdims=True), won.shape).copy()
    diagonal = np.arange(n)
    iterations = 0
    while iterations < MAX_ITERATIONS:
        iterations += 1
        p = expit(theta[:, :, None] - theta[:, None, :])
        expected = counts * p
        gradient = won - expected.sum(axis=2) - precision * theta
        hessian = expected * (p - 1.0)
        weight = -hessian.sum(axis=2)
        # A constant added to all entries fills the null space and leaves steps of zero sum as they are.
        hessian += (weight.mean(axis=1) / n)[:, None, None]
        hessian[:, diagonal, diagonal] += weight + precision
        step = np.linalg.solve(hessian, gradient[:, :, None])[:, :, 0]
        spread = np.ptp(step, axis=1)
        theta += step * np.where(spread <= 1.0, 1.0, np.log1p(spread) / np.maximum(spread, 1.0))[:, None]
        # Quadratic convergence: after a step of 1e-8 the error is of the order of the rounding.
        if spread.max() < 1e-8:
            break
    theta -= theta.mean(axis=1, keepdims=True)
    expected = counts * expit(theta[:, :, None] - theta[:, None, :])
    gradient = won - expected.sum(axis=2) - precision * theta
    return Solution(theta, iterations, np.abs(gradient).max(axis=1) / np.maximum(won.sum(axis=1), 1e-300))


def inverse_information(wins: Floats, theta: Floats, precision: float = 0.0) -> Floats:
    """(n, n) pseudo-inverse of the negative Hessian in natural-log units (the inverse, with a prior).

    For a connected Laplacian L, pinv(L) = inv(L + J/n) - J/n with J all ones.
    """
    n = len(theta)
    p = expit(theta[:, None] - theta[None, :])
    information = -(wins + wins.T) * p * (1.0 - p)
    information[np.arange(n), np.arange(n)] -= information.sum(axis=1) - precision
    if precision > 0:
        return np.asarray(np.linalg.inv(information))
    level = np.trace(information) / n
    ones = np.full((n, n), 1.0 / n)
    return np.asarray(np.linalg.inv(information + level * ones) - ones / level)
