"""The one call behind boards: it must say what its parts say."""

import json

import numpy as np
import pandas as pd
import pytest

from stats.bradley_terry import FirthPrior, GaussianPrior, Status, fit
from stats.comparisons import Comparisons
from stats.contrasts import contrasts
from stats.ranks import rank_intervals
from stats.ratings import rate
from stats.sandwich import rating_intervals


def test_rate_joins_the_parts_best_first(make_scores):
    scores = make_scores(tasks=25, models=5, attempts=2, seed=4)
    rated = rate(scores, seed=3)
    comparisons = Comparisons.from_scores(scores)
    fitted = fit(comparisons)
    index = [comparisons.models.index(model) for model in rated.models]
    np.testing.assert_array_equal(rated.elo, fitted.ratings[index])
    np.testing.assert_array_equal(rated.elo_low, rating_intervals(comparisons, fitted).low[index])
    assert (np.diff(rated.elo) <= 0).all()
    assert rated.rank.tolist() == [1, 2, 3, 4, 5]
    placed = rank_intervals(comparisons, fitted, seed=3)
    np.testing.assert_array_equal([rated.rank_low, rated.rank_high], [placed.low[index], placed.high[index]])
    assert rated.n_tasks.tolist() == [25] * 5
    method = json.loads(json.dumps(rated.method, allow_nan=False))
    assert method["rank_interval"] == {
        "method": placed.method, "kind": "marginal", "level": 0.95, "unit": "tasks", "draws": 10_000,
        "seed": 3,
    }  # fmt: skip
    assert method["converged"] is True and method["anchor"] is None
    assert "each pair on each task" in method["weights"]
    assert rate(comparisons).method["weights"] == "as given"
    assert len(contrasts(rated.comparisons, rated.fitted).p) == 10
    assert method["elo_interval"]["level"] == 0.95 and method["prior"] is None


def test_rate_is_reproducible_and_blind_to_row_order(make_scores):
    scores = make_scores(seed=6)
    first, second = rate(scores), rate(scores.sample(frac=1, random_state=1))
    assert first.models == second.models
    for name in ("elo", "elo_low", "elo_high", "rank_low", "rank_high", "win_rate"):
        np.testing.assert_array_equal(getattr(first, name), getattr(second, name))


def test_monotone_rescaling_of_a_task_changes_nothing(make_scores):
    scores = make_scores(seed=7)
    mapped = scores.assign(score=np.where(scores["task"] < "t010", np.exp(scores["score"]), scores["score"]))
    np.testing.assert_allclose(rate(mapped).elo, rate(scores).elo, atol=1e-9)


def test_do_nothing_is_last_without_a_number_unless_a_prior_is_given(make_scores):
    scores = make_scores(tasks=10, models=4, seed=8)
    scores.loc[scores["model"] == "m0", "valid"] = False
    scores.loc[scores["model"] != "m0", "valid"] = True
    rated = rate(scores)
    assert rated.models[-1] == "m0" and rated.status[-1] is Status.SEPARATED
    assert np.isnan(rated.elo[-1]) and rated.rank[-1] == 4
    assert np.isfinite(rated.elo[:-1]).all()
    with_prior = rate(scores, prior=GaussianPrior(400))
    assert np.isfinite(with_prior.elo).all() and with_prior.models[-1] == "m0"
    assert with_prior.method["prior"] == {"kind": "gaussian", "sd": 400}
    firth = rate(scores, prior=FirthPrior())
    assert np.isfinite(firth.elo).all() and firth.method["prior"] == {"kind": "firth"}
    with pytest.raises(ValueError, match="m0"):
        rate(scores, strict=True)


def test_an_anchor_shifts_all_ratings_and_nothing_else(make_scores):
    scores = make_scores(seed=9)
    plain, anchored = rate(scores), rate(scores, anchor=("m2", 1500))
    assert anchored.models == plain.models
    shift = 1500 - plain.elo[plain.models.index("m2")]
    for name in ("elo", "elo_low", "elo_high"):
        np.testing.assert_allclose(getattr(anchored, name), getattr(plain, name) + shift, atol=1e-8)
    for name in ("rank", "rank_low", "rank_high", "win_rate"):
        np.testing.assert_array_equal(getattr(anchored, name), getattr(plain, name))
    assert anchored.method["anchor"] == {"model": "m2", "rating": 1500}


def test_simultaneous_rank_intervals_hold_the_marginal_ones(make_scores):
    scores = make_scores(tasks=40, seed=10)
    marginal, joint = rate(scores), rate(scores, rank_interval="simultaneous")
    assert ((joint.rank_low <= marginal.rank_low) & (marginal.rank_high <= joint.rank_high)).all()
    assert joint.method["rank_interval"]["kind"] == "simultaneous"


def test_one_task_and_one_model():
    rows = [("t", model, 0, score, True, True) for model, score in (("a", 1.0), ("b", 1.0))]
    columns = ["task", "model", "attempt", "score", "valid", "higher_is_better"]
    tied = rate(pd.DataFrame(rows, columns=columns))
    np.testing.assert_array_equal(tied.elo, [1000, 1000])
    np.testing.assert_array_equal(tied.rank, [1, 1])
    assert np.isnan(tied.elo_low).all() and np.isnan(tied.rank_low).all()
    alone = rate(pd.DataFrame(rows[:1], columns=columns))
    assert alone.elo.tolist() == [1000.0] and np.isnan(alone.win_rate).all()


def test_no_shared_task_is_an_error():
    rows = [("t", "a", 0, 1.0, True, True), ("u", "b", 0, 1.0, True, True)]
    columns = ["task", "model", "attempt", "score", "valid", "higher_is_better"]
    with pytest.raises(ValueError, match="no comparisons"):
        rate(pd.DataFrame(rows, columns=columns))
