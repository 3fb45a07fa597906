"""Shares and spreads; the expected limits are computed by hand from the formulas that the docstrings name."""

from __future__ import annotations

import pytest

from generator.pipeline.shares import share_of, spread_of, tally


def test_one_outcome_of_each_dataset_gives_wilsons_interval() -> None:
    """8 of 10, the value of textbooks: 0.490 to 0.943."""
    share = share_of((str(i), i < 8) for i in range(10))
    assert (share.count, share.of, share.value) == (8, 10, 0.8)
    assert (share.low, share.high) == pytest.approx((0.4902, 0.9433), abs=5e-5)


def test_outcomes_of_one_dataset_that_are_alike_count_less() -> None:
    """Of 8, p = 1/2, v = 4/3 * 4 / 64 = 1/12: three trials, and t(0.975; 3) = 3.18245."""
    share = share_of((name, name in "ab") for name in "aabbccdd")
    assert (share.low, share.high) == pytest.approx((0.06083, 0.93917), abs=5e-5)
    apart = share_of((str(i), i < 4) for i in range(8))
    assert apart.high is not None and share.high is not None and apart.high < share.high


def test_trials_are_at_most_the_outcomes() -> None:
    """Of 5, p = 4/5, v = 3/2 * 0.24 / 25: 11 trials would be more than there are; t(0.975; 2) = 4.30265."""
    share = share_of([("a", True), ("a", False), ("a", True), ("b", True), ("c", True)])
    assert (share.low, share.high) == pytest.approx((0.13745, 0.99014), abs=5e-5)


@pytest.mark.parametrize(("outcome", "limits"), [(True, (0.34238, 1.0)), (False, (0.0, 0.65762))])
def test_outcomes_all_alike_leave_room_for_others(outcome: bool, limits: tuple[float, float]) -> None:
    """Two datasets, whatever they hold, are two trials: 1 / (1 + 1.95996² / 2) = 0.34238."""
    share = share_of((name, outcome) for name in "aaabbb")
    assert share.value == float(outcome)
    assert (share.low, share.high) == pytest.approx(limits, abs=5e-5)


def test_one_dataset_says_nothing_of_others_and_nothing_is_no_share() -> None:
    share = share_of([("a", True), ("a", False)])
    assert share.value == 0.5 and share.low is None and share.high is None
    assert share_of([]).value is None


def test_spread_by_hand() -> None:
    spread = spread_of([8, 10, 12, 14, 16, 20])
    assert spread is not None
    assert (spread.lower_quartile, spread.median, spread.upper_quartile) == (10.5, 13.0, 15.5)
    assert (spread.count, spread.mean, spread.largest) == pytest.approx((6, 80 / 6, 20.0))
    assert spread_of([]) is None


def test_tally() -> None:
    assert list(tally([3, 1, 3]).items()) == [(1, 1), (3, 2)]
