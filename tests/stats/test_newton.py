"""The solvers against each other, against the definition in extended precision, and at their limits."""

import numpy as np
import pytest

from stats.newton import CONVERGED, LARGE, inverse_information, row_sums, solve, solve_near


def random_wins(n, seed=0, spread=1.0, most=20):
    rng = np.random.default_rng(seed)
    theta = rng.normal(size=n) * spread
    counts = np.triu(rng.integers(1, most, size=(n, n)), 1)
    won = rng.binomial(counts, 1 / (1 + np.exp(theta - theta[:, None])))
    wins = (np.triu(won, 1) + np.triu(counts - won, 1).T).astype(float)
    # A ring of halves keeps every table strongly connected.
    ring = np.arange(n)
    wins[ring, (ring + 1) % n] += 0.5
    wins[(ring + 1) % n, ring] += 0.5
    return wins


def exact_gradient(wins, theta):
    """Largest component of sum_j W_ij - N_ij p_ij per comparison, in extended precision."""
    w, t = wins.astype(np.longdouble), theta.astype(np.longdouble)
    p = 1 / (1 + np.exp(t[None, :] - t[:, None]))
    return float(np.abs((w - (w + w.T) * p).sum(axis=1)).max() / w.sum())


@pytest.mark.parametrize("n", [2, 3, 20, LARGE + 1])
def test_one_matrix_is_solved_as_in_a_batch(n):
    """Cholesky factors for one, LU factors for a batch, kept factors for a large one."""
    tables = np.stack([random_wins(n, seed) for seed in range(2)])
    together = solve(tables)
    for wins, theta in zip(tables, together.theta, strict=True):
        alone = solve(wins[None])
        np.testing.assert_allclose(alone.theta[0], theta, rtol=0, atol=1e-10)
        assert exact_gradient(wins, alone.theta[0]) < 1e-14
        assert alone.gradient_norm[0] < CONVERGED and alone.theta.mean() == pytest.approx(0, abs=1e-12)


@pytest.mark.parametrize("n", [5, LARGE + 1])
def test_start_does_not_change_the_solution(n):
    wins = random_wins(n, 3)
    expected = solve(wins[None]).theta
    start = np.random.default_rng(1).normal(size=n) * 3
    before = start.copy()
    np.testing.assert_allclose(solve(wins[None], start=start).theta, expected, rtol=0, atol=1e-10)
    np.testing.assert_array_equal(start, before)


def test_strengths_beyond_the_range_of_exponentials():
    """A chain of odds 1e9 to 1 over 20 models: 19 steps of log(1e9), 394 in all: exp(394)^2 overflows."""
    wins = np.zeros((20, 20))
    for i in range(19):
        wins[i, i + 1], wins[i + 1, i] = 1e9, 1.0
    solution = solve(wins[None])
    # Wins of 1e9 and 1 leave the 1 seven digits.
    np.testing.assert_allclose(np.diff(solution.theta[0]), -np.log(1e9), rtol=1e-7)
    assert solution.gradient_norm[0] < CONVERGED


@pytest.mark.parametrize("precision", [0.0, 0.3])
def test_near_tables_equal_newton(precision):
    n, rng = 6, np.random.default_rng(2)
    full = random_wins(n, 1, most=60)
    tables = rng.poisson(full, size=(50, n, n)) + 0.5 * (1 - np.eye(n))
    start = solve(full[None], precision).theta[0]
    i, j = np.triu_indices(n, 1)
    ahead, behind = tables[:, i, j].T.copy(), tables[:, j, i].T.copy()
    np.testing.assert_allclose(row_sums(ahead, behind, n), tables.sum(axis=2).T)
    theta, solved = solve_near(ahead, behind, start, inverse_information(full, start, precision), precision)
    assert solved.all()
    np.testing.assert_allclose(theta.T, solve(tables, precision).theta, rtol=0, atol=2e-9)


def test_a_table_too_far_away_is_not_called_solved():
    """With 1e4 times the comparisons that the inverse was made for, each step is 1e4 times too long."""
    full = random_wins(5, 4)
    start = solve(full[None]).theta[0]
    i, j = np.triu_indices(5, 1)
    tables = np.stack([full, 1e4 * full.T], axis=-1)
    _, solved = solve_near(tables[i, j], tables[j, i], start, inverse_information(full, start))
    assert solved.tolist() == [True, False]


@pytest.mark.parametrize("precision", [0.0, 0.7])
def test_inverse_information_inverts_the_information(precision):
    """Against numpy's pseudo-inverse of the matrix built by its definition."""
    wins, theta = random_wins(5, 7), np.linspace(-1, 1, 5)
    information = np.zeros((5, 5))
    for i in range(5):
        for j in range(5):
            p = 1 / (1 + np.exp(theta[j] - theta[i]))
            weight = (wins[i, j] + wins[j, i]) * p * (1 - p)
            information[i, j] -= weight
            information[i, i] += weight
    expected = np.linalg.pinv(information + precision * np.eye(5))
    np.testing.assert_allclose(inverse_information(wins, theta, precision), expected, atol=1e-12)


@pytest.mark.parametrize("n", [20, 100, 300])
def test_many_models_have_exact_standard_errors(n):
    """A ridge of 1e-5 per comparison makes them 0.7 % (100 models) to 2.7 % (400) too small elsewhere."""
    wins, theta = random_wins(n, n), np.linspace(-1, 1, n)
    p = 1 / (1 + np.exp(theta[None, :] - theta[:, None]))
    weight = (wins + wins.T) * p * (1 - p)
    information = np.diag(weight.sum(axis=1)) - weight
    found, exact = inverse_information(wins, theta), np.linalg.pinv(information, hermitian=True)
    np.testing.assert_allclose(np.sqrt(np.diag(found) / np.diag(exact)), 1, rtol=1e-10)
