"""Normalised curves by hand, following the steps of the paper's A.3."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stats.trajectories import best_so_far, category_averages, normalise_between_anchors

NAN = float("nan")


@pytest.mark.parametrize(
    ("scores", "up", "expected"),
    [
        # min 0.2, max 1.0: 0.2 -> 0, 0.6 -> 0.5, missing keeps 0.5, 0.4 is below the best, 1.0 -> 1
        ([NAN, 0.2, 0.6, NAN, 0.4, 1.0], True, [0, 0, 0.5, 0.5, 0.5, 1, 1, 1]),
        # lower is better: signed -4, -2, -3 -> 0, 1, 0.5
        ([4, 2, 3], False, [0, 1, 1, 1, 1, 1, 1, 1]),
        # constant: observed 1, missing before it 0, filled after it
        ([NAN, 7, NAN, 7], True, [0, 1, 1, 1, 1, 1, 1, 1]),
        # no score at all: 0 throughout
        ([], True, [0] * 8),
        ([NAN, NAN], True, [0] * 8),
        # one value is a constant, in either direction and whatever its sign
        ([5], True, [1] * 8),
        ([-3], False, [1] * 8),
        ([0], True, [1] * 8),
        ([NAN, NAN, 5], False, [0, 0, 1, 1, 1, 1, 1, 1]),
        # trailing missing steps keep the best, not the last: 0.2 -> 0, 1.0 -> 1, 0.6 -> 0.5
        ([0.2, 1.0, 0.6, NAN, NAN], True, [0, 1, 1, 1, 1, 1, 1, 1]),
        # getting worse all the time: the first is the best
        ([3, 2, 1], True, [1] * 8),
        # eight and more scores: the curve ends at the eighth
        ([1, 2, 3, 4, 5, 6, 7, 8], False, [1] * 8),
        ([NAN] * 8 + [5], True, [0] * 8),
        # only the first eight count: the later 100 does not set the scale
        ([0, 1, 2, 2, 2, 2, 2, 2, 100], True, [0, 0.5, 1, 1, 1, 1, 1, 1]),
    ],
)
def test_best_so_far_by_hand(scores, up, expected):
    np.testing.assert_allclose(best_so_far(scores, higher_is_better=up, length=8), expected)


def literal(scores, sign, length):
    """The published steps one by one, as an independent reading: fill forward, then the prefix maximum."""
    observed = [s * sign for s in scores[:length] if not np.isnan(s)]
    curve, last, best = [], 0.0, 0.0
    for step in range(length):
        if step < len(scores) and not np.isnan(scores[step]):
            low, high = min(observed), max(observed)
            last = 1.0 if low == high else (scores[step] * sign - low) / (high - low)
        best = max(best, last)
        curve.append(best)
    return curve


@settings(max_examples=60, deadline=None)
@given(st.lists(st.sampled_from([NAN, -1.0, 0.0, 0.5, 2.0]), max_size=14), st.booleans())
def test_best_so_far_equals_the_literal_steps(scores, up):
    curve = best_so_far(scores, higher_is_better=up)
    np.testing.assert_allclose(curve, literal(scores, 1 if up else -1, 10), atol=1e-15)
    assert curve.shape == (10,) and (np.diff(curve) >= 0).all() and 0 <= curve.min() <= curve.max() <= 1
    np.testing.assert_array_equal(curve, best_so_far(-np.array(scores), higher_is_better=not up))


def test_category_averages():
    by_category, overall = category_averages([[0, 1], [1, 1], [0.5, 0.5]], ["text", "image", "text"])
    assert list(by_category) == ["image", "text"]
    np.testing.assert_allclose(by_category["text"], [0.25, 0.75])
    np.testing.assert_allclose(overall, [0.5, 2.5 / 3])
    with pytest.raises(ValueError, match="one category per curve"):
        category_averages([[0, 1]], ["a", "b"])


def test_anchors():
    np.testing.assert_allclose(
        normalise_between_anchors([0.5, 0.75, 1.0, 0.4, NAN], 0.5, 1.0, higher_is_better=True),
        [0, 0.5, 1, -0.2, NAN],
    )
    # errors: floor 8, best 2; 5 is half-way, 1 is better than the best known
    np.testing.assert_allclose(normalise_between_anchors([5, 1], 8, 2, higher_is_better=False), [0.5, 7 / 6])
    for floor, best, up in ((1.0, 0.5, True), (0.5, 1.0, False), (1.0, 1.0, True), (np.nan, 1.0, True)):
        with pytest.raises(ValueError):
            normalise_between_anchors(0.5, floor, best, higher_is_better=up)


def test_each_run_has_its_own_scale():
    """Per task and model: shifting and scaling the raw scores of a run changes nothing."""
    raw = np.array([0.3, NAN, 0.1, 0.7, 0.5])
    for up in (True, False):
        np.testing.assert_allclose(
            best_so_far(1000 * raw - 7, higher_is_better=up),
            best_so_far(raw, higher_is_better=up),
            atol=1e-12,
        )


def test_length_is_ten_unless_asked():
    assert best_so_far([1, 2], higher_is_better=True).shape == (10,)
    np.testing.assert_array_equal(best_so_far([4, 2, 3], higher_is_better=True, length=1), [1])


def test_category_averages_weigh_every_task_the_same():
    # (0 + 1 + 1) / 3 over all three curves, not the mean 0.75 of the two category means
    by_category, overall = category_averages([[0.0], [1.0], [1.0]], ["a", "a", "b"])
    assert {name: curve.item() for name, curve in by_category.items()} == {"a": 0.5, "b": 1.0}
    assert overall == pytest.approx([2 / 3])


def test_bad_averages():
    for curves, categories, message in (
        ([], [], "one category per curve"),
        ([0.5, 1.0], ["a", "b"], "one category per curve"),
        ([[0.5], [NAN]], ["a", "b"], "curve 1"),
        ([[np.inf], [0.5]], ["a", "b"], "curve 0"),
    ):
        with pytest.raises(ValueError, match=message):
            category_averages(curves, categories)


def test_bad_curves():
    with pytest.raises(ValueError, match="finite"):
        best_so_far([1.0, np.inf], higher_is_better=True)
    with pytest.raises(ValueError, match="finite"):
        best_so_far([1.0, NAN, -np.inf], higher_is_better=False)
    for scores, length in (([[1.0]], 10), (1.0, 10), ([1.0], 0)):
        with pytest.raises(ValueError, match="vector of scores and a positive length"):
            best_so_far(scores, higher_is_better=True, length=length)


def test_scores_as_far_apart_as_floats_go():
    """A run that diverged still has a curve; a score beyond the range of floats is infinite."""
    np.testing.assert_array_equal(
        best_so_far([-1.7e308, 0.0, 1.7e308], higher_is_better=True, length=3), [0, 0.5, 1]
    )
    assert float(normalise_between_anchors(0.0, -1.7e308, 1.7e308, higher_is_better=True)) == 0.5
    assert float(normalise_between_anchors(1e308, 1e-3, 0.0, higher_is_better=False)) == -np.inf
