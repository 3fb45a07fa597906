"""Correlations against published values and scipy."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import stats as sps

from stats.agreement.concordance import ccc
from stats.agreement.correlation import STATISTICS, kendall_tau_b, pearson_r, r_squared, slope, spearman_rho

VECTORS = arrays(float, (2, 7), elements=st.integers(-4, 4).map(float))


@pytest.mark.parametrize(
    "case",
    [
        "tau_b_scipy_r_ties",
        "attitude_rating_complaints",  # R datasets::attitude
        "attitude_rating_privileges",
        "tau_b_sas_freq",  # SAS PROC FREQ, 161 observations with heavy ties
        "anscombe_1",
        "anscombe_2",
        "anscombe_3",
        "anscombe_4",
        "tau_perfect_discordant",
    ],
)
def test_known_answers(known, case):
    x, y = known[case]["data"]["x"], known[case]["data"]["y"]
    expected = known[case]["expected"]
    found = (pearson_r(x, y), spearman_rho(x, y), kendall_tau_b(x, y), r_squared(x, y))
    wanted = [expected[name] for name in ("pearson", "spearman", "kendall_tau_b", "r_squared")]
    np.testing.assert_allclose(found, wanted, rtol=0, atol=1e-12)


@settings(max_examples=60, deadline=None)
@given(VECTORS)
def test_equal_scipy_and_stay_in_bounds(pair):
    x, y = pair
    for name, (statistic, (low, high)) in STATISTICS.items():
        value = float(statistic(x, y))
        assert np.isnan(value) or low - 1e-12 <= value <= high + 1e-12, name
        np.testing.assert_allclose(statistic(np.stack([x, y]), np.stack([y, x]))[0], value, atol=1e-12)
    if np.ptp(x) > 0 and np.ptp(y) > 0:
        assert float(spearman_rho(x, y)) == pytest.approx(sps.spearmanr(x, y).statistic, abs=1e-12)
        assert float(slope(x, y)) == pytest.approx(sps.linregress(x, y).slope, abs=1e-12)
        assert float(r_squared(x, y)) == pytest.approx(sps.linregress(x, y).rvalue ** 2, abs=1e-12)
        assert abs(float(ccc(x, y))) <= abs(float(pearson_r(x, y))) + 1e-12


@settings(max_examples=40, deadline=None)
@given(VECTORS, st.permutations(range(7)))
def test_invariances(pair, order):
    x, y = pair
    order = list(order)
    for name, (statistic, _) in STATISTICS.items():
        np.testing.assert_allclose(statistic(x[order], y[order]), statistic(x, y), atol=1e-12, err_msg=name)
    for name in ("pearson_r", "spearman_rho", "kendall_tau_b", "top3_overlap"):
        statistic = STATISTICS[name][0]
        np.testing.assert_allclose(statistic(3 * x + 2, y), statistic(x, y), atol=1e-12, err_msg=name)
        np.testing.assert_allclose(statistic(y, x), statistic(x, y), atol=1e-12, err_msg=name)
    np.testing.assert_allclose(ccc(5 * x + 1, 5 * y + 1), ccc(x, y), atol=1e-12)


def test_degenerate_vectors_are_nan():
    constant, varied = np.full(5, 0.1), np.arange(5.0)
    for statistic in (pearson_r, r_squared, spearman_rho, kendall_tau_b):
        assert np.isnan(statistic(constant, varied)), statistic
        assert np.isnan(statistic(varied, constant)), statistic
        assert np.isnan(statistic([1.0], [2.0])), statistic
        assert np.isnan(statistic([1.0, np.nan, 3.0], [1.0, 2.0, 3.0])), statistic
    assert np.isnan(slope(constant, varied)) and slope(varied, constant) == pytest.approx(0)
    # Two equal constants: 0 / 0. Unequal constants, or one that varies: no concordance.
    assert np.isnan(ccc(constant, constant))
    assert ccc(constant, constant + 1) == 0 and ccc(constant, varied) == 0


def test_infinities_rank_but_have_no_moments():
    x, y = np.array([1.0, 2.0, 3.0, np.inf]), np.array([-np.inf, 2.0, 3.0, 4.0])
    assert spearman_rho(x, y) == pytest.approx(1) and kendall_tau_b(x, y) == pytest.approx(1)
    for statistic in (pearson_r, r_squared, slope, ccc):
        assert np.isnan(statistic(x, y)), statistic


def test_values_that_scipy_once_got_wrong():
    # spearmanr with nan_policy="omit" still gives (0, 1) here: y is constant.
    assert np.isnan(spearman_rho([1.0, 2, 3, 4, 5], [0.0] * 5))
    assert np.isnan(spearman_rho([1.0, 2, 3, 4, 5, np.nan], [0.0] * 5 + [np.nan]))
    # pearsonr([1, 1], [2, 3]) was (0, 1).
    assert np.isnan(pearson_r([1.0, 1.0], [2.0, 3.0]))
    # Pairs: 1 discordant, 1 tied in each: -1 / sqrt(2 * 2).
    assert float(kendall_tau_b([1.0, 0, 0], [0.0, 0, 1])) == pytest.approx(-0.5)
    # 14 pairs agree and 14 do not.
    assert float(kendall_tau_b([5.0, 2, 1, 3, 6, 4, 7, 8], [5.0, 2, 6, 3, 1, 8, 7, 4])) == pytest.approx(0)


def test_long_vectors_are_counted_without_all_pairs_at_once():
    rng = np.random.default_rng(0)
    x, y = rng.integers(0, 50, (2, 3_000)).astype(float)
    assert float(kendall_tau_b(x, y)) == pytest.approx(sps.kendalltau(x, y).statistic, abs=1e-12)
