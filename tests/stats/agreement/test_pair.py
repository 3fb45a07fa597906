"""Agreement of rating tables: the paper's figures, degenerate input, and the task bootstrap."""

import dataclasses

import numpy as np
import pandas as pd
import pytest
from scipy import stats as sps

from stats.agreement.pair import LOCATION, PART_WHOLE, agree, align


def table(values):
    return {f"m{i}": value for i, value in enumerate(values)}


def test_published_table_2_to_three_decimals(data, published):
    printed = pd.read_csv(data / "agreement_published.csv")
    for row in printed.to_dict("records"):
        a, b = row.pop("pair").split("-")
        found = agree(published[a], published[b], a, b)
        assert {name: round(getattr(found, name), 3) for name in row} == row
        assert any(note.startswith(LOCATION) for note in found.notes)


def test_as_printed_the_table_contradicts_itself(data):
    """The printed o4-mini row gives r 0.977 where the paper prints 0.982."""
    printed = pd.read_csv(data / "overall_elo_as_printed.csv", index_col="model")
    assert round(agree(printed["dojo"], printed["smith"]).pearson_r, 3) == 0.977


def test_two_sets_alone(published):
    """Alpha 0.979 and ICC(2,1) 0.963 for Dojo and Smith alone, computed once beside the published figures."""
    found = agree(published["dojo"], published["smith"])
    assert (round(found.cronbach_alpha, 3), round(found.icc_2_1, 3)) == (0.979, 0.963)
    assert found.bland_altman is not None
    assert found.bland_altman.bias == pytest.approx(-0.0125)  # 7999.9 / 8 - 8000.0 / 8
    assert (found.top3_chance, found.top5_chance) == (3 / 8, 5 / 8)


def test_intervals_from_ratings_alone_name_the_models_as_sample(published):
    found = agree(published["dojo"], published["smith"], level=0.9)
    interval = found.intervals["pearson_r"]
    z, half = np.arctanh(found.pearson_r), sps.norm.ppf(0.95) / np.sqrt(5)
    assert (interval.low, interval.high) == pytest.approx((np.tanh(z - half), np.tanh(z + half)))
    assert (interval.level, interval.n, interval.unit) == (0.9, 8, "models")
    assert all("models as the sample" in i.method for i in found.intervals.values())


def test_aligned_by_name_and_dropped_by_name():
    a = pd.Series({"x": 1.0, "y": 2.0, "z": 3.0, "only_a": 9.0, "hole": 4.0})
    b = {"z": 30.0, "y": 20.0, "x": 10.0, "hole": np.nan}
    found = agree(a, b, "left", "right")
    assert found.models == ("x", "y", "z") and found.pearson_r == pytest.approx(1)
    assert found.dropped == {"hole": "no rating in right", "only_a": "no rating in right"}
    assert "left out: hole, only_a" in found.notes
    assert dataclasses.asdict(found)["n"] == 3


def test_align_many():
    models, matrix, dropped = align({"a": {"x": 1, "y": 2}, "b": {"y": 3}, "c": {"y": 4, "x": 5}})
    assert (models, matrix.tolist(), dropped) == (("y",), [[2, 3, 4]], {"x": "no rating in b"})
    with pytest.raises(ValueError, match="b: rating 'high' of x is not a number"):
        align({"b": {"x": "high"}})
    with pytest.raises(ValueError, match="a: model x is listed twice"):
        align({"a": pd.Series([1.0, 2.0], index=["x", "x"])})


@pytest.mark.parametrize("n", [0, 1, 2, 3])
def test_few_models(n):
    found = agree(table([1.0, 3.0, 2.0][:n]), table([10.0, 11.0, 15.0][:n]))
    notes = " ".join(found.notes)
    assert found.n == n and "pearson_r" not in found.intervals
    if n == 0:
        assert "no model" in notes and found.bland_altman is None
    if n < 2:
        assert np.isnan([found.pearson_r, found.spearman_rho, found.kendall_tau_b]).all()
    if n == 2:
        assert found.pearson_r == pytest.approx(1, abs=1e-15) and "no information" in notes
    if n == 3:
        assert "no Fisher interval" in notes and found.top3_overlap == 1 and "Top-3 is 1 by" in notes
    if n < 3:
        assert np.isnan([found.top3_overlap, found.top3_chance]).all()
    assert np.isnan(found.top5_overlap)


def test_constant_and_infinite_ratings_say_so():
    flat = agree(table([5.0] * 6), table(range(6)), "flat", "slope")
    assert np.isnan([flat.pearson_r, flat.spearman_rho, flat.kendall_tau_b, flat.r_squared]).all()
    assert flat.ccc == 0 and any("flat is constant" in note for note in flat.notes)
    # Ties at every cut: each of six models is in the Top-3 with probability 3/6.
    assert flat.top3_overlap == pytest.approx(0.5)
    endless = agree(table([1.0, 2.0, 3.0, 4.0, np.inf]), table(range(5)), "a", "b")
    assert endless.spearman_rho == pytest.approx(1) and np.isnan([endless.pearson_r, endless.ccc]).all()
    assert endless.bland_altman is None and np.isnan(endless.icc_2_1)
    assert any("a has infinite ratings" in note for note in endless.notes)


def test_notes_on_location_and_part_whole():
    free = agree(table([1.0, 2.0, 4.0, 8.0]), table([2.0, 3.0, 5.0, 9.5]))
    assert not any(note.startswith((LOCATION, PART_WHOLE)) for note in free.notes)
    # Centred alike before the model that only one set has was left out.
    left = {"x": 900.0, "y": 1000.0, "z": 1100.0}
    right = {"x": 950.0, "y": 1020.0, "w": 1030.0}
    assert any(note.startswith(LOCATION) for note in agree(left, right).notes)
    assert any(note.startswith(PART_WHOLE) for note in agree(left, right, part_whole=True).notes)
    with pytest.raises(ValueError, match="both sets are named"):
        agree(left, right, "a", "a")


def test_a_bias_that_only_the_models_left_out_make_is_named_so() -> None:
    """Means 1000 over three models each; without c and d, a and b differ by 100 in both sets' means."""
    found = agree({"a": 1100.0, "b": 1000.0, "c": 900.0}, {"a": 1000.0, "b": 900.0, "d": 1100.0})
    assert found.bland_altman is not None
    assert found.bland_altman.bias == 100.0
    assert any("comes from the models left out" in note for note in found.notes)
    assert not any("zero by construction" in note for note in found.notes)
