"""Strong components: expected structures by hand."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from stats.connectivity import analyse, strongly_connected


def graph(n, *edges):
    wins = np.zeros((n, n))
    for winner, loser in edges:
        wins[winner, loser] += 1
    return wins


def test_models_above_and_below_the_core():
    # 0 > 1 > {2, 3, 4 in a cycle} > 5, and 6 only beat by 0: tied to the core by no chain.
    found = analyse(graph(7, (0, 1), (1, 2), (2, 3), (3, 4), (4, 2), (4, 5), (0, 6)))
    np.testing.assert_array_equal(found.cores[0], [2, 3, 4])
    np.testing.assert_array_equal(found.order, [2, 1, 0, 0, 0, -1, np.nan])
    np.testing.assert_array_equal(found.group, 0)


def test_chain_has_an_order_but_no_core():
    found = analyse(graph(3, (2, 0), (0, 1)))
    assert found.cores[0].size == 0
    np.testing.assert_array_equal(found.order, [1, 0, 2])


def test_groups_apart():
    found = analyse(graph(5, (0, 2), (2, 0), (1, 3), (3, 1)))
    np.testing.assert_array_equal(found.group, [0, 1, 0, 1, 2])
    assert [core.tolist() for core in found.cores] == [[0, 2], [1, 3], []]


def test_larger_core_wins_over_the_first():
    found = analyse(graph(5, (0, 1), (1, 0), (2, 3), (3, 4), (4, 2), (1, 2)))
    np.testing.assert_array_equal(found.cores[0], [2, 3, 4])
    np.testing.assert_array_equal(found.order, [1, 1, 0, 0, 0])


def test_batch_of_patterns():
    cycle, chain = graph(3, (0, 1), (1, 2), (2, 0)), graph(3, (0, 1), (1, 2))
    np.testing.assert_array_equal(
        strongly_connected(np.stack([chain, cycle, 2 * cycle, chain])), [False, True, True, False]
    )


def test_core_is_chosen_by_what_the_data_say():
    pairs = [(0, 1), (1, 0), (2, 3), (3, 2)]
    # Two pairs of the same size: more comparisons inside, else more won against the rest, else neither.
    assert analyse(graph(4, *pairs, (2, 3), (0, 2))).cores[0].tolist() == [2, 3]
    assert analyse(graph(4, *pairs, (2, 0))).cores[0].tolist() == [2, 3]
    found = analyse(graph(5, *pairs, (4, 0), (4, 2)))
    assert found.cores[0].size == 0
    np.testing.assert_array_equal(found.order, [0, 0, 0, 0, 1])


@settings(max_examples=100, deadline=None)
@given(
    st.integers(1, 8).flatmap(
        lambda n: arrays(float, (3, n, n), elements=st.sampled_from([0.0, 0.0, 0.0, 1.0, 0.5]))
    )
)
def test_strongly_connected_equals_scipys_components(batch):
    """scipy's components, an independent search, on sparse random tables."""
    expected = [connected_components(csr_array(wins), connection="strong")[0] == 1 for wins in batch]
    np.testing.assert_array_equal(strongly_connected(batch), expected)
    for wins, strong in zip(batch, expected, strict=True):
        np.fill_diagonal(wins, 0)
        found = analyse(wins)
        assert len(found.cores) == connected_components(csr_array(wins), connection="weak")[0]
        if strong and len(wins) > 1:
            assert found.cores[0].tolist() == list(range(len(wins)))
            np.testing.assert_array_equal(found.order, 0)
