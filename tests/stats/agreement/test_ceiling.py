"""Split halves, reliabilities and the ceiling of agreement, against refits of the halves and definitions."""

import dataclasses
from itertools import combinations

import numpy as np
import pytest

from stats.agreement.ceiling import ceiling, sandwich_reliability
from stats.agreement.sets import agree_sets
from stats.agreement.split_half import split_half
from stats.bootstrap import jackknife_ratings
from stats.bradley_terry import FirthPrior, GaussianPrior, fit
from stats.comparisons import Comparisons

SKILLS = np.linspace(-1, 1, 6)


def make(tasks, seed, skills=SKILLS, noise=1.0, name="t"):
    """Scores skill + normal noise, compared pair by pair."""
    scores = skills + noise * np.random.default_rng(seed).normal(size=(tasks, len(skills)))
    wins = (scores[:, :, None] > scores[:, None, :]).astype(float)
    return Comparisons.from_wins(
        wins, [f"m{i}" for i in range(len(skills))], [f"{name}{t}" for t in range(tasks)]
    )


def correlation_of_halves(sets, half):
    rest = [t for t in sets.tasks if t not in half]
    ratings = [fit(sets.subset(tasks=list(tasks))).ratings for tasks in (half, rest)]
    return np.corrcoef(*ratings)[0, 1]


def soft(tasks, seed, models=4):
    """Every pair won in part by both sides on every task, so that any half has a finite fit."""
    share = np.random.default_rng(seed).uniform(0.2, 0.8, size=(tasks, models, models))
    upper = np.triu(share, 1)
    wins = upper + np.tril(1 - upper.transpose(0, 2, 1), -1)
    return Comparisons.from_wins(wins, [f"m{i}" for i in range(models)], [f"t{t}" for t in range(tasks)])


def test_one_split_is_one_of_the_three_there_are():
    sets = soft(4, seed=0)
    halves = [h for h in combinations(sets.tasks, 2) if sets.tasks[0] in h]
    by_refit = [correlation_of_halves(sets, half) for half in halves]
    seen = set()
    for seed in range(12):
        found = split_half(sets, splits=1, seed=seed)
        which = int(np.argmin(np.abs(np.array(by_refit) - found.half)))
        assert found.half == pytest.approx(by_refit[which], abs=1e-9)
        assert (found.n, found.tasks, found.failed, found.notes) == (4, 4, 0, ())
        # Spearman-Brown for a set twice as long
        assert found.value == pytest.approx(2 * found.half / (1 + found.half), abs=1e-9)
        seen.add(which)
    assert seen == {0, 1, 2}


def test_an_odd_number_of_tasks_is_stepped_up_from_equal_halves():
    found = split_half(soft(7, seed=5), splits=1)
    # Halves of three tasks, the whole of seven.
    k = 7 / 3
    assert found.value == pytest.approx(k * found.half / (1 + (k - 1) * found.half))
    assert (found.low, found.high) == pytest.approx((found.value, found.value))


def test_equal_tasks_agree_perfectly():
    one = soft(1, seed=1).wins[0]
    found = split_half(Comparisons.from_wins(np.stack([one] * 6)))
    assert (found.value, found.half, found.low, found.high) == pytest.approx((1, 1, 1, 1))
    ranks = split_half(Comparisons.from_wins(np.stack([one] * 6)), "spearman_rho")
    assert ranks.value == pytest.approx(1) and ranks.statistic == "spearman_rho"


def test_it_foretells_the_correlation_with_another_set():
    """Mean over ten pairs of sets with the same skills; each single r varies by about 0.05."""
    pairs = [(make(60, seed), make(60, 100 + seed)) for seed in range(10)]
    r = np.mean([np.corrcoef(fit(a).ratings, fit(b).ratings)[0, 1] for a, b in pairs])
    foretold = np.mean([split_half(a, splits=60).value for a, _ in pairs])
    quick = np.mean([sandwich_reliability(a, fit(a)) for a, _ in pairs])
    assert foretold == pytest.approx(r, abs=0.03) and quick == pytest.approx(r, abs=0.03)


def test_models_without_differences_have_no_reliability():
    values = [split_half(make(20, seed, np.zeros(6)), splits=40).half for seed in range(20)]
    # Each r of six unrelated pairs has standard deviation 1 / sqrt(5), their mean over twenty sets 0.1.
    assert abs(np.mean(values)) < 0.3


def test_splits_without_a_finite_fit_are_counted_unless_there_is_a_prior():
    sets = make(12, seed=3, noise=0.8)
    plain = split_half(sets)
    assert 0 < plain.failed < plain.splits == 200
    assert plain.notes == (
        f"{plain.failed} of 200 splits have no finite fit of both halves and were left out",
    )
    for prior in (GaussianPrior(sd=300), FirthPrior()):
        found = split_half(sets, prior=prior)
        assert found.failed == 0 and 0 < found.value < 1
    # One win each way in four tasks: some half always lacks one.
    wins = np.zeros((4, 3, 3))
    wins[:, 0, 1] = wins[:, 1, 2] = wins[:, 0, 2] = 1
    wins[0] = wins[0].T
    none = split_half(Comparisons.from_wins(wins))
    assert np.isnan([none.value, none.half, none.low]).all() and none.failed == none.splits


def test_small_sets_are_undefined():
    few = split_half(soft(3, seed=0))
    assert np.isnan(few.value) and few.notes == ("undefined: 3 tasks: halves need at least 4",)
    pair = split_half(soft(6, seed=0, models=2))
    assert np.isnan(pair.value) and "2 models" in pair.notes[0]
    assert np.isnan(sandwich_reliability(soft(1, seed=0), fit(soft(1, seed=0))))


def test_separated_models_stay_out():
    wins = make(20, seed=1).wins.copy()
    wins[:, 5, :5], wins[:, :5, 5] = 1, 0
    found = split_half(Comparisons.from_wins(wins))
    assert found.n == 5
    assert found.value == split_half(Comparisons.from_wins(wins[:, :5, :5])).value


def test_order_and_names_of_models_do_not_matter():
    sets, order = make(20, seed=1), [3, 1, 5, 0, 2, 4]
    renamed = Comparisons.from_wins(
        sets.wins[:, order][:, :, order], [f"x{9 - i}" for i in order], list(sets.tasks)
    )
    for name in ("value", "half", "low", "high", "failed"):
        assert getattr(split_half(renamed), name) == pytest.approx(getattr(split_half(sets), name))
    assert sandwich_reliability(renamed, fit(renamed)) == pytest.approx(sandwich_reliability(sets, fit(sets)))
    some = split_half(sets, models=["m0", "m2", "m5"])
    assert some.n == 3 and some.value != split_half(sets).value


def test_sandwich_reliability_against_the_jackknife():
    """Sum of squared deviations of the leave-one-task-out ratings, (T-1)/T, is another error variance."""
    sets = make(150, seed=4)
    fitted = fit(sets)
    left_out = jackknife_ratings(sets, fitted)
    error = (149 / 150 * ((left_out - left_out.mean(axis=0)) ** 2).sum(axis=0)).sum() / 5
    expected = 1 - error / fitted.ratings.var(ddof=1)
    assert sandwich_reliability(sets, fitted) == pytest.approx(expected, abs=2e-3)
    # Equal results on all tasks leave no error.
    same = Comparisons.from_wins(np.stack([soft(1, seed=1).wins[0]] * 5))
    assert sandwich_reliability(same, fit(same)) == pytest.approx(1)


@pytest.fixture(scope="module")
def two_sets():
    return make(30, seed=1, name="a"), make(20, seed=2, skills=SKILLS[[1, 0, 2, 3, 5, 4]], name="b")


@pytest.mark.parametrize("prior", [None, GaussianPrior(sd=400)])
def test_ceiling_by_its_definition(two_sets, prior):
    a, b = two_sets
    found = ceiling(a, b, "Dojo", "Smith", replicates=40, seed=7, prior=prior, splits=50)
    observed = np.corrcoef(fit(a, prior=prior).ratings, fit(b, prior=prior).ratings)[0, 1]
    assert found.observed == pytest.approx(observed)
    assert found.expected == pytest.approx(np.sqrt(found.reliability_a.value * found.reliability_b.value))
    assert found.disattenuated == pytest.approx(observed / found.expected)
    streams = np.random.default_rng(7).spawn(4)
    assert found.reliability_b == split_half(b, splits=50, seed=streams[1], prior=prior)
    # Each replicate as comparisons of their own, a task drawn twice under two names.
    drawn = []
    for sets, stream in zip((a, b), streams[2:], strict=True):
        count = len(sets.tasks)
        replicates = []
        for copies in stream.multinomial(count, np.full(count, 1 / count), size=40):
            wins = sets.wins[np.repeat(np.arange(count), copies)]
            resampled = Comparisons.from_wins(wins, sets.models)
            refit = fit(resampled, prior=prior)
            whole = np.isfinite(refit.ratings).all()
            replicates.append((refit.ratings, sandwich_reliability(resampled, refit) if whole else np.nan))
        drawn.append(replicates)
    values = np.array(
        [
            np.corrcoef(x, y)[0, 1] / np.sqrt(p * q) if p > 0 and q > 0 else np.nan
            for (x, p), (y, q) in zip(*drawn, strict=True)
        ]
    )
    limits = np.nanquantile(values, [0.025, 0.975])
    assert (found.interval.low, found.interval.high) == pytest.approx(tuple(limits), abs=1e-6)
    assert found.interval.failed == np.isnan(values).sum()
    assert (found.interval.n, found.interval.unit, found.interval.replicates) == (20, "tasks", 40)


def test_ceiling_says_it_in_words(two_sets):
    a, b = two_sets
    found = ceiling(a, b, "Dojo", "Smith", replicates=0)
    assert found.observed == agree_sets(a, b, replicates=2).pearson_r
    assert found.sentence == (
        f"Dojo agrees with itself at r = {found.reliability_a.value:.2f} and Smith with itself at "
        f"{found.reliability_b.value:.2f}, so two such sets that measure the same would agree at "
        f"{found.expected:.2f}; Smith agrees with Dojo at {found.observed:.2f}."
    )
    assert np.isnan(found.interval.low)


def test_ceiling_is_reproducible_and_blind_to_names(two_sets):
    a, b = two_sets
    first, again = (ceiling(a, b, replicates=30, splits=20) for _ in range(2))
    assert dataclasses.asdict(first) == dataclasses.asdict(again)
    other = ceiling(a, b, replicates=30, splits=20, seed=1)
    assert other.interval.low != first.interval.low
    order = [5, 4, 3, 2, 1, 0]
    turned = Comparisons.from_wins(b.wins[:, order][:, :, order], [b.models[i] for i in order], b.tasks)
    same = ceiling(a, turned, replicates=30, splits=20)
    assert same.disattenuated == pytest.approx(first.disattenuated)
    assert (same.interval.low, same.interval.high) == pytest.approx((first.interval.low, first.interval.high))


def test_ceiling_of_models_rated_in_both(two_sets):
    a, b = two_sets
    found = ceiling(a, b.subset(models=["m0", "m1", "m2", "m4", "m5"]), replicates=20, splits=20)
    assert found.models == ("m0", "m1", "m2", "m4", "m5")
    assert found.reliability_a.n == found.reliability_b.n == 5
    assert "left out, not rated together with the others in both sets: m3" in found.notes


def test_ceilings_that_do_not_exist(two_sets):
    a, b = two_sets
    few = ceiling(a, soft(3, seed=0, models=6))
    assert np.isnan([few.expected, few.disattenuated, few.interval.low]).all() and np.isfinite(few.observed)
    assert few.sentence.startswith("No ceiling") and "3 tasks" in few.sentence
    strangers = ceiling(a, Comparisons.from_wins(b.wins, [f"x{i}" for i in range(6)], b.tasks))
    assert strangers.models == () and np.isnan(strangers.observed)
    # Halves of sets without differences between the models correlate negatively about half of the time.
    level = next(s for seed in range(20) if split_half(s := make(20, seed, np.zeros(6))).value < 0)
    flat = ceiling(a, level, replicates=20)
    assert np.isnan(flat.expected) and any("tells no models apart" in note for note in flat.notes)
    with pytest.raises(ValueError, match="both sets are named"):
        ceiling(a, b, "x", "x")


def test_shared_tasks_and_values_above_one_are_noted(two_sets):
    a, _ = two_sets
    found = ceiling(a, a, replicates=0)
    assert found.observed == pytest.approx(1) and found.disattenuated > 1
    assert any("share 30 tasks" in note for note in found.notes)
    assert any("exceeds 1" in note for note in found.notes)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"statistic": "kendall_tau_b"}, "pearson_r"),
        ({"splits": 0}, "splits"),
        ({"level": 1.5}, "level"),
        ({"models": ["m0", "nobody"]}, "nobody"),
    ],
)
def test_bad_input(options, message):
    with pytest.raises(ValueError, match=message):
        split_half(soft(6, seed=0), **options)


def test_negative_replicates_are_refused(two_sets):
    with pytest.raises(ValueError, match="must not be negative"):
        ceiling(*two_sets, replicates=-1)
