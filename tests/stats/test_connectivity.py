"""Strong components: expected structures by hand."""

import numpy as np

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
