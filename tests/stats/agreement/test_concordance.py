"""Lin's coefficient against epiR, torchmetrics' documentation and hand computation."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from stats.agreement.concordance import ccc, lin_ccc


@pytest.mark.parametrize(
    "case",
    [
        "ccc_pefr_1986",  # Bland & Altman's data through R's epiR::epi.ccc; Stata's concord prints 0.943
        "ccc_torchmetrics_doc",
        "ccc_shift",  # y = x + c: 2 s^2 / (2 s^2 + c^2)
    ],
)
def test_known_answers(known, case):
    inputs, expected = known[case]["data"], known[case]["expected"]
    found = lin_ccc(inputs["x"], inputs["y"])
    assert found.ccc == pytest.approx(expected["ccc"], abs=1e-12)
    assert float(ccc(inputs["x"], inputs["y"], ddof=1)) == pytest.approx(expected["ccc_n_minus_1"], abs=1e-12)
    assert found.pearson_r == pytest.approx(expected["pearson"], abs=1e-12)
    assert found.bias_correction == pytest.approx(expected["C_b"], abs=1e-12)
    assert found.standard_error == pytest.approx(expected["se"], abs=1e-12)
    z, asymptotic = found.interval, found.asymptotic_interval
    assert (z.low, z.high) == pytest.approx(expected["CI95_z"], abs=1e-9)
    assert (asymptotic.low, asymptotic.high) == pytest.approx(expected["CI95_asym"], abs=1e-9)
    assert (z.level, z.n, z.unit) == (0.95, len(inputs["x"]), "models")
    for value in known[case]["printed"].values():
        assert round(found.ccc, 3) == value
    assert found.notes == ()


def test_the_divisor_tells_libraries_apart(known):
    """torchmetrics' documentation prints 0.9777 for its example, which is the n - 1 form; Lin's is 0.9768."""
    inputs = known["ccc_torchmetrics_doc"]["data"]
    forms = [round(float(ccc(inputs["x"], inputs["y"], ddof)), 4) for ddof in (0, 1)]
    assert forms == [0.9768, 0.9777]


def test_centred_ratings_have_no_location_shift(known):
    case = known["centred_elo_degeneracy"]
    found = lin_ccc(case["data"]["x"], case["data"]["y"])
    assert found.ccc == pytest.approx(case["expected"]["ccc"], abs=1e-12)
    assert found.pearson_r == pytest.approx(case["expected"]["pearson"], abs=1e-12)
    assert found.location_shift == pytest.approx(case["expected"]["bias"], abs=1e-12)
    # What is left is scale: s_x^2 = 7450, s_y^2 = 3350 (mean squares of the deviations from 1000).
    assert found.scale_shift == pytest.approx(np.sqrt(7450 / 3350))


@settings(max_examples=40, deadline=None)
@given(arrays(float, (2, 6), elements=st.integers(-9, 9).map(float)), st.floats(0.1, 10), st.floats(-5, 5))
def test_parts_symmetry_and_common_rescaling(pair, scale, shift):
    x, y = pair
    found, swapped = lin_ccc(x, y), lin_ccc(y, x)
    moved = lin_ccc(scale * x + shift, scale * y + shift)
    np.testing.assert_allclose([swapped.ccc, moved.ccc], found.ccc, atol=1e-9)
    if np.ptp(x) > 0 and np.ptp(y) > 0:
        assert found.ccc == pytest.approx(found.pearson_r * found.bias_correction, abs=1e-12)
        assert 0 < found.bias_correction <= 1 + 1e-12
        assert abs(found.ccc) <= abs(found.pearson_r) + 1e-12
        assert swapped.location_shift == pytest.approx(-found.location_shift, abs=1e-12)
        assert swapped.scale_shift == pytest.approx(1 / found.scale_shift)
        assert swapped.standard_error == pytest.approx(found.standard_error, abs=1e-12)


def test_shift_and_scale_by_hand():
    x = np.array([1.0, 2.0, 3.0, 4.0, 5.0])  # variance 2 with divisor n
    # y = 3 x: covariance 6, variances 2 and 18, means 3 and 9: 12 / (20 + 36)
    assert float(ccc(x, 3 * x)) == pytest.approx(12 / 56)
    # y = x + 4: 4 / (4 + 16), u = -4 / sqrt(2)
    shifted = lin_ccc(x, x + 4)
    assert (shifted.ccc, shifted.location_shift) == pytest.approx((0.2, -4 / np.sqrt(2)))
    assert float(ccc(x, -x + 6)) == pytest.approx(-1)


def test_uncorrelated_vectors_have_an_interval():
    # Both of mean 0, variance 2.5 and covariance 0, so C_b = 1 and the variance is 1 / (n - 2) = 1 / 2.
    found = lin_ccc([-2.0, -1.0, 1.0, 2.0], [-1.0, 2.0, -2.0, 1.0])
    assert (found.ccc, found.bias_correction, found.standard_error) == pytest.approx((0, 1, np.sqrt(0.5)))
    assert found.interval.high == pytest.approx(np.tanh(1.959963984540054 * np.sqrt(0.5)))


def test_degenerate_vectors():
    same = lin_ccc([1.0, 1.0, 1.0], [1.0, 1.0, 1.0])
    assert np.isnan(same.ccc) and "same constant" in same.notes[0]
    flat = lin_ccc([1.0, 1.0, 1.0], [1.0, 2.0, 3.0])
    assert flat.ccc == 0 and np.isnan(flat.interval.low) and "by definition" in flat.notes[0]
    apart = lin_ccc([1.0, 1.0], [2.0, 2.0])
    assert apart.ccc == 0 and "constant" in apart.notes[0] and np.isnan(apart.location_shift)
    perfect = lin_ccc([1.0, 2.0, 4.0], [1.0, 2.0, 4.0])
    assert perfect.ccc == pytest.approx(1) and np.isnan(perfect.interval.low)
    two = lin_ccc([1.0, 2.0], [1.0, 3.0])
    # means 1.5 and 2, variances 1/4 and 1, covariance 1/2: 1 / (5/4 + 1/4)
    assert two.ccc == pytest.approx(2 / 3) and np.isnan(two.interval.low) and "three pairs" in two.notes[0]
    one = lin_ccc([1.0], [1.0])
    assert np.isnan(one.ccc)


@pytest.mark.parametrize(
    ("x", "y", "level"),
    [
        ([1.0], [1.0, 2.0], 0.95),
        ([], [], 0.95),
        ([1.0, np.nan], [1.0, 2.0], 0.95),
        ([1.0, 2.0], [1.0, 3.0], 1),
    ],
)
def test_bad_input(x, y, level):
    with pytest.raises(ValueError):
        lin_ccc(x, y, level)
