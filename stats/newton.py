"""Newton's method for Bradley-Terry strengths, on one or many aggregated win matrices.

With W_ij the weighted wins of i over j (ties as half wins) and N = W + W', the log-likelihood
sum_ij W_ij log sigma(theta_i - theta_j) has gradient_i = sum_j W_ij - N_ij p_ij, and its negative Hessian is
the Laplacian of the graph with weights N_ij p_ij (1 - p_ij), whose null vector is the common shift. The shift
is fixed by sum(theta) = 0.

Three solvers, one answer: `solve` for one matrix (Cholesky) or a batch of any matrices, and `solve_near` for
many matrices whose solutions lie near a known one, as in a bootstrap.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.lapack import dpotrf, dpotrs
from scipy.special import expit

Floats = NDArray[np.float64]

MAX_ITERATIONS = 100
CONVERGED = 1e-9
"""Largest gradient component per comparison at a solution."""
NEWTON_STEP = 1e-8
"""Convergence is quadratic: after a step of this spread the error is of the order of the rounding."""
CHORD_STEP = 1e-9
"""Convergence is linear: before such a step the error is about as large (2e-7 Elo), after it smaller."""
CHORD_ITERATIONS = 30
LARGE = 200
"""From this many models on, one factorisation costs more than another pass over the matrix."""
SPAN = 1e-12
"""A weight as small as this beside the largest one drowns in the rounding of the sums."""
EXPONENT = 300.0
"""Largest difference of strengths for which squares of their exponentials stay within the range of floats."""


@dataclass(frozen=True, eq=False)
class Solution:
    """Natural-log strengths (B, n) with zero mean, steps taken, and largest gradient per comparison (B,)."""

    theta: Floats
    iterations: int
    gradient_norm: Floats


def check_weights(wins: Floats, models: Sequence[str], precision: float = 0.0) -> None:
    """Refuse a (n, n) win matrix, or a normal prior beside it, whose fit would rest on rounding.

    What is left of a difference of weights, 1e-17 for 0, would pass for a win that keeps a model from being
    undefeated, and give it a huge finite rating.
    """
    largest = wins.max(initial=0.0)
    smallest = wins.min(where=wins > 0, initial=np.inf)
    if smallest < SPAN * largest or (0 < largest < 1e-100):
        i, j = np.argwhere(wins == smallest)[0]
        raise ValueError(
            f"the wins of {models[i]} over {models[j]} weigh {smallest:g}, the largest are {largest:g}: "
            f"weights must be above 1e-100 and within a factor of {1 / SPAN:.0e} of each other"
        )
    if 0 < precision < SPAN * largest:
        raise ValueError(f"the prior is too weak to be felt beside a weight of {largest:g}: lower its sd")


def solve(wins: Floats, precision: float = 0.0, start: Floats | None = None) -> Solution:
    """Fit a batch of (B, n, n) win matrices by damped Newton steps.

    Each matrix must be strongly connected, or `precision` positive. Steps that would move two compared models
    apart by D > 1 are shortened by log(1 + D) / D: every logistic term is generalised self-concordant with
    constant D along the step, so the likelihood rises at each step and no line search is needed
    (Sun & Tran-Dinh 2019, Math. Program. 178).

    Args:
        wins: (B, n, n) weights, ties as half wins.
        precision: of independent normal priors on the strengths, centred at 0.
        start: (n,) or (B, n) strengths to start from; log odds of winning any comparison if absent.
    """
    if len(wins) == 1:
        return _solve_one(wins[0], precision, None if start is None else start.reshape(-1))
    return _solve_many(wins, precision, start)


def _solve_many(wins: Floats, precision: float, start: Floats | None) -> Solution:
    """A batch, by LU factors."""
    n = wins.shape[1]
    counts = wins + wins.transpose(0, 2, 1)
    won = wins.sum(axis=2)
    odds = _log_odds(won, wins.sum(axis=1), precision) if start is None else start
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
        for b in np.flatnonzero(spread > 1.0):
            step[b] *= _damping(step[b], counts[b])
        theta += step
        if spread.max() < NEWTON_STEP:
            break
    theta -= theta.mean(axis=1, keepdims=True)
    expected = counts * expit(theta[:, :, None] - theta[:, None, :])
    gradient = won - expected.sum(axis=2) - precision * theta
    return Solution(theta, iterations, np.abs(gradient).max(axis=1) / np.maximum(won.sum(axis=1), 1e-300))


def _solve_one(wins: Floats, precision: float, start: Floats | None) -> Solution:
    """One (n, n) matrix, by Cholesky factors; a large one keeps a factor while its steps shrink fast.

    With e = exp(theta) and S_ij = e_i + e_j: p_ij = e_i / S_ij, and p_ij (1 - p_ij) = e_i e_j / S_ij^2.
    """
    n = len(wins)
    counts, won = wins + wins.T, wins.sum(axis=1)
    theta = _log_odds(won, wins.sum(axis=0), precision) if start is None else start.copy()
    theta -= theta.mean()
    pair_sums, matrix = np.empty((n, n)), np.empty((n, n))
    factor, last, enough = None, np.inf, NEWTON_STEP
    iterations = 0
    while True:
        if theta.max() - theta.min() > EXPONENT:
            return _solve_many(wins[None], precision, start)
        power = np.exp(theta)
        np.add.outer(power, power, out=pair_sums)
        rates = np.divide(counts, pair_sums, out=pair_sums if factor is not None else matrix)
        gradient = won - power * rates.sum(axis=1) - precision * theta
        if last < enough or iterations == MAX_ITERATIONS:
            break
        iterations += 1
        if factor is None:
            rates /= pair_sums
            weight = power * (rates @ power)
            rates *= -power
            rates *= power[:, None]
            diagonal = matrix.ravel()[:: n + 1]
            diagonal[:] = weight + precision
            if precision == 0.0:
                # More weight on one diagonal entry holds that model still; the others move as they would.
                diagonal[weight.argmax()] *= 2.0
            factor, failed = dpotrf(matrix.T, lower=1, clean=0, overwrite_a=1)
            if failed:
                return _solve_many(wins[None], precision, start)
        step = dpotrs(factor, gradient, lower=1)[0]
        spread = float(step.max() - step.min())
        if spread > 1.0:
            step *= _damping(step, counts)
        theta += step
        # From so near, the same factor gains a digit or more at each further step.
        keep = n >= LARGE and spread < 0.1 and spread < 0.1 * last
        enough = CHORD_STEP if keep else NEWTON_STEP
        factor, last = factor if keep else None, spread
    theta -= theta.mean()
    return Solution(theta[None], iterations, np.abs(gradient).max(keepdims=True) / max(won.sum(), 1e-300))


def solve_near(
    ahead: Floats, behind: Floats, start: Floats, inverse: Floats, precision: float = 0.0
) -> tuple[Floats, NDArray[np.bool_]]:
    """Fit many tables near a known solution: chord iterations, which use one inverse for all of them.

    A step is `inverse` times the gradient, one matrix product for the whole batch. It converges linearly, and
    the faster the nearer the tables are to the one of `start`; a table counts as solved, and takes its last
    step, if its gradient per comparison and its step are below 1e-9.

    Args:
        ahead, behind: (P, B) weighted wins of i over j and of j over i, for the pairs i < j in the order of
            `np.triu_indices(n, 1)`.
        start: (n,) strengths.
        inverse: (n, n) inverse information at the start, for about as many comparisons as each table has.
        precision: see `solve`.

    Returns:
        (n, B) strengths, and the (B,) tables that were solved.
    """
    won = row_sums(ahead, behind, len(start))
    limit = CONVERGED * np.maximum(won.sum(axis=0), 1e-300)
    counts = ahead + behind
    theta = np.repeat(start[:, None], won.shape[1], axis=1)
    solved = np.zeros(won.shape[1], dtype=bool)
    active = np.arange(won.shape[1])
    current = theta.copy()
    # A table too far away may overflow; it is then not solved, and the caller's to solve otherwise.
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        for _ in range(CHORD_ITERATIONS):
            gradient = won - _expected(counts, current) - precision * current
            step = inverse @ gradient
            current += step
            done = (np.abs(gradient).max(axis=0) < limit) & (np.abs(step).max(axis=0) < CHORD_STEP)
            if 2 * int(done.sum()) >= done.size:
                theta[:, active] = current
                solved[active] = done
                if done.all():
                    break
                active, won, counts, limit = active[~done], won[:, ~done], counts[:, ~done], limit[~done]
                current = current[:, ~done]
    return theta - theta.mean(axis=0), solved


def row_sums(ahead: Floats, behind: Floats, n: int) -> Floats:
    """(n, B) wins of each model, from its wins by pairs (P, B)."""
    total = np.zeros((n, ahead.shape[1]))
    last = 0
    for i in range(n - 1):
        first, last = last, last + n - 1 - i
        total[i] += ahead[first:last].sum(axis=0)
        total[i + 1 :] += behind[first:last]
    return total


def _expected(counts: Floats, theta: Floats) -> Floats:
    """(n, B) expected wins: sum_j N_ij e_i / (e_i + e_j) with e = exp(theta)."""
    power = np.exp(theta)
    total = np.zeros_like(theta)
    n, last = len(theta), 0
    for i in range(n - 1):
        first, last = last, last + n - 1 - i
        share = power[i + 1 :] + power[i]
        np.divide(counts[first:last], share, out=share)
        total[i] += share.sum(axis=0)
        total[i + 1 :] += share
    total *= power
    return total


def _damping(step: Floats, counts: Floats) -> float:
    """Share of a (n,) step that is safe to take (see `solve`)."""
    apart = float((np.abs(step[:, None] - step[None, :]) * (counts > 0)).max())
    return 1.0 if apart <= 1.0 else float(np.log1p(apart)) / apart


def _log_odds(won: Floats, lost: Floats, precision: float) -> Floats:
    """Log odds of winning any comparison: halves the steps against a start at 0."""
    return np.asarray(np.log((won + precision) / (lost + precision)))


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
