"""Deming's and Passing & Bablok's lines against NCSS, definitions and hand computation."""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import stats as sps

from stats.agreement.lines import deming, error_ratio, passing_bablok

POINTS = arrays(float, (2, 7), elements=st.integers(-9, 9).map(float))


def test_deming_ncss(known):
    """NCSS chapter 303: error variances .032 of x and .008 of y, so the ratio of y to x is 1/4."""
    case = known["deming_ncss_303"]
    found = deming(case["data"]["x"], case["data"]["y"], ratio=case["data"]["lambda_y_over_x"])
    assert found.slope == pytest.approx(case["expected"]["slope"], abs=1e-12)
    assert found.intercept == pytest.approx(case["expected"]["intercept"], abs=1e-12)
    assert round(found.slope, 4) == case["printed"]["slope"]
    assert round(found.intercept, 4) == case["printed"]["intercept"]
    assert (found.n, found.notes, found.slope_interval.unit) == (10, (), "models")


def test_deming_jackknife_by_its_definition(known):
    """Pseudovalues n b - (n-1) b_(-i) one by one, as Linnet 1990 has them."""
    x, y = (np.array(known["deming_ncss_303"]["data"][axis]) for axis in "xy")
    found = deming(x, y, ratio=0.25, level=0.9)
    for name in ("slope", "intercept"):
        others = [getattr(deming(np.delete(x, i), np.delete(y, i), 0.25), name) for i in range(10)]
        pseudo = 10 * getattr(found, name) - 9 * np.array(others)
        half = sps.t.ppf(0.95, 8) * pseudo.std(ddof=1) / np.sqrt(10)
        interval = getattr(found, f"{name}_interval")
        middle = getattr(found, name)
        assert (interval.low, interval.high) == pytest.approx((middle - half, middle + half))
        assert (interval.level, interval.n) == (0.9, 10)


def test_orthogonal_regression_is_the_first_principal_axis():
    rng = np.random.default_rng(1)
    x = rng.normal(size=20)
    y = 2 * x + rng.normal(size=20)
    axis = np.linalg.eigh(np.cov(x, y)).eigenvectors[:, -1]
    assert deming(x, y).slope == pytest.approx(axis[1] / axis[0])


def test_limits_of_the_ratio_are_the_two_regressions():
    rng = np.random.default_rng(2)
    x = rng.normal(size=20)
    y = x + rng.normal(size=20)
    # All error in y: the regression of y on x. All error in x: that of x on y, inverted.
    assert deming(x, y, 1e9).slope == pytest.approx(sps.linregress(x, y).slope)
    assert deming(x, y, 1e-9).slope == pytest.approx(1 / sps.linregress(y, x).slope)


@settings(max_examples=40, deadline=None)
@given(POINTS, st.floats(0.2, 5), st.permutations(range(7)))
def test_deming_exchange_rescaling_and_order(points, ratio, order):
    x, y = points
    found = deming(x, y, ratio)
    assume(np.isfinite(found.slope) and 1e-6 < abs(found.slope) < 1e6)
    assume(np.isfinite(found.slope_interval.low) and found.slope_interval.high < 1e6)
    swapped = deming(y, x, 1 / ratio)
    assert swapped.slope == pytest.approx(1 / found.slope, rel=1e-6)
    moved = deming(3 * x + 1, 2 * y - 5, ratio * 4 / 9)
    assert moved.slope == pytest.approx(found.slope * 2 / 3, rel=1e-6)
    again = deming(x[list(order)], y[list(order)], ratio)
    assert again.slope == pytest.approx(found.slope, rel=1e-6)
    assert again.slope_interval.high == pytest.approx(found.slope_interval.high, rel=1e-4, abs=1e-4)


def test_error_ratio():
    # Mean error variances 2.5 and 5.
    assert error_ratio(np.diag([1.0, 4.0]), [[6.0, 1.0], [1.0, 4.0]]) == 2
    with pytest.raises(ValueError, match="same ones"):
        error_ratio(np.eye(2), np.eye(3))
    for unknown in (np.zeros((2, 2)), np.full((2, 2), np.nan)):
        with pytest.raises(ValueError, match="standard errors of y"):
            error_ratio(np.eye(2), unknown)


def test_passing_bablok_by_hand():
    # Slopes of (1,1) (2,3) (3,3) (4,5): 2, 1, 4/3, 0, 1, 2; sorted 0, 1, 1, 4/3, 2, 2; so K = 0.
    # Median (1 + 4/3) / 2 = 7/6; y - 7/6 x = -1/6, 4/6, -3/6, 2/6, median 1/12.
    found = passing_bablok([1, 2, 3, 4.0], [1, 3, 3, 5.0])
    assert (found.slope, found.intercept) == pytest.approx((7 / 6, 1 / 12))
    # C = 1.96 sqrt(4 * 3 * 13 / 18) = 5.77, (6 - 5.77) / 2 rounds to 0: no interval at 95 %. At 80 %,
    # C = 1.2816 * 2.9439 = 3.773, M1 = round(1.11) = 1: the smallest and the largest slope.
    assert np.isnan(found.slope_interval.low) and "too few slopes" in found.notes[0]
    found = passing_bablok([1, 2, 3, 4.0], [1, 3, 3, 5.0], level=0.8)
    assert (found.slope_interval.low, found.slope_interval.high) == (0, 2)
    # Intercepts: median of y - 2 x = -1, -1, -3, -3, and of y.
    assert (found.intercept_interval.low, found.intercept_interval.high) == (-2, 3)


def test_passing_bablok_shift_ties_and_verticals():
    # (0,0) (1,2) (1,3) (2,1) (3,4): slopes 2, 3, 1/2, 4/3; vertical, -1 (dropped), 1; -2, 1/2; 3.
    # Nine remain: -2, 1/2, 1/2, 1, 4/3, 2, 3, 3, inf with K = 1; the median is the sixth: 2.
    found = passing_bablok([0, 1, 1, 2, 3.0], [0, 2, 3, 1, 4.0])
    assert found.slope == 2
    # From the other axis the same nine turn to their inverses, and the median to 1/2.
    assert passing_bablok([0, 2, 3, 1, 4.0], [0, 1, 1, 2, 3.0]).slope == pytest.approx(0.5)
    # A repeated point has no slope with itself.
    assert passing_bablok([0, 1, 1, 3.0], [0, 1, 1, 3.0]).slope == 1


def test_passing_bablok_is_theil_sen_where_no_slope_falls_below_minus_one():
    rng = np.random.default_rng(3)
    x = np.arange(15.0)
    y = x + rng.uniform(-0.4, 0.4, size=15)
    found = passing_bablok(x, y)
    assert found.slope == pytest.approx(sps.theilslopes(y, x).slope)
    assert found.slope_interval.low < found.slope < found.slope_interval.high
    assert found.intercept_interval.low < found.intercept < found.intercept_interval.high


@settings(max_examples=40, deadline=None)
@given(POINTS, st.permutations(range(7)))
def test_passing_bablok_exchange_and_order(points, order):
    x, y = points
    order = list(order)
    found, again = passing_bablok(x, y), passing_bablok(x[order], y[order])
    np.testing.assert_allclose(
        [again.slope, again.intercept, again.slope_interval.low, again.slope_interval.high],
        [found.slope, found.intercept, found.slope_interval.low, found.slope_interval.high],
    )
    i, j = np.triu_indices(7, 1)
    rise, run = y[i] - y[j], x[i] - x[j]
    used = ((rise != 0) | (run != 0)) & (rise != -run)
    if np.isfinite(found.slope) and found.slope > 0 and used.sum() % 2:
        assert passing_bablok(y, x).slope == pytest.approx(1 / found.slope)


def test_degenerate_points():
    flat, rising = np.ones(5), np.arange(5.0)
    for line in (deming, passing_bablok):
        for x, y, name in ((flat, rising, "x"), (rising, flat, "y")):
            found = line(x, y)
            assert np.isnan([found.slope, found.intercept, found.slope_interval.low]).all()
            assert f"{name} is constant: no line" in found.notes
        one = line([1.0], [2.0])
        assert np.isnan(one.slope) and one.notes == ("one point: no line",)
        two = line([1.0, 2.0], [3.0, 5.0])
        assert (two.slope, two.intercept) == pytest.approx((2, 1))
        assert np.isnan(two.slope_interval.low) and two.notes
        same = line(rising, rising)
        assert (same.slope, same.intercept) == pytest.approx((1, 0), abs=1e-12)
    three = deming([1.0, 2.0, 4.0], [1.0, 3.0, 4.0])
    assert np.isfinite([three.slope, three.slope_interval.low]).all()
    # The four corners of a square: no direction spreads more than another.
    square = deming([0, 0, 1, 1.0], [0, 1, 0, 1.0])
    assert np.isnan(square.slope) and "no direction" in square.notes[0]
    # Without the last point, x is constant and the line vertical.
    upright = deming([0, 0, 0, 1.0], [0, 1, 2, 4.0])
    assert np.isfinite(upright.slope) and np.isnan(upright.slope_interval.low)
    assert "without one of 1 models" in upright.notes[0]
    falling = passing_bablok(rising, -2 * rising)
    assert np.isnan(falling.slope) and "do not rise together" in falling.notes[0]


@pytest.mark.parametrize(
    ("x", "y", "options"),
    [
        ([1.0, np.nan], [1.0, 2.0], {}),
        ([1.0], [1.0, 2.0], {}),
        ([], [], {}),
        ([1.0, 2.0], [1.0, 2.0], {"level": 0}),
        ([1.0, 2.0], [1.0, 2.0], {"ratio": 0}),
        ([1.0, 2.0], [1.0, 2.0], {"ratio": np.nan}),
    ],
)
def test_bad_input(x, y, options):
    with pytest.raises(ValueError):
        deming(x, y, **options)
    if "ratio" not in options:
        with pytest.raises(ValueError):
            passing_bablok(x, y, **options)
