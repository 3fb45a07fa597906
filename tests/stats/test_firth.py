"""Bias-reduced strengths against closed forms and an independent optimiser of the penalised likelihood."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.optimize import minimize

from stats.firth import solve_firth
from stats.newton import solve


def penalised(free, wins):
    """-(log L + 1/2 log det I) with the last strength at 0, pair by pair from the definition."""
    theta = np.append(free, 0.0)
    n, value, information = len(theta), 0.0, np.zeros((len(theta), len(theta)))
    for i in range(n):
        for j in range(n):
            value += wins[i, j] * -np.logaddexp(0, theta[j] - theta[i])
            contrast = np.eye(n)[i] - np.eye(n)[j]
            p = 1 / (1 + np.exp(theta[j] - theta[i]))
            information += wins[i, j] * p * (1 - p) * np.outer(contrast, contrast)
    return -value - 0.5 * np.linalg.slogdet(information[:-1, :-1])[1]


def optimised(wins):
    """By BFGS with numerical derivatives, which reaches about 1e-7."""
    found = minimize(penalised, np.zeros(len(wins) - 1), (wins,), "BFGS", options={"gtol": 1e-7}).x
    theta = np.append(found, 0.0)
    return theta - theta.mean()


@pytest.mark.parametrize(("won", "lost"), [(3, 1), (5, 0), (0.5, 0.5), (0, 1e6)])
def test_two_models_get_half_a_win_more_each(won, lost):
    """One parameter: the leverage is 1 whatever the strengths, so the odds are (won + 1/2) / (lost + 1/2)."""
    theta = solve_firth(np.array([[[0, won], [lost, 0]]], dtype=float)).theta[0]
    assert theta[0] - theta[1] == pytest.approx(np.log((won + 0.5) / (lost + 0.5)), abs=1e-10)


def test_tree_factorises_into_pairs():
    """On a tree each pair has the leverage 1; here undefeated and winless models at the ends."""
    wins = np.zeros((4, 4))
    wins[0, 1], wins[1, 2], wins[2, 1], wins[2, 3] = 4, 3, 2, 7
    expected = np.log([4.5 / 0.5, 3.5 / 2.5, 7.5 / 0.5])
    solution = solve_firth(wins[None])
    np.testing.assert_allclose(-np.diff(solution.theta[0]), expected, atol=1e-9)
    assert solution.theta.sum() == pytest.approx(0, abs=1e-12) and solution.gradient_norm[0] < 1e-9


def test_baseball_equals_an_optimiser(known):
    wins = np.array(known["bt_baseball_agresti"]["data"]["wins"], dtype=float)
    solution = solve_firth(wins[None])
    np.testing.assert_allclose(solution.theta[0], optimised(wins), atol=1e-6)
    assert solution.gradient_norm[0] < 1e-9
    # The bias of maximum likelihood is away from zero.
    plain = solve(wins[None]).theta[0]
    assert np.ptp(solution.theta[0]) < np.ptp(plain)


def test_never_beaten_models_equal_an_optimiser():
    wins = np.triu(np.ones((5, 5)), 1)
    np.testing.assert_allclose(solve_firth(wins[None]).theta[0], optimised(wins), atol=1e-5)


@settings(max_examples=15, deadline=None)
@given(arrays(float, (4, 4), elements=st.sampled_from([0.0, 0.5, 1.0, 3.0])), st.permutations(range(4)))
def test_is_a_maximum_whatever_the_order_and_the_batch(wins, order):
    wins = wins * (1 - np.eye(4))
    wins[np.arange(3), np.arange(1, 4)] += 1.0  # connected
    order = list(order)
    batch = np.stack([wins, wins[np.ix_(order, order)], wins.T])
    solution = solve_firth(batch)
    theta = solution.theta[0]
    assert (solution.gradient_norm < 1e-9).all()
    np.testing.assert_allclose(solution.theta[1], theta[order], atol=1e-8)
    np.testing.assert_allclose(solution.theta[2], -theta, atol=1e-8)
    np.testing.assert_allclose(solve_firth(wins[None]).theta[0], theta, atol=1e-8)
    np.testing.assert_allclose(solve_firth(wins[None], theta + 0.3).theta[0], theta, atol=1e-8)
    top = penalised(theta[:-1] - theta[-1], wins)
    rng = np.random.default_rng(0)
    for step in 0.01 * rng.normal(size=(6, 3)):
        assert penalised(theta[:-1] - theta[-1] + step, wins) > top


def test_much_data_is_maximum_likelihood():
    wins = 1e6 * np.array([[0, 5, 3], [4, 0, 6], [2, 2, 0]])
    np.testing.assert_allclose(solve_firth(wins[None]).theta, solve(wins[None]).theta, atol=1e-6)
