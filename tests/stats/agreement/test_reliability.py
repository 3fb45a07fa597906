"""Alpha and ICC against published values and the analysis of variance by hand."""

import warnings

import numpy as np
import pandas as pd
import pingouin
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import stats as sps

from stats.agreement.reliability import ICC_NAMES, alpha_of, cronbach_alpha, icc, icc_2_1, icc_2_1_of

FORMS = ("ICC(1,1)", "ICC(2,1)", "ICC(3,1)", "ICC(1,k)", "ICC(2,k)", "ICC(3,k)")


@pytest.mark.parametrize(
    "case",
    [
        "icc_shrout_fleiss_1979",  # Psychological Bulletin 86:420, Tables 2-4
        "icc_psy_expsy",  # R package psy
        "icc_wine",  # real-statistics.com
    ],
)
def test_icc_known_answers(known, case):
    expected = known[case]["expected"]
    found = icc(known[case]["data"]["matrix"])
    for form in FORMS:
        assert found[form].value == pytest.approx(expected[form], abs=1e-10), form
    limits = found["ICC(2,1)"].low, found["ICC(2,1)"].high
    assert limits == pytest.approx(tuple(expected["ICC(2,1) CI95"]), abs=1e-9)
    between, within, sets, error = (expected[name] for name in ("BMS", "WMS", "JMS", "EMS"))
    n, k = np.shape(known[case]["data"]["matrix"])
    assert between / within == pytest.approx(1 + k * found["ICC(1,1)"].value / (1 - found["ICC(1,1)"].value))
    assert between / error == pytest.approx(1 + k * found["ICC(3,1)"].value / (1 - found["ICC(3,1)"].value))
    assert found["ICC(2,k)"].value == pytest.approx((between - error) / (between + (sets - error) / n))
    for form, printed in known[case]["printed"].items():
        if form in FORMS:
            assert abs(found[form].value - printed) < 0.0051


@pytest.mark.parametrize("case", ["alpha_attitude", "alpha_pingouin_likert"])
def test_alpha_known_answers(known, case):
    expected = known[case]["expected"]
    found = cronbach_alpha(known[case]["data"]["matrix"])
    assert found.value == pytest.approx(expected["alpha"], abs=1e-12)
    assert (found.low, found.high) == pytest.approx(tuple(expected["CI95"]), abs=1e-9)
    printed = known[case]["printed"]
    assert found.value == pytest.approx(printed["alpha"], abs=0.0051)
    if "CI95" in printed:
        assert [round(found.low, 2), round(found.high, 2)] == printed["CI95"]
    # Alpha is the consistency of the mean of the k sets.
    assert found.value == pytest.approx(icc(known[case]["data"]["matrix"])["ICC(3,k)"].value, abs=1e-12)


def test_centred_ratings_have_no_rater_effect(known):
    case = known["centred_elo_degeneracy"]
    matrix = np.column_stack([case["data"]["x"], case["data"]["y"]])
    found = icc(matrix)
    for form in FORMS:
        assert found[form].value == pytest.approx(case["expected"][form], abs=1e-10), form


def test_three_published_sets(published):
    """The paper prints alpha 0.993 and ICC(2,1) 0.981 for Dojo, Smith and Combined."""
    matrix = published[["dojo", "smith", "combined"]].to_numpy()
    assert round(cronbach_alpha(matrix).value, 3) == 0.993
    assert round(icc_2_1(matrix).value, 3) == 0.981


def test_missing_rows_leave_before_the_sample_size_is_taken():
    rng = np.random.default_rng(0)
    matrix = rng.normal(size=(12, 1)) + rng.normal(size=(12, 4))
    holed = np.vstack([matrix, [1, np.nan, 2, 3]])
    found, complete = cronbach_alpha(holed), cronbach_alpha(matrix)
    assert (found.value, found.low, found.high, found.n) == (
        complete.value,
        complete.low,
        complete.high,
        12,
    )
    assert found.notes == ("1 models with a missing value left out",)
    assert icc(holed)["ICC(2,1)"].value == icc(matrix)["ICC(2,1)"].value


def test_intervals_of_all_forms_as_psych_prints_them(known):
    """psych::ICC on Shrout & Fleiss's table: lower and upper bounds as its help page prints them."""
    printed = {
        "ICC(1,1)": (-0.13, 0.72),
        "ICC(2,1)": (0.02, 0.76),
        "ICC(3,1)": (0.34, 0.95),
        "ICC(1,k)": (-0.88, 0.91),
        "ICC(2,k)": (0.07, 0.93),
        "ICC(3,k)": (0.68, 0.99),
    }
    found = icc(known["icc_shrout_fleiss_1979"]["data"]["matrix"])
    assert {form: (round(found[form].low, 2), round(found[form].high, 2)) for form in FORMS} == printed


@settings(max_examples=15, deadline=None)
@given(arrays(float, (6, 3), elements=st.integers(0, 9).map(float)))
def test_all_forms_and_limits_equal_pingouin(matrix):
    """pingouin rounds its limits to two decimals unless told otherwise; its labels are McGraw & Wong's."""
    residual = matrix - matrix.mean(0) - matrix.mean(1, keepdims=True) + matrix.mean()
    assume(np.abs(residual).max() > 0.1 and np.ptp(matrix.mean(1)) > 0.1)
    long = pd.DataFrame(matrix).stack().reset_index().set_axis(["model", "set", "value"], axis=1)
    rounding = pingouin.options["round.column.CI95"]
    pingouin.options["round.column.CI95"] = None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            table = pingouin.intraclass_corr(long, targets="model", raters="set", ratings="value")
    finally:
        pingouin.options["round.column.CI95"] = rounding
    expected, found = table.set_index("Type"), icc(matrix)
    for form, label in ICC_NAMES.items():
        result, oracle = found[form], expected.loc[label]
        if np.isfinite(result.value):
            assert result.value == pytest.approx(oracle["ICC"], abs=1e-8), form
        if np.isfinite([result.low, result.high]).all():
            assert (result.low, result.high) == pytest.approx(tuple(oracle["CI95"]), abs=1e-6), form


def test_level_of_the_intervals(known):
    """By hand for ICC(3,1) of Shrout & Fleiss: F = B / E against the F(5, 15) quantiles of the level."""
    case = known["icc_shrout_fleiss_1979"]
    f, k = case["expected"]["BMS"] / case["expected"]["EMS"], 4
    low, high = f / sps.f.ppf(0.95, 5, 15), f * sps.f.ppf(0.95, 15, 5)
    found = icc(case["data"]["matrix"], level=0.9)["ICC(3,1)"]
    assert (found.low, found.high) == pytest.approx(((low - 1) / (low + k - 1), (high - 1) / (high + k - 1)))
    assert (found.level, found.n, found.k) == (0.9, 6, 4)
    narrow, wide = (icc_2_1(case["data"]["matrix"], level) for level in (0.5, 0.99))
    assert wide.low < narrow.low < narrow.value < narrow.high < wide.high


def test_two_models_by_two_sets():
    """Sums of squares of [[1, 2], [3, 5]]: models 6.25, sets 2.25, residual 0.25, each with one degree."""
    found = icc([[1.0, 2.0], [3.0, 5.0]])
    assert found["ICC(1,1)"].value == pytest.approx(5 / 7.5)  # W = (2.25 + 0.25) / 2 = 1.25
    assert found["ICC(2,1)"].value == pytest.approx(6 / (6.25 + 0.25 + 2.25 - 0.25))
    assert found["ICC(3,1)"].value == pytest.approx(6 / 6.5)
    assert found["ICC(3,k)"].value == pytest.approx(1 - 0.25 / 6.25)
    assert found["ICC(2,1)"].low < found["ICC(2,1)"].value < found["ICC(2,1)"].high


def test_negative_coefficients_are_not_cut():
    """Models' means are equal, so B = 0: ICC(3,1) = -1 / (k - 1), and ICC(3,k) = 1 - E / 0 does not exist."""
    found = icc([[1.0, 2.0], [2.0, 1.0]])
    assert found["ICC(3,1)"].value == pytest.approx(-1)
    assert np.isnan(found["ICC(3,k)"].value) and "means do not vary" in found["ICC(3,k)"].notes[0]
    # alpha = k/(k-1) (1 - sum of variances / variance of totals) = 2 (1 - (1 + 0.25) / 0.25)
    alpha = cronbach_alpha([[1.0, 2.5], [2.0, 2.0], [3.0, 1.5]])
    assert alpha.value == pytest.approx(2 * (1 - 1.25 / 0.25)) and alpha.low < alpha.value < alpha.high


def test_opposite_sets_have_no_alpha_despite_rounding():
    x = np.array([0.1, 0.2, 0.3, 0.7])
    found = cronbach_alpha(np.column_stack([x, 1.3 - x]))
    assert np.isnan(found.value) and "do not vary" in found.notes[0]


def test_a_shifted_copy_is_consistent_but_does_not_agree():
    """y = x + 2: J = n c^2 / 2 = 8, B = 2 var(x) = 10/3, E = 0."""
    x = np.arange(1.0, 5.0)
    found = icc(np.column_stack([x, x + 2]))
    consistent, agreeing = found["ICC(3,1)"], found["ICC(2,1)"]
    assert (consistent.value, consistent.low, consistent.high) == (1, 1, 1)
    assert agreeing.value == pytest.approx((10 / 3) / (10 / 3 + 2 * 8 / 4))
    assert found["ICC(1,1)"].value < 1


@settings(max_examples=15, deadline=None)
@given(arrays(float, (5, 3), elements=st.integers(0, 5).map(float)), st.floats(0.5, 50), st.floats(-1e3, 1e3))
def test_icc_equals_mean_squares_and_ignores_shift_and_scale(matrix, scale, shift):
    n, k = matrix.shape
    rows, columns, grand = matrix.mean(1), matrix.mean(0), matrix.mean()
    between = k * ((rows - grand) ** 2).sum() / (n - 1)
    rater = n * ((columns - grand) ** 2).sum() / (k - 1)
    error = ((matrix - rows[:, None] - columns + grand) ** 2).sum() / ((n - 1) * (k - 1))
    below = between + (k - 1) * error + k * (rater - error) / n
    found = icc_2_1(scale * matrix + shift).value
    if np.ptp(matrix) == 0:
        assert np.isnan(found)
    elif below > 1e-9:
        assert found == pytest.approx((between - error) / below, abs=1e-8)
    totals = matrix.sum(axis=1)
    alpha = cronbach_alpha(scale * matrix + shift).value
    if np.ptp(totals) > 0:
        by_hand = k / (k - 1) * (1 - matrix.var(axis=0, ddof=1).sum() / totals.var(ddof=1))
        assert alpha == pytest.approx(by_hand, rel=1e-8, abs=1e-8)


def test_degenerate_matrices():
    perfect = np.column_stack([np.arange(5.0)] * 2)
    alpha, one = cronbach_alpha(perfect), icc_2_1(perfect)
    assert (alpha.value, alpha.low, alpha.high) == pytest.approx((1, 1, 1))
    assert (one.value, one.low, one.high) == (1, 1, 1)
    constant = np.ones((5, 2))
    assert np.isnan(cronbach_alpha(constant).value) and np.isnan(icc_2_1(constant).value)
    assert "do not vary" in cronbach_alpha(constant).notes[0]
    assert "equal" in icc_2_1(constant).notes[0]
    assert np.isnan(cronbach_alpha([[1.0, 2.0]]).value)
    single = icc_2_1([[1.0, 2.0]])
    assert np.isnan(single.value) and single.notes == ("undefined: fewer than two models",)
    opposite = cronbach_alpha([[1.0, 3.0], [2.0, 2.1], [3.0, 0.0]])
    assert opposite.value < 0
    with pytest.raises(ValueError, match="two or more sets"):
        cronbach_alpha([1.0, 2.0])
    with pytest.raises(ValueError, match="finite"):
        icc(pd.DataFrame([[1.0, np.inf], [1.0, 2.0]]))
    for measure in (icc, icc_2_1, cronbach_alpha):
        with pytest.raises(ValueError, match="level"):
            measure(perfect, 95)


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(3, 9), st.integers(2, 4))
def test_many_tables_at_once(seed, n, k):
    """Alpha is pingouin's; the ICC is that of each table alone, which another test holds against pingouin."""
    tables = np.random.default_rng(seed).normal(1000, 80, (3, n, k))
    for table, alpha, coefficient in zip(tables, alpha_of(tables), icc_2_1_of(tables), strict=True):
        assert alpha == pytest.approx(pingouin.cronbach_alpha(pd.DataFrame(table))[0], abs=1e-9)
        assert cronbach_alpha(table).value == pytest.approx(alpha, abs=1e-9)
        assert icc_2_1(table).value == pytest.approx(coefficient, abs=1e-12)


def test_degenerate_tables_among_many_are_undefined():
    tables = np.array([[[1.0, 2], [2, 3], [4, 4]], [[1, 1], [1, 1], [1, 1]], [[1, -1], [2, -2], [3, -3]]])
    assert np.isnan(alpha_of(tables)).tolist() == [False, True, True]
    assert np.isnan(icc_2_1_of(tables)).tolist() == [False, True, False]
    assert np.isnan(alpha_of(tables[:, :1])).all() and np.isnan(icc_2_1_of(tables[:, :1])).all()


def test_every_interval_names_its_method():
    """Programs print other intervals of alpha and the ICC; these are Feldt's and McGraw & Wong's."""
    matrix = [[1.0, 2], [2, 3], [4, 4]]
    assert cronbach_alpha(matrix).method.startswith("Feldt")
    assert all(r.method.startswith("McGraw & Wong") for r in icc(matrix).values())
