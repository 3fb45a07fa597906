"""Equivalence: pingouin's TOST, hand values for contrasts, and what cannot be tested."""

import numpy as np
import pingouin as pg
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats as sps

from stats.agreement.equivalence import equivalent_contrasts, equivalent_ratings
from stats.bradley_terry import GaussianPrior, fit
from stats.comparisons import Comparisons
from stats.contrasts import contrasts


def duel(won, lost, prefix, models=("a", "b")):
    wins = [[[0, 1], [0, 0]]] * won + [[[0, 0], [1, 0]]] * lost
    return Comparisons.from_wins(wins, models, [f"{prefix}{t}" for t in range(won + lost)])


def draw(tasks, seed, prefix, skill=(0.0, 0.3, 0.9)):
    scores = np.random.default_rng(seed).normal(skill, size=(tasks, len(skill)))
    wins = (scores[:, :, None] > scores[:, None, :]).astype(float)
    return Comparisons.from_wins(wins, list("abc"), [f"{prefix}{t}" for t in range(tasks)])


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 1000), st.floats(0.1, 3))
def test_mean_equivalence_is_pingouins_paired_tost(seed, margin):
    x, y = np.random.default_rng(seed).normal([[0.3], [0.0]], size=(2, 7))
    found = equivalent_ratings(x, y, margin=margin)
    assert found.p == pytest.approx(pg.tost(x, y, bound=margin, paired=True)["pval"].iloc[0], abs=1e-12)
    # Both one-sided tests at 5 % succeed exactly if the 90 % interval lies within the margin.
    low, high = found.interval.low, found.interval.high
    assert found.equivalent == (-margin < low and high < margin) and found.interval.level == pytest.approx(
        0.9
    )
    expected = sps.t.interval(0.9, 6, np.mean(x - y), sps.sem(x - y))
    assert (low, high) == pytest.approx(expected)
    assert (found.interval.n, found.interval.unit) == (7, "models")


def test_centred_ratings_have_no_mean_difference_to_test(published):
    found = equivalent_ratings(published["dojo"], published["smith"], margin=50)
    assert abs(found.difference) < 0.1
    assert any("location not identified" in note for note in found.notes)


def test_mean_equivalence_without_spread_or_models():
    for x, y in (([1, 2, 3], [2, 3, 4]), ([1], [1]), ([], [])):
        found = equivalent_ratings(x, y, margin=5)
        assert np.isnan(found.p) and not found.equivalent and "no test" in found.notes[0]
        assert np.isnan(found.interval.low)
    for margin in (0, -1, np.inf, np.nan):
        with pytest.raises(ValueError, match="margin"):
            equivalent_ratings([1, 2], [1, 3], margin=margin)
    with pytest.raises(ValueError, match="one-sided"):
        equivalent_ratings([1, 2], [1, 3], margin=1, level=0.4)
    with pytest.raises(ValueError, match="finite"):
        equivalent_ratings([1, np.nan], [1, 3], margin=1)
    with pytest.raises(ValueError, match="one length"):
        equivalent_ratings([1, 2], [1], margin=1)


def test_two_contrasts_by_hand():
    # a: 3 of 4 tasks, 400 log10 3 = 190.849 points, variance (4/3 x 400/ln 10)^2 = 231.624^2, 3 df.
    # b: 6 of 10: 400 log10 1.5 = 70.437, variance T/(T-1) sum (won - p)^2 / (T p q)^2 = 10/9 / 2.4 = 0.46296
    # in natural units: 118.198^2, 9 df.
    found = equivalent_contrasts(duel(3, 1, "s"), duel(6, 4, "t"), margin=200)
    v_a, v_b = 231.623724**2, (400 / np.log(10)) ** 2 * 10 / 9 / 2.4
    error = np.sqrt(v_a + v_b)
    degrees = (v_a + v_b) ** 2 / (v_a**2 / 3 + v_b**2 / 9)
    shift = 190.848502 - 70.436504
    assert found.shift[0] == pytest.approx(shift, abs=1e-5)
    assert (found.standard_error[0], found.degrees[0]) == pytest.approx((error, degrees))
    below, above = sps.t.sf((shift + 200) / error, degrees), sps.t.cdf((shift - 200) / error, degrees)
    assert found.p_equivalent[0] == pytest.approx(max(below, above))
    assert found.p_different[0] == pytest.approx(2 * sps.t.sf(shift / error, degrees))
    half = sps.t.ppf(0.95, degrees) * error
    assert (found.low[0], found.high[0]) == pytest.approx((shift - half, shift + half))
    assert (found.share_equivalent, found.share_different, found.share_undecided) == (0, 0, 1)
    assert (found.n, found.unit, found.margin, found.notes) == (4, "tasks", 200, ())
    # A margin wide enough for the interval shows equivalence.
    assert (
        equivalent_contrasts(duel(3, 1, "s"), duel(6, 4, "t"), margin=shift + half + 1).share_equivalent == 1
    )
    assert (
        equivalent_contrasts(duel(3, 1, "s"), duel(6, 4, "t"), margin=shift + half - 1).share_equivalent == 0
    )


def test_reversed_order_is_shown_different_and_many_tasks_equivalent():
    found = equivalent_contrasts(duel(30, 10, "s"), duel(10, 30, "t"), margin=100)
    assert (found.share_different, found.different.tolist(), found.equivalent.tolist()) == (
        1,
        [True],
        [False],
    )
    same = equivalent_contrasts(draw(4000, 1, "s"), draw(4000, 2, "t"), margin=100)
    assert same.share_equivalent == 1 and same.different.sum() == 0
    # A shift that is certain but small: within the margin counts as equivalent.
    small = equivalent_contrasts(duel(6000, 4000, "s"), duel(5500, 4500, "t"), margin=100)
    assert small.p_different[0] < 1e-6 and (small.share_equivalent, small.share_different) == (1, 0)


def test_pairs_agree_with_the_contrasts_and_p_values_are_adjusted():
    a, b = draw(30, 3, "s"), draw(20, 4, "t")
    found = equivalent_contrasts(a, b, margin=150, adjust="none")
    one, two = contrasts(a, fit(a)), contrasts(b, fit(b))
    np.testing.assert_allclose(found.shift, one.difference - two.difference, atol=1e-9)
    np.testing.assert_allclose(found.standard_error, np.hypot(one.standard_error, two.standard_error))
    holm = equivalent_contrasts(a, b, margin=150)
    order = np.argsort(found.p_equivalent)
    by_hand = np.minimum(np.maximum.accumulate(found.p_equivalent[order] * [3, 2, 1]), 1)
    np.testing.assert_allclose(holm.p_equivalent[order], by_hand)
    assert found.frame().columns[:2].tolist() == ["model", "other"] and len(found.frame()) == 3
    assert found.share_equivalent + found.share_different + found.share_undecided == pytest.approx(1)
    # Swapping the sets turns the sign; so does reordering the models of one of them not.
    np.testing.assert_allclose(equivalent_contrasts(b, a, margin=150, adjust="none").shift, -found.shift)
    moved = Comparisons.from_wins(b.wins[:, ::-1, ::-1], b.models[::-1], b.tasks)
    np.testing.assert_allclose(equivalent_contrasts(a, moved, margin=150, adjust="none").shift, found.shift)


def test_what_is_left_out_or_does_not_hold():
    # c is undefeated in the first set: no difference to it; d is in one set only.
    wins = np.zeros((6, 3, 3))
    wins[:, 2, :2] = 1
    wins[:4, 0, 1] = wins[4:, 1, 0] = 1
    a = Comparisons.from_wins(wins, ["a", "b", "c"], list("uvwxyz"))
    b = draw(20, 5, "t")
    found = equivalent_contrasts(a, b, margin=100)
    assert found.frame()[["model", "other"]].to_numpy().tolist() == [["a", "b"]]
    assert "2 of 3 pairs left out" in found.notes[0]
    # A prior makes c's differences finite, but the tasks say nothing of their errors.
    prior = GaussianPrior(400)
    whole = equivalent_contrasts(a, b, margin=100, fit_a=fit(a, prior=prior), fit_b=fit(b, prior=prior))
    assert len(whole.shift) == 1 and "2 of 3 pairs left out" in whole.notes[0]
    assert any("share 20 tasks" in note for note in equivalent_contrasts(b, b, margin=100).notes)
    strangers = duel(3, 1, "q", models=("y", "z"))
    nothing = equivalent_contrasts(a, strangers, margin=100)
    assert nothing.models == () and np.isnan(nothing.share_equivalent) and nothing.frame().empty
    one_task = equivalent_contrasts(Comparisons.from_wins([[0, 3], [1, 0]], ["a", "b"]), b, margin=100)
    assert np.isnan(one_task.share_undecided) and "fewer than two tasks" in one_task.notes[0]
    with pytest.raises(ValueError, match="two scales"):
        equivalent_contrasts(b, b, margin=100, fit_a=fit(b, scale=200))
    with pytest.raises(ValueError, match="margin"):
        equivalent_contrasts(a, b, margin=-25)
    for adjust in ("bonferroni", None):
        with pytest.raises(ValueError, match="expected 'holm', 'fdr_bh' or 'none'"):
            equivalent_contrasts(a, b, margin=25, adjust=adjust)
