"""Inverted tests: what the intervals of agreement must do whatever the data."""

import numpy as np
import pytest

from stats.agreement.correlation import STATISTICS
from stats.agreement.inversion import ResampledSets, inverted_intervals

TESTED = {name: STATISTICS[name] for name in ("pearson_r", "spearman_rho", "kendall_tau_b", "ccc")}


def sets_of(x, y, noise, seed=0, replicates=400):
    """Two rating vectors with normal errors of the given size."""
    rng = np.random.default_rng(seed)
    x, y = np.asarray(x, dtype=float), np.asarray(y, dtype=float)
    return ResampledSets.of(x, y, *(v + noise * rng.normal(size=(replicates, len(v))) for v in (x, y)))


LADDER = np.array([700.0, 780, 1000, 990, 1010, 1070, 1150, 1300])


def test_without_noise_the_interval_closes_on_the_observed_value():
    rng = np.random.default_rng(1)
    y = LADDER + 60 * rng.normal(size=8)
    found = inverted_intervals(sets_of(LADDER, y, noise=1e-3), TESTED, n=50)
    r = float(np.corrcoef(LADDER, y)[0, 1])
    assert (found["pearson_r"].low, found["pearson_r"].high) == pytest.approx((r, r), abs=2e-3)


def test_equal_sets_reach_full_agreement_and_noise_widens_the_interval():
    lows = []
    for noise in (5, 20, 60):
        found = inverted_intervals(sets_of(LADDER, LADDER, noise=noise), TESTED, n=50)
        for interval in found.values():
            assert interval.high == pytest.approx(1, abs=1e-4)  # the CCC feels the spreads
        lows.append(found["pearson_r"].low)
    assert 1 > lows[0] > lows[1] > lows[2]


def test_attenuation_is_undone():
    """Noise as large as 1/3 of the spread lowers r of equal sets to about 0.9: the interval still holds 1."""
    rng = np.random.default_rng(2)
    noise = LADDER.std() / 3
    x, y = (LADDER + noise * rng.normal(size=8) for _ in "xy")
    found = inverted_intervals(sets_of(x, y, noise), TESTED, n=50)
    assert np.corrcoef(x, y)[0, 1] < 0.97
    assert found["pearson_r"].low < np.corrcoef(x, y)[0, 1] < found["pearson_r"].high
    assert found["pearson_r"].high > 0.99


def test_sets_of_nothing_but_noise_say_nothing():
    x, y = np.random.default_rng(3).normal(size=(2, 8))
    found = inverted_intervals(sets_of(x, y, noise=10.0), TESTED, n=20)
    assert all((interval.low, interval.high) == (-1, 1) for interval in found.values())


def test_opposed_sets_and_the_exchange_of_sets_mirror_the_interval():
    y = LADDER[::-1] + 1.0
    there = inverted_intervals(sets_of(LADDER, y, noise=30), TESTED, n=50)["pearson_r"]
    assert there.low == pytest.approx(-1, abs=1e-9) and there.high < 0
    mirror = inverted_intervals(sets_of(LADDER, 2000 - LADDER, noise=30), TESTED, n=50)
    assert mirror["pearson_r"].low == pytest.approx(-1, abs=1e-9)


def test_monotone_in_the_level():
    sets = sets_of(LADDER, LADDER[[0, 2, 1, 3, 4, 6, 5, 7]], noise=40)
    narrow, wide = (inverted_intervals(sets, TESTED, level, n=50)["pearson_r"] for level in (0.5, 0.99))
    assert wide.low <= narrow.low <= narrow.high <= wide.high
    assert (wide.level, wide.n, wide.unit) == (0.99, 50, "tasks")


@pytest.mark.parametrize(
    ("x", "y"),
    [([1.0, 2.0], [2.0, 1.0]), ([1.0], [1.0]), ([5.0] * 6, range(6))],
    ids=["two", "one", "constant"],
)
def test_no_interval_where_the_statistic_says_nothing(x, y):
    found = inverted_intervals(sets_of(x, y, noise=0.1), TESTED, n=50)["pearson_r"]
    assert np.isnan([found.low, found.high]).all()


def test_replicates_without_a_fit_are_left_out_and_counted():
    x = np.vstack([LADDER + d for d in np.random.default_rng(4).normal(size=(50, 8)) * 20])
    x[:7, 3] = np.nan
    sets = ResampledSets.of(LADDER, LADDER, x, x[::-1])
    found = inverted_intervals(sets, TESTED, n=50)["pearson_r"]
    assert (found.failed, found.replicates) == (14, 50)
    none = ResampledSets.of(LADDER, LADDER, x * np.nan, x)
    assert np.isnan(inverted_intervals(none, TESTED, n=50)["pearson_r"].low)


def test_sets_without_any_error_have_intervals_of_no_width():
    y = LADDER + np.array([30.0, -20, 0, 40, -30, 10, 0, -30])
    found = inverted_intervals(sets_of(LADDER, y, noise=0.0), TESTED, n=50)
    for name, interval in found.items():
        value = float(TESTED[name][0](LADDER, y))
        assert (interval.low, interval.high) == pytest.approx((value, value), abs=5e-3), name


def test_near_ties_leave_the_order_open():
    """Two triples of models that noise cannot order: their true orders may be the same or opposite."""
    x = np.array([1250.0, 1104, 1100, 1096, 954, 950, 946, 600])
    found = inverted_intervals(sets_of(x, x, noise=40), TESTED, n=50)
    opposite = x[[0, 3, 2, 1, 6, 5, 4, 7]]
    for name in ("spearman_rho", "kendall_tau_b"):
        assert found[name].low <= float(TESTED[name][0](x, opposite)) and found[name].high == 1
