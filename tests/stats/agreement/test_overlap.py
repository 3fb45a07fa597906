"""Top-k overlap: a known answer, and brute force over all tie-breaks."""

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stats.agreement.overlap import top_k_overlap


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


def test_nan_infinities_and_k():
    # Infinities are extremes: the two best are {+inf, 2} and {3, 2}.
    assert top_k_overlap([np.inf, 2, 1, -np.inf], [1, 2, 3, 0], 2) == 0.5
    assert np.isnan(top_k_overlap([np.nan, 2], [1, 2], 1))
    np.testing.assert_allclose(top_k_overlap([[1, 2], [2, 1]], [[1, 2], [1, 2]], 1), [1, 0])
    with pytest.raises(ValueError, match="positive"):
        top_k_overlap([1, 2], [1, 2], 0)
