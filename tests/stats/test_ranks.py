"""Ranks and their intervals: by hand, and against scipy's multivariate t."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats as sps

from stats.bradley_terry import FirthPrior, GaussianPrior, fit
from stats.comparisons import Comparisons
from stats.contrasts import contrasts
from stats.ranks import interval_ranks, rank_intervals, ranks, rating_ranks, win_probabilities
from stats.sandwich import task_covariance


def test_ranks_share_ties_and_skip_nan():
    np.testing.assert_array_equal(ranks([3, 1, 3, np.nan, np.inf, -np.inf]), [2, 4, 2, np.nan, 1, 5])


def test_rating_ranks_place_separated_models():
    wins = np.array([[0, 1, 1, 1], [0, 0, 3, 1], [0, 1, 0, 1], [0, 0, 0, 0]], dtype=float)
    np.testing.assert_array_equal(rating_ranks(fit(wins)), [1, 2, 3, 4])
    chain = np.array([[0, 0, 1], [1, 0, 1], [0, 0, 0]], dtype=float)
    np.testing.assert_array_equal(rating_ranks(fit(chain)), [2, 1, 3])


def test_rating_ranks_stay_within_the_group():
    wins = np.zeros((5, 5))
    wins[0, 1], wins[1, 0], wins[2, 3], wins[3, 2] = 3, 1, 1, 3
    np.testing.assert_array_equal(rating_ranks(fit(wins)), [1, 2, 2, 1, np.nan])


def intervals(comparisons, **options):
    return rank_intervals(comparisons, fit(comparisons), **options)


def duel(won, lost):
    """Two models, one task per win."""
    return Comparisons.from_wins([[[0, 1], [0, 0]]] * won + [[[0, 0], [1, 0]]] * lost)


def test_two_models_are_told_apart_exactly_when_their_difference_is():
    for won, lost, kind in (
        (8, 2, "marginal"),
        (9, 1, "simultaneous"),
        (5, 4, "marginal"),
        (15, 5, "marginal"),
    ):
        comparisons = duel(won, lost)
        significant = contrasts(comparisons, fit(comparisons)).p[0] < 0.05
        found = intervals(comparisons, kind=kind)
        expected = [[1, 2], [1, 2]] if significant else [[1, 1], [2, 2]]
        np.testing.assert_array_equal([found.low, found.high], expected)
        assert (found.kind, found.level, found.unit, found.n[0]) == (kind, 0.95, "tasks", won + lost)


def test_critical_values_are_those_of_scipys_multivariate_t():
    """The level at which the clearest difference of a model is just shown, from scipy's integral."""
    scores = np.random.default_rng(3).normal([0.0, 0.2, 0.6], size=(12, 3))
    comparisons = Comparisons.from_wins((scores[:, :, None] > scores[:, None, :]).astype(float))
    fitted = fit(comparisons)
    covariance, _ = task_covariance(comparisons, fitted)
    for i in range(3):
        others = [j for j in range(3) if j != i]
        rows = np.array([np.eye(3)[i] - np.eye(3)[j] for j in others])
        spread = rows @ covariance @ rows.T
        error = np.sqrt(np.diag(spread))
        largest = np.abs(rows @ fitted.ratings / error).max()
        law = sps.multivariate_t(shape=spread / np.outer(error, error), df=11, seed=1)
        level = law.cdf([largest] * 2, lower_limit=[-largest] * 2)
        # 40,000 draws know a level to sqrt(p (1 - p) / 40,000) < 0.0025.
        shown = intervals(comparisons, level=level - 0.01, draws=40_000)
        hidden = intervals(comparisons, level=level + 0.01, draws=40_000)
        assert shown.high[i] - shown.low[i] < 2
        assert (hidden.low[i], hidden.high[i]) == (1, 3)


def test_an_undefeated_model_is_first_only_when_enough_tasks_say_so():
    # a beats b and c on every task; b and c win half each against the other. a has two sign tests, each at
    # 5 % / 2: 2 / 2^6 = 0.031 is not enough, 2 / 2^7 = 0.016 is.
    def undefeated(tasks):
        wins = np.zeros((tasks, 3, 3))
        wins[:, 0, 1:] = 1
        wins[::2, 1, 2] = wins[1::2, 2, 1] = 1
        return Comparisons.from_wins(wins)

    np.testing.assert_array_equal(intervals(undefeated(6)).low, [1, 1, 1])
    np.testing.assert_array_equal(intervals(undefeated(6)).high, [3, 3, 3])
    found = intervals(undefeated(7))
    np.testing.assert_array_equal([found.low, found.high], [[1, 2, 2], [1, 3, 3]])
    # Jointly there are three pairs: 5 % / 3 = 0.0167 still allows 0.0156, a level of 96 % does not.
    assert intervals(undefeated(7), kind="simultaneous").high[0] == 1
    assert intervals(undefeated(7), kind="simultaneous", level=0.96).high[0] == 3


def test_circles_and_ties_are_undecided():
    circle = Comparisons.from_wins(np.tile([[0, 1, 0], [0, 0, 1], [1, 0, 0]], (20, 1, 1)))
    ties = Comparisons.from_wins(np.tile((np.ones((3, 3)) - np.eye(3)) / 2, (20, 1, 1)))
    for comparisons in (circle, ties):
        found = intervals(comparisons)
        np.testing.assert_array_equal([found.low, found.high], [[1, 1, 1], [3, 3, 3]])


def test_groups_are_ranked_apart_and_few_tasks_give_no_interval():
    wins = np.zeros((30, 5, 5))
    wins[:, 0, 1], wins[:, 2, 3] = 1, 1
    wins[0, 0, 1] = wins[0, 2, 3] = 0
    wins[0, 1, 0] = wins[0, 3, 2] = 1
    comparisons = Comparisons.from_wins(wins)
    found = intervals(comparisons)
    np.testing.assert_array_equal([found.low, found.high], [[1, 2, 1, 2, np.nan]] * 2)
    np.testing.assert_array_equal(found.n[:4], [30] * 4)
    firth = rank_intervals(comparisons, fit(comparisons, prior=FirthPrior()))
    np.testing.assert_array_equal([firth.low, firth.high], [[1, 2, 1, 2, np.nan]] * 2)
    # A normal prior puts all on one scale, but no task says how the groups compare.
    joint = rank_intervals(comparisons, fit(comparisons, prior=GaussianPrior(400)))
    np.testing.assert_array_equal([joint.low, joint.high], [[1, 2, 1, 2, np.nan], [3, 4, 3, 4, np.nan]])

    single = intervals(Comparisons.from_wins([[0, 3], [1, 0]]))
    assert np.isnan([single.low, single.high]).all() and single.n.tolist() == [1, 1]
    alone = intervals(Comparisons.from_wins(np.zeros((3, 1, 1))))
    assert np.isnan([alone.low, alone.high]).all()


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 10_000), st.permutations(range(5)))
def test_intervals_hold_the_rank_nest_and_follow_the_models(make_scores, seed, order):
    comparisons = Comparisons.from_scores(make_scores(tasks=15, models=5, seed=seed))
    fitted = fit(comparisons)
    marginal = rank_intervals(comparisons, fitted, draws=1000)
    joint = rank_intervals(comparisons, fitted, kind="simultaneous", draws=1000)
    rank = rating_ranks(fitted)
    assert ((marginal.low <= rank) & (rank <= marginal.high)).all()
    if np.isfinite(fitted.ratings).all() and len(set(fitted.ratings.round(6))) == 5:
        assert ((joint.low <= marginal.low) & (marginal.high <= joint.high)).all()
        moved = intervals(Comparisons.from_wins(comparisons.wins[:, order][:, :, order]), draws=1000)
        np.testing.assert_array_equal(moved.low, marginal.low[list(order)])
        np.testing.assert_array_equal(moved.high, marginal.high[list(order)])


def test_bad_options():
    comparisons = duel(3, 1)
    for options, message in (
        ({"kind": "both"}, "marginal"),
        ({"level": 1.5}, "level"),
        ({"draws": 10}, "draws"),
    ):
        with pytest.raises(ValueError, match=message):
            intervals(comparisons, **options)


def test_interval_ranks_as_chatbot_arena_shows_them():
    # b overlaps a, c lies below a but overlaps b, d has no interval, e touches c.
    low, high = [10, 8, 6, np.nan, 5], [12, 11, 9, np.nan, 6]
    np.testing.assert_array_equal(interval_ranks(low, high), [1, 1, 2, np.nan, 3])
    with pytest.raises(ValueError, match="interval 1"):
        interval_ranks([0, 2], [1, 1])
    with pytest.raises(ValueError, match="one length"):
        interval_ranks([0, 2], [1])


def test_win_probabilities():
    probability = win_probabilities([1190.8485018878651, 1000])
    np.testing.assert_allclose(probability, [[0.5, 0.75], [0.25, 0.5]], atol=1e-12)


def test_win_probabilities_of_infinite_and_missing_ratings():
    found = win_probabilities([np.inf, 1000.0, -np.inf, np.nan])
    np.testing.assert_array_equal(found[:3, :3], [[0.5, 1, 1], [0, 0.5, 1], [0, 0, 0.5]])
    assert np.isnan(found[3]).all() and np.isnan(found[:, 3]).all()
    for bad in ({"scale": 0.0}, {"scale": np.inf}, {"base": 1.0}, {"base": np.nan}):
        with pytest.raises(ValueError, match="a scale above 0"):
            win_probabilities([1.0], **bad)


def test_equal_models_have_intervals_that_ignore_their_order():
    """Equal ratings leave the order of the simulation open; the names close it."""
    tasks = [
        [[0, 1, 1], [0, 0, 1], [0, 0, 0]],
        [[0, 0, 0], [1, 0, 1], [1, 0, 0]],
        [[0, 1, 0], [0, 0, 0], [1, 1, 0]],
    ]
    comparisons = Comparisons.from_wins(np.array(tasks, dtype=float), ["a", "b", "c"])
    for order in ("abc", "cab", "bca"):
        mixed = comparisons.subset(list(order))
        found = rank_intervals(mixed, fit(mixed), 0.6, draws=100)
        kept = rank_intervals(comparisons, fit(comparisons), 0.6, draws=100)
        for limit in ("low", "high"):
            np.testing.assert_array_equal(
                getattr(found, limit), getattr(kept, limit)[["abc".index(m) for m in order]]
            )


def test_an_interval_holds_its_rank():
    """a and b are undefeated by the rest and share rank 1, though a beat b on most of the tasks."""
    wins = np.zeros((21, 4, 4))
    wins[:, :2, 2:] = 1
    wins[:20, 0, 1] = wins[20, 1, 0] = 1
    wins[::2, 2, 3] = wins[1::2, 3, 2] = 1
    comparisons = Comparisons.from_wins(wins)
    fitted = fit(comparisons)
    found = rank_intervals(comparisons, fitted)
    rank = rating_ranks(fitted)
    assert ((found.low <= rank) & (rank <= found.high)).all()


def test_more_models_get_fewer_draws_by_default():
    """4e8 / n^2, between 1,000 and 10,000; one task gives no intervals, but the number is recorded."""
    for models, draws in ((3, 10_000), (400, 2_500)):
        wins = np.ones((1, models, models)) - np.eye(models)
        comparisons = Comparisons.from_wins(wins)
        assert rank_intervals(comparisons, fit(comparisons)).draws == draws
