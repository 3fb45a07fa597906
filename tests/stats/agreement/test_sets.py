"""Agreement of two sets of comparisons: intervals that speak of tasks."""

import numpy as np
import pytest

from stats.agreement.correlation import STATISTICS, pearson_r
from stats.agreement.inversion import METHOD
from stats.agreement.pair import PART_WHOLE
from stats.agreement.sets import PERCENTILE_WARNING, agree_sets
from stats.bootstrap import bootstrap_ratings
from stats.bradley_terry import GaussianPrior, fit
from stats.comparisons import Comparisons


def rename_tasks(scores, prefix):
    return scores.assign(task=prefix + scores["task"])


def test_intervals_speak_of_tasks_and_are_reproducible(make_scores):
    a = Comparisons.from_scores(rename_tasks(make_scores(tasks=30, seed=11), "a"))
    b = Comparisons.from_scores(rename_tasks(make_scores(tasks=20, seed=12), "b"))
    found = agree_sets(a, b, "A", "B", replicates=300, seed=5)
    x, y = fit(a).ratings, fit(b).ratings
    assert found.pearson_r == pytest.approx(np.corrcoef(x, y)[0, 1], abs=1e-12)
    assert set(found.intervals) == set(STATISTICS)
    for name, interval in found.intervals.items():
        method = "basic bootstrap" if name == "slope" else METHOD
        assert (interval.method, interval.n, interval.unit) == (method, 20, "tasks")
        assert interval.low <= interval.high, name
    again = agree_sets(a, b, "A", "B", replicates=300, seed=5)
    assert again.intervals == found.intervals
    assert agree_sets(a, b, replicates=300, seed=6).intervals != found.intervals
    assert not any("share" in note for note in found.notes)


def test_sets_that_share_tasks_or_lack_them_say_so(make_scores):
    scores = make_scores(tasks=10, seed=13)
    whole = Comparisons.from_scores(scores)
    part = Comparisons.from_scores(scores[scores["task"] < "t005"])
    found = agree_sets(whole, part, replicates=50)
    assert any(note.startswith(PART_WHOLE) and "share 5 tasks" in note for note in found.notes)
    single = Comparisons.from_scores(scores[scores["task"] == "t001"])
    lone = agree_sets(whole, single, replicates=50)
    assert not lone.intervals and any("no task bootstrap" in note for note in lone.notes)


def test_failed_replicates_are_counted(make_scores):
    wins = np.zeros((5, 2, 2))
    wins[:4, 0, 1] = wins[4, 1, 0] = 1
    a, b = (Comparisons.from_wins(wins, ["x", "y"], [f"{s}{t}" for t in range(5)]) for s in "ab")
    found = agree_sets(a, b, replicates=200)
    failed = found.intervals["slope"].failed
    assert failed > 0 and any(f"{failed} of 200 bootstrap replicates" in note for note in found.notes)


def test_groups_without_a_common_scale_are_not_mixed(make_scores):
    scores = make_scores(tasks=12, models=5, seed=14)
    whole = Comparisons.from_scores(scores)
    first = scores["task"] < "t006"
    split = scores[(first & (scores["model"] < "m3")) | (~first & (scores["model"] >= "m3"))]
    found = agree_sets(
        Comparisons.from_scores(rename_tasks(split, "s")), whole, "split", "whole", replicates=20
    )
    assert found.models == ("m0", "m1", "m2")
    assert any(note.startswith("split: m3, m4 left out") for note in found.notes)


def test_basic_and_percentile_limits_are_quantiles_of_the_replicates(make_scores):
    """By definition: [q_low, q_high], and mirrored at the estimate; the streams are those of the seed."""
    a = Comparisons.from_scores(rename_tasks(make_scores(tasks=30, seed=15), "a"))
    b = Comparisons.from_scores(rename_tasks(make_scores(tasks=25, seed=16), "b"))
    streams = np.random.default_rng(3).spawn(2)
    x, y = (bootstrap_ratings(c, 200, stream) for c, stream in zip((a, b), streams, strict=True))
    usable = np.isfinite(x).all(axis=1) & np.isfinite(y).all(axis=1)
    low, high = np.quantile(pearson_r(x[usable], y[usable]), [0.05, 0.95])
    percentile = agree_sets(a, b, method="percentile", level=0.9, replicates=200, seed=3)
    found = percentile.intervals["pearson_r"]
    assert (found.low, found.high) == pytest.approx((low, high), abs=1e-12)
    assert PERCENTILE_WARNING in percentile.notes
    basic = agree_sets(a, b, method="basic", level=0.9, replicates=200, seed=3)
    r, found = basic.pearson_r, basic.intervals["pearson_r"]
    assert (found.low, found.high) == pytest.approx((2 * r - high, min(2 * r - low, 1)), abs=1e-12)
    assert PERCENTILE_WARNING not in basic.notes


def test_bca_moves_the_percentiles_up_where_replicates_lie_below(make_scores):
    """Noise of resampling lowers r, so the bias correction must raise both limits."""
    a = Comparisons.from_scores(rename_tasks(make_scores(tasks=40, seed=17), "a"))
    b = Comparisons.from_scores(rename_tasks(make_scores(tasks=40, seed=18), "b"))
    bca, percentile = (
        agree_sets(a, b, method=method, replicates=400, seed=1).intervals["pearson_r"]
        for method in ("bca", "percentile")
    )
    assert "BCa" in bca.method and bca.n == 40
    assert bca.low > percentile.low and bca.high >= percentile.high


def test_an_unknown_method_is_refused(make_scores):
    a = Comparisons.from_scores(rename_tasks(make_scores(tasks=5), "a"))
    b = Comparisons.from_scores(rename_tasks(make_scores(tasks=5), "b"))
    with pytest.raises(ValueError, match="method='exact'"):
        agree_sets(a, b, method="exact", replicates=5)


def test_a_prior_keeps_separated_models_in(make_scores):
    """The best model wins every comparison: no rating without a prior."""
    scores = make_scores(tasks=12, models=5, seed=19)
    best = scores["model"] == "m4"
    sign = np.where(scores["higher_is_better"], 1.0, -1.0)
    scores = scores.assign(score=scores["score"].where(~best, 99 * sign), valid=scores["valid"] | best)
    a, b = (Comparisons.from_scores(rename_tasks(scores, prefix)) for prefix in "ab")
    assert agree_sets(a, b, replicates=20).models == ("m0", "m1", "m2", "m3")
    found = agree_sets(a, b, "A", "B", replicates=20, prior=GaussianPrior(300.0))
    assert found.n == 5 and any("A: m4 finite only by the prior" in note for note in found.notes)
