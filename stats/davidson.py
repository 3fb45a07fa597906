"""Bradley-Terry ratings with a probability of ties of their own (Davidson 1970, JASA 65).

    P(i beats j) = pi_i / D,   P(tie) = nu sqrt(pi_i pi_j) / D,   D = pi_i + pi_j + nu sqrt(pi_i pi_j)

with R_i = offset + (scale / ln base) log pi_i. In the log strengths and log nu this is a multinomial logit,
so the log-likelihood is concave, and has a finite maximum exactly where no direction leads uphill for ever:

- there are ties and decisive results, and chains of wins and ties lead from every model to every other; and
- some cycle of results holds more wins than ties. Otherwise the models can be placed so that winners lie at
  least one unit above losers and ties at most one apart, and nu and all distances grow together, endlessly.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import NegativeCycleError, bellman_ford
from scipy.special import stdtrit, xlogy

from stats.bradley_terry import fit
from stats.comparisons import Comparisons
from stats.connectivity import analyse
from stats.intervals import Intervals, check_level
from stats.newton import CONVERGED, check_weights
from stats.sandwich import SANDWICH

Floats = NDArray[np.float64]

MAX_ITERATIONS = 100


@dataclass(frozen=True, eq=False)
class DavidsonFit:
    """A fitted Davidson model.

    Attributes:
        models: n names.
        ratings: (n,) rating points with mean `offset`; NaN if no comparison was decisive.
        nu: weight of a tie; between equal models a tie has the probability nu / (2 + nu).
        covariance: (n + 1, n + 1) inverse Fisher information of the ratings and log nu, comparisons taken as
            independent; NaN for log nu if nu is 0.
        task_covariance: the same, sandwich with tasks as clusters and T/(T-1); NaN with one task.
        n_tasks: number T of tasks with a comparison.
        log_likelihood: at the maximum, without binomial coefficients.
        iterations: Newton steps.
        gradient_norm: largest gradient component per comparison.
        converged: whether that is below 1e-9.
        notes: what is special about this fit.
    """

    models: tuple[str, ...]
    ratings: Floats
    nu: float
    covariance: Floats
    task_covariance: Floats
    n_tasks: int
    log_likelihood: float
    iterations: int
    gradient_norm: float
    converged: bool
    notes: tuple[str, ...]

    def intervals(self, level: float = 0.95) -> Intervals:
        """(n + 1,) task-clustered t(T-1) intervals of the ratings and, last, of log nu; NaN with one task."""
        check_level(level)
        with np.errstate(divide="ignore"):
            estimate = np.append(self.ratings, np.log(self.nu))
        quantile = stdtrit(self.n_tasks - 1.0, (1.0 + level) / 2.0) if self.n_tasks > 1 else np.nan
        half = quantile * np.sqrt(np.maximum(np.diagonal(self.task_covariance), 0.0))
        tasks = np.full(len(estimate), self.n_tasks)
        return Intervals(estimate, estimate - half, estimate + half, level, SANDWICH, tasks, "tasks")


def davidson(
    comparisons: Comparisons, *, scale: float = 400.0, base: float = 10.0, offset: float = 1000.0
) -> DavidsonFit:
    """Maximum-likelihood ratings and weight of ties, by Newton's method.

    Without ties nu is 0, and the ratings are those of the plain fit; with nothing but ties nu is infinite and
    there are no ratings. Both say so in the notes.

    Raises:
        ValueError: ties that are not known, no comparisons, a bad scale, or no finite maximum, with the
            models by name; `stats.bradley_terry.fit` copes with these.
    """
    if not (scale > 0 and base > 1 and np.isfinite([scale, base, offset]).all()):
        raise ValueError("scale must be positive, base above 1 and offset finite")
    if comparisons.ties is None:
        raise ValueError("the Davidson model needs to know the ties: these comparisons hold half wins only")
    wins, ties = comparisons.wins, comparisons.ties
    # Rounding of half wins must not pass for a win.
    decisive = wins - ties / 2.0
    decisive[decisive <= 1e-12 * wins] = 0.0
    models, n, unit = comparisons.models, len(comparisons.models), scale / float(np.log(base))
    counts = wins + wins.transpose(0, 2, 1)
    if not counts.any():
        raise ValueError("no comparisons: no two models have a result on the same task, or all weights are 0")
    check_weights(wins.sum(axis=0), models)
    n_tasks = int(counts.any(axis=(1, 2)).sum())
    missing = np.full((n + 1, n + 1), np.nan)
    if not decisive.any():
        note = "every comparison is a tie: nu is infinite and the ratings are not identified"
        return DavidsonFit(
            models, np.full(n, np.nan), np.inf, missing, missing, n_tasks, 0.0, 0, 0.0, True, (note,)
        )
    tied = bool(ties.any())
    _check_existence(models, decisive.sum(axis=0), ties.sum(axis=0))
    if tied:
        theta, log_nu, iterations = _newton(wins.sum(axis=0), ties.sum(axis=0))
    else:
        plain = fit(comparisons, scale=scale, base=base, offset=offset)
        theta, log_nu, iterations = (plain.ratings - offset) / unit, -np.inf, plain.iterations
    known = n + 1 if tied else n

    scores = _scores(wins, ties, theta, log_nu)[:, :known]
    bread = np.linalg.inv(_information(counts.sum(axis=0), theta, log_nu)[:known, :known])
    bread[:n, :n] -= bread[:n, :n].mean()
    points = np.append(np.full(n, unit), 1.0)[:known]
    covariance, clustered = missing.copy(), missing.copy()
    covariance[:known, :known] = bread * np.outer(points, points)
    if n_tasks > 1:
        spread = scores @ bread * points
        clustered[:known, :known] = n_tasks / (n_tasks - 1) * spread.T @ spread
    win, tie = _probabilities(theta, log_nu)
    upper = np.triu_indices(n, 1)
    likelihood = xlogy(decisive.sum(axis=0), win).sum() + xlogy(ties.sum(axis=0), tie)[upper].sum()
    norm = float(np.abs(scores.sum(axis=0)).max() / wins.sum())
    notes = () if tied else ("no ties: nu is 0, and this is the plain Bradley-Terry fit",)
    return DavidsonFit(
        models, offset + unit * theta, float(np.exp(log_nu)), covariance, clustered, n_tasks,
        float(likelihood), iterations, norm, norm < CONVERGED, notes,
    )  # fmt: skip


def _probabilities(theta: Floats, log_nu: float) -> tuple[Floats, Floats]:
    """(n, n) probabilities that i beats j, and that they tie."""
    half = (theta[:, None] - theta[None, :]) / 2.0
    level = np.maximum(np.abs(half), log_nu)
    win, lose, tie = np.exp(half - level), np.exp(-half - level), np.exp(log_nu - level)
    total = win + lose + tie
    return win / total, tie / total


def _scores(wins: Floats, ties: Floats, theta: Floats, log_nu: float) -> Floats:
    """(T, n + 1) gradients of each task in the strengths and log nu."""
    win, tie = _probabilities(theta, log_nu)
    counts = wins + wins.transpose(0, 2, 1)
    strengths = (wins - counts * (win + tie / 2.0)).sum(axis=2)
    return np.column_stack([strengths, (ties - counts * tie).sum(axis=(1, 2)) / 2.0])


def _information(counts: Floats, theta: Floats, log_nu: float) -> Floats:
    """(n + 1, n + 1) negative Hessian, plus a constant that fills the null space of the strengths."""
    n = len(theta)
    win, tie = _probabilities(theta, log_nu)
    share = win + tie / 2.0
    weight = counts * (win + tie / 4.0 - share**2)
    information = np.empty((n + 1, n + 1))
    information[:n, :n] = weight.sum() / n**2 - weight
    information[np.arange(n), np.arange(n)] += weight.sum(axis=1)
    information[:n, n] = information[n, :n] = (counts * tie * (0.5 - share)).sum(axis=1)
    information[n, n] = (counts * tie * (1.0 - tie)).sum() / 2.0
    return information


def _newton(wins: Floats, ties: Floats) -> tuple[Floats, float, int]:
    """Damped steps as in `stats.newton.solve`, for the strengths of zero sum and log nu."""
    n, counts = len(wins), wins + wins.T
    tied = ties.sum() / counts.sum()
    theta, log_nu = np.zeros(n), float(np.log(2.0 * tied / (1.0 - tied)))
    iterations, spread = 0, np.inf
    while spread >= 1e-8 and iterations < MAX_ITERATIONS:
        iterations += 1
        gradient = _scores(wins[None], ties[None], theta, log_nu)[0]
        step = np.linalg.solve(_information(counts, theta, log_nu), gradient)
        # The log odds of any two of the three outcomes move by no more than this.
        spread = float(np.ptp(step[:n]) + abs(step[n]))
        step *= 1.0 if spread <= 1.0 else np.log1p(spread) / spread
        theta, log_nu = theta + step[:n], log_nu + float(step[n])
    return theta - theta.mean(), log_nu, iterations


def _check_existence(models: tuple[str, ...], decisive: Floats, ties: Floats) -> None:
    """Raise where the likelihood has no finite maximum (see the module)."""
    graph = analyse(decisive + ties)
    core = max(graph.cores, key=len)
    if len(core) < len(models):
        apart = ", ".join(model for i, model in enumerate(models) if i not in core)
        raise ValueError(f"no finite Davidson fit: no chain of wins and ties leads both to and from {apart}")
    if not ties.any():
        return
    # A win is a step of -1 and a tie one of +1: a cycle of negative length has more wins than ties.
    length = np.where(decisive > 0, -1.0, np.where(ties > 0, 1.0, 0.0))
    try:
        bellman_ford(csr_array(length), indices=np.zeros(1, dtype=np.int64))
    except NegativeCycleError:
        return
    raise ValueError(
        f"no finite Davidson fit for {', '.join(models)}: the results are those of an order in which close "
        "ones tie and distant ones do not, and nu grows without bound"
    )
