"""The ties model against Davidson's example, closed forms and an independent optimiser."""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.optimize import linprog, minimize
from scipy.sparse.csgraph import connected_components

from stats.bradley_terry import fit
from stats.comparisons import Comparisons
from stats.davidson import davidson
from stats.sandwich import task_covariance

SOLID = arrays(float, (4, 4), elements=st.integers(1, 9).map(float)).map(lambda w: w * (1 - np.eye(4)))


def compared(decisive, ties, models=None):
    """Comparisons from decisive wins and the upper triangle of the ties."""
    decisive, upper = np.asarray(decisive, dtype=float), np.triu(np.asarray(ties, dtype=float))
    ties = upper + np.swapaxes(upper, -1, -2)
    return Comparisons.from_wins(decisive + ties / 2, models, ties=ties)


def negative(x, decisive, ties):
    """-log L from Davidson's formulas; x is log pi, then log nu."""
    pi, nu = np.exp(x[:-1]), np.exp(x[-1])
    root = np.sqrt(np.outer(pi, pi))
    total = pi[:, None] + pi[None, :] + nu * root
    return (
        -(decisive * np.log(pi[:, None] / total)).sum() - (np.triu(ties, 1) * np.log(nu * root / total)).sum()
    )


def optimised(decisive, ties):
    """Maximum by BFGS, and the covariance of mean-centred strengths and log nu by differences."""
    n = len(decisive)
    found = minimize(negative, np.zeros(n + 1), (decisive, ties), "BFGS", options={"gtol": 1e-6}).x
    found[:-1] -= found[:-1].mean()
    h, size = 1e-4, n + 1
    hessian = np.empty((size, size))
    for i in range(size):
        for j in range(size):
            e, f = h * np.eye(size)[i], h * np.eye(size)[j]
            hessian[i, j] = (
                negative(found + e + f, decisive, ties)
                - negative(found + e - f, decisive, ties)
                - negative(found - e + f, decisive, ties)
                + negative(found - e - f, decisive, ties)
            ) / (4 * h * h)
    return found, np.linalg.pinv(hessian, rcond=1e-6)


def test_pudding(known):
    """Davidson 1970, example 2; pi and nu recomputed to full precision, as printed there to four digits."""
    case = known["davidson_pudding_1970"]
    decisive, ties = np.zeros((6, 6)), np.zeros((6, 6))
    for i, j, won, lost, tied in case["data"]["pairs"]:
        decisive[i, j], decisive[j, i], ties[i, j] = won, lost, tied
    fitted = davidson(compared(decisive, ties))
    pi = 10 ** (fitted.ratings / 400)
    np.testing.assert_allclose(pi / pi.sum(), case["expected"]["pi"], rtol=1e-9)
    assert fitted.nu == pytest.approx(case["expected"]["nu"], rel=1e-9)
    assert fitted.nu == pytest.approx(case["printed"]["nu"], abs=5e-5)
    assert fitted.converged and fitted.gradient_norm < 1e-9 and fitted.notes == ()
    assert fitted.ratings.mean() == pytest.approx(1000, abs=1e-9)
    # Only one task: no task-clustered interval.
    assert np.isnan(fitted.intervals().low).all()


def test_two_models_are_saturated():
    """5 wins, 2 losses, 3 ties: pi_1 / pi_2 = 5/2 and nu = 3 / sqrt(5 * 2) fit the shares exactly."""
    fitted = davidson(compared([[0, 5], [2, 0]], [[0, 3], [0, 0]]))
    assert fitted.ratings[0] - fitted.ratings[1] == pytest.approx(400 * np.log10(5 / 2), abs=1e-9)
    assert fitted.nu == pytest.approx(3 / np.sqrt(10), rel=1e-10)
    expected = 5 * np.log(0.5) + 2 * np.log(0.2) + 3 * np.log(0.3)
    assert fitted.log_likelihood == pytest.approx(expected, abs=1e-10)
    # Var(log(x/y)) = 1/x + 1/y, and Var(log(z / sqrt(xy))) = 1/z + (1/x + 1/y) / 4, of multinomial counts.
    unit, covariance = 400 / np.log(10), fitted.covariance
    contrast = covariance[0, 0] + covariance[1, 1] - 2 * covariance[0, 1]
    assert contrast / unit**2 == pytest.approx(1 / 5 + 1 / 2, rel=1e-9)
    assert covariance[2, 2] == pytest.approx(1 / 3 + (1 / 5 + 1 / 2) / 4, rel=1e-9)


@settings(max_examples=12, deadline=None)
@given(SOLID, SOLID)
def test_equals_an_optimiser(decisive, ties):
    comparisons = compared(decisive, ties)
    fitted = davidson(comparisons, scale=1, base=np.e, offset=0)
    found, covariance = optimised(decisive, comparisons.ties[0])
    np.testing.assert_allclose(np.append(fitted.ratings, np.log(fitted.nu)), found, atol=1e-5)
    np.testing.assert_allclose(fitted.covariance, covariance, atol=1e-4)
    assert fitted.log_likelihood == pytest.approx(-negative(found, decisive, comparisons.ties[0]), rel=1e-10)
    assert fitted.gradient_norm < 1e-9


@settings(max_examples=12, deadline=None)
@given(SOLID, SOLID)
def test_sufficient_statistics_are_met_exactly(decisive, ties):
    """The likelihood equations (Davidson 1970): expected points of each model and ties equal the observed."""
    comparisons = compared(decisive, ties)
    fitted = davidson(comparisons, scale=1, base=np.e, offset=0)
    pi = np.exp(fitted.ratings)
    root = fitted.nu * np.sqrt(np.outer(pi, pi))
    total = pi[:, None] + pi[None, :] + root
    wins, tied = comparisons.total, comparisons.ties[0]
    counts = wins + wins.T
    np.testing.assert_allclose(
        (counts * (pi[:, None] + root / 2) / total).sum(axis=1), wins.sum(axis=1), rtol=1e-8
    )
    np.testing.assert_allclose((counts * root / total).sum(), tied.sum(), rtol=1e-8)


@settings(max_examples=12, deadline=None)
@given(SOLID, SOLID, st.permutations(range(4)))
def test_order_and_weights_do_not_matter(decisive, ties, order):
    order, comparisons = list(order), compared(decisive, ties, ["a", "b", "c", "d"])
    fitted = davidson(comparisons)
    turned = davidson(comparisons.subset(models=[comparisons.models[i] for i in order]))
    np.testing.assert_allclose(turned.ratings, fitted.ratings[order], atol=1e-8)
    tripled = davidson(compared(3 * decisive, 3 * ties))
    np.testing.assert_allclose(tripled.ratings, fitted.ratings, atol=1e-8)
    assert turned.nu == pytest.approx(fitted.nu) and tripled.nu == pytest.approx(fitted.nu)


def test_without_ties_it_is_the_plain_fit():
    rng = np.random.default_rng(1)
    comparisons = compared(rng.integers(1, 9, (6, 4, 4)) * (1 - np.eye(4)), np.zeros((6, 4, 4)))
    fitted, plain = davidson(comparisons), fit(comparisons)
    np.testing.assert_allclose(fitted.ratings, plain.ratings, atol=1e-9)
    np.testing.assert_allclose(fitted.covariance[:4, :4], plain.covariance, rtol=1e-8)
    np.testing.assert_allclose(
        fitted.task_covariance[:4, :4], task_covariance(comparisons, plain)[0], rtol=1e-8
    )
    assert fitted.nu == 0 and "nu is 0" in fitted.notes[0]
    assert np.isnan(fitted.covariance[4]).all() and np.isnan(fitted.intervals().low[4])


def test_nothing_but_ties_has_no_ratings():
    fitted = davidson(compared(np.zeros((3, 3)), np.ones((3, 3)) - np.eye(3)))
    assert np.isnan(fitted.ratings).all() and fitted.nu == np.inf and "not identified" in fitted.notes[0]


def test_sandwich_is_that_of_its_definition():
    """T/(T-1) B (sum of squared task gradients) B, with B and the gradients by differences of log L."""
    rng = np.random.default_rng(5)
    comparisons = compared(
        rng.integers(0, 4, (12, 3, 3)) * (1 - np.eye(3)), rng.integers(0, 3, (12, 3, 3)) * (1 - np.eye(3))
    )
    fitted = davidson(comparisons, scale=1, base=np.e, offset=0)
    x = np.append(fitted.ratings, np.log(fitted.nu))
    decisive = comparisons.wins - comparisons.ties / 2
    gradients = np.array(
        [
            [(negative(x - e, d, t) - negative(x + e, d, t)) / 2e-5 for e in 1e-5 * np.eye(4)]
            for d, t in zip(decisive, comparisons.ties, strict=True)
        ]
    )
    bread = optimised(decisive.sum(axis=0), comparisons.ties.sum(axis=0))[1]
    expected = 12 / 11 * bread @ gradients.T @ gradients @ bread
    np.testing.assert_allclose(fitted.task_covariance, expected, atol=1e-5)
    found = fitted.intervals(0.9)
    # t quantile of 95 % with 11 degrees of freedom, from printed tables: 1.796.
    np.testing.assert_allclose(found.high - found.estimate, 1.796 * np.sqrt(np.diag(expected)), rtol=1e-3)
    assert (found.n == 12).all() and found.unit == "tasks" and found.level == 0.9


@pytest.mark.parametrize(
    ("decisive", "ties", "message"),
    [
        # c never wins and never ties.
        ([[0, 1, 1], [1, 0, 1], [0, 0, 0]], [[0, 1, 0], [0, 0, 0], [0, 0, 0]], "to and from c"),
        # Two wins and a tie: the likelihood rises to that of shares 2/3, 1/3, 0, which no finite nu gives.
        ([[0, 2], [0, 0]], [[0, 1], [0, 0]], "grows without bound"),
        # a beats c, both tie with b: strongly connected, and all three results become certain together.
        ([[0, 0, 1], [0, 0, 0], [0, 0, 0]], [[0, 1, 0], [0, 0, 1], [0, 0, 0]], "for a, b, c"),
    ],
)
def test_no_finite_maximum_is_an_error_that_names_the_models(decisive, ties, message):
    with pytest.raises(ValueError, match=message):
        davidson(compared(decisive, ties, list("abc")[: len(decisive)]))


def test_one_cycle_with_more_wins_than_ties_is_enough():
    # a beats b and c beats a, b and c tie: no model beats every other both ways, but 2 wins against 1 tie.
    decisive = [[0, 1, 0], [0, 0, 0], [1, 0, 0]]
    fitted = davidson(compared(decisive, [[0, 0, 0], [0, 0, 1], [0, 0, 0]]), scale=1, base=np.e, offset=0)
    ties = np.array([[0, 0, 0], [0, 0, 1], [0, 1, 0]])
    found, _ = optimised(np.array(decisive), ties)
    np.testing.assert_allclose(np.append(fitted.ratings, np.log(fitted.nu)), found, atol=1e-4)
    assert fitted.converged


def goes_uphill_for_ever(decisive, ties):
    """By linear programming: a direction of (strengths, log nu) in which no result gets less likely."""
    n, gains = len(decisive), []
    for i, j in np.argwhere(decisive + ties > 0):
        half = (np.eye(n + 1)[i] - np.eye(n + 1)[j]) / 2
        win, lose, tie = half, -half, np.eye(n + 1)[n]
        gains += [win - lose, win - tie] if decisive[i, j] else []
        gains += [tie - win, tie - lose] if ties[i, j] else []
    gains = np.array(gains)
    best = linprog(-gains.sum(axis=0), -gains, np.zeros(len(gains)), bounds=(-1, 1))
    return best.fun < -1e-9


@settings(max_examples=60, deadline=None)
@given(
    arrays(float, (4, 4), elements=st.sampled_from([0, 0, 1])),
    arrays(float, (4, 4), elements=st.sampled_from([0, 0, 1])),
)
def test_fits_exactly_where_a_finite_maximum_exists(decisive, ties):
    decisive = decisive * (1 - np.eye(4))
    comparisons = compared(decisive, ties * (1 - np.eye(4)))
    ties = comparisons.ties[0]
    assume(decisive.any() and ties.any())
    assume(connected_components(decisive + ties, directed=False)[0] == 1)
    if goes_uphill_for_ever(decisive, ties):
        with pytest.raises(ValueError, match="no finite Davidson fit"):
            davidson(comparisons)
    else:
        assert davidson(comparisons).converged


def test_bad_input_is_refused():
    with pytest.raises(ValueError, match="needs to know the ties"):
        davidson(Comparisons.from_wins([[0, 1], [1, 0]]))
    with pytest.raises(ValueError, match="no comparisons"):
        davidson(compared(np.zeros((2, 2)), np.zeros((2, 2))))
    with pytest.raises(ValueError, match="scale must be positive"):
        davidson(compared([[0, 1], [1, 0]], np.zeros((2, 2))), scale=0)


def test_scores_with_attempts(make_scores):
    comparisons = Comparisons.from_scores(make_scores(tasks=30, models=4, attempts=2))
    fitted, plain = davidson(comparisons), fit(comparisons)
    assert fitted.converged and fitted.nu > 0 and np.isfinite(fitted.intervals().low).all()
    np.testing.assert_array_equal(np.argsort(fitted.ratings), np.argsort(plain.ratings))
