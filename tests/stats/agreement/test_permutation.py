"""Permutation tests of agreement: brute force, scipy's exact Kendall, and hand counts."""

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import kendalltau

from stats.agreement.correlation import STATISTICS
from stats.agreement.permutation import permutation_test_agreement


@settings(max_examples=10, deadline=None)
@given(st.permutations(list(range(7))))
def test_kendall_is_scipys_exact_test(order):
    x = np.arange(7.0)
    for alternative in ("greater", "two-sided"):
        found = permutation_test_agreement(x, order, "kendall_tau_b", alternative=alternative)
        exact = kendalltau(x, order, method="exact", alternative=alternative)
        assert (found.statistic, found.p) == (pytest.approx(exact.statistic), pytest.approx(exact.pvalue))
        assert (found.exact, found.resamples, found.n, found.unit) == (True, 5040, 7, "models")


@pytest.mark.parametrize("name", [name for name in STATISTICS if name != "slope"])
def test_brute_force_with_ties(name):
    x, y = np.array([1.0, 2.0, 2.0, 4.0, 7.0]), np.array([2.0, 1.0, 3.0, 3.0, 5.0])
    function = STATISTICS[name][0]
    drawn = np.array([function(np.array(order), y) for order in permutations(x)])
    value = function(x, y)
    upper, lower = np.mean(drawn >= value - 1e-9), np.mean(drawn <= value + 1e-9)
    assert permutation_test_agreement(x, y, name).p == pytest.approx(upper)
    both = permutation_test_agreement(x, y, name, alternative="two-sided")
    assert both.p == pytest.approx(min(1, 2 * min(upper, lower)))


def test_by_hand():
    # The same three best of four: 3! 1! of 4! pairings.
    assert permutation_test_agreement([4, 3, 2, 1], [9, 7, 8, 0], "top3_overlap").p == pytest.approx(1 / 4)
    # Perfect order of five: one of 5! pairings, two-sided 2.
    for name in ("pearson_r", "spearman_rho", "ccc"):
        assert permutation_test_agreement(range(5), range(5), name).p == pytest.approx(1 / 120)
    both = permutation_test_agreement(range(5), range(5), alternative="two-sided")
    assert both.p == pytest.approx(2 / 120)
    # Top-3 of three models is always 1.
    assert permutation_test_agreement([3, 2, 1], [1, 2, 3], "top3_overlap").p == 1
    assert permutation_test_agreement([1, 2], [1, 2], "pearson_r").p == 0.5


def test_the_published_table_of_eight_models(published):
    dojo, smith = (published[column].to_numpy() for column in published.columns[:2])
    found = permutation_test_agreement(dojo, smith, "spearman_rho")
    assert found.exact and found.resamples == 40_320 and found.n == 8
    # Multiples of 1 / 8!
    assert found.p * 40_320 == pytest.approx(round(found.p * 40_320), abs=1e-6)
    assert found.p < 0.05


def test_more_than_eight_models_are_sampled_reproducibly():
    x = np.arange(12.0)
    found = permutation_test_agreement(x, x, resamples=499)
    assert (found.p, found.exact, found.resamples) == (1 / 500, False, 499)
    y = np.array([3, 1, 2, 0, 7, 4, 5, 6, 11, 8, 10, 9], dtype=float)[[0, 5, 2, 8, 4, 1, 6, 7, 3, 9, 10, 11]]
    sampled = permutation_test_agreement(x, y, "kendall_tau_b", seed=4)
    exact = kendalltau(x, y, method="exact", alternative="greater").pvalue
    assert abs(sampled.p - exact) < 4 * np.sqrt(exact * (1 - exact) / 9999) + 1e-4
    assert sampled == permutation_test_agreement(x, y, "kendall_tau_b", seed=4)
    assert sampled.p != permutation_test_agreement(x, y, "kendall_tau_b", seed=5).p


@settings(max_examples=10, deadline=None)
@given(st.lists(st.integers(0, 4), min_size=6, max_size=6), st.permutations(list(range(6))))
def test_the_order_of_models_does_not_matter(values, order):
    x, y = np.array(values, dtype=float), np.array([0, 1, 1, 2, 5, 3.0])
    for name in ("spearman_rho", "kendall_tau_b"):
        one, two = (
            permutation_test_agreement(x, y, name),
            permutation_test_agreement(x[order], y[order], name),
        )
        assert one.p == pytest.approx(two.p, nan_ok=True)


def test_what_is_undefined():
    for x, y, name in (
        ([], [], "pearson_r"),
        ([1], [1], "spearman_rho"),
        ([2, 2, 2], [1, 2, 3], "kendall_tau_b"),
        ([1, 2], [1, 2], "top3_overlap"),
        ([1, 2, np.inf], [1, 2, 3], "pearson_r"),
    ):
        found = permutation_test_agreement(x, y, name)
        assert np.isnan(found.p) and name in found.note and found.resamples == 0
    # Infinities are extremes for rank statistics.
    assert permutation_test_agreement([-np.inf, 2, np.inf], [1, 2, 3], "kendall_tau_b").p == pytest.approx(
        1 / 6
    )
    with pytest.raises(ValueError, match="position 1"):
        permutation_test_agreement([1, np.nan], [1, 2])
    with pytest.raises(ValueError, match="one length"):
        permutation_test_agreement([1, 2], [1, 2, 3])
    for options, message in (
        ({"statistic": "slope"}, "spearman_rho"),
        ({"alternative": "less"}, "greater"),
        ({"resamples": 0}, "resamples"),
    ):
        with pytest.raises(ValueError, match=message):
            permutation_test_agreement([1, 2], [1, 2], **options)


def test_no_p_value_above_one():
    """tau is 0 here, and scipy once gave p = 1.095: both tails hold half of the orders and more."""
    x, y = [5.0, 2, 1, 3, 6, 4, 7, 8], [5.0, 2, 6, 3, 1, 8, 7, 4]
    found = permutation_test_agreement(x, y, "kendall_tau_b", alternative="two-sided")
    assert found.exact and found.statistic == pytest.approx(0) and found.p == 1
