"""Ratings against published fits, closed forms and independent computations."""

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from stats.bradley_terry import FirthPrior, GaussianPrior, Status, fit
from stats.comparisons import Comparisons

SOLID = arrays(float, (5, 5), elements=st.integers(1, 9).map(float)).map(lambda w: w * (1 - np.eye(5)))


@pytest.mark.parametrize(
    "case",
    [
        "bt_wikipedia",  # worked example of Wikipedia
        "bt_baseball_agresti",  # Agresti, American League East 1987
        "bt_citations_stigler",  # Stigler 1994
        "bt_cems_half_ties",  # Dittrich et al. 1998, ties as half wins
        "bt_two_3_1",  # closed form
        "bt_two_2_1_tie1",  # closed form
        "bt_cycle",  # closed form
        "bt_all_ties",  # closed form
        "bt_chain_factorises",  # closed form
    ],
)
def test_known_answers(known, case):
    expected = known[case]["expected"]
    fitted = fit(known[case]["data"]["wins"], models=known[case]["data"]["items"])
    np.testing.assert_allclose(fitted.ratings, expected["elo_mean1000"], rtol=0, atol=1e-9)
    assert fitted.converged and fitted.gradient_norm < 1e-9
    assert set(fitted.status) == {Status.RATED}
    if "elo_se_fisher_centered" in expected:
        errors = np.sqrt(np.diag(fitted.covariance))
        np.testing.assert_allclose(errors, expected["elo_se_fisher_centered"], rtol=1e-9)
    if "se_vs_ref" in expected:
        # The errors against the reference item come from R's glm, which stops at a relative deviance of 1e-8.
        covariance = fitted.covariance / fitted.unit**2
        variance = np.diag(covariance) + covariance[0, 0] - 2 * covariance[0]
        np.testing.assert_allclose(np.sqrt(np.abs(variance)), expected["se_vs_ref"], atol=1e-5)


@pytest.mark.filterwarnings("ignore:Perfect separation")
@settings(max_examples=25, deadline=None)
@given(SOLID)
def test_equals_statsmodels_glm(wins):
    pairs = [(i, j) for i in range(5) for j in range(i + 1, 5)]
    design = np.zeros((len(pairs), 5))
    for row, (i, j) in enumerate(pairs):
        design[row, i], design[row, j] = 1, -1
    counts = np.array([[wins[i, j], wins[j, i]] for i, j in pairs])
    glm = sm.GLM(counts, design[:, 1:], family=sm.families.Binomial()).fit(tol=1e-14, maxiter=200)
    theta = np.concatenate([[0], glm.params])
    fitted = fit(wins)
    np.testing.assert_allclose((fitted.ratings - 1000) / fitted.unit, theta - theta.mean(), atol=1e-8)
    centre = np.eye(5) - 0.2
    full = np.zeros((5, 5))
    full[1:, 1:] = glm.cov_params()
    np.testing.assert_allclose(fitted.covariance / fitted.unit**2, centre @ full @ centre, atol=1e-8)


def test_equals_fixed_point_iteration_on_a_sparse_schedule():
    """Zermelo's iteration, an independent algorithm, on a ring with unequal weights."""
    wins = np.zeros((6, 6))
    for i in range(6):
        wins[i, (i + 1) % 6], wins[(i + 1) % 6, i] = 0.5 + i, 2.25
    strength = np.ones(6)
    for _ in range(20000):
        met = (wins + wins.T) / (strength[:, None] + strength[None, :])
        strength = wins.sum(axis=1) / met.sum(axis=1)
        strength /= np.exp(np.log(strength).mean())
    fitted = fit(wins)
    np.testing.assert_allclose(fitted.ratings, 1000 + fitted.unit * np.log(strength), atol=1e-8)


@settings(max_examples=25, deadline=None)
@given(SOLID, st.permutations(range(5)), st.floats(0.01, 100))
def test_invariances(wins, order, weight):
    fitted = fit(wins)
    order = list(order)
    np.testing.assert_allclose(fit(wins[np.ix_(order, order)]).ratings, fitted.ratings[order], atol=1e-8)
    np.testing.assert_allclose(fit(weight * wins).ratings, fitted.ratings, atol=1e-8)
    np.testing.assert_allclose(fit(wins.T).ratings, 2000 - fitted.ratings, atol=1e-8)
    assert fitted.ratings.mean() == pytest.approx(1000, abs=1e-9)
    # On this scale a strength of one unit more is 100 points, not 400 / ln 10.
    other = fit(wins, scale=100, base=np.e, offset=0)
    np.testing.assert_allclose(other.ratings / 100, (fitted.ratings - 1000) / fitted.unit, atol=1e-8)


def test_complete_schedule_orders_as_win_totals():
    rng = np.random.default_rng(3)
    wins = np.triu(rng.integers(1, 20, size=(9, 9)).astype(float), 1)
    wins += np.tril(20 - wins.T, -1)
    fitted = fit(wins)
    # Win totals are sufficient: two of them are equal here, and so must be their ratings, to the last digit.
    totals = wins.sum(axis=1)
    assert len(set(totals)) == 8
    gaps, steps = fitted.ratings[:, None] - fitted.ratings, totals[:, None] - totals
    np.testing.assert_array_equal(np.sign(gaps), np.sign(steps))


def test_extreme_but_finite_fit_converges():
    """Odds of 1e6 to 1 along a chain: each step is 400 log10(1e6) = 2400 points."""
    wins = np.zeros((4, 4))
    for i in range(3):
        wins[i, i + 1], wins[i + 1, i] = 1e6, 1.0
    fitted = fit(wins)
    np.testing.assert_allclose(np.diff(fitted.ratings), -2400, rtol=1e-9)
    assert fitted.converged


def test_undefeated_and_winless_models_get_an_order_not_a_number():
    # a always wins, d always loses, b beats c 3 : 1.
    names = ["a", "b", "c", "d"]
    wins = np.array([[0, 1, 1, 1], [0, 0, 3, 1], [0, 1, 0, 1], [0, 0, 0, 0]], dtype=float)
    fitted = fit(wins, models=names)
    np.testing.assert_allclose(
        fitted.ratings, [np.nan, 1095.4242509439325, 904.5757490560675, np.nan], atol=1e-9
    )
    np.testing.assert_array_equal(fitted.order, [1, 0, 0, -1])
    assert fitted.status == (Status.SEPARATED, Status.RATED, Status.RATED, Status.SEPARATED)
    with pytest.raises(ValueError, match=r"a \(separated\), d \(separated\)"):
        fit(wins, models=names, strict=True)


def test_unconnected_groups_are_rated_apart():
    wins = np.zeros((5, 5))
    wins[0, 1], wins[1, 0], wins[2, 3], wins[3, 2] = 3, 1, 1, 3
    fitted = fit(wins)
    np.testing.assert_allclose(
        fitted.ratings, [1095.42425, 904.57575, 904.57575, 1095.42425, np.nan], atol=1e-5
    )
    assert fitted.status == (Status.DISCONNECTED,) * 4 + (Status.UNCOMPARED,)
    np.testing.assert_array_equal(fitted.group, [0, 0, 1, 1, 2])
    assert np.isnan(fitted.covariance[0, 2]) and np.isfinite(fitted.covariance[0, 1])


def test_prior_gives_finite_numbers_and_says_so():
    wins = np.array([[0, 1, 1], [0, 0, 1], [0, 0, 0]], dtype=float)
    fitted = fit(wins, prior=GaussianPrior(sd=200))
    assert fitted.prior == GaussianPrior(200)
    assert set(fitted.status) == {Status.PRIOR}
    assert fitted.ratings[0] > fitted.ratings[1] > fitted.ratings[2]
    assert fitted.ratings.mean() == pytest.approx(1000, abs=1e-9)
    # Stationary point of log-likelihood - sum (R - 1000)^2 / (2 sd^2), checked in the definition.
    p = 1 / (1 + 10 ** ((fitted.ratings[None, :] - fitted.ratings[:, None]) / 400))
    gradient = (wins - (wins + wins.T) * p).sum(axis=1) / fitted.unit - (fitted.ratings - 1000) / 200**2
    np.testing.assert_allclose(gradient, 0, atol=1e-12)
    # A wide prior on a solid table is the maximum-likelihood fit.
    solid = np.array([[0, 5, 3], [4, 0, 6], [2, 2, 0]], dtype=float)
    np.testing.assert_allclose(fit(solid, prior=GaussianPrior(1e7)).ratings, fit(solid).ratings, atol=1e-4)
    with pytest.raises(ValueError, match="prior sd"):
        GaussianPrior(0)


def test_one_model_is_the_offset_and_no_comparison_is_an_error():
    alone = fit(np.zeros((1, 1)), models=["a"])
    assert alone.ratings.tolist() == [1000.0] and alone.status == (Status.RATED,)
    with pytest.raises(ValueError, match="no comparisons"):
        fit(np.zeros((3, 3)))
    with pytest.raises(ValueError, match="no models"):
        fit(Comparisons((), (), np.zeros((0, 0, 0))))
    with pytest.raises(ValueError, match="scale must be positive"):
        fit(np.ones((2, 2)) - np.eye(2), scale=0)


def test_anchor_shifts_every_rating_alike():
    wins = np.array([[0, 5, 3], [4, 0, 6], [2, 2, 0]], dtype=float)
    plain, anchored = (
        fit(wins, models=["a", "b", "c"]),
        fit(wins, models=["a", "b", "c"], anchor=("b", 1234.5)),
    )
    assert anchored.ratings[1] == pytest.approx(1234.5, abs=1e-12)
    np.testing.assert_allclose(np.diff(anchored.ratings), np.diff(plain.ratings), atol=1e-9)
    assert (plain.anchor, anchored.anchor) == (None, ("b", 1234.5))
    assert anchored.offset == pytest.approx(anchored.ratings.mean(), abs=1e-9)
    np.testing.assert_allclose(anchored.strengths, plain.strengths, atol=1e-12)
    np.testing.assert_allclose(anchored.covariance, plain.covariance, rtol=1e-9)
    assert fit(np.zeros((1, 1)), models=["a"], anchor=("a", 7)).ratings.tolist() == [7.0]


def test_anchor_must_have_a_rating():
    wins = np.array([[0, 1, 1], [0, 0, 1], [0, 1, 0]], dtype=float)
    with pytest.raises(ValueError, match="'x' is not among the models"):
        fit(wins, models=["a", "b", "c"], anchor=("x", 1000))
    with pytest.raises(ValueError, match="'a' has no rating"):
        fit(wins, models=["a", "b", "c"], anchor=("a", 1000))
    with pytest.raises(ValueError, match="must be finite"):
        fit(wins, models=["a", "b", "c"], anchor=("b", np.inf))


def test_firth_prior_on_two_models_is_half_a_win_each():
    """Jeffreys' prior of one binomial probability adds 1/2 to wins and losses: log odds log(3.5 / 0.5)."""
    fitted = fit([[0, 3], [0, 0]], models=["a", "b"], prior=FirthPrior())
    assert fitted.ratings[0] - fitted.ratings[1] == pytest.approx(400 * np.log10(3.5 / 0.5), abs=1e-8)
    assert fitted.status == (Status.PRIOR,) * 2 and fitted.converged and fitted.precision == 0.0
    with pytest.raises(ValueError, match=r"a \(prior\), b \(prior\)"):
        fit([[0, 3], [0, 0]], models=["a", "b"], prior=FirthPrior(), strict=True)


def test_firth_prior_rates_each_group_apart():
    # a and b are even; c always beats d, e meets no one, f only loses to a.
    wins = np.zeros((6, 6))
    wins[0, 1] = wins[1, 0] = 2
    wins[2, 3] = wins[0, 5] = 1
    fitted = fit(wins, prior=FirthPrior())
    d, p, u = Status.DISCONNECTED, Status.PRIOR, Status.UNCOMPARED
    assert fitted.status == (d, d, p, p, u, p)
    assert [block.tolist() for block in fitted.blocks] == [[0, 1, 5], [2, 3]]
    for block in fitted.blocks:
        assert fitted.ratings[block].mean() == pytest.approx(1000, abs=1e-9)
    assert fitted.ratings[2] - fitted.ratings[3] == pytest.approx(400 * np.log10(1.5 / 0.5), abs=1e-8)
    assert np.isnan(fitted.ratings[4]) and np.isnan(fitted.covariance[0, 2])


@settings(max_examples=60, deadline=None)
@given(
    st.integers(2, 7).flatmap(
        lambda n: st.tuples(
            arrays(float, (n, n), elements=st.sampled_from([0, 0, 0, 1, 1, 2.5, 0.1])),
            st.permutations(range(n)),
        )
    ),
    st.sampled_from([None, GaussianPrior(200), FirthPrior()]),
)
def test_nothing_depends_on_the_order_of_the_models(table, prior):
    """Sparse tables with separated models, groups apart and cores of one size."""
    wins, order = table[0] * (1 - np.eye(len(table[0]))), list(table[1])
    assume(wins.any())
    fitted, again = fit(wins, prior=prior), fit(wins[np.ix_(order, order)], prior=prior)
    np.testing.assert_allclose(again.ratings, fitted.ratings[order], rtol=0, atol=1e-6)
    np.testing.assert_array_equal(again.order, fitted.order[order])
    assert again.status == tuple(fitted.status[i] for i in order)
    same = fitted.group[:, None] == fitted.group
    np.testing.assert_array_equal(again.group[:, None] == again.group, same[np.ix_(order, order)])


def test_two_equal_cores_are_no_core():
    """Two even pairs of equal weight, each beaten once by a fifth model: the data prefer neither."""
    wins = np.zeros((5, 5))
    wins[0, 1] = wins[1, 0] = wins[2, 3] = wins[3, 2] = 1
    wins[4, 0] = wins[4, 2] = 1
    fitted = fit(wins)
    assert set(fitted.status) == {Status.SEPARATED} and np.isnan(fitted.ratings).all()
    np.testing.assert_array_equal(fitted.order, [0, 0, 0, 0, 1])
    # One more comparison decides.
    wins[0, 1] += 1
    np.testing.assert_allclose(fit(wins).ratings[:2], 1000 + 200 * np.log10(2) * np.array([1, -1]), atol=1e-9)


def test_rounding_is_no_win():
    """0.1 + 0.2 - 0.3 = 5.6e-17: as a win of b it would make a 6,500 points better, in silence."""
    rest = 0.1 + 0.2 - 0.3
    with pytest.raises(ValueError, match=r"wins of b over a weigh 5.55112e-17, the largest are 1"):
        fit([[0, 1.0], [rest, 0]], models=["a", "b"])
    # Weights within a factor of 1e12 are no rounding: 400 log10(1e12) = 4800 points.
    assert np.diff(fit([[0, 1e12], [1, 0]]).ratings)[0] == pytest.approx(-4800)


@pytest.mark.parametrize("weight", [1e-300, 1e-101])
def test_weights_too_small_to_be_squared_are_refused(weight):
    with pytest.raises(ValueError, match="weights must be above 1e-100"):
        fit([[0, weight], [weight, 0]])


def test_priors_that_cannot_be_felt_are_refused():
    for sd in (0.0, -1.0, np.nan, np.inf, 1e-200, 1e200):
        with pytest.raises(ValueError, match="prior sd"):
            GaussianPrior(sd)
    with pytest.raises(ValueError, match="too weak to be felt"):
        fit([[0, 1e6], [0, 0]], prior=GaussianPrior(1e9))


@pytest.mark.parametrize("n", [3, 15])
def test_a_chain_of_wins_is_an_order_without_numbers(n):
    """Elsewhere all scores 1e-6 after two iterations (n = 3), or 6.3 down to -2.2 from one pass (n = 15)."""
    fitted = fit(np.triu(np.ones((n, n)), 1) if n == 3 else np.eye(n, k=1))
    assert np.isnan(fitted.ratings).all() and set(fitted.status) == {Status.SEPARATED}
    assert (np.diff(fitted.order) < 0).all()


def test_a_failed_run_is_no_tie():
    """A .1, B none, C .3, errors: elsewhere A and B tie, and B and C."""
    rows = [
        ("t", "A", 0, 0.1, True, False),
        ("t", "B", 0, np.nan, False, False),
        ("t", "C", 0, 0.3, True, False),
    ]
    scores = pd.DataFrame(rows, columns=["task", "model", "attempt", "score", "valid", "higher_is_better"])
    lost = Comparisons.from_scores(scores)
    np.testing.assert_array_equal(lost.total, [[0, 1, 1], [0, 0, 0], [0, 1, 0]])  # A beats C beats B
    dropped, missing = Comparisons.from_scores(scores, invalid="dropped"), scores[scores["valid"]]
    assert dropped.total[dropped.models.index("B")].sum() == 0
    assert Comparisons.from_scores(missing).models == ("A", "C")
