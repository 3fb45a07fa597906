"""Ranks and overlaps, by hand."""

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stats.agreement.overlap import top_k_overlap
from stats.bradley_terry import fit
from stats.ranks import rank_intervals, ranks, rating_ranks, win_probabilities


def test_ranks_share_ties_and_skip_nan():
    np.testing.assert_array_equal(ranks([3, 1, 3, np.nan, np.inf, -np.inf]), [2, 4, 2, np.nan, 1, 5])


def test_rating_ranks_place_separated_models():
    wins = np.array([[0, 1, 1, 1], [0, 0, 3, 1], [0, 1, 0, 1], [0, 0, 0, 0]], dtype=float)
    np.testing.assert_array_equal(rating_ranks(fit(wins)), [1, 2, 3, 4])
    chain = np.array([[0, 0, 1], [1, 0, 1], [0, 0, 0]], dtype=float)
    np.testing.assert_array_equal(rating_ranks(fit(chain)), [2, 1, 3])


def test_rating_ranks_stay_within_the_group():
    wins = np.zeros((5, 5))
    wins[0, 1], wins[1, 0], wins[2, 3], wins[3, 2] = 3, 1, 1, 3
    np.testing.assert_array_equal(rating_ranks(fit(wins)), [1, 2, 2, 1, np.nan])


def test_rank_intervals_by_hand():
    fitted = fit(np.array([[0, 2, 2], [1, 0, 2], [1, 1, 0]], dtype=float))
    replicates = np.tile([1100.0, 1000.0, 900.0], (100, 1))
    replicates[:4] = [1000.0, 1100.0, 900.0]
    replicates[99] = np.nan
    low, high = rank_intervals(fitted, replicates)
    # a and b swap in 4 of the 99 usable replicates, more than 2.5 %; c is always third.
    np.testing.assert_array_equal([low, high], [[1, 1, 3], [2, 2, 3]])
    low, high = rank_intervals(fitted, replicates, level=0.8)
    np.testing.assert_array_equal([low, high], [[1, 2, 3], [1, 2, 3]])


def test_win_probabilities():
    probability = win_probabilities([1190.8485018878651, 1000])
    np.testing.assert_allclose(probability, [[0.5, 0.75], [0.25, 0.5]], atol=1e-12)


def test_top_k_known_answer(known):
    case = known["topk_overlap"]
    x, y = case["data"]["x"], case["data"]["y"]
    for k in (1, 2, 3, 4, 8):
        assert top_k_overlap(x, y, k) == pytest.approx(case["expected"][f"top{k}"])
    assert np.isnan(top_k_overlap(x, y, 9))


@settings(max_examples=40, deadline=None)
@given(
    st.lists(st.integers(0, 3), min_size=5, max_size=5),
    st.lists(st.integers(0, 3), min_size=5, max_size=5),
    st.integers(1, 5),
)
def test_top_k_with_ties_is_the_mean_over_all_tie_breaks(x, y, k):
    """Brute force: every order of the five models as the tie-break, independently in x and y."""

    def membership(values):
        counts = np.zeros(5)
        for order in permutations(range(5)):
            counts[sorted(order, key=lambda i: -values[i])[:k]] += 1
        return counts / 120

    assert top_k_overlap(x, y, k) == pytest.approx(membership(x) @ membership(y) / k)
