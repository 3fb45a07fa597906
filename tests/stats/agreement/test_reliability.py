"""Alpha and ICC against published values and the analysis of variance by hand."""

import numpy as np
import pandas as pd
import pingouin
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from stats.agreement.reliability import cronbach_alpha, icc, icc_2_1

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
    for form, printed in known[case]["printed"].items():
        if form in FORMS:
            assert abs(found[form].value - printed) < 0.0051


@pytest.mark.parametrize("case", ["alpha_attitude", "alpha_pingouin_likert"])
def test_alpha_known_answers(known, case):
    expected = known[case]["expected"]
    found = cronbach_alpha(known[case]["data"]["matrix"])
    assert found.value == pytest.approx(expected["alpha"], abs=1e-12)
    assert (found.low, found.high) == pytest.approx(tuple(expected["CI95"]), abs=1e-9)


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


def test_rounding_of_pingouin_is_restored():
    before = dict(pingouin.options)
    icc(np.random.default_rng(1).normal(size=(6, 3)))
    assert dict(pingouin.options) == before


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
    assert "five values" in icc_2_1([[1.0, 2.0], [3.0, 5.0]]).notes[0]
    opposite = cronbach_alpha([[1.0, 3.0], [2.0, 2.1], [3.0, 0.0]])
    assert opposite.value < 0
    with pytest.raises(ValueError, match="two or more sets"):
        cronbach_alpha([1.0, 2.0])
    with pytest.raises(ValueError, match="finite"):
        icc(pd.DataFrame([[1.0, np.inf], [1.0, 2.0]]))
