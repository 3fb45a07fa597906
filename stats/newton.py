"""Newton's method for Bradley-Terry strengths, on one or many aggregated win matrices.

With W_ij the weighted wins of i over j (ties as half wins) and N = W + W', the log-likelihood
sum_ij W_ij log sigma(theta_i - theta_j) has gradient_i = sum_j W_ij - N_ij p_ij, and its negative Hessian is
the Laplacian of the graph with weights N_ij p_ij (1 - p_ij), whose null vector is the common shift. The shift
is fixed by sum(theta) = 0.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

Floats = NDArray[np.float64]

MAX_ITERATIONS = 100
CONVERGED = 1e-9
"""Largest gradient component per comparison at a solution."""


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
