"""Win matrices from scores: expected values by hand."""

from itertools import product

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from stats.comparisons import Comparisons


def table(*rows):
    return pd.DataFrame(rows, columns=["task", "model", "attempt", "score", "valid", "higher_is_better"])


def test_direction_ties_and_names_by_hand():
    scores = table(
        ("acc", "b", 0, 0.9, True, True),
        ("acc", "a", 0, 0.8, True, True),
        ("acc", "c", 0, 0.8, True, True),
        ("mae", "a", 0, 1.0, True, False),
        ("mae", "b", 0, 2.0, True, False),
    )
    comparisons = Comparisons.from_scores(scores)
    assert comparisons.models == ("a", "b", "c")
    assert comparisons.tasks == ("acc", "mae")
    # acc: b beats a and c, a ties c. mae (lower is better): a beats b; c has no row, hence no comparison.
    np.testing.assert_array_equal(comparisons.wins[0], [[0, 0, 0.5], [1, 0, 1], [0.5, 0, 0]])
    np.testing.assert_array_equal(comparisons.wins[1], [[0, 1, 0], [0, 0, 0], [0, 0, 0]])
    np.testing.assert_array_equal(comparisons.n_tasks, [2, 2, 1])
    np.testing.assert_array_equal(comparisons.total, comparisons.wins[0] + comparisons.wins[1])


def test_invalid_loses_to_valid_and_two_invalid_tie():
    scores = table(
        ("t", "a", 0, np.nan, False, True),
        ("t", "b", 0, -np.inf, True, True),
        ("t", "c", 0, 99.0, False, True),
    )
    np.testing.assert_array_equal(
        Comparisons.from_scores(scores).wins[0], [[0, 0, 0.5], [1, 0, 1], [0.5, 0, 0]]
    )
    assert not Comparisons.from_scores(scores, invalid="dropped").wins.any()


def test_every_pair_weighs_one_whatever_the_attempts():
    scores = table(
        ("t", "a", 0, 1.0, True, True),
        ("t", "a", 1, 3.0, True, True),
        ("t", "a", 2, 2.0, True, True),
        ("t", "b", 0, 2.0, True, True),
        ("t", "b", 1, 0.0, False, True),
    )
    wins = Comparisons.from_scores(scores).wins[0]
    # a's 1, 3, 2 against b's 2: loss, win, tie = 1.5; against the invalid attempt: 3 wins. 4.5 of 6.
    assert wins[0, 1] == pytest.approx(4.5 / 6, abs=1e-15)
    assert wins[1, 0] == pytest.approx(1.5 / 6, abs=1e-15)


def test_infinities_compare_and_equal_ones_tie():
    scores = table(
        ("t", "a", 0, np.inf, True, True),
        ("t", "b", 0, np.inf, True, True),
        ("t", "c", 0, 5.0, True, True),
    )
    wins = Comparisons.from_scores(scores, tie_rel=0.5).wins[0]
    np.testing.assert_array_equal(wins, [[0, 0.5, 1], [0.5, 0, 1], [0, 0, 0]])


@pytest.mark.parametrize(
    ("tolerance", "expected"), [({}, 1.0), ({"tie_abs": 0.011}, 0.5), ({"tie_rel": 0.02}, 0.5)]
)
def test_tie_tolerance(tolerance, expected):
    scores = table(("t", "a", 0, 1.01, True, True), ("t", "b", 0, 1.0, True, True))
    assert Comparisons.from_scores(scores, **tolerance).wins[0, 0, 1] == expected


def test_flags_may_be_text_or_numbers():
    scores = table(("t", "a", 0, "1.5", "True", 1), ("t", "b", 0, "", "false", 1))
    assert Comparisons.from_scores(scores).wins[0, 0, 1] == 1.0


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda s: s.drop(columns="valid"), "missing column valid"),
        (lambda s: s.iloc[:0], "no rows"),
        (lambda s: pd.concat([s, s.iloc[[1]]]), r"row 3 \(task t, model b, attempt 0\) repeats"),
        (
            lambda s: s.assign(score=[1.0, np.nan]),
            r"row 2 \(task t, model b, attempt 0\) is valid but its score",
        ),
        (lambda s: s.assign(score=["x", 1.0]), "row 1 .* not a number"),
        (lambda s: s.assign(higher_is_better=[True, False]), "task t has two values of higher_is_better"),
        (lambda s: s.assign(valid=["yes", True]), "row 1 .*: valid must be true or false"),
        (lambda s: s.assign(model=[None, "b"]), "row 1 .* has no model"),
    ],
)
def test_bad_tables_are_named(change, message):
    scores = table(("t", "a", 0, 1.0, True, True), ("t", "b", 0, 2.0, True, True))
    with pytest.raises(ValueError, match=message):
        Comparisons.from_scores(change(scores))


def test_from_outcomes_and_from_wins():
    comparisons = Comparisons.from_outcomes([("x", "y", 2), ("y", "x", 1), ("x", "y", 0.5), ("y", "x", 0.5)])
    np.testing.assert_array_equal(comparisons.total, [[0, 2.5], [1.5, 0]])
    same = Comparisons.from_wins([[0, 2.5], [1.5, 0]], ["x", "y"])
    assert (same.models, same.tasks) == (comparisons.models, comparisons.tasks)
    with pytest.raises(ValueError, match="weight -1 of x over y"):
        Comparisons.from_outcomes([("x", "y", -1)])


@pytest.mark.parametrize(
    ("wins", "message"),
    [
        ([[0, -1], [1, 0]], "weight -1.0 of 0 over 1"),
        ([[0, np.nan], [1, 0]], "must be finite"),
        ([[1, 0], [1, 0]], "0 is compared with itself"),
        ([[0, 1, 2]], "must be"),
    ],
)
def test_bad_matrices_are_refused(wins, message):
    with pytest.raises(ValueError, match=message):
        Comparisons.from_wins(wins)


def test_repeated_names_are_refused():
    with pytest.raises(ValueError, match="model names are not distinct: a"):
        Comparisons.from_wins(np.zeros((2, 2)), ["a", "a"])


@settings(max_examples=40, deadline=None)
@given(
    arrays(float, (3, 4, 2), elements=st.sampled_from([0.0, 1.0, 2.0, np.nan])),
    st.permutations(range(24)),
)
def test_negating_scores_and_direction_changes_nothing(values, order):
    rows = [
        (f"t{t}", f"m{m}", k, values[t, m, k], not np.isnan(values[t, m, k]), True)
        for t, m, k in product(range(3), range(4), range(2))
    ]
    scores = table(*rows)
    straight = Comparisons.from_scores(scores)
    flipped = Comparisons.from_scores(
        scores.assign(score=-scores["score"], higher_is_better=False).iloc[list(order)]
    )
    np.testing.assert_array_equal(straight.wins, flipped.wins)
    pairs = straight.wins + straight.wins.transpose(0, 2, 1)
    np.testing.assert_allclose(pairs, np.broadcast_to(1 - np.eye(4), pairs.shape), atol=1e-15)
