"""Ranks of rated models, and intervals that tell which ranks the data allow.

A rank interval follows from simultaneous tests of the model's differences to the others (Mogstad, Romano,
Shaikh & Wilhelm 2023, Review of Economic Studies 91:476): the best rank is 1 + the number of models shown to
be better, the worst is n - the number shown to be worse. Near-tied models thus share a wide range of ranks,
where bootstrapped ranks would pretend to know.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import expit

from stats.bradley_terry import Fit, GaussianPrior
from stats.comparisons import Comparisons
from stats.contrasts import NO_SPREAD, Pairwise, pairwise, sign_test, tasks_won
from stats.intervals import check_level
from stats.sandwich import task_covariance

Floats = NDArray[np.float64]
BLOCK_NUMBERS = 1 << 16
"""Simulated numbers handled at a time: what a processor's cache holds."""
DRAW_NUMBERS = 400_000_000
"""Simulated errors of differences, draws times pairs of models, that the default number of draws allows."""

Kind = Literal["marginal", "simultaneous"]

RANK_METHOD = (
    "{kind}, from step-down tests of task-clustered differences (Mogstad et al. 2023), critical values from "
    "the multivariate t with T-1 degrees of freedom; exact sign tests where no finite difference exists"
)


@dataclass(frozen=True, eq=False)
class RankIntervals:
    """Intervals of the ranks of n models, in the order of the fit, within their connected group.

    Attributes:
        low, high: (n,) best and worst rank the data allow, whole numbers; NaN without a rank or with fewer
            than two tasks.
        level: nominal coverage: of each interval (marginal), or of all together (simultaneous).
        kind, method: how they were computed.
        n: (n,) tasks with comparisons in the model's group.
        unit: `tasks`.
        draws, seed: of the simulated critical values.
    """

    low: Floats
    high: Floats
    level: float
    kind: Kind
    method: str
    n: NDArray[np.int64]
    unit: str
    draws: int
    seed: int


def ranks(values: ArrayLike) -> Floats:
    """Ranks along the last axis: 1 + number of larger values, so ties share the best rank.

    NaN has no rank (NaN) and takes none away; infinities rank as extremes.
    """
    array = np.asarray(values, dtype=np.float64)
    better = (array[..., None, :] > array[..., :, None]).sum(axis=-1)
    return np.where(np.isnan(array), np.nan, better + 1.0)


def interval_ranks(low: ArrayLike, high: ArrayLike) -> Floats:
    """(n,) ranks as Chatbot Arena shows them: 1 + number of models whose lower limit is above one's upper.

    Two models whose intervals overlap are not held apart, although a test of their difference may do so.
    NaN has no rank and takes none away.
    """
    lower, upper = np.asarray(low, dtype=np.float64), np.asarray(high, dtype=np.float64)
    if lower.ndim != 1 or lower.shape != upper.shape:
        raise ValueError(f"need two vectors of one length, not shapes {lower.shape} and {upper.shape}")
    if (lower > upper).any():
        raise ValueError(f"interval {int(np.argmax(lower > upper))}: the lower limit is above the upper")
    better = (lower[None, :] > upper[:, None]).sum(axis=1)
    return np.where(np.isnan(lower) | np.isnan(upper), np.nan, better + 1.0)


def rating_ranks(fitted: Fit) -> Floats:
    """(n,) ranks of fitted models, within their connected group.

    Models without a number rank by their order above or below those with one. Models with neither are NaN.
    """
    order, ratings = fitted.order, fitted.ratings
    # [i, j]: whether j is placed above i
    above = order[None, :] > order[:, None]
    higher = (order[None, :] == order[:, None]) & (ratings[None, :] > ratings[:, None])
    place = 1.0 + (_comparable(fitted) & (above | higher)).sum(axis=1)
    return np.where(np.isnan(order), np.nan, place)


def rank_intervals(
    comparisons: Comparisons,
    fitted: Fit,
    level: float = 0.95,
    kind: Kind = "marginal",
    *,
    seed: int = 0,
    draws: int | None = None,
) -> RankIntervals:
    """Ranks that the tasks allow.

    Differences are tested together, step by step: those of one model to all others (marginal), or all
    (simultaneous). A pair without a finite difference is tested by the exact sign test over its tasks at its
    Bonferroni share of 1 - level; the rest goes to the others. Pairs that have neither are undecided.

    Args:
        comparisons: what `fitted` was fitted on.
        level: nominal coverage.
        kind: whether each interval covers on its own, or all jointly.
        seed, draws: of the simulation of the critical values; the same seed gives the same intervals. By
            default 10,000 draws, and fewer beyond 200 models, but no fewer than 1,000.
    """
    check_level(level)
    if kind not in ("marginal", "simultaneous"):
        raise ValueError(f"kind={kind!r}: expected 'marginal' or 'simultaneous'")
    if draws is None:
        draws = int(np.clip(DRAW_NUMBERS // max(len(fitted.models), 1) ** 2, 1_000, 10_000))
    if draws < 100:
        raise ValueError(f"critical values need at least 100 draws, not {draws}")
    pairs, (won, met) = pairwise(comparisons, fitted), tasks_won(comparisons)
    n = len(fitted.models)
    signed = met & ~pairs.testable
    # Ratings without any spread may contradict the direct results, in a circle of wins for one.
    contradicted = pairs.difference <= NO_SPREAD * fitted.unit
    ahead = signed & (won > won.T) & ~contradicted
    sign_p = np.where(ahead, sign_test(won, won.T), 1.0)
    simulated = _simulated(comparisons, fitted, seed, draws)

    # [i, j]: whether i is shown to be better than j, or worse, by the tests that speak of i
    better, worse = np.zeros((n, n), dtype=bool), np.zeros((n, n), dtype=bool)
    for members in [[i] for i in range(n)] if kind == "marginal" else [list(range(n))]:
        family = np.zeros((n, n), dtype=bool)
        family[members, :] = family[:, members] = True
        by_t, by_sign = family & pairs.testable, family & signed
        # Both matrices hold each pair twice.
        share = 2.0 * (1.0 - level) / max(by_t.sum() + by_sign.sum(), 1)
        shown = _step_down(pairs, by_t, members, simulated, 1.0 - share * by_t.sum() / 2.0)
        shown |= by_sign & (sign_p <= share)
        better[members], worse[members] = shown[members], shown[:, members].T
    comparable = _comparable(fitted)
    tasks = _group_tasks(comparisons, comparable)
    known = ~np.isnan(fitted.order) & (tasks > 1)
    # Models above or below all numbers may share a rank and yet be told apart: the interval holds the rank.
    rank = rating_ranks(fitted)
    return RankIntervals(
        low=np.where(known, np.fmin(rank, 1.0 + (worse & comparable).sum(axis=1)), np.nan),
        high=np.where(known, np.fmax(rank, (~better & comparable).sum(axis=1)), np.nan),
        level=level,
        kind=kind,
        method=RANK_METHOD.format(kind=kind),
        n=tasks,
        unit="tasks",
        draws=draws,
        seed=seed,
    )


def win_probabilities(ratings: ArrayLike, scale: float = 400.0, base: float = 10.0) -> Floats:
    """(n, n) probability that i beats j under the Bradley-Terry model; one half between equal ratings.

    An infinite rating wins or loses for sure; NaN has no probability, not even against itself.
    """
    array = np.asarray(ratings, dtype=np.float64)
    if array.ndim != 1 or not (0 < scale < np.inf and 1 < base < np.inf):
        given = f"shape {array.shape}, {scale} and {base}"
        raise ValueError(f"need a vector, a scale above 0 and a base above 1, not {given}")
    equal = array[:, None] == array[None, :]
    with np.errstate(invalid="ignore", over="ignore"):
        apart = np.where(equal, 0.0, array[:, None] - array[None, :]) * (np.log(base) / scale)
    return np.asarray(expit(apart))


def _simulated(comparisons: Comparisons, fitted: Fit, seed: int, draws: int) -> Floats:
    """(n, draws) errors of the ratings: multivariate t with T - 1 degrees of freedom; NaN without one."""
    covariance, tasks = task_covariance(comparisons, fitted)
    errors, rng = np.full((len(tasks), draws), np.nan), np.random.default_rng(seed)
    for block in fitted.blocks:
        if len(block) > 1 and tasks[block[0]] > 1:
            # Best first, so that the simulation does not depend on the order of the models, nor on their
            # names, unless ratings are equal.
            block = block[np.lexsort((np.array(fitted.models)[block], -fitted.ratings[block]))]
            values, vectors = np.linalg.eigh(covariance[np.ix_(block, block)])
            # The symmetric root: unlike eigenvectors it has no arbitrary sign.
            root = (vectors * np.sqrt(np.maximum(values, 0.0))) @ vectors.T
            freedom = float(tasks[block[0]] - 1)
            normal = root @ rng.standard_normal((len(block), draws))
            errors[block] = normal / np.sqrt(rng.chisquare(freedom, draws) / freedom)
    return errors


def _step_down(
    pairs: Pairwise, active: NDArray[np.bool_], members: list[int], simulated: Floats, level: float
) -> NDArray[np.bool_]:
    """(n, n) whether i is shown to be better than j, among the active one-sided tests, all at once.

    What exceeds the critical value is shown, and the rest faces the lower one of the tests that remain
    (Romano & Wolf 2005, Econometrica 73:1237). Each active pair has one of the members, at least.
    """
    shown = np.zeros_like(active)
    while active.any():
        blocks = np.array_split(simulated, max(1, simulated.size // BLOCK_NUMBERS), axis=1)
        largest = np.concatenate([_largest(active, members, block, pairs.standard_error) for block in blocks])
        critical = np.quantile(largest, level)
        found = active & (pairs.difference > critical * pairs.standard_error)
        if not found.any():
            break
        shown |= found
        active = active & ~found
    return shown


def _largest(active: NDArray[np.bool_], members: list[int], errors: Floats, scale: Floats) -> Floats:
    """(draws,) largest standardised error of a difference among the active ones."""
    largest = np.full(errors.shape[1], -np.inf)
    pending = active | active.T
    for i in members:
        others = np.flatnonzero(pending[i])
        pending[:, i] = False
        if others.size:
            t = (errors[i] - errors[others]) / scale[i, others, None]
            np.maximum(largest, t[active[i, others]].max(axis=0, initial=-np.inf), out=largest)
            np.maximum(largest, -t[active[others, i]].min(axis=0, initial=np.inf), out=largest)
    return largest


def _comparable(fitted: Fit) -> NDArray[np.bool_]:
    """(n, n) whether two models, with a place each, belong to one ranking: that of their group.

    A normal prior ties all groups together.
    """
    placed = ~np.isnan(fitted.order)
    together = placed[:, None] & placed[None, :]
    if isinstance(fitted.prior, GaussianPrior):
        return together
    return np.asarray(together & (fitted.group[:, None] == fitted.group[None, :]))


def _group_tasks(comparisons: Comparisons, comparable: NDArray[np.bool_]) -> NDArray[np.int64]:
    """(n,) tasks on which at least two models of the model's ranking met."""
    took_part = (comparisons.wins.sum(axis=2) + comparisons.wins.sum(axis=1)) > 0
    return np.asarray((took_part.astype(np.int64) @ comparable > 0).sum(axis=0), dtype=np.int64)
