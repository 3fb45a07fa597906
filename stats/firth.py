"""Bias-reduced Bradley-Terry strengths: maximum of the likelihood times Jeffreys' prior (Firth 1993).

The penalised log-likelihood is log L + 1/2 log det I(theta), with I the Fisher information on the strengths
of zero sum. With p_ij the probability that i beats j, N_ij the weight of their comparisons and
h_ij = N_ij p_ij (1 - p_ij) Var(theta_i - theta_j) the leverage of the pair, its gradient is

    sum_j W_ij - N_ij p_ij + h_ij (1/2 - p_ij),

that of data in which each pair has h_ij more comparisons, half of them won by either side (Firth 1993,
Biometrika 80). The leverages of all pairs sum to n - 1. The maximum is finite for undefeated and winless
models too, as long as a chain of comparisons joins all of them.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from stats.newton import Solution

Floats = NDArray[np.float64]

MAX_ITERATIONS = 200
SHORT_STEP = 1e-10
"""A fit ends when no strength moves by more than this against another."""


def solve_firth(wins: Floats, start: Floats | None = None) -> Solution:
    """Fit a batch of (B, n, n) win matrices at once.

    Newton steps for the data with h_ij more comparisons, the leverages renewed at each step and long steps
    shortened as in `stats.newton.solve`. Convergence is linear, the faster the more comparisons there are.

    Args:
        wins: weights with ties as half wins; each matrix must be weakly connected (not checked here).
        start: (B, n) or (n,) strengths to start from.

    Returns:
        The strengths; the gradient is that of the penalised likelihood.
    """
    n = wins.shape[1]
    counts = wins + wins.transpose(0, 2, 1)
    won, lost = wins.sum(axis=2), wins.sum(axis=1)
    odds = np.log((won + 0.5) / (lost + 0.5)) if start is None else start
    theta = np.broadcast_to(odds - odds.mean(axis=-1, keepdims=True), won.shape).copy()
    diagonal = np.arange(n)
    iterations, longest = 0, np.inf
    while True:
        p = expit(theta[:, :, None] - theta[:, None, :])
        weight = counts * p * (1.0 - p)
        inverse = np.linalg.inv(_laplacian(weight))
        variance = inverse[:, diagonal, diagonal]
        leverage = weight * (variance[:, :, None] + variance[:, None, :] - 2.0 * inverse)
        gradient = won - (counts * p).sum(axis=2) + (leverage * (0.5 - p)).sum(axis=2)
        if longest < SHORT_STEP or iterations == MAX_ITERATIONS:
            break
        iterations += 1
        curvature = _laplacian((counts + leverage) * p * (1.0 - p))
        step = np.linalg.solve(curvature, gradient[:, :, None])[:, :, 0]
        spread = np.ptp(step, axis=1)
        theta += step * np.where(spread <= 1.0, 1.0, np.log1p(spread) / np.maximum(spread, 1.0))[:, None]
        longest = float(spread.max())
    theta -= theta.mean(axis=1, keepdims=True)
    return Solution(theta, iterations, np.abs(gradient).max(axis=1) / np.maximum(won.sum(axis=1), 1e-300))


def _laplacian(weight: Floats) -> Floats:
    """(B, n, n) Laplacians of symmetric weights, plus a constant that fills their null space.

    The constant leaves solutions of zero sum, and the variances of differences, as they are.
    """
    n = weight.shape[1]
    degree = weight.sum(axis=2)
    laplacian: Floats = (degree.mean(axis=1) / n)[:, None, None] - weight
    laplacian[:, np.arange(n), np.arange(n)] += degree
    return laplacian
