"""Resampled ratings against separate fits of the resampled data, and against the sampling laws by hand."""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from stats.bootstrap import bootstrap_comparisons, bootstrap_ratings, jackknife_ratings, weighted_ratings
from stats.bradley_terry import FirthPrior, GaussianPrior, Status, fit
from stats.comparisons import Attempts, Comparisons
from stats.intervals import basic_interval, percentile_interval


def resampled_tasks(tasks, replicates, seed):
    """The draws of `bootstrap_ratings`: T of the T tasks per replicate, as counts."""
    drawn = np.random.default_rng(seed).integers(tasks, size=(replicates, tasks))
    return np.array([np.bincount(row, minlength=tasks) for row in drawn])


def assert_equals_separate_fits(ratings, tables, prior=None):
    """Each replicate is the fit of its own table, to 1e-6 Elo, or NaN where that has no full rating."""
    for found, wins in zip(ratings, tables, strict=True):
        again = fit(wins, prior=prior).ratings if wins.any() else np.full(len(wins), np.nan)
        if np.isnan(found).any():
            assert np.isnan(found).all() and np.isnan(again).any()
        else:
            np.testing.assert_allclose(found, again, rtol=0, atol=1e-6)


@pytest.mark.parametrize("prior", [None, GaussianPrior(300), FirthPrior()])
@pytest.mark.parametrize(("tasks", "models"), [(6, 3), (12, 4), (40, 8)])
def test_equals_refitting_each_resample(make_scores, prior, tasks, models):
    comparisons = Comparisons.from_scores(make_scores(tasks=tasks, models=models, seed=5))
    ratings = bootstrap_ratings(comparisons, 40, seed=9, fitted=fit(comparisons, prior=prior))
    draws = resampled_tasks(tasks, 40, 9)
    assert_equals_separate_fits(ratings, np.tensordot(draws, comparisons.wins, 1), prior)


def test_replicates_far_from_the_fit_are_solved_too():
    """One task of 1e4 times the weight of the others turns the order round in the replicates without it."""
    rng = np.random.default_rng(0)
    wins = rng.integers(1, 4, size=(5, 6, 6)) * (1.0 - np.eye(6))
    wins[0] = 1e4 * np.triu(wins[0]) + np.tril(wins[0])
    comparisons = Comparisons.from_wins(wins)
    ratings = bootstrap_ratings(comparisons, 60, seed=2)
    draws = resampled_tasks(5, 60, 2)
    assert (draws[:, 0] == 0).any() and np.isfinite(ratings).all()
    assert_equals_separate_fits(ratings, np.tensordot(draws, wins, 1))


def test_is_reproducible_and_counts_failures():
    # b beats a on one of five tasks: replicates without it (about (4/5)^5 = 33 %) have no finite fit.
    wins = np.zeros((5, 2, 2))
    wins[:4, 0, 1] = wins[4, 1, 0] = 1
    comparisons = Comparisons.from_wins(wins)
    fitted = fit(comparisons)
    first = bootstrap_ratings(comparisons, 2000, seed=1, fitted=fitted)
    np.testing.assert_array_equal(first, bootstrap_ratings(comparisons, 2000, seed=1))
    assert not np.array_equal(first, bootstrap_ratings(comparisons, 2000, seed=2), equal_nan=True)
    failed = int(np.isnan(first).any(axis=1).sum())
    assert 0.28 < failed / 2000 < 0.38
    interval = basic_interval(float(fitted.ratings[0]), first[:, 0], n=5)
    assert (interval.failed, interval.replicates, interval.n, interval.unit) == (failed, 2000, 5, "tasks")


def test_unrated_models_stay_unrated_and_groups_apart():
    # a and b, c and d are two groups; e only loses to d.
    wins = np.zeros((4, 5, 5))
    wins[:, 0, 1], wins[:, 1, 0], wins[:, 2, 3], wins[:, 3, 2], wins[:, 3, 4] = 2, 1, 1, 1, 1
    comparisons = Comparisons.from_wins(wins)
    ratings = bootstrap_ratings(comparisons, 7)
    # Every task is the same, so every replicate is the fit: 200 log10(2) = 60.2 points either side.
    np.testing.assert_allclose(ratings[:, :4], np.tile([1060.206, 939.794, 1000, 1000], (7, 1)), atol=1e-3)
    assert np.isnan(ratings[:, 4]).all()


def test_anchor_shifts_replicates_with_the_fit(make_scores):
    comparisons = Comparisons.from_scores(make_scores(tasks=10, models=4, seed=1))
    plain, anchored = fit(comparisons), fit(comparisons, anchor=("m2", 1500.0))
    shift = 1500.0 - plain.ratings[2]
    np.testing.assert_allclose(
        bootstrap_ratings(comparisons, 20, fitted=anchored),
        bootstrap_ratings(comparisons, 20, fitted=plain) + shift,
        atol=1e-9,
    )


def one_task_of_attempts(outcomes, counts):
    """Comparisons of T equal tasks, from (n, A, n, A) results of single attempts and (n,) attempts."""
    tasks = 3
    counts = np.tile(np.asarray(counts, dtype=np.int64), (tasks, 1))
    outcomes = np.tile(np.asarray(outcomes, dtype=float), (tasks, 1, 1, 1, 1))
    wins = outcomes.sum(axis=(2, 4)) / (counts[:, :, None] * counts[:, None, :])
    n = counts.shape[1]
    return Comparisons(
        tuple("abc"[:n]), ("x", "y", "z"), wins, attempts=Attempts(counts=counts, outcomes=outcomes)
    )


def test_attempts_are_resampled_within_tasks():
    """a scores 0 and 2, b scores 1: a's share of a task is 0, 1/2, 1 with chances 1/4, 1/2, 1/4.

    The tasks are equal, so only the attempts vary. Over three tasks the share is that of k of 6 fair draws:
    400 log10(k / (6 - k)) between a and b, without a finite fit for k = 0 and 6 (chance 2 / 64).
    """
    outcomes = np.zeros((2, 2, 2, 2))
    outcomes[1, 0, 0, 0] = outcomes[0, 1, 1, 0] = 1.0  # b's only attempt beats a's first, a's second beats it
    comparisons = one_task_of_attempts(outcomes, [2, 1])
    np.testing.assert_array_equal(comparisons.wins[0], [[0, 0.5], [0.5, 0]])
    ratings = bootstrap_ratings(comparisons, 4000, seed=3)
    gaps = ratings[:, 0] - ratings[:, 1]
    k = np.arange(1, 6)
    expected = 400 * np.log10(k / (6 - k))
    found, times = np.unique(np.round(gaps[np.isfinite(gaps)], 6), return_counts=True)
    np.testing.assert_allclose(found, expected, atol=1e-5)
    # Binomial chances 6, 15, 20, 15, 6 of 64; four standard errors are below 0.03.
    np.testing.assert_allclose(times / 4000, np.array([6, 15, 20, 15, 6]) / 64, atol=0.03)
    assert np.isnan(gaps).mean() == pytest.approx(2 / 64, abs=0.012)
    np.testing.assert_allclose(bootstrap_ratings(comparisons, 5, attempts=False), 1000.0, atol=1e-9)


def test_single_attempts_change_nothing(make_scores):
    comparisons = Comparisons.from_scores(make_scores(tasks=8, models=3, seed=4))
    bare = Comparisons(comparisons.models, comparisons.tasks, comparisons.wins)
    np.testing.assert_array_equal(bootstrap_ratings(comparisons, 30), bootstrap_ratings(bare, 30))


def test_unequal_attempts_of_a_frame(make_scores):
    scores = make_scores(tasks=10, models=4, attempts=3, seed=6)
    scores = scores[(scores["attempt"] < 2) | (scores["model"] != "m1")]
    comparisons = Comparisons.from_scores(scores)
    both = bootstrap_ratings(comparisons, 400, seed=1)
    tasks_only = bootstrap_ratings(comparisons, 400, seed=1, attempts=False)
    # Attempts add spread to that of the tasks.
    assert (np.nanstd(both, axis=0) > np.nanstd(tasks_only, axis=0)).all()


def votes(seed=0, n=5, size=600, ties=True):
    rng = np.random.default_rng(seed)
    wins, tied = np.zeros((n, n)), np.zeros((n, n))
    for _ in range(size):
        i, j = rng.choice(n, 2, replace=False)
        if ties and rng.random() < 0.2:
            tied[i, j] += 1
            tied[j, i] += 1
        else:
            wins[i, j] += 1
    total = wins + tied / 2
    return Comparisons(tuple(map(str, range(n))), ("all",), total[None], ties=tied[None])


def test_comparisons_follow_the_multinomial_law():
    """Two models, 30 : 20 and 50 ties of 100: the score of a sums 100 independent x of 1, 0 or 1/2.

    E x = 0.55, E x^2 = 0.3 + 0.5 / 4 = 0.425, so its variance is 100 * (0.425 - 0.55^2) = 12.25.
    """
    wins, tied = np.array([[0.0, 55], [45, 0]]), np.array([[0.0, 50], [50, 0]])
    comparisons = Comparisons(("a", "b"), ("all",), wins[None], ties=tied[None])
    ratings = bootstrap_comparisons(comparisons, 20_000, seed=1)
    score = 100 / (1 + 10 ** ((ratings[:, 1] - ratings[:, 0]) / 400))
    # Whole and half comparisons of exactly 100.
    np.testing.assert_allclose(score * 2, np.round(score * 2), atol=1e-6)
    # Standard errors: sqrt(12.25 / 20000) = 0.025 and 12.25 sqrt(2 / 20000) = 0.12.
    assert score.mean() == pytest.approx(55, abs=0.1)
    assert score.var() == pytest.approx(12.25, abs=0.5)
    # The whole law, a 100-fold convolution, within the 0.1 % limit of Kolmogorov and Smirnov.
    law = np.ones(1)
    for _ in range(100):
        law = np.convolve(law, [0.2, 0.5, 0.3])
    found = np.bincount(np.round(score * 2).astype(int), minlength=201) / 20_000
    assert np.abs(np.cumsum(found) - np.cumsum(law)).max() < 1.95 / np.sqrt(20_000)


def test_comparisons_agree_with_multinomial_draws_refitted_one_by_one():
    """Mean and spread of numpy's own multinomial draws, each fitted anew, within four standard errors."""
    comparisons = votes()
    decisive = comparisons.wins[0] - comparisons.ties[0] / 2
    cells = np.concatenate([decisive.ravel(), np.triu(comparisons.ties[0]).ravel()])
    rng, reference = np.random.default_rng(5), []
    for _ in range(400):
        drawn = rng.multinomial(600, cells / 600).reshape(2, 5, 5)
        reference.append(fit(drawn[0] + (drawn[1] + drawn[1].T) / 2).ratings)
    reference = np.array(reference)
    found = bootstrap_comparisons(comparisons, 4000, seed=7)
    error = reference.std(axis=0) / np.sqrt(400)
    assert (np.abs(found.mean(axis=0) - reference.mean(axis=0)) < 4 * 1.05 * error).all()
    np.testing.assert_allclose(found.std(axis=0), reference.std(axis=0), rtol=4 / np.sqrt(2 * 400) * 1.05)


def test_comparisons_must_be_whole():
    with pytest.raises(ValueError, match=r"0 and 1 have 1.5 wins"):
        bootstrap_comparisons(Comparisons.from_wins([[0, 1.5], [1.5, 0]]))
    few = bootstrap_comparisons(Comparisons.from_wins([[0, 1], [1, 0]]), 2000)
    # Two comparisons: both go one way with chance 1/2, then without a finite fit.
    assert np.isnan(few[:, 0]).mean() == pytest.approx(0.5, abs=0.05)
    np.testing.assert_allclose(few[np.isfinite(few[:, 0])], 1000.0, atol=1e-9)


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 10_000), st.integers(2, 6), st.integers(2, 6))
def test_jackknife_equals_fits_without_each_task(seed, tasks, n):
    wins = np.random.default_rng(seed).integers(0, 3, size=(tasks, n, n)) * (1.0 - np.eye(n))
    comparisons = Comparisons.from_wins(wins)
    assume(wins.any())
    fitted = fit(comparisons)
    assume(set(fitted.status) == {Status.RATED})
    ratings = jackknife_ratings(comparisons, fitted)
    assert ratings.shape == (tasks, n)
    assert_equals_separate_fits(ratings, [np.delete(wins, t, axis=0).sum(axis=0) for t in range(tasks)])


def test_bad_input_is_refused():
    single = Comparisons.from_wins([[0, 3], [1, 0]])
    two = Comparisons.from_wins(np.ones((2, 2, 2)) - np.eye(2))
    for resample in (bootstrap_ratings, jackknife_ratings):
        with pytest.raises(ValueError, match="two tasks"):
            resample(single)
    with pytest.raises(ValueError, match="replicates"):
        bootstrap_ratings(two, 0)
    with pytest.raises(ValueError, match="name different models"):
        bootstrap_ratings(two, fitted=fit(two.wins[0], models=["x", "y"]))


@pytest.mark.parametrize("prior", [None, GaussianPrior(300), FirthPrior()])
def test_weighted_tasks_are_fits_of_the_weighted_sum(prior, make_scores):
    """Also far from the weights of the whole: single tasks, fractions, sums a thousand times as large."""
    comparisons = Comparisons.from_scores(make_scores(8, 4, 1, 3))
    rng = np.random.default_rng(0)
    weights = np.vstack([np.eye(8), np.tri(8), rng.random((5, 8)), 1000 * rng.random((5, 8)), np.ones(8)])
    ratings = weighted_ratings(comparisons, fit(comparisons, prior=prior), weights)
    assert_equals_separate_fits(ratings, np.tensordot(weights, comparisons.wins, 1), prior)


def test_weights_are_checked(make_scores):
    comparisons = Comparisons.from_scores(make_scores(5, 3))
    fitted = fit(comparisons)
    for weights in (np.ones(5), np.ones((2, 4)), np.ones((0, 5))):
        with pytest.raises(ValueError, match="replicates by 5 tasks"):
            weighted_ratings(comparisons, fitted, weights)
    for bad in (-1.0, np.nan, np.inf):
        with pytest.raises(ValueError, match="finite and not negative"):
            weighted_ratings(comparisons, fitted, np.full((1, 5), bad))


def test_comparisons_that_cannot_be_resampled_one_by_one_are_refused():
    with pytest.raises(ValueError, match="at least one comparison"):
        bootstrap_comparisons(Comparisons.from_wins([[0.0]]))
    with pytest.raises(ValueError, match="too many"):
        bootstrap_comparisons(Comparisons.from_wins([[0, 1e12], [1e12, 0]]))


def test_both_halves_of_a_tie_are_drawn_together():
    """Drawn apart, the halves of ten ties would make the two models drift about each other."""
    ties = np.array([[0.0, 10.0], [10.0, 0.0]])
    comparisons = Comparisons.from_wins(ties / 2, ties=ties)
    np.testing.assert_allclose(bootstrap_comparisons(comparisons, 50), 1000.0, atol=1e-9)


def test_replicates_without_the_one_loss_are_left_out_and_counted():
    """Five wins and a loss of six: (5/6)^6 = 33 % of the replicates are undefeated, and no limit is 2,679."""
    comparisons = Comparisons.from_wins([[0.0, 5.0], [1.0, 0.0]], ties=np.zeros((2, 2)))
    ratings = bootstrap_comparisons(comparisons, 2000, seed=0)
    interval = percentile_interval(ratings[:, 0], n=6)
    assert 0.28 < interval.failed / 2000 < 0.45
    # The most that a replicate can be apart is 5 to 1: 1000 + 200 log10(5).
    assert interval.high <= 1000 + 200 * np.log10(5) + 1e-6


def test_replicates_that_rounding_would_decide_are_undefined():
    """Without the first task, wins of 1e-15 beside 1 are all that keeps two models from being undefeated."""
    wins = np.zeros((3, 3, 3))
    wins[0] = 1 - np.eye(3)
    wins[1:] = np.triu(np.ones((3, 3)), 1) + np.tril(np.full((3, 3), 1e-15), -1)
    comparisons = Comparisons.from_wins(wins)
    ratings = weighted_ratings(comparisons, fit(comparisons), [[1, 1, 1], [0, 1, 1]])
    assert np.isfinite(ratings[0]).all() and np.isnan(ratings[1]).all()
