"""Repeated measurements against Bland & Altman 1986 and 1995, pingouin and hand computation."""

import numpy as np
import pandas as pd
import pingouin
import pytest
from scipy import stats as sps

from stats.agreement.repeats import repeatability, repeated_measures_correlation


@pytest.mark.parametrize("meter", ["WrightFirst", "MiniWrightFirst"])
def test_peak_flow_repeatability(known, data, meter):
    """Bland & Altman 1986 print within-subject standard deviations of 15.3 and 19.9 l/min."""
    case = known["repeatability_pefr_1986"]
    table = pd.read_csv(data / case["data"]["file"])
    found = repeatability(table[meter], table[meter.replace("First", "Second")], multiplier=2)
    assert found.within_sd == pytest.approx(case["expected"][f"within_sd_{meter}"], abs=1e-12)
    assert found.coefficient == pytest.approx(case["expected"][f"coef_rep_{meter}"], abs=1e-12)
    assert round(found.within_sd, 1) == case["printed"][f"within_sd_{meter}"]
    assert found.n == 17


def test_repeatability_by_hand():
    # differences 1, -1, 2: mean square 2
    found = repeatability([2.0, 3.0, 6.0], [1.0, 4.0, 4.0])
    assert (found.within_sd, found.coefficient) == pytest.approx((1, 1.96 * np.sqrt(2)))
    assert (found.bias, found.n) == (pytest.approx(2 / 3), 3)
    assert repeatability([5.0], [5.0]).coefficient == 0
    with pytest.raises(ValueError, match="multiplier"):
        repeatability([1.0], [2.0], 0)
    with pytest.raises(ValueError, match="entry 1 of the second vector"):
        repeatability([1.0, 2.0], [2.0, np.nan])


def test_intramural_ph_and_paco2_1995(known):
    """BMJ 310:446: 8 subjects, 47 measurements, r = -0.51 with 38 degrees of freedom, p < 0.001."""
    table = pingouin.read_dataset("rm_corr")
    case = known["rm_corr_bland_altman_1995"]
    found = repeated_measures_correlation(table["Subject"], table["pH"], table["PacO2"])
    assert found.r == pytest.approx(case["expected"]["r"], abs=1e-10)
    assert round(found.r, 2) == case["printed"]["r"]
    assert (found.degrees, found.n, found.models) == (38, 47, 8) and found.p_value < 0.001
    # pingouin prints the interval with two decimals.
    printed = pingouin.rm_corr(table, "pH", "PacO2", "Subject")["CI95"].iloc[0]
    assert (round(found.interval.low, 2), round(found.interval.high, 2)) == tuple(printed)


def test_within_correlation_is_that_of_deviations_from_each_model_s_mean():
    rng = np.random.default_rng(0)
    model = np.repeat(["a", "b", "c", "d"], [3, 4, 2, 5])
    x = rng.normal(size=14)
    y = 0.5 * x + rng.normal(size=14)
    # A level of its own for each model, opposite in x and y, changes nothing.
    shift = pd.Series(model).map({"a": 0.0, "b": 10.0, "c": 20.0, "d": 30.0}).to_numpy()
    found = repeated_measures_correlation(model, x + shift, y - shift)
    table = pd.DataFrame({"model": model, "x": x, "y": y})
    deviations = table[["x", "y"]] - table.groupby("model")[["x", "y"]].transform("mean")
    r = sps.pearsonr(deviations["x"], deviations["y"]).statistic
    assert found.r == pytest.approx(r) and found.degrees == 14 - 4 - 1
    t = r * np.sqrt(9 / (1 - r**2))
    assert found.p_value == pytest.approx(2 * sps.t.sf(abs(t), 9))
    extra = repeated_measures_correlation([*model, "once"], [*x, 5.0], [*y, -9.0])
    assert extra.r == pytest.approx(r) and extra.notes == ("1 models measured once left out",)


def test_degenerate_repeats():
    few = repeated_measures_correlation(["a", "a", "b", "b"], [1, 2, 3, 4.0], [1, 2, 3, 5.0])
    assert np.isnan([few.r, few.p_value, few.interval.low]).all() and "three are needed" in few.notes[0]
    names = ["a", "a", "b", "b", "c", "c"]
    flat = repeated_measures_correlation(names, [1, 1, 2, 2, 3, 3.0], [1, 2, 3, 5, 1, 7.0])
    assert np.isnan(flat.r) and flat.notes == ("undefined: x does not vary within any model",)
    once = repeated_measures_correlation(["a"], [1.0], [2.0])
    assert np.isnan(once.r) and once.degrees == 0
    exact = repeated_measures_correlation(names, [1, 2, 2, 4, 3, 6.0], [2, 4, 5, 9, 0, 6.0])
    assert exact.r == pytest.approx(1)
    with pytest.raises(ValueError, match="model names"):
        repeated_measures_correlation(["a"], [1.0, 2.0], [2.0, 3.0])


def test_the_value_of_pingouin_and_its_p():
    rng = np.random.default_rng(1)
    table = pd.DataFrame({"model": np.repeat(list("abcde"), 4), "x": rng.normal(size=20)})
    table["y"] = table["x"] + rng.normal(size=20)
    found = repeated_measures_correlation(table["model"], table["x"], table["y"])
    expected = pingouin.rm_corr(table, "x", "y", "model").iloc[0]
    assert (found.r, found.p_value, found.degrees) == pytest.approx(tuple(expected[["r", "pval", "dof"]]))


def test_proportional_repeats_correlate_perfectly():
    """pingouin fails on its assertions here."""
    x = np.random.default_rng(2).normal(size=12)
    found = repeated_measures_correlation(np.repeat(list("abcd"), 3), x, -3 * x)
    assert found.r == pytest.approx(-1) and found.p_value == pytest.approx(0, abs=1e-12)
    assert np.isnan(found.interval.low) and "no interval" in found.notes[0]
