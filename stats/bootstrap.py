"""Ratings refitted on resampled comparisons, for intervals of whatever follows from ratings.

Resampling is exact, and so is each refit: all replicates are solved together near the fit of the full data,
and each one that does not get there by its own Newton steps. A replicate in which the models fitted together
are no longer connected has no finite maximum, and is NaN for them; callers count these.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from stats.bradley_terry import FirthPrior, Fit, fit
from stats.comparisons import Attempts, Comparisons
from stats.connectivity import strongly_connected
from stats.firth import solve_firth
from stats.newton import CONVERGED, SPAN, inverse_information, solve, solve_near

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

BATCH_NUMBERS = 1 << 20
"""Numbers per array of a batch of refits: a few times the size of a processor's cache."""
MOST = 1_000_000_000
"""Single comparisons that are resampled at most; each takes four bytes."""


def bootstrap_ratings(
    comparisons: Comparisons,
    replicates: int = 1000,
    seed: int | np.random.Generator = 0,
    *,
    fitted: Fit | None = None,
    attempts: bool = True,
) -> Floats:
    """Ratings refitted on resampled tasks.

    T tasks are drawn with replacement from the T tasks. Where the comparisons hold single attempts, those of
    each model are drawn again within each drawn task, as many as it has there.

    Args:
        comparisons: two or more tasks.
        replicates: B.
        seed: an integer gives the same replicates every time.
        fitted: the fit of all tasks, whose scale, anchor and prior are used; one with the defaults if absent.
        attempts: whether to resample attempts too, if there are any.

    Returns:
        (B, n) ratings; NaN columns for models that the full data give no rating.
    """
    fitted = _checked(comparisons, fitted)
    _check_tasks(comparisons)
    rng = np.random.default_rng(seed)
    tasks = len(comparisons.tasks)
    results = comparisons.attempts if attempts else None
    if results is not None and results.counts.max(initial=0) < 2:
        results = None

    def draw(first: int, last: int) -> Floats:
        drawn = rng.integers(tasks, size=(last - first, tasks))
        drawn += tasks * np.arange(last - first)[:, None]
        copies = np.bincount(drawn.ravel(), minlength=drawn.size).reshape(drawn.shape).T
        if results is None:
            return _weighted_tasks(comparisons, copies.astype(np.float64))
        return _resampled_attempts(results, copies, rng)

    return _refit(fitted, replicates, draw)


def bootstrap_comparisons(
    comparisons: Comparisons,
    replicates: int = 1000,
    seed: int | np.random.Generator = 0,
    *,
    fitted: Fit | None = None,
) -> Floats:
    """Ratings refitted on resampled single comparisons, such as votes of a crowd.

    Only for comparisons that are independent of one another. Those of one task are not: they share the task,
    and intervals from this function are then far too narrow; use `bootstrap_ratings`.

    Args:
        comparisons: whole numbers of comparisons; with ties, `comparisons.ties` must tell them apart.
        replicates, seed, fitted: as in `bootstrap_ratings`.

    Returns:
        (B, n) ratings; NaN columns for models that the full data give no rating.

    Raises:
        ValueError: weights that are not counts, by name of the models, or no comparison, or too many.
    """
    fitted = _checked(comparisons, fitted)
    rng = np.random.default_rng(seed)
    if not comparisons.wins.any():
        raise ValueError("resampling comparisons needs at least one comparison")
    decisive = comparisons.total
    tied = np.zeros_like(decisive) if comparisons.ties is None else comparisons.ties.sum(axis=0)
    decisive = decisive - tied / 2.0
    for kind, weights in (("wins", decisive), ("ties", tied)):
        wrong = np.argwhere(weights != np.round(weights))
        if wrong.size:
            i, j = wrong[0]
            raise ValueError(
                f"{comparisons.models[i]} and {comparisons.models[j]} have {weights[i, j]} {kind}: "
                "comparisons can only be resampled one by one if they are whole numbers"
            )
    won, level = np.nonzero(decisive), np.nonzero(np.triu(tied))
    cells = np.concatenate([decisive[won], tied[level]]).astype(np.int64)
    size = int(cells.sum())
    if size > MOST:
        raise ValueError(f"{size} comparisons are too many to be resampled one by one; the most is {MOST}")
    cell_of_comparison = np.repeat(np.arange(len(cells), dtype=np.int32), cells)
    # A multinomial draw is independent Poisson counts, given their sum. Their rates are set so that the sum
    # falls just short of the size (else the column is drawn anew), and single comparisons make up the rest.
    share = max(0.0, 1.0 - 4.0 / np.sqrt(size))

    def draw(first: int, last: int) -> Floats:
        count = last - first
        drawn = rng.poisson(share * cells[:, None], size=(len(cells), count))
        short = size - drawn.sum(axis=0)
        drawn[:, short < 0] = 0
        short[short < 0] = size
        rest = cell_of_comparison[rng.integers(size, size=int(short.sum()))].astype(np.int64)
        rest = rest * count + np.repeat(np.arange(count), short)
        drawn += np.bincount(rest, minlength=drawn.size).reshape(drawn.shape)
        wins = np.zeros((*decisive.shape, count))
        wins[won] = drawn[: len(won[0])]
        halves = drawn[len(won[0]) :] / 2.0
        wins[level] += halves
        wins[level[::-1]] += halves
        return wins

    return _refit(fitted, replicates, draw)


def jackknife_ratings(comparisons: Comparisons, fitted: Fit | None = None) -> Floats:
    """(T, n) ratings without each task in turn; NaN where its absence leaves no finite fit."""
    fitted = _checked(comparisons, fitted)
    _check_tasks(comparisons)
    return weighted_ratings(comparisons, fitted, 1.0 - np.eye(len(comparisons.tasks)))


def weighted_ratings(comparisons: Comparisons, fitted: Fit, weights: ArrayLike) -> Floats:
    """Ratings refitted with every task counted as often as the weights say.

    Args:
        comparisons: of T tasks.
        fitted: the fit of all tasks, whose scale, anchor and prior are used.
        weights: (B, T), finite and not negative; 0 leaves the task out.

    Returns:
        (B, n) ratings; NaN where models that were fitted together have no finite fit.

    Raises:
        ValueError: another shape, or a weight out of range.
    """
    fitted = _checked(comparisons, fitted)
    times = np.asarray(weights, dtype=np.float64)
    tasks = len(comparisons.tasks)
    if times.ndim != 2 or times.shape[1] != tasks or not len(times):
        raise ValueError(f"need replicates by {tasks} tasks, not weights of shape {times.shape}")
    if not (np.isfinite(times).all() and (times >= 0).all()):
        raise ValueError("weights of tasks must be finite and not negative")
    return _refit(fitted, len(times), lambda first, last: _weighted_tasks(comparisons, times[first:last].T))


def _checked(comparisons: Comparisons, fitted: Fit | None) -> Fit:
    fitted = fit(comparisons) if fitted is None else fitted
    if comparisons.models != fitted.models:
        raise ValueError("the fit and the comparisons name different models")
    return fitted


def _check_tasks(comparisons: Comparisons) -> None:
    if len(comparisons.tasks) < 2:
        raise ValueError("resampling tasks needs at least two tasks")


def _weighted_tasks(comparisons: Comparisons, times: Floats) -> Floats:
    """(n, n, B) wins summed over the tasks, each as often as the (T, B) times say."""
    tasks, n, _ = comparisons.wins.shape
    return np.asarray((comparisons.wins.reshape(tasks, n * n).T @ times).reshape(n, n, -1))


def _resampled_attempts(results: Attempts, copies: Ints, rng: np.random.Generator) -> Floats:
    """(n, n, B) wins summed over copies of tasks, with the attempts of each copy drawn with replacement."""
    tasks, n, most = results.outcomes.shape[:3]
    batch = copies.shape[1]
    slots = np.arange(most)
    wins = np.zeros((batch, n, n))
    for task in range(tasks):
        counts = results.counts[task][:, None]
        replicate = np.repeat(np.arange(batch), copies[task])
        if not replicate.size:
            continue
        # (K, n, A) share of each attempt among those drawn for each of the K copies
        picked = (rng.random((len(replicate), n, most)) * counts).astype(np.int64)
        times = ((picked[..., None] == slots) & (slots < counts)[:, :, None]).sum(axis=2)
        share = times / np.maximum(counts, 1)
        # sum over b of outcomes[i, a, j, b] share[k, j, b], then over a of share[k, i, a] times that
        against = np.einsum("iajb,kjb->kija", results.outcomes[task], share, optimize=True)
        won = np.einsum("kija,kia->kij", against, share)
        first = np.flatnonzero(np.diff(replicate, prepend=-1))
        wins[replicate[first]] += np.add.reduceat(won, first, axis=0)
    return np.ascontiguousarray(wins.transpose(1, 2, 0))


def _refit(fitted: Fit, replicates: int, draw: Callable[[int, int], Floats]) -> Floats:
    """(B, n) ratings of the (n, n, k) win matrices that `draw(first, last)` gives for k replicates."""
    if replicates < 1:
        raise ValueError("replicates must be positive")
    n = len(fitted.models)
    ratings = np.full((replicates, n), np.nan)
    batch = max(1, BATCH_NUMBERS // n**2)
    inverses = [_inverse(fitted, block) for block in fitted.blocks]
    for first in range(0, replicates, batch):
        last = min(first + batch, replicates)
        wins = draw(first, last)
        for block, inverse in zip(fitted.blocks, inverses, strict=True):
            among = wins if len(block) == n else wins[np.ix_(block, block)]
            theta = _strengths(among, fitted, block, inverse)
            ratings[first:last, block] = fitted.offset + fitted.unit * theta.T
    return ratings


def _inverse(fitted: Fit, block: Ints) -> Floats:
    if len(block) == 1:
        return np.zeros((1, 1))
    among = np.ix_(block, block)
    return inverse_information(fitted.wins[among], fitted.strengths[block], fitted.precision)


def _strengths(wins: Floats, fitted: Fit, block: Ints, inverse: Floats) -> Floats:
    """(n, B) strengths of one block's models from (n, n, B) wins; NaN columns without a finite fit."""
    n, _, batch = wins.shape
    theta = np.full((n, batch), np.nan)
    if n == 1:
        return np.zeros((1, batch))
    firth = isinstance(fitted.prior, FirthPrior)
    start = fitted.strengths[block]
    i, j = np.triu_indices(n, 1)
    ahead, behind = wins[i, j], wins[j, i]
    exists = np.ones(batch, dtype=bool) if fitted.precision > 0 else _connected(ahead, behind, wins, firth)
    if not firth:
        # Steps are as long as they should be where the information is that of the tables.
        share = wins.sum() / batch / fitted.wins[np.ix_(block, block)].sum()
        near, solved = solve_near(ahead, behind, start, inverse / max(share, 1e-12), fitted.precision)
        solved &= exists
        theta[:, solved] = near[:, solved]
        exists &= ~solved
    if exists.any():
        left = np.ascontiguousarray(wins[:, :, exists].transpose(2, 0, 1))
        # Tasks whose weights vary beyond all measure may leave replicates that rounding decides.
        smallest = left.min(axis=(1, 2), where=left > 0, initial=np.inf)
        sound = smallest >= SPAN * left.max(axis=(1, 2))
        left, places = left[sound], np.flatnonzero(exists)[sound]
        if places.size:
            solution = solve_firth(left, start) if firth else solve(left, fitted.precision, start)
            good = solution.gradient_norm < CONVERGED
            theta[:, places[good]] = solution.theta[good].T
    return theta


def _connected(ahead: Floats, behind: Floats, wins: Floats, weakly: bool) -> NDArray[np.bool_]:
    """(B,) whether chains of wins connect the models of each replicate, or, weakly, chains of comparisons."""
    if weakly:
        wins = wins + wins.transpose(1, 0, 2)
        ahead = behind = ahead + behind
    # Most often every pair has met, with wins on both sides.
    connected = np.asarray(((ahead > 0) & (behind > 0)).all(axis=0))
    rest = np.flatnonzero(~connected)
    if rest.size:
        connected[rest] = strongly_connected((wins > 0)[:, :, rest].transpose(2, 0, 1))
    return connected
