"""Bland-Altman figures against the 1986 paper and hand computation."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats as sps

from stats.agreement.bland_altman import bland_altman


@pytest.mark.parametrize("case", ["bland_altman_pefr_1986", "bland_altman_pefr_196"])
def test_peak_flow_1986(known, case):
    inputs, expected = known[case]["data"], known[case]["expected"]
    exact, of_1986 = (
        bland_altman(inputs["x"], inputs["y"], multiplier=inputs["multiplier"], limits_method=method)
        for method in ("exact", "1986")
    )
    assert exact.n == expected["n"]
    for name, key in (("bias", "bias"), ("sd", "sd"), ("loa_low", "loa_lower"), ("loa_high", "loa_upper")):
        assert getattr(exact, name) == pytest.approx(expected[key], abs=1e-10)
    assert exact.bias_interval == pytest.approx(expected["bias_CI95"], abs=1e-9)
    assert exact.loa_low_interval == pytest.approx(expected["loa_lower_CI95_exact"], abs=1e-6)
    assert exact.loa_high_interval == pytest.approx(expected["loa_upper_CI95_exact"], abs=1e-6)
    assert of_1986.loa_low_interval == pytest.approx(expected["loa_lower_CI95_1986"], abs=1e-9)
    assert of_1986.loa_high_interval == pytest.approx(expected["loa_upper_CI95_1986"], abs=1e-9)
    printed = known[case]["printed"]
    if printed:
        assert (round(exact.bias, 1), round(exact.sd, 1)) == (printed["bias"], printed["sd"])
        assert [round(limit, 1) for limit in exact.bias_interval] == printed["bias_CI95"]
    # The 1999 case takes its variance at the exact normal quantile, whatever multiplies the SD in the limit.
    of_1999 = bland_altman(inputs["x"], inputs["y"], multiplier=sps.norm.ppf(0.975), limits_method="1999")
    width = np.diff(of_1999.loa_high_interval)[0]
    assert width == pytest.approx(np.diff(expected["loa_upper_CI95_1999"])[0], abs=1e-9)


def test_the_csv_is_the_paper_s_table(data):
    table = pd.read_csv(data / "pefr1986.csv")
    # Bland & Altman 1986 print a mean difference of -2.1 l/min and a standard deviation of 38.8.
    found = bland_altman(table["WrightFirst"], table["MiniWrightFirst"])
    assert (round(found.bias, 1), round(found.sd, 1)) == (-2.1, 38.8)


def test_proportional_bias_is_the_regression_of_difference_on_mean():
    x, y = np.array([1.0, 2.0, 4.0, 8.0, 9.0]), np.array([1.5, 2.0, 3.0, 6.5, 9.0])
    line = sps.linregress((x + y) / 2, x - y)
    found = bland_altman(x, y)
    assert (found.slope, found.slope_p) == pytest.approx((line.slope, line.pvalue))
    swapped = bland_altman(y, x)
    assert (swapped.bias, swapped.loa_low, swapped.slope) == pytest.approx(
        (-found.bias, -found.loa_high, -found.slope)
    )


def test_small_and_degenerate_input():
    one = bland_altman([3.0], [1.0])
    assert one.bias == 2 and np.isnan([one.sd, one.loa_low, one.slope]).all() and "one pair" in one.notes[0]
    two = bland_altman([3.0, 4.0], [1.0, 4.0])
    # differences 2 and 0, means 2 and 4: slope -1, sd sqrt(2)
    assert (two.bias, two.sd, two.slope) == pytest.approx((1, np.sqrt(2), -1))
    assert np.isnan(two.slope_p) and "no p value" in two.notes[0]
    level = bland_altman([1.0, 2.0, 3.0], [3.0, 2.0, 1.0])
    assert np.isnan(level.slope) and "means are equal" in level.notes[0]


def test_centred_ratings_have_no_bias(known):
    case = known["centred_elo_degeneracy"]
    found = bland_altman(case["data"]["x"], case["data"]["y"])
    assert found.bias == pytest.approx(case["expected"]["bias"], abs=1e-12)


def test_identical_vectors_have_limits_of_zero_width():
    found = bland_altman([1.0, 2.0, 4.0], [1.0, 2.0, 4.0])
    assert (found.bias, found.sd, found.loa_low, found.loa_high) == (0, 0, 0, 0)
    assert found.loa_high_interval == (0, 0) and found.slope == 0


@pytest.mark.parametrize(
    ("x", "y", "options"),
    [
        ([1.0, np.nan], [1.0, 2.0], {}),
        ([1.0], [1.0, 2.0], {}),
        ([], [], {}),
        ([1.0, 2.0], [1.0, 3.0], {"multiplier": 0}),
        ([1.0, 2.0], [1.0, 3.0], {"multiplier": np.nan}),
        ([1.0, 2.0], [1.0, 3.0], {"level": 1.0}),
        ([1.0, 2.0], [1.0, np.inf], {}),
        ([1.0, 2.0], [1.0, 3.0], {"limits_method": "guess"}),
    ],
)
def test_bad_input(x, y, options):
    with pytest.raises(ValueError):
        bland_altman(x, y, **options)
