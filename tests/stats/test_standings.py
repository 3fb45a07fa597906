"""Win rates, Borda points, ranks, position scores and means over tasks, by hand and against scipy."""

import math

import numpy as np
import pytest
import scipy.stats
import statsmodels.api as sm
from hypothesis import given, settings
from hypothesis import strategies as st

from stats.comparisons import Comparisons
from stats.standings import (
    borda,
    mean_rank,
    mean_score,
    mean_win_rate,
    minimum_detectable_effect,
    paired_difference,
    position_score,
    win_rate_intervals,
    win_shares,
)

NAN = float("nan")


def test_win_rate_and_borda_by_hand():
    wins = np.zeros((2, 3, 3))
    wins[0] = [[0, 1, 1], [0, 0, 0.5], [0, 0.5, 0]]
    wins[1, 1, 0] = 1
    comparisons = Comparisons.from_wins(wins)
    # a: 2 of 2, then 0 of 1; b: 0.5 of 2, then 1 of 1; c: 0.5 of 2 on one task only.
    np.testing.assert_allclose(mean_win_rate(comparisons), [0.5, 0.625, 0.25])
    np.testing.assert_allclose(borda(comparisons), [2, 1.5, 0.5])
    np.testing.assert_allclose(win_shares(comparisons), [[1, 0], [0.25, 1], [0.25, NAN]])
    # task 1: a first, b and c share places 2 and 3; task 2: b before a
    np.testing.assert_allclose(mean_rank(comparisons), [1.5, 1.75, 2.5])
    nothing = Comparisons.from_wins(np.zeros((1, 2, 2)))
    assert np.isnan(mean_win_rate(nothing)).all() and np.isnan(mean_rank(nothing)).all()
    np.testing.assert_array_equal(borda(nothing), [0, 0])


def test_win_rate_intervals_are_t_intervals_of_the_task_shares(make_scores):
    comparisons = Comparisons.from_scores(make_scores(tasks=12, attempts=2))
    shares, found = win_shares(comparisons), win_rate_intervals(comparisons, 0.9)
    for i, row in enumerate(shares):
        low, high = scipy.stats.t.interval(0.9, 11, row.mean(), scipy.stats.sem(row))
        assert (found.low[i], found.high[i]) == pytest.approx((max(low, 0), min(high, 1)))
    np.testing.assert_allclose(found.estimate, mean_win_rate(comparisons))
    assert (found.level, found.unit, set(found.n)) == (0.9, "tasks", {12})


def test_win_rate_intervals_at_the_edges():
    one = win_rate_intervals(Comparisons.from_wins([[0, 1], [0, 0]]))
    np.testing.assert_array_equal(one.estimate, [1, 0])
    assert np.isnan([one.low, one.high]).all()
    # shares 1, 1, 0: mean 2/3, sem 1/3, t(2) = 4.30: far outside [0, 1] before the cut
    split = win_rate_intervals(Comparisons.from_wins([[[0, 1], [0, 0]]] * 2 + [[[0, 0], [1, 0]]]))
    np.testing.assert_array_equal([split.low, split.high], [[0, 0], [1, 1]])
    always = win_rate_intervals(Comparisons.from_wins([[[0, 1], [0, 0]]] * 3))
    np.testing.assert_array_equal([always.low, always.high], [[1, 0], [1, 0]])
    with pytest.raises(ValueError, match="level"):
        win_rate_intervals(Comparisons.from_wins(np.zeros((2, 1, 1))), 95)


@settings(max_examples=25, deadline=None)
@given(st.lists(st.lists(st.integers(0, 3), min_size=5, max_size=5), min_size=1, max_size=4))
def test_single_attempts_give_the_usual_ranks_and_points(table):
    """scipy's average ranks; Borda points are n - rank, and the win share is (n - rank) / (n - 1)."""
    scores = np.array(table, dtype=float)
    wins = (scores[:, :, None] > scores[:, None, :]) + 0.5 * (scores[:, :, None] == scores[:, None, :])
    wins[:, range(5), range(5)] = 0
    comparisons = Comparisons.from_wins(wins)
    ranks = scipy.stats.rankdata(-scores, axis=1)
    np.testing.assert_allclose(mean_rank(comparisons), ranks.mean(axis=0))
    np.testing.assert_allclose(borda(comparisons), (5 - ranks).sum(axis=0))
    np.testing.assert_allclose(win_shares(comparisons), (5 - ranks).T / 4)


@pytest.mark.parametrize(
    ("score", "up", "expected"),
    [
        (0.9, True, 1.0),  # ties the best: position 1 of 4
        (0.7, True, 0.5),  # two strictly better: position 3, (4 - 3 + 1) / 4
        (0.1, True, 0.0),  # below all: position 5
        (0.1, False, 1.0),
        (0.8, False, 0.5),  # 0.5 and 0.6 are strictly better
    ],
)
def test_position_score(score, up, expected):
    assert position_score(score, [[0.9, 0.8, 0.6, 0.5]], higher_is_better=up) == pytest.approx(expected)


def test_position_score_averages_boards_and_refuses_nan():
    assert position_score(2.0, [[1.0], [1.0, 3.0]], higher_is_better=True) == pytest.approx((1 + 0.5) / 2)
    for score, boards in ((np.nan, [[1.0]]), (1.0, [[]]), (1.0, [])):
        with pytest.raises(ValueError, match="board"):
            position_score(score, boards, higher_is_better=True)


def test_mean_score_by_hand():
    # task means 2, 4, 9: mean 5, deviations 9 + 1 + 16 = 26, variance 13, error sqrt(13 / 3), t(2) = 4.302653
    found = mean_score([[1, 3], [4, NAN], [9, 9]])
    error = math.sqrt(13 / 3)
    assert (found.value, found.standard_error) == pytest.approx((5, error))
    assert (found.interval.low, found.interval.high) == pytest.approx(
        (5 - 4.302653 * error, 5 + 4.302653 * error)
    )
    assert (found.interval.n, found.interval.unit, found.interval.level) == (3, "tasks", 0.95)
    assert found.notes == ()


@pytest.mark.parametrize("unequal", [False, True])
def test_standard_error_is_clustered_by_task(unequal):
    """statsmodels: (weighted) least squares on a constant, clustered, without its small-sample factor."""
    rng = np.random.default_rng(2)
    values = rng.normal(size=(15, 1)) + rng.normal(size=(15, 4))
    if unequal:
        values[3, 1:] = values[7, 2:] = NAN
    task, _ = np.nonzero(~np.isnan(values))
    flat, weight = values[~np.isnan(values)], 1.0 / (~np.isnan(values)).sum(axis=1)[task]
    fitted = sm.WLS(flat, np.ones_like(flat), weights=weight).fit(
        cov_type="cluster", cov_kwds={"groups": task, "use_correction": False}
    )
    found = mean_score(values)
    assert found.value == pytest.approx(fitted.params[0])
    assert found.standard_error * math.sqrt(14 / 15) == pytest.approx(fitted.bse[0])


def test_repeats_are_no_new_evidence():
    once = np.random.default_rng(0).normal(size=10)
    assert mean_score(np.repeat(once[:, None], 50, axis=1)).standard_error == pytest.approx(
        mean_score(once).standard_error
    )


def test_paired_difference_is_scipys_paired_t_test():
    rng = np.random.default_rng(1)
    x = rng.normal(size=20)
    y = x + rng.normal(0.3, 0.5, size=20)
    found = paired_difference(x, y)
    limits = scipy.stats.ttest_rel(x, y).confidence_interval(0.95)
    assert (found.interval.low, found.interval.high) == pytest.approx((limits.low, limits.high))
    assert found.value == pytest.approx((x - y).mean())
    # Tasks shared by x and y cancel, so pairing beats two separate errors.
    assert found.standard_error < math.hypot(mean_score(x).standard_error, mean_score(y).standard_error)


def test_missing_tasks_are_counted():
    found = mean_score([[NAN, NAN], [1, 2], [3, NAN]])
    assert (found.value, found.interval.n, found.notes) == (2.25, 2, ("1 tasks without a value left out",))
    paired = paired_difference([1, 2, NAN, 5], [0, NAN, 1, 2])
    assert (paired.value, paired.interval.n) == (2, 2)
    assert paired.notes == ("2 tasks that one of the two lacks left out",)


def test_means_at_the_edges():
    one = mean_score([[1.0, 2.0]])
    assert one.value == 1.5
    assert all(map(math.isnan, (one.standard_error, one.interval.low, one.interval.high)))
    assert one.notes == ("no standard error: 1 tasks, needed are two",)
    assert math.isnan(mean_score([]).value) and math.isnan(mean_score([[NAN]]).value)
    constant = mean_score([0.5] * 4)
    assert (constant.value, constant.interval.low, constant.interval.high) == (0.5, 0.5, 0.5)
    for call, message in (
        (lambda: mean_score([1, np.inf]), "task 1"),
        (lambda: mean_score(np.zeros((2, 2, 2))), "shape"),
        (lambda: mean_score([1, 2], level=1), "level"),
        (lambda: paired_difference([1, 2], [1]), "same tasks"),
    ):
        with pytest.raises(ValueError, match=message):
            call()


def test_minimum_detectable_effect():
    # Miller's (2024) sample size, solved for the effect: (1.959964 + 0.841621) sd / sqrt(T) for many tasks.
    assert minimum_detectable_effect(2.0, 1_000_000) == pytest.approx(2.801585 * 2 / 1000, rel=1e-4)
    # The chance of a noncentral t beyond the critical value is the power (Cohen 1988).
    effect = minimum_detectable_effect(1.0, 20, power=0.9, level=0.99)
    beyond = scipy.stats.t.ppf(0.995, 19)
    shifted = scipy.stats.nct(19, effect * math.sqrt(20))
    assert shifted.sf(beyond) + shifted.cdf(-beyond) == pytest.approx(0.9, abs=1e-6)
    assert minimum_detectable_effect(0.0, 20) == 0
    for sd, tasks, options in (
        (1, 1, {}),
        (1, NAN, {}),
        (-1, 5, {}),
        (NAN, 5, {}),
        (1, 5, {"power": 0.01}),
        (1, 5, {"level": 2}),
    ):
        with pytest.raises(ValueError):
            minimum_detectable_effect(sd, tasks, **options)
