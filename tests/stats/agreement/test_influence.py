"""Leaving out models and tasks, against recomputation of each case."""

from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stats.agreement.correlation import STATISTICS
from stats.agreement.influence import leave_one_model_out, leave_one_task_out, task_influence
from stats.agreement.pair import agree
from stats.agreement.sets import agree_sets
from stats.bootstrap import jackknife_ratings
from stats.bradley_terry import GaussianPrior, fit
from stats.comparisons import Comparisons


def make(tasks, seed, models=5, name="t"):
    scores = 0.5 * np.arange(models) + np.random.default_rng(seed).normal(size=(tasks, models))
    wins = (scores[:, :, None] > scores[:, None, :]).astype(float)
    return Comparisons.from_wins(wins, [f"m{i}" for i in range(models)], [f"{name}{t}" for t in range(tasks)])


def without(sets, task):
    return sets.subset(tasks=[t for t in sets.tasks if t != task])


def figures(agreement):
    return [getattr(agreement, name) for name in STATISTICS]


def test_each_model_left_out_of_the_published_table(published):
    found = leave_one_model_out(published["dojo"], published["smith"], "Dojo", "Smith")
    np.testing.assert_allclose(found.full, figures(agree(published["dojo"], published["smith"])))
    for model, row in zip(found.left_out, found.without, strict=True):
        rest = published.drop(index=model)
        np.testing.assert_allclose(row, figures(agree(rest["dojo"], rest["smith"])), err_msg=model)
    np.testing.assert_array_equal(found.change, found.without - found.full)
    assert (found.n, found.notes, found.sets, found.swaps.size) == (8, (), (), 0)
    assert found.statistics == tuple(STATISTICS)


def test_an_outlier_is_the_most_influential_model():
    x = {f"m{i}": float(i) for i in range(8)}
    y = x | {"m3": 9.0}
    found = leave_one_model_out(x, y)
    # Without m3 the others lie on one line.
    for name in ("pearson_r", "spearman_rho", "kendall_tau_b", "ccc"):
        assert found.most_influential[name] == "m3"
        column = found.statistics.index(name)
        assert found.without[found.left_out.index("m3"), column] == pytest.approx(1)
        assert found.left_out[found.ordered(name)[0]] == "m3"
    same = leave_one_model_out(x, x)
    assert set(same.most_influential.values()) == {None}


@settings(max_examples=25, deadline=None)
@given(st.lists(st.integers(-3, 3), min_size=12, max_size=12), st.permutations(range(6)), st.floats(0.5, 9))
def test_order_names_and_scale_of_models_do_not_matter(values, order, scale):
    names = [f"m{i}" for i in range(6)]
    a, b = dict(zip(names, values[:6], strict=True)), dict(zip(names, values[6:], strict=True))
    found = leave_one_model_out(a, b)
    turned = [names[i] for i in order]
    again = leave_one_model_out(
        {f"x{m}": a[m] * scale for m in turned}, {f"x{m}": b[m] * scale for m in turned}
    )
    assert again.left_out == tuple(f"x{m}" for m in found.left_out)
    np.testing.assert_allclose(again.without, found.without, atol=1e-9)


def test_few_constant_and_missing_models():
    for n in range(3):
        table = {f"m{i}": float(i) for i in range(n)}
        found = leave_one_model_out(table, table)
        column = found.statistics.index("pearson_r")
        assert found.without.shape == (n, len(STATISTICS)) and np.isnan(found.without[:, column]).all()
        assert found.notes == (f"n = {n}: without one model no correlation is left",)
        assert found.most_influential["pearson_r"] is None
    # Without c, a is constant: no correlation, and c goes last in the order.
    found = leave_one_model_out({"a": 1, "b": 1, "c": 2, "d": 1}, {"a": 1, "b": 2, "c": 3, "d": 4})
    row = found.without[found.left_out.index("c")]
    assert np.isnan(row[found.statistics.index("pearson_r")])
    assert found.left_out[found.ordered("pearson_r")[-1]] == "c"
    holes = leave_one_model_out(pd.Series({"a": 1, "b": np.nan, "c": 2}), {"a": 1, "b": 2, "e": 3})
    assert holes.left_out == ("a",) and "left out: b, c, e" in holes.notes


def test_each_task_left_out_of_two_sets():
    a, b = make(12, 1, name="a"), make(9, 2, name="b")
    found = leave_one_task_out(a, b, "Dojo", "Smith")
    assert found.left_out == a.tasks + b.tasks
    assert found.sets == ("Dojo",) * 12 + ("Smith",) * 9
    np.testing.assert_allclose(found.full, figures(agree_sets(a, b, replicates=2)), atol=1e-9)
    for row, (set_name, task) in enumerate(zip(found.sets, found.left_out, strict=True)):
        x, y = (without(a, task), b) if set_name == "Dojo" else (a, without(b, task))
        np.testing.assert_allclose(
            found.without[row], figures(agree_sets(x, y, replicates=2)), atol=1e-8, err_msg=task
        )
        # Where all pairs meet on all tasks, the order of the ratings is that of the wins.
        before = (a if set_name == "Dojo" else b).total.sum(axis=1)
        after = (x if set_name == "Dojo" else y).total.sum(axis=1)
        pairs = combinations(range(5), 2)
        assert found.swaps[row] == sum(
            (before[i] - before[j]) * (after[i] - after[j]) < 0 for i, j in pairs
        ), task
    assert found.swaps.any()
    top = found.ordered("pearson_r")
    column = found.statistics.index("pearson_r")
    assert (np.diff(np.abs(found.change[top, column])) <= 0).all()
    assert found.most_influential["pearson_r"] == found.left_out[top[0]]


def test_task_influence_equals_the_jackknife():
    sets = make(15, 4)
    found, fitted = task_influence(sets), fit(sets)
    np.testing.assert_allclose(found.change, jackknife_ratings(sets, fitted) - fitted.ratings, atol=1e-6)
    np.testing.assert_array_equal(found.largest, np.abs(found.change).max(axis=1))
    assert (np.diff(found.largest[found.ordered]) <= 0).all()
    assert found.unrated == ((),) * 15 and found.notes == ()
    # A task on which all tie pulls all ratings together: without it they spread.
    tie = np.full((1, 5, 5), 0.5) - 0.5 * np.eye(5)
    tied = Comparisons.from_wins(np.concatenate([sets.wins, tie]))
    last = task_influence(tied)
    assert np.ptp(fit(tied).ratings + last.change[-1]) > np.ptp(fit(tied).ratings)
    assert last.swaps[-1] == 0


def test_two_models_in_closed_form():
    """R_a - R_b = 400 log10(wins / losses): 3 to 1 with all tasks, 2 to 1 without one that a won."""
    wins = np.zeros((4, 2, 2))
    wins[:3, 0, 1] = wins[3, 1, 0] = 1
    found = task_influence(Comparisons.from_wins(wins, ["a", "b"]))
    half = 200 * np.log10(2 / 3)
    np.testing.assert_allclose(found.change[:3], np.tile([half, -half], (3, 1)), atol=1e-9)
    np.testing.assert_allclose(found.largest[:3], -half)
    # The fourth is b's only win: without it neither model has a rating, though their order stays.
    assert found.unrated == ((), (), (), ("a", "b")) and np.isnan(found.largest[3])
    assert found.swaps.tolist() == [0, 0, 0, 0] and found.ordered[0] == 3


def test_a_task_that_carries_a_rating():
    # m2 beats the others on the first task only; m0 and m1 beat each other once.
    wins = np.zeros((3, 3, 3))
    wins[0, 2, 0] = wins[0, 2, 1] = wins[0, 0, 1] = 1
    wins[1, 0, 1] = wins[1, 0, 2] = wins[1, 1, 2] = 1
    wins[2, 1, 0] = wins[2, 0, 2] = wins[2, 1, 2] = 1
    sets = Comparisons.from_wins(wins, tasks=["x", "y", "z"])
    found = task_influence(sets)
    assert found.unrated[0] == ("2",) and np.isnan(found.change[0]).all()
    # Without z, m1 beats m0 no more: 0 > 1, and each exchanged wins with 2, so all are rated still.
    assert found.unrated[1] == found.unrated[2] == ()
    both = leave_one_task_out(sets, Comparisons.from_wins(wins, tasks=["u", "v", "w"]))
    assert np.isnan(both.without[0]).all() and np.isfinite(both.without[1, both.statistics.index("ccc")])
    assert "a: without x, 2 has no finite rating: no figures" in both.notes
    with_prior = task_influence(sets, prior=GaussianPrior(sd=400))
    assert with_prior.unrated == ((), (), ()) and np.isfinite(with_prior.change).all()


def test_a_task_that_joins_two_groups():
    wins = np.zeros((3, 4, 4))
    wins[0, 0, 1] = wins[0, 2, 3] = wins[1, 1, 0] = wins[1, 3, 2] = 1
    wins[2, 1, 2] = wins[2, 2, 1] = 0.5
    found = task_influence(Comparisons.from_wins(wins))
    # Without it each pair is rated apart, on no common scale; the pair named second counts as lost.
    assert found.unrated[2] == ("2", "3") and found.swaps[2] == 0


def test_a_difference_of_sums_is_no_win():
    """0.1 + 0.2 + 0.3 - 0.3 - 0.2 leaves rounding, which must not pass for a win of b."""
    wins = np.zeros((3, 2, 2))
    wins[:, 0, 1] = 1
    wins[:, 1, 0] = [0.1 + 0.2, 0, 0]
    wins[1:, 0, 1] = [0.1, 0.2]
    found = task_influence(Comparisons.from_wins(wins, ["a", "b"]))
    assert found.unrated == (("a", "b"), (), ())


def test_only_one_task_with_comparisons():
    wins = np.zeros((2, 2, 2))
    wins[0] = [[0, 0.5], [0.5, 0]]
    found = task_influence(Comparisons.from_wins(wins, ["a", "b"]))
    assert found.unrated == (("a", "b"), ()) and found.change[1].tolist() == [0, 0]


def test_models_without_a_rating_are_named():
    wins = np.concatenate([make(6, 3).wins, np.zeros((6, 0, 5))], axis=1)
    wins[:, 4, :4], wins[:, :4, 4] = 1, 0
    found = task_influence(Comparisons.from_wins(wins, list("abcde")))
    assert found.notes == ("e has no rating with all tasks (separated)",)
    assert np.isnan(found.change[:, 4]).all() and np.isfinite(found.largest).any()


def test_bad_input():
    one, two = make(1, 0), make(4, 0)
    for call in (lambda: task_influence(one), lambda: leave_one_task_out(two, one)):
        with pytest.raises(ValueError, match="at least two tasks"):
            call()
    with pytest.raises(ValueError, match="named"):
        leave_one_task_out(two, two, "x", "x")
    with pytest.raises(ValueError, match="different models"):
        task_influence(two, fit(make(4, 0, models=3)))
