"""Checks of vectors and their range, and what they spare the statistics."""

import numpy as np
import pandas as pd
import pytest

from stats.agreement.bland_altman import bland_altman
from stats.agreement.concordance import ccc, lin_ccc
from stats.agreement.correlation import STATISTICS
from stats.agreement.equivalence import equivalent_ratings
from stats.agreement.lines import deming, passing_bablok
from stats.agreement.overlap import top_k_overlap
from stats.agreement.pair import agree
from stats.agreement.reliability import cronbach_alpha, icc
from stats.agreement.repeats import repeatability
from stats.sign_flip import sign_flip_scores
from stats.standings import mean_score, paired_difference
from stats.variance import variance_components
from stats.vectors import check_range, common_scale, finite_pair, same_shape

VARIED = np.array([1.0, 3.0, 2.0, 5.0])


@pytest.mark.parametrize("size", [1e200, 1e-200])
@pytest.mark.parametrize(
    "call",
    [
        bland_altman, lin_ccc, deming, passing_bablok, repeatability, sign_flip_scores, paired_difference,
        lambda x, y: equivalent_ratings(x, y, margin=1.0),
        lambda x, y: cronbach_alpha(np.column_stack([x, y])),
        lambda x, y: icc(np.column_stack([x, y])),
        lambda x, y: mean_score(x),
        lambda x, y: variance_components(np.column_stack([x, y])),
    ],
)  # fmt: skip
def test_moments_out_of_range_are_refused_not_wrong(call, size):
    """Squares of 1e200 are infinite and those of 1e-200 zero, which would pass for no spread at all."""
    with pytest.raises(ValueError, match="change the unit"):
        call(size * VARIED, size * VARIED[::-1])


def test_the_range_is_that_of_the_rows_used():
    tiny = [[1e-200, 2e-200], [0.0, 1e-200], [1.0, np.nan]]
    for call in (cronbach_alpha, icc, lambda rows: variance_components(np.transpose(rows))):
        with pytest.raises(ValueError, match="change the unit"):
            call(tiny)


@pytest.mark.parametrize("name", [name for name in STATISTICS if name not in ("slope", "top5_overlap")])
@pytest.mark.parametrize("size", [2.0**1000, 2.0**-1000])
def test_statistics_without_a_unit_have_no_range(name, size):
    statistic = STATISTICS[name][0]
    x, y = VARIED, np.array([2.0, 2.5, 1.0, 4.0])
    assert float(statistic(size * x, size * y)) == float(statistic(x, y))


def test_a_slope_out_of_range_is_undefined():
    slope = STATISTICS["slope"][0]
    assert float(slope(2.0**-600 * VARIED, 2.0**400 * VARIED)) == 2.0**1000
    assert np.isnan(slope(2.0**-600 * VARIED, 2.0**600 * VARIED))


@pytest.mark.parametrize("name", STATISTICS)
def test_vectors_of_two_lengths_are_refused_and_empty_ones_undefined(name):
    statistic = STATISTICS[name][0]
    for x, y in (([1.0, 2.0, 3.0], [1.0]), ([1.0], [1.0, 2.0, 3.0]), (1.0, 2.0)):
        with pytest.raises(ValueError, match="one shape"):
            statistic(x, y)
    assert np.isnan(statistic([], []))


def test_one_of_two_shapes_is_not_stretched():
    for call in (ccc, lambda x, y: top_k_overlap(x, y, 1)):
        with pytest.raises(ValueError, match="one shape"):
            call([1.0, 2.0, 3.0], [1.0])


def test_checks_by_hand():
    a, b = same_shape([1, 2], [True, False])
    assert a.dtype == b.dtype == np.float64
    with pytest.raises(ValueError, match="entry 1 of the second vector is inf"):
        finite_pair([1, 2], [1, np.inf])
    check_range(np.array([np.nan, 1e100, 1e100]), "x")
    check_range(np.array([np.nan]), "x")
    with pytest.raises(ValueError, match=r"x: values from 0.0 to 1e-101"):
        check_range(np.array([0.0, 1e-101]), "x")
    # The largest size of each row lies in [1/2, 1) of its scale; nothing, zeros and infinities have scale 1.
    values = np.array([[3.0, -5.0], [0.0, 0.0], [np.inf, 1.0], [0.25, 0.0]])
    np.testing.assert_array_equal(common_scale(values)[:, 0], [8, 1, 1, 0.5])
    assert common_scale(np.empty((1, 0)))[0, 0] == 1


def test_missing_ratings_of_any_kind_are_left_out_by_name():
    a = pd.Series({"x": 1.0, "y": 2.0, "z": 3.0, "u": None, "v": 5.0}, dtype="Float64")
    b = pd.Series({"x": 1.0, "y": 2.5, "z": 2.0, "u": 1.0, "v": None}, dtype=object)
    found = agree(a, b)
    assert found.models == ("x", "y", "z")
    assert found.dropped == {"u": "no rating in a", "v": "no rating in b"}
    with pytest.raises(ValueError, match="a: rating 1e\\+200 of x is beyond 1e\\+100"):
        agree({"x": 1e200, "y": 1.0}, b)


def test_nearly_constant_ratings_warn_in_notes_only():
    a = {f"m{i}": 0.1 + i * 1e-16 for i in range(5)}
    found = agree(a, {f"m{i}": float(i) for i in range(5)})
    assert any("nearly constant" in note for note in found.notes)
