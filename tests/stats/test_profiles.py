"""Performance profiles and their area: by hand, and against a numerical integral."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from stats.profiles import area_under_profile, performance_profile, performance_ratios

NAN = float("nan")

# Accuracy, then an error: a is best on the first, b on the second.
SCORES = [[0.9, 4.0], [0.6, 2.0], [0.45, NAN]]
UP = [True, False]


def test_ratios_and_profile_by_hand():
    ratios = performance_ratios(SCORES, UP)
    # 0.9 / 0.9, 0.9 / 0.6, 0.9 / 0.45; 4 / 2, 2 / 2, failed
    np.testing.assert_allclose(ratios.values, [[1, 2], [1.5, 1], [2, np.inf]])
    assert (ratios.largest, ratios.notes) == (2.0, ())
    np.testing.assert_allclose(
        performance_profile(ratios, [1, 1.5, 2, 1e9]), [[0.5, 0.5, 1, 1], [0.5, 1, 1, 1], [0, 0, 0.5, 0.5]]
    )


def test_area_by_hand():
    found = area_under_profile(performance_ratios(SCORES, UP), tau_max=100)
    # log10 100 = 2 less log10 of each ratio, averaged over both tasks; a failure gains nothing
    np.testing.assert_allclose(
        found.values, [2 - math.log10(2) / 2, 2 - math.log10(1.5) / 2, (2 - math.log10(2)) / 2]
    )
    # Cut between: only the ratios 1 and 1.5 count.
    np.testing.assert_allclose(
        area_under_profile(performance_ratios(SCORES, UP), tau_max=1.6).values,
        [math.log10(1.6) / 2, (math.log10(1.6) + math.log10(1.6 / 1.5)) / 2, 0],
    )


def test_default_largest_factor_follows_mlgym():
    # largest ratio 2, times 1.05 = 2.1, up to 3, log10 0.477, up to 0.5
    for failed in ("never", "penalised"):
        assert area_under_profile(performance_ratios(SCORES, UP, failed=failed)).tau_max == pytest.approx(
            10**0.5
        )
    # all equal: 1.05, up to 2, log10 0.301, up to 0.4
    same = area_under_profile(performance_ratios([[1.0], [1.0]], [True]))
    assert same.tau_max == pytest.approx(10**0.4)
    np.testing.assert_allclose(same.values, [0.4, 0.4])


def test_penalised_failures_follow_mlgym():
    ratios = performance_ratios(SCORES, UP, failed="penalised")
    np.testing.assert_allclose(ratios.values, [[1, 2], [1.5, 1], [2, 1.05 * 2]])
    np.testing.assert_allclose(
        area_under_profile(ratios).values[2], (0.5 - math.log10(2) + 0.5 - math.log10(2.1)) / 2
    )


@settings(max_examples=25, deadline=None)
@given(
    arrays(float, (3, 4), elements=st.sampled_from([NAN, 0.0, 0.5, 1.0, 3.0, 40.0])),
    st.lists(st.booleans(), min_size=4, max_size=4),
)
def test_area_is_the_integral_of_the_profile(scores, up):
    ratios = performance_ratios(scores, up)
    found = area_under_profile(ratios, tau_max=1000)
    grid = np.linspace(0, 3, 3001)
    stepped = performance_profile(ratios, 10 ** grid[:-1]).sum(axis=1) * 0.001
    np.testing.assert_allclose(found.values, stepped, atol=0.0011)
    profile = performance_profile(ratios, 10**grid)
    assert (np.diff(profile, axis=1) >= 0).all() and profile.min() >= 0 and profile.max() <= 1
    assert ((found.values >= 0) & (found.values <= 3)).all()


@settings(max_examples=25, deadline=None)
@given(st.permutations(range(3)), st.permutations(range(4)), st.floats(0.01, 100))
def test_order_and_units_change_nothing(models, tasks, scale):
    scores = np.array([[1, 2, 3, NAN], [4, 1, 0.5, 2], [2, 2, 8, 1]], dtype=float)
    up = np.array([True, False, True, False])
    values = performance_ratios(scores, up).values
    moved = performance_ratios(scale * scores[np.ix_(models, tasks)], up[list(tasks)]).values
    np.testing.assert_allclose(moved, values[np.ix_(models, tasks)])


def test_zero_scores_take_the_limit():
    # accuracy 0 is infinitely worse than 0.5; an error of 0 leaves 1 infinitely worse; 0 among 0 is the best
    ratios = performance_ratios([[0, 0, 0], [0.5, 1, 0]], [True, False, True])
    np.testing.assert_array_equal(ratios.values, [[np.inf, 1, 1], [1, np.inf, 1]])
    assert ratios.largest == 1


def test_negative_scores_have_no_ratio():
    scores = [[-0.2, 1.0], [0.8, 2.0]]
    with pytest.raises(ValueError, match="model 0 on task 0 is negative"):
        performance_ratios(scores, [True, True])
    ratios = performance_ratios(scores, [True, True], negative="failed")
    np.testing.assert_array_equal(ratios.values, [[np.inf, 2], [1, 1]])
    assert ratios.notes == ("1 negative scores counted as failed",)
    assert scores == [[-0.2, 1.0], [0.8, 2.0]]


@pytest.mark.parametrize("failed", ["never", "penalised"])
def test_a_task_that_all_failed_counts_against_all(failed):
    ratios = performance_ratios([[NAN, 1], [NAN, 2]], [True, True], failed=failed)
    np.testing.assert_array_equal(ratios.values, [[np.inf, 2], [np.inf, 1]])
    found = area_under_profile(ratios, tau_max=10)
    np.testing.assert_allclose(found.values, [(1 - math.log10(2)) / 2, 0.5])
    assert found.notes == ("every model failed task 0",)


def test_nothing_solved():
    ratios = performance_ratios([[NAN], [NAN]], [False])
    assert math.isnan(ratios.largest)
    np.testing.assert_array_equal(area_under_profile(ratios).values, [0, 0])


def test_one_model_is_the_best_everywhere():
    np.testing.assert_array_equal(performance_ratios([[0.3, 7]], UP).values, [[1, 1]])


def test_bad_input():
    for call, message in (
        (lambda: performance_ratios([[1, 2]], [True]), "direction per task"),
        (lambda: performance_ratios(np.empty((0, 2)), UP), "models by tasks"),
        (lambda: performance_ratios([[1, np.inf]], UP), "model 0 on task 1 is infinite"),
        (lambda: performance_ratios([[1, 2]], UP, failed="dropped"), "dropped"),
        (lambda: performance_profile(performance_ratios(SCORES, UP), [0.9]), "at least 1"),
        (lambda: performance_profile(performance_ratios(SCORES, UP), [NAN]), "at least 1"),
        (lambda: area_under_profile(performance_ratios(SCORES, UP), 1.0), "above 1"),
        (lambda: area_under_profile(performance_ratios(SCORES, UP), np.inf), "finite"),
    ):
        with pytest.raises(ValueError, match=message):
            call()


@pytest.mark.parametrize("up", [True, False])
def test_a_negative_zero_is_a_zero(up):
    """Its ratio would be minus infinity, within every factor of the best."""
    plain, signed = (performance_ratios([[1.0], [zero]], [up]).values for zero in (0.0, -0.0))
    np.testing.assert_array_equal(signed, plain)
    assert (signed >= 1).all()


def test_the_largest_ratio_of_all_has_a_profile_too():
    ratios = performance_ratios([[1e300], [1e-5]], [True])
    assert ratios.largest == pytest.approx(1e305)
    assert area_under_profile(ratios).tau_max == 1e300
