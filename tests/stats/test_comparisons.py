"""Win matrices from scores: expected values by hand."""

from itertools import product

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from stats.comparisons import Comparisons
from stats.outcomes import BLOCK_ROWS


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


@pytest.mark.parametrize("tolerance", [{"tie_rel": -1.0}, {"tie_abs": np.nan}, {"tie_rel": np.inf}])
def test_bad_tolerances_are_refused(tolerance):
    with pytest.raises(ValueError, match="finite and not negative"):
        Comparisons.from_scores(table(("t", "a", 0, 1.0, True, True)), **tolerance)


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
        (lambda s: pd.concat([s, s[["score"]]], axis=1), "column score is listed twice"),
        (lambda s: s.assign(score=pd.to_datetime([0, 1])), "score must hold real numbers"),
    ],
)
def test_bad_tables_are_named(change, message):
    scores = table(("t", "a", 0, 1.0, True, True), ("t", "b", 0, 2.0, True, True))
    with pytest.raises(ValueError, match=message):
        Comparisons.from_scores(change(scores))


def rows(*outcomes, **columns):
    return pd.DataFrame(outcomes, columns=["model_a", "model_b", "winner"]).assign(**columns)


def test_ties_are_known_from_scores():
    scores = table(
        ("t", "a", 0, 1.0, True, True),
        ("t", "a", 1, 3.0, True, True),
        ("t", "b", 0, 1.0, True, True),
        ("t", "c", 0, 1.0, False, True),
        ("t", "d", 0, 2.0, False, True),
    )
    ties = Comparisons.from_scores(scores).ties[0]
    # a's 1 ties b's 1, a's 3 does not: half of the comparison. c and d are both invalid: a whole tie.
    np.testing.assert_array_equal(ties, [[0, 0.5, 0, 0], [0.5, 0, 0, 0], [0, 0, 0, 1], [0, 0, 1, 0]])


def test_attempts_are_kept_and_average_to_the_wins(make_scores):
    scores = make_scores(tasks=5, models=4, attempts=3, seed=2).sample(frac=0.7, random_state=0)
    comparisons = Comparisons.from_scores(scores)
    counts, outcomes = comparisons.attempts.counts, comparisons.attempts.outcomes
    listed = scores.groupby(["task", "model"]).size().unstack(fill_value=0)
    np.testing.assert_array_equal(counts, listed.loc[list(comparisons.tasks), list(comparisons.models)])
    pairs = counts[:, :, None] * counts[:, None, :]
    np.testing.assert_allclose(outcomes.sum(axis=(2, 4)), comparisons.wins * pairs, atol=1e-12)
    # Either attempt wins, or both have one half; nothing where one is absent or both are the same model's.
    both = outcomes + outcomes.transpose(0, 3, 4, 1, 2)
    present = np.arange(outcomes.shape[2]) < counts[:, :, None]
    expected = (present[:, :, :, None, None] & present[:, None, None]).astype(float)
    expected[:, np.arange(4), :, np.arange(4)] = 0
    np.testing.assert_array_equal(both, expected)


def test_single_attempts_are_not_kept(make_scores):
    assert Comparisons.from_scores(make_scores(tasks=3, models=3)).attempts is None


def test_subset_equals_building_from_those_rows(make_scores):
    scores = make_scores(tasks=4, models=5, attempts=2, seed=4)
    whole = Comparisons.from_scores(scores)
    part = whole.subset(models=["m1", "m3", "m4"], tasks=["t000", "t002"])
    built = Comparisons.from_scores(
        scores[scores["model"].isin(part.models) & scores["task"].isin(part.tasks)]
    )
    assert (part.models, part.tasks) == (built.models, built.tasks)
    for one, other in (
        (part.wins, built.wins),
        (part.ties, built.ties),
        (part.attempts.counts, built.attempts.counts),
        (part.attempts.outcomes, built.attempts.outcomes),
    ):
        np.testing.assert_array_equal(one, other)
    turned = part.subset(models=["m4", "m1", "m3"])
    np.testing.assert_array_equal(turned.wins, part.wins[:, [2, 0, 1]][:, :, [2, 0, 1]])
    np.testing.assert_array_equal(whole.subset().wins, whole.wins)
    with pytest.raises(ValueError, match="unknown model: x, y"):
        whole.subset(models=["m1", "x", "y"])
    with pytest.raises(ValueError, match="unknown task: t9"):
        whole.subset(tasks=["t9"])
    with pytest.raises(ValueError, match="not distinct: m1"):
        whole.subset(models=["m1", "m1"])


def test_outcomes_by_hand():
    comparisons = Comparisons.from_outcomes(
        rows(
            ("y", "x", "model_a"),
            ("x", "y", "model_a"),
            ("x", "y", "model_a"),
            ("x", "z", "model_b"),
            ("y", "x", "tie"),
            ("x", "y", "tie (bothbad)"),
        )
    )
    assert (comparisons.models, comparisons.tasks) == (("x", "y", "z"), ("all",))
    # x against y: 2 wins, 1 loss, 2 ties = 3 and 2. z beat x once.
    np.testing.assert_array_equal(comparisons.total, [[0, 3, 0], [2, 0, 0], [1, 0, 0]])
    np.testing.assert_array_equal(comparisons.ties[0], [[0, 2, 0], [2, 0, 0], [0, 0, 0]])
    same = Comparisons.from_wins(comparisons.total, ["x", "y", "z"], ties=comparisons.ties[0])
    assert (same.models, same.tasks) == (comparisons.models, comparisons.tasks)
    np.testing.assert_array_equal(same.ties, comparisons.ties)


def test_outcomes_with_weights_and_tasks_by_hand():
    table_ = rows(
        ("a", "b", 1),
        ("a", "b", 0.5),
        ("b", "a", 0),
        ("a", "b", 0),
        weight=[2.0, 0.5, 1.0, 0.0],
        task=["u", "u", "s", "s"],
    )
    comparisons = Comparisons.from_outcomes(table_)
    assert comparisons.tasks == ("s", "u")
    # u: a wins 2 and ties 0.5; s: a wins 1, and the last row weighs nothing.
    np.testing.assert_array_equal(comparisons.wins, [[[0, 1], [0, 0]], [[0, 2.25], [0.25, 0]]])
    np.testing.assert_array_equal(comparisons.ties, [[[0, 0], [0, 0]], [[0, 0.5], [0.5, 0]]])


@settings(max_examples=30, deadline=None)
@given(
    st.lists(
        st.tuples(st.integers(0, 3), st.integers(1, 3), st.sampled_from([0.0, 0.5, 1.0]), st.integers(0, 4)),
        min_size=1,
        max_size=30,
    ),
    st.randoms(use_true_random=False),
    st.sampled_from([np.int8, np.int32, np.int64, np.uint16]),
)
def test_outcomes_equal_a_plain_count(listed, random, dtype):
    """Against a loop in Python; neither the order of rows nor which model comes first matters."""
    names = [f"m{i}" for i in range(4)]
    expected = np.zeros((4, 4))
    for a, gap, outcome, weight in listed:
        expected[a, (a + gap) % 4] += weight * outcome
        expected[(a + gap) % 4, a] += weight * (1 - outcome)
    a, gap, outcome, weight = map(np.array, zip(*listed, strict=True))
    b = (a + gap) % 4
    counted = Comparisons.from_codes(a.astype(dtype), b.astype(dtype), outcome, names, weight)
    np.testing.assert_array_equal(counted.total, expected)

    random.shuffle(listed)
    turned = [
        (f"m{(a + gap) % 4}", f"m{a}", {0.0: "model_a", 0.5: "tie", 1.0: "model_b"}[outcome], weight)
        for a, gap, outcome, weight in listed
    ]
    frame = pd.DataFrame(turned, columns=["model_a", "model_b", "winner", "weight"])
    for version in (
        frame,
        frame.astype({"model_a": "category", "model_b": "category", "winner": "category"}),
    ):
        found = Comparisons.from_outcomes(version)
        place = [names.index(name) for name in found.models]
        np.testing.assert_array_equal(found.total, expected[np.ix_(place, place)])
        np.testing.assert_array_equal(found.ties[0], counted.ties[0][np.ix_(place, place)])


def test_outcomes_longer_than_a_block_are_all_counted_and_checked():
    count = BLOCK_ROWS * 2 + 5
    a, outcome = np.zeros(count, dtype=np.int64), np.ones(count)
    assert Comparisons.from_codes(a, a + 1, outcome, ["x", "y"]).total[0, 1] == count
    outcome[-3] = 0.7
    with pytest.raises(ValueError, match=f"row {count - 2}: outcome 0.7 is not 1"):
        Comparisons.from_codes(a, a + 1, outcome, ["x", "y"])


def test_unused_categories_are_no_models_and_their_order_does_not_matter():
    frame = rows(("b", "a", "model_a"), ("c", "a", "tie"))
    for column, listed in (
        ("model_a", ["z", "c", "b"]),
        ("model_b", ["q", "a"]),
        ("winner", ["?", "tie", "model_a"]),
    ):
        frame[column] = pd.Categorical(frame[column], categories=listed)
    comparisons = Comparisons.from_outcomes(frame)
    assert comparisons.models == ("a", "b", "c")
    np.testing.assert_array_equal(comparisons.total, [[0, 0, 0.5], [1, 0, 0], [0.5, 0, 0]])


@pytest.mark.parametrize(
    ("frame", "message"),
    [
        # The winner given by its name: elsewhere every such row silently becomes a tie.
        (rows(("x", "y", "x"), ("x", "y", "y"), ("x", "y", "tie")), "unknown labels 'x', 'y'; known are"),
        (rows(("x", "y", None), ("x", "y", "tie")), "row 1 has no winner"),
        (rows(("x", "y", 1.0), ("x", "y", np.nan)), "row 2 has no winner"),
        (rows(("x", "y", 1.0), ("x", "y", 2.0)), "row 2: outcome 2.0 is not 1"),
        (rows(("x", "y", "tie"), ("x", "x", "tie")), "row 2 compares x with itself"),
        (rows(("x", None, "tie")), "row 1 has no model_b"),
        (rows(("x", "y", "tie"), ("x", "y", "tie"), weight=[1, -2]), "row 2: weight -2.0 must be finite"),
        (rows(("x", "y", "tie"), weight=[np.nan]), "row 1: weight nan must be finite"),
        (rows(("x", "y", "tie"), weight=[np.inf]), "row 1: weight inf must be finite"),
        (rows(("x", "y", "tie"), task=[None]), "row 1 has no task"),
        (rows(("x", "y", "tie")).drop(columns="winner"), "missing column winner"),
        (rows(), "no rows"),
        (rows(("x", "y", ["x"])), "winner must hold names or numbers"),
        (rows(("x", "y", "tie")).assign(task=1).iloc[:, [0, 1, 2, 3, 3]], "column task is listed twice"),
    ],
)  # fmt: skip
def test_bad_outcomes_are_named(frame, message):
    with pytest.raises(ValueError, match=message):
        Comparisons.from_outcomes(frame)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([0, 2], [1, 1], [1, 1], ["x", "y"]), "row 2: a is 2; codes run from 0 to 1"),
        (([0, 0], [1, -1], [1, 1], ["x", "y"]), "row 2: b is -1"),
        (([0], [1], [np.nan], ["x", "y"]), "row 1: outcome nan"),
        (([0], [1], [1, 1], ["x", "y"]), "one length"),
        (([0.0], [1], [1], ["x", "y"]), "a must hold integer codes"),
        (([0], [1], [1], ["x", "y"], None, [1]), "row 1: task is 1; codes run from 0 to 0"),
        (([1], [1], [1], ["x", "y"]), "row 1 compares y with itself"),
        (([0], [1], ["x"], ["x", "y"]), "outcome must hold real numbers"),
        (([0], [1], [None], ["x", "y"]), "outcome must hold real numbers"),
        ((0, 1, 1, ["x", "y"]), "must be vectors"),
        (([0], [1], [1], ["x", "x"]), "not distinct: x"),
    ],
)
def test_bad_codes_are_named(arguments, message):
    with pytest.raises(ValueError, match=message):
        Comparisons.from_codes(*arguments)


@pytest.mark.parametrize(
    ("ties", "message"),
    [
        (np.zeros((3, 3)), "ties has shape"),
        ([[0, 1], [0.5, 0]], "ties of 0 with 1 on task all differ by direction"),
        ([[0, -1], [-1, 0]], "not negative"),
        ([[0, np.nan], [np.nan, 0]], "must be finite"),
        # The win of 1 over 0 is 1, so that at most 2 ties can stand behind it.
        ([[0, 2.1], [2.1, 0]], "ties of 1 with 0 on task all exceed the half wins"),
    ],
)
def test_ties_that_cannot_be_are_refused(ties, message):
    with pytest.raises(ValueError, match=message):
        Comparisons.from_wins([[0, 5], [1, 0]], ties=ties)


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
