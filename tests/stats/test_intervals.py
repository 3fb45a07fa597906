"""Sandwich against statsmodels' cluster covariance, and interval formulas."""

import numpy as np
import pytest
import statsmodels.api as sm
from scipy import stats as sps

from stats.bradley_terry import fit
from stats.comparisons import Comparisons
from stats.intervals import basic_interval, bca_interval, percentile_interval
from stats.sandwich import contrast_intervals, rating_intervals, task_covariance


def test_sandwich_equals_statsmodels_cluster_covariance(make_scores):
    comparisons = Comparisons.from_scores(make_scores(tasks=15, models=5, attempts=2, seed=1))
    fitted = fit(comparisons)
    rows, outcome, task = [], [], []
    for t, i, j in np.argwhere(np.triu(np.ones((5, 5)), 1)[None] * np.ones((15, 1, 1))):
        rows.append(np.eye(5)[i] - np.eye(5)[j])
        outcome.append(comparisons.wins[t, i, j])
        task.append(t)
    glm = sm.GLM(np.array(outcome), np.array(rows)[:, 1:], family=sm.families.Binomial())
    clustered = glm.fit(
        tol=1e-14,
        maxiter=200,
        cov_type="cluster",
        cov_kwds={"groups": np.array(task), "use_correction": False},
    )
    full, centre = np.zeros((5, 5)), np.eye(5) - 0.2
    full[1:, 1:] = clustered.cov_params()
    covariance, tasks = task_covariance(comparisons, fitted)
    np.testing.assert_allclose(
        covariance / fitted.unit**2, 15 / 14 * centre @ full @ centre, rtol=0, atol=1e-8
    )
    np.testing.assert_array_equal(tasks, 15)

    intervals = rating_intervals(comparisons, fitted, level=0.9)
    half = sps.t.ppf(0.95, 14) * np.sqrt(np.diag(covariance))
    np.testing.assert_allclose(intervals.high - fitted.ratings, half, rtol=1e-9)
    np.testing.assert_allclose(fitted.ratings - intervals.low, half, rtol=1e-9)
    assert (intervals.level, intervals.unit, intervals.n.tolist()) == (0.9, "tasks", [15] * 5)
    assert "sandwich" in intervals.method

    contrasts = contrast_intervals(comparisons, fitted, level=0.9)
    variance = covariance[0, 0] + covariance[3, 3] - 2 * covariance[0, 3]
    assert contrasts.estimate[0, 3] == pytest.approx(fitted.ratings[0] - fitted.ratings[3])
    assert contrasts.high[0, 3] - contrasts.estimate[0, 3] == pytest.approx(
        sps.t.ppf(0.95, 14) * np.sqrt(variance)
    )
    np.testing.assert_allclose(contrasts.low, -contrasts.high.T, atol=1e-9)


def test_doubling_every_task_keeps_ratings_and_halves_the_variance(make_scores):
    comparisons = Comparisons.from_scores(make_scores(seed=2))
    doubled = Comparisons.from_wins(np.concatenate([comparisons.wins] * 2), comparisons.models)
    np.testing.assert_allclose(fit(doubled).ratings, fit(comparisons).ratings, atol=1e-9)
    np.testing.assert_allclose(fit(doubled).covariance, fit(comparisons).covariance / 2, rtol=1e-9, atol=1e-9)
    once, twice = task_covariance(comparisons, fit(comparisons))[0], task_covariance(doubled, fit(doubled))[0]
    np.testing.assert_allclose(twice * 39 / 40, once * 19 / 20 / 2, rtol=1e-9, atol=1e-9)


def test_all_ties_have_no_spread_and_one_task_no_interval():
    ties = Comparisons.from_wins(np.tile((np.ones((3, 3)) - np.eye(3)) / 2, (4, 1, 1)))
    intervals = rating_intervals(ties, fit(ties))
    np.testing.assert_allclose([intervals.low, intervals.high], 1000.0)
    single = Comparisons.from_wins([[0, 3], [1, 0]])
    intervals = rating_intervals(single, fit(single))
    assert np.isnan(intervals.low).all() and intervals.n.tolist() == [1, 1]


def test_no_interval_across_groups_or_without_rating():
    wins = np.zeros((3, 5, 5))
    wins[:, 0, 1], wins[:, 1, 0], wins[:, 2, 3], wins[:, 3, 2], wins[:, 2, 4] = 2, 1, 1, 1, 1
    comparisons = Comparisons.from_wins(wins)
    contrasts = contrast_intervals(comparisons, fit(comparisons))
    assert np.isfinite(contrasts.low[0, 1]) and np.isfinite(contrasts.low[2, 3])
    assert np.isnan(contrasts.estimate[0, 2]) and np.isnan(contrasts.low[0, 2])
    assert np.isnan(contrasts.low[2, 4])


def test_basic_reflects_percentile_and_respects_bounds():
    replicates = np.linspace(0.0, 0.8, 101)
    percentile = percentile_interval(replicates, 0.9, n=10)
    assert (percentile.low, percentile.high) == pytest.approx((0.04, 0.76))
    basic = basic_interval(0.5, replicates, 0.9, n=10, bounds=(-1, 0.9))
    # 2 * 0.5 - 0.76 and 2 * 0.5 - 0.04, the latter cut at 0.9
    assert (basic.low, basic.high) == pytest.approx((0.24, 0.9))
    assert np.isnan(basic_interval(np.nan, replicates, n=10).low)
    assert np.isnan(basic_interval(0.5, np.full(10, np.nan), n=10).high)
    with pytest.raises(ValueError, match="level"):
        basic_interval(0.5, replicates, 95, n=10)


def test_bca_equals_scipy_for_one_sample():
    """scipy's BCa from the same replicates: its resamples come from the same generator and seed."""
    sample = np.random.default_rng(7).exponential(size=25)
    found = sps.bootstrap(
        (sample,), np.var, n_resamples=2000, method="BCa", rng=np.random.default_rng(1), vectorized=True
    )
    jackknife = np.array([np.var(np.delete(sample, i)) for i in range(25)])
    ours = bca_interval(float(np.var(sample)), found.bootstrap_distribution, [jackknife], n=25)
    assert (ours.low, ours.high) == pytest.approx(
        (found.confidence_interval.low, found.confidence_interval.high), rel=1e-12
    )


def test_bca_of_two_samples_equals_scipy():
    """scipy sums the acceleration over both samples of a difference of means."""
    rng = np.random.default_rng(8)
    x, y = rng.exponential(size=20), rng.normal(size=30)

    def difference(x, y, axis=-1):
        return x.mean(axis=axis) - y.mean(axis=axis)

    found = sps.bootstrap(
        (x, y), difference, n_resamples=2000, method="BCa", rng=np.random.default_rng(2), vectorized=True
    )
    jackknife = [
        np.array([difference(np.delete(x, i), y) for i in range(20)]),
        np.array([difference(x, np.delete(y, i)) for i in range(30)]),
    ]
    ours = bca_interval(difference(x, y), found.bootstrap_distribution, jackknife, n=20)
    assert (ours.low, ours.high) == pytest.approx(
        (found.confidence_interval.low, found.confidence_interval.high), rel=1e-12
    )


def test_bca_has_no_answer_when_all_replicates_lie_on_one_side():
    jackknife = [np.arange(5.0)]
    assert np.isnan(bca_interval(2.0, np.linspace(0, 1, 50), jackknife, n=5).low)
    assert np.isnan(bca_interval(0.5, np.linspace(0, 1, 50), [np.ones(5)], n=5).low)
    counted = bca_interval(0.5, np.append(np.linspace(0, 1, 50), np.nan), jackknife, n=5)
    assert (counted.failed, counted.replicates) == (1, 51) and counted.low < 0.5 < counted.high
