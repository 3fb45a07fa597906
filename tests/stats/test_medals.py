"""Medal cuts at the edges of Kaggle's rules, and rates with intervals, by hand and against statsmodels."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from statsmodels.stats.proportion import proportion_confint

from stats.medals import (
    above_median,
    medal,
    medal_positions,
    medal_rate,
    medal_thresholds,
    success_rate,
)


@pytest.mark.parametrize(
    ("teams", "expected"),
    [
        (1, (1, 1, 1)),
        (2, (1, 1, 1)),
        (9, (1, 1, 3)),  # 0.9 -> at least 1; 1.8 -> 1; 3.6 -> 3
        (10, (1, 2, 4)),
        (99, (9, 19, 39)),  # 9.9, 19.8, 39.6 rounded down
        (100, (10, 20, 40)),
        (249, (10, 49, 99)),  # 49.8, 99.6
        (250, (10, 50, 100)),  # 10 + 0.5 -> 10
        (499, (10, 50, 100)),
        (500, (11, 50, 100)),  # 10 + 1.0
        (999, (11, 50, 100)),  # 10 + 1.998
        (1000, (12, 50, 100)),
        (5000, (20, 250, 500)),
    ],
)
def test_positions(teams, expected):
    assert medal_positions(teams) == expected


@pytest.mark.parametrize("up", [True, False])
def test_every_team_of_a_small_board(up):
    # Ten teams: one gold, one silver, two bronze.
    board = np.arange(10.0) if up else -np.arange(10.0)
    thresholds = medal_thresholds(np.random.default_rng(0).permutation(board), higher_is_better=up)
    found = [medal(score, thresholds) for score in board[::-1]]
    assert found == ["gold", "silver", "bronze", "bronze"] + [None] * 6
    assert (thresholds.gold, thresholds.silver, thresholds.bronze) == tuple(board[[9, 8, 6]])
    assert thresholds.teams == 10
    # The median lies between the fifth and the sixth; only strictly better counts.
    assert abs(thresholds.median) == 4.5
    assert [above_median(score, thresholds) for score in board[::-1]] == [True] * 5 + [False] * 5
    assert not above_median(thresholds.median, thresholds)


def test_ties_at_the_cuts():
    # Twenty teams: gold to place 2, silver to 4, bronze to 8. Places 2-5 share 0.8, places 8-20 share 0.5.
    board = [0.9, 0.8, 0.8, 0.8, 0.8, 0.7, 0.6] + [0.5] * 13
    thresholds = medal_thresholds(board, higher_is_better=True)
    assert (thresholds.gold, thresholds.silver, thresholds.bronze) == (0.8, 0.8, 0.5)
    # Equal to a cut is enough, so that nobody is left with silver; just below each cut is the next medal.
    assert [medal(score, thresholds) for score in (0.8, 0.79, 0.5, 0.499999)] == [
        "gold",
        "bronze",
        "bronze",
        None,
    ]
    assert not above_median(0.5, thresholds)


def test_all_teams_equal():
    thresholds = medal_thresholds([1.0] * 50, higher_is_better=False)
    assert [medal(score, thresholds) for score in (1.0, 0.9, 1.1)] == ["gold", "gold", None]
    assert (above_median(1.0, thresholds), above_median(0.9, thresholds)) == (False, True)


def test_no_submission_earns_nothing():
    thresholds = medal_thresholds([1.0, 2.0], higher_is_better=False)
    for nothing in (None, math.nan):
        assert medal(nothing, thresholds) is None
        assert above_median(nothing, thresholds) is False
    for score in (math.inf, -math.inf):
        with pytest.raises(ValueError, match="infinite"):
            medal(score, thresholds)


@settings(max_examples=30, deadline=None)
@given(st.lists(st.integers(0, 30), min_size=1, max_size=300), st.integers(-1, 31), st.booleans())
def test_negating_everything_and_reordering_change_nothing(board, score, up):
    found = medal(score, medal_thresholds(board, higher_is_better=up))
    mirrored = medal_thresholds([-row for row in reversed(board)], higher_is_better=not up)
    assert found == medal(-score, mirrored)
    better = sum(row > score if up else row < score for row in board)
    # A medal is a place among the teams: 1 + the number strictly better.
    gold, silver, bronze = medal_positions(len(board))
    place = 1 + better
    by_place = next(
        (name for name, cut in (("gold", gold), ("silver", silver), ("bronze", bronze)) if place <= cut), None
    )
    assert found == by_place


def test_bad_leaderboards():
    for board, message in (
        ([], "needs a team"),
        ([1.0, math.nan], "row 2"),
        ([math.inf], "row 1"),
        ([[1.0]], "vector"),
    ):
        with pytest.raises(ValueError, match=message):
            medal_thresholds(board, higher_is_better=True)
    with pytest.raises(ValueError, match="needs a team"):
        medal_positions(0)


def test_single_attempts_give_wilsons_interval():
    # Wilson (1927) for 3 of 10 at 95 %, z^2 = 3.841459:
    # (0.3 + 0.192073 -+ 1.959964 sqrt(0.3 * 0.7 / 10 + 3.841459 / 400)) / 1.3841459
    found = success_rate([[True]] * 3 + [[False]] * 7)
    half = 1.959964 * math.sqrt(0.021 + 3.841459 / 400)
    assert found.value == pytest.approx(0.3)
    assert (found.interval.low, found.interval.high) == pytest.approx(
        ((0.49207295 - half) / 1.3841459, (0.49207295 + half) / 1.3841459), abs=1e-6
    )
    assert (found.interval.n, found.interval.unit, found.interval.method) == (
        10,
        "tasks",
        "Wilson score interval",
    )
    assert found.notes == ()


def test_several_attempts_count_by_their_effective_number():
    # Shares 1, 0, 1/2, 1/2: p = 1/2, variance of the shares 1/8, of their mean 1/32: 0.25 * 32 = 8 trials, as
    # many as attempts. t(3) = 3.182446 stands for z.
    found = success_rate([[True, True], [False, False], [True, False], [False, True]])
    assert found.value == 0.5
    z = 3.182446
    half = z * math.sqrt(0.25 / 8 + z**2 / (4 * 64)) / (1 + z**2 / 8)
    assert (found.interval.low, found.interval.high) == pytest.approx((0.5 - half, 0.5 + half), abs=1e-6)
    assert "effective number" in found.interval.method


def test_repeats_are_no_new_evidence():
    """The same outcome in every attempt: as many effective trials as tasks."""
    once = [[True]] * 4 + [[False]] * 8
    many = success_rate([task * 100 for task in once])
    single = success_rate(once)
    assert many.value == pytest.approx(single.value)
    assert many.interval.high - many.interval.low > single.interval.high - single.interval.low


def test_equal_shares_count_at_most_every_attempt():
    found = success_rate([[True, False]] * 6)
    z = 2.570582  # t(5)
    half = z * math.sqrt(0.25 / 12 + z**2 / (4 * 144)) / (1 + z**2 / 12)
    assert (found.interval.low, found.interval.high) == pytest.approx((0.5 - half, 0.5 + half), abs=1e-6)


def test_nothing_and_everything():
    none, all_of_them = success_rate([[False]] * 22), success_rate([[True]] * 22)
    low, high = proportion_confint(0, 22, method="wilson")
    assert (none.interval.low, none.interval.high) == pytest.approx((low, high), abs=1e-12)
    assert (all_of_them.interval.low, all_of_them.interval.high) == pytest.approx((1 - high, 1), abs=1e-12)
    repeated = success_rate([[False] * 5] * 22)
    assert repeated.value == 0
    assert repeated.interval.high > high


def test_too_few_tasks():
    one = success_rate([[True, False], []])
    assert (one.value, one.interval.n) == (0.5, 1)
    assert math.isnan(one.interval.low) and math.isnan(one.interval.high)
    assert one.notes == ("1 tasks without an attempt left out", "no interval: 1 tasks, needed are two")
    assert math.isnan(success_rate([]).value)


def test_medal_rate_counts_the_named_medals():
    medals = [["gold", None], ["bronze"], [None, None], ["silver", "gold"]]
    assert medal_rate(medals).value == pytest.approx((0.5 + 1 + 0 + 1) / 4)
    assert medal_rate(medals, among={"gold"}).value == pytest.approx((0.5 + 0 + 0 + 0.5) / 4)
    assert medal_rate(medals, 0.9).interval.level == 0.9
    for bad, among in (([["platinum"]], ["gold"]), ([["gold"]], ["tin"])):
        with pytest.raises(ValueError, match=r"'(platinum|tin)'"):
            medal_rate(bad, among=among)
    with pytest.raises(ValueError, match="level"):
        medal_rate(medals, 95)


@settings(max_examples=40, deadline=None)
@given(st.lists(st.lists(st.booleans(), min_size=1, max_size=4), min_size=2, max_size=8))
def test_intervals_hold_the_rate_and_stay_in_bounds(successes):
    found = success_rate(successes)
    assert -1e-12 <= found.interval.low <= found.value + 1e-12
    assert found.value - 1e-12 <= found.interval.high <= 1 + 1e-12
    mirrored = success_rate([[not s for s in task] for task in reversed(successes)])
    assert (1 - mirrored.interval.high, 1 - mirrored.interval.low) == pytest.approx(
        (found.interval.low, found.interval.high), abs=1e-9
    )


def test_outcomes_that_are_not_true_or_false_are_refused():
    """Python takes NaN and the text "False" for true."""
    for outcome in (np.nan, None, "False", 0.5):
        with pytest.raises(ValueError, match="task 1: an outcome is true or false"):
            success_rate([[True], [False, outcome]])  # type: ignore[list-item]
    assert success_rate([[1, 0], [np.True_, 0.0]]).value == 0.5  # type: ignore[list-item]


def test_extreme_levels_leave_the_interval_within_its_bounds():
    for level in (1e-9, 1 - 1e-12):
        interval = success_rate([[True, False], [True, True], [False]], level).interval
        assert 0 <= interval.low <= 0.5 <= interval.high <= 1
