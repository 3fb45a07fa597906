"""Differences of models: statsmodels' clustered GLM, hand values, and what cannot be compared."""

import numpy as np
import pytest
import statsmodels.api as sm
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats as sps

from stats.bradley_terry import FirthPrior, GaussianPrior, fit
from stats.comparisons import Comparisons
from stats.contrasts import SIGN_TEST, T_TEST, contrasts, sign_test
from stats.sandwich import contrast_intervals, contrast_variance, rating_intervals


def compared(*results, models=None):
    """One task per matrix of wins."""
    return Comparisons.from_wins(np.array(results, dtype=float), models)


def test_equals_statsmodels_cluster_t_tests(make_scores):
    comparisons = Comparisons.from_scores(make_scores(tasks=15, models=5, attempts=2, seed=1))
    fitted = fit(comparisons)
    design, outcome, task = [], [], []
    for t in range(15):
        for i in range(5):
            for j in range(i + 1, 5):
                design.append(np.eye(5)[i] - np.eye(5)[j])
                outcome.append(comparisons.wins[t, i, j])
                task.append(t)
    glm = sm.GLM(np.array(outcome), np.array(design)[:, 1:], family=sm.families.Binomial()).fit(
        tol=1e-14, maxiter=200, cov_type="cluster",
        cov_kwds={"groups": np.array(task), "use_correction": False},
    )  # fmt: skip
    found = contrasts(comparisons, fitted, level=0.9)
    assert len(found.p) == 10 and set(found.test) == {T_TEST} and set(found.notes) == {""}
    for k, (i, j) in enumerate(zip(found.first, found.second, strict=True)):
        row = (np.eye(5)[i] - np.eye(5)[j])[1:]
        # Clusters without small-sample correction: the factor T/(T-1) is ours.
        difference = float(row @ glm.params)
        error = float(np.sqrt(row @ glm.cov_params() @ row * 15 / 14))
        assert found.difference[k] == pytest.approx(difference * fitted.unit, abs=1e-6)
        assert found.standard_error[k] == pytest.approx(error * fitted.unit, rel=1e-7)
        assert found.p[k] == pytest.approx(2 * sps.t.sf(abs(difference / error), 14), rel=1e-6)
        assert found.probability[k] == pytest.approx(1 / (1 + np.exp(-difference)), abs=1e-9)
    intervals = contrast_intervals(comparisons, fitted, level=0.9)
    np.testing.assert_allclose(found.low, intervals.low[found.first, found.second], atol=1e-9)
    np.testing.assert_allclose(found.high, intervals.high[found.first, found.second], atol=1e-9)


def test_two_models_by_hand():
    # a wins 3 of 4 tasks: 400 log10 3 = 190.849. Natural variance T/(T-1) sum (won - p)^2 / (T p q)^2
    # = 4/3 x 0.75 / 0.75^2 = 16/9: standard error 4/3 x 400/ln 10 = 231.624; t = ln 3 / (4/3) = 0.823959.
    comparisons = compared(*[[[0, 1], [0, 0]]] * 3, [[0, 0], [1, 0]], models=["a", "b"])
    found = contrasts(comparisons, fit(comparisons))
    assert found.difference[0] == pytest.approx(190.848502)
    assert found.standard_error[0] == pytest.approx(231.623724)
    assert found.t[0] == pytest.approx(0.75 * np.log(3))
    assert found.p[0] == pytest.approx(2 * sps.t.sf(0.75 * np.log(3), 3))
    half = sps.t.ppf(0.975, 3) * 231.623724
    assert (found.low[0], found.high[0]) == pytest.approx((190.848502 - half, 190.848502 + half))
    assert found.probability[0] == pytest.approx(0.75)
    assert found.probability_low[0] == pytest.approx(1 / (1 + 10 ** ((half - 190.848502) / 400)))
    assert found.probability_high[0] == pytest.approx(1 / (1 + 10 ** ((-half - 190.848502) / 400)))
    assert (found.level, found.unit, found.n_tasks.tolist()) == (0.95, "tasks", [4])
    row = found.frame().iloc[0]
    assert (row["model"], row["other"], row["test"]) == ("a", "b", T_TEST)


def test_adjustment(make_scores):
    comparisons = Comparisons.from_scores(make_scores(models=4, seed=3))
    fitted = fit(comparisons)
    raw = contrasts(comparisons, fitted, adjust="none")
    np.testing.assert_array_equal(raw.p_adjusted, raw.p)
    # Holm: the k-th smallest of 6 times (6 - k + 1), never falling, at most 1.
    order = np.argsort(raw.p)
    by_hand = np.minimum(np.maximum.accumulate(raw.p[order] * np.arange(6, 0, -1)), 1)
    np.testing.assert_allclose(contrasts(comparisons, fitted).p_adjusted[order], by_hand, rtol=1e-12)
    bh = contrasts(comparisons, fitted, adjust="fdr_bh").p_adjusted
    np.testing.assert_allclose(bh, sps.false_discovery_control(raw.p), rtol=1e-12)
    with pytest.raises(ValueError, match="holm"):
        contrasts(comparisons, fitted, adjust="bonferroni")
    with pytest.raises(ValueError, match="level"):
        contrasts(comparisons, fitted, level=95)


def test_an_undefeated_model_is_told_apart_only_by_enough_tasks():
    # a beats b and c on each of 6 tasks, and c on a seventh; b beats c on four tasks and loses two.
    wins = np.zeros((7, 3, 3))
    wins[:6, 0, 1:] = 1
    wins[6, 0, 2] = 1
    wins[:4, 1, 2] = wins[4:6, 2, 1] = 1
    comparisons = Comparisons.from_wins(wins, ["a", "b", "c"])
    found = contrasts(comparisons, fit(comparisons), adjust="holm")
    # Two-sided sign tests: 2 / 2^6 and 2 / 2^7; b against c by t.
    assert found.test == (SIGN_TEST, SIGN_TEST, T_TEST)
    assert found.p[:2].tolist() == [1 / 32, 1 / 64] and found.n_tasks.tolist() == [6, 7, 6]
    assert np.isnan(found.difference[:2]).all() and np.isnan(found.probability[:2]).all()
    assert np.isfinite(found.difference[2])
    assert found.notes[0] == "a is separated: no finite difference"
    # Holm over all three: 3 x 1/64, then 2 x 1/32
    np.testing.assert_allclose(found.p_adjusted[:2], [2 / 32, 3 / 64])


def test_all_ties_show_nothing():
    only_ties = compared(*[[[0, 0.5], [0.5, 0]]] * 3)
    found = contrasts(only_ties, fit(only_ties))
    assert (found.difference[0], found.p[0], found.test) == (0, 1, (SIGN_TEST,))
    assert found.n_tasks[0] == 0 and "no spread" in found.notes[0] and np.isnan(found.t[0])


def test_without_spread_between_tasks_the_sign_test_decides():
    # a wins 3/4 of each of 5 tasks: no variance between tasks, and 2 / 2^5 by signs, not p = 0.
    comparisons = compared(*[[[0, 0.75], [0.25, 0]]] * 5)
    found = contrasts(comparisons, fit(comparisons))
    assert found.difference[0] == pytest.approx(190.848502)
    assert (found.p[0], found.test[0]) == (1 / 16, SIGN_TEST)
    assert found.low[0] == pytest.approx(found.high[0])


def test_one_task_says_nothing():
    single = compared([[0, 3], [1, 0]])
    found = contrasts(single, fit(single))
    assert np.isnan(found.standard_error[0]) and np.isnan(found.low[0]) and found.p[0] == 1
    assert found.notes[0] == "one task: no standard error"


def test_groups_that_never_met_stay_undecided():
    wins = np.zeros((3, 5, 5))
    wins[:, 0, 1], wins[:, 1, 0], wins[:, 2, 3], wins[:, 3, 2] = 2, 1, 1, 1
    wins[0, 0, 1] = 1
    comparisons = Comparisons.from_wins(wins, list("abcde"))
    found = contrasts(comparisons, fit(comparisons)).frame().set_index(["model", "other"])
    across = found.loc[("a", "c")]
    assert np.isnan(across[["difference", "p", "p_adjusted"]].astype(float)).all() and across["test"] == ""
    assert across["notes"] == "in groups that were never compared: no common scale, and the two never met"
    assert "uncompared" in found.loc[("a", "e"), "notes"]
    assert found.loc[("a", "b"), "test"] == T_TEST
    # A prior puts all compared models on one scale.
    with_prior = contrasts(comparisons, fit(comparisons, prior=GaussianPrior(300))).frame()
    assert np.isfinite(with_prior.set_index(["model", "other"]).loc[("a", "c"), "difference"])


def test_one_model_has_no_pairs():
    alone = Comparisons.from_wins(np.zeros((2, 1, 1)))
    assert contrasts(alone, fit(alone)).frame().empty


@settings(max_examples=5, deadline=None)
@given(st.permutations(list(range(5))))
def test_order_and_names_do_not_matter(make_scores, order):
    comparisons = Comparisons.from_scores(make_scores(tasks=8, models=5, seed=11))
    wins = comparisons.wins[:, order][:, :, order]
    moved = Comparisons.from_wins(wins, [comparisons.models[k] for k in order])
    one, two = (contrasts(c, fit(c)).frame().set_index(["model", "other"]) for c in (comparisons, moved))
    for (i, j), row in two.iterrows():
        sign, pair = (1, (i, j)) if (i, j) in one.index else (-1, (j, i))
        assert row["difference"] == pytest.approx(sign * one.loc[pair, "difference"], abs=1e-8, nan_ok=True)
        for column in ("standard_error", "p", "p_adjusted"):
            assert row[column] == pytest.approx(one.loc[pair, column], abs=1e-8, nan_ok=True)


@pytest.mark.parametrize("tasks", [0, 1, 2, 7, 40, 3000])
def test_sign_test_is_scipys_binomial_test(tasks):
    won = np.unique(np.linspace(0, tasks, 9).astype(np.int64))
    expected = [sps.binomtest(int(w), tasks).pvalue if tasks else 1.0 for w in won]
    np.testing.assert_allclose(sign_test(won, tasks - won), expected, rtol=1e-9)


def test_what_rounding_leaves_of_a_variance_is_no_spread():
    """Errors of 1 that move together: 1 + 1 - 2 (1 - 1e-15) = 2e-15 is rounding, 2e-9 is not."""
    for off, spread in ((1e-15, 0.0), (-1e-15, 0.0), (1e-9, 2e-9)):
        found = contrast_variance(np.array([[1.0, 1.0 - off], [1.0 - off, 1.0]]))
        np.testing.assert_allclose(found, [[0, spread], [spread, 0]], rtol=1e-6)
    assert np.isnan(contrast_variance(np.full((2, 2), np.nan))).all()


@pytest.mark.parametrize("prior", [GaussianPrior(300), FirthPrior()])
def test_what_only_a_prior_makes_finite_has_no_interval(prior):
    """c beats all on every task: its rating rests on the prior, and only the sign test tells it apart."""
    wins = np.zeros((12, 3, 3))
    wins[:, 2, :2] = 1
    wins[:8, 0, 1] = wins[8:, 1, 0] = 1
    comparisons = Comparisons.from_wins(wins, ["a", "b", "c"])
    fitted = fit(comparisons, prior=prior)
    found = contrasts(comparisons, fitted).frame().set_index(["model", "other"])
    assert np.isfinite(found.loc[("a", "b"), "standard_error"])
    top = found.loc[("a", "c")]
    assert (
        np.isfinite(top["difference"])
        and np.isnan(top[["standard_error", "low", "high"]].astype(float)).all()
    )
    # 12 tasks of 12: 2 * 0.5^12
    assert top["p"] == pytest.approx(2 * 0.5**12)
    assert "only by the prior" in top["notes"]
    ratings = rating_intervals(comparisons, fitted)
    assert np.isfinite(ratings.low[:2]).all() and np.isnan(ratings.low[2])
    pairs = contrast_intervals(comparisons, fitted)
    assert np.isfinite(pairs.low[0, 1]) and np.isnan(pairs.low[0, 2])
