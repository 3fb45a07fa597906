"""Variance components against published tables, arithmetic by hand, REML, Cronbach's alpha and the ICC."""

import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from stats.agreement.reliability import cronbach_alpha, icc
from stats.comparisons import Comparisons
from stats.standings import win_shares
from stats.variance import (
    Components,
    coefficient,
    reliability_curve,
    reliability_interval,
    tasks_needed,
    variance_components,
)

NAN = float("nan")
EFFECTS = ("model", "task", "model_task", "attempt")


def raw(found):
    return [found.raw[name] for name in EFFECTS]


def drawn(n=4, tasks=6, attempts=3, seed=0):
    rng = np.random.default_rng(seed)
    return (
        rng.normal(0, 2, (n, 1, 1))
        + rng.normal(0, 1, (1, tasks, 1))
        + rng.normal(0, 1, (n, tasks, 1))
        + rng.normal(0, 0.5, (n, tasks, attempts))
    )


def test_shrout_fleiss_table(known):
    """One score per cell: the coefficients are the published ICCs, (C, .) relative and (A, .) absolute."""
    case = known["icc_shrout_fleiss_1979"]
    found = variance_components(case["data"]["matrix"])
    # Printed mean squares: BMS 11.24, JMS 32.49, EMS 1.02; 6 targets as models, 4 judges as tasks.
    assert found.model == pytest.approx((11.24 - 1.02) / 4, abs=0.005)
    assert found.task == pytest.approx((32.49 - 1.02) / 6, abs=0.005)
    assert found.model_task == pytest.approx(1.02, abs=0.005)
    assert math.isnan(found.attempt) and "both model x task and attempt" in found.notes[0]
    expected = case["expected"]
    for tasks, kind, form in (
        (1, "relative", "ICC(3,1)"),
        (4, "relative", "ICC(3,k)"),
        (1, "absolute", "ICC(2,1)"),
        (4, "absolute", "ICC(2,k)"),
    ):
        assert coefficient(found, tasks, kind=kind) == pytest.approx(expected[form], abs=1e-10), form


def test_two_by_two_by_two_by_hand():
    values = [[[1, 3], [5, 7]], [[4, 4], [12, 16]]]
    # Means [[2, 6], [4, 14]]; by model 4, 9; by task 3, 10; grand 6.5.
    # MS model = 2 (2.5^2 + 2.5^2) / 1 = 25; MS task = 2 (3.5^2 + 3.5^2) / 1 = 49
    # rest 2 - 4 - 3 + 6.5 = 1.5 in every cell, up to sign: MS = 4 * 2.25 / 1 = 9
    # within: squares 2 + 2 + 0 + 8 over 4 degrees of freedom = 3
    # model (25 - 9) / 2 = 8; task (49 - 9) / 2 = 20; model x task 9 - 3 / 2 = 7.5
    found = variance_components(values)
    assert raw(found) == pytest.approx([8, 20, 7.5, 3])
    assert (found.n_models, found.n_tasks, found.n_attempts, found.notes) == (2, 2, 2.0, ())
    # 8 / (8 + 7.5 / 4 + 3 / 8) = 8 / 10.25; absolute adds 20 / 4 = 5
    assert coefficient(found, 4, 2) == pytest.approx(8 / 10.25)
    assert coefficient(found, 4, 2, "absolute") == pytest.approx(8 / 15.25)
    # error of one task: 7.5 + 3 = 10.5; 9 * 10.5 / 8 = 11.8 tasks; with two attempts 9 * 9 / 8 = 10.125
    assert tasks_needed(found) == 12
    assert tasks_needed(found, attempts=2) == 11
    # absolute, one attempt: 9 * 30.5 / 8 = 34.3
    assert tasks_needed(found, kind="absolute") == 35
    np.testing.assert_allclose(
        reliability_curve(found, [1, 2, 10]), [8 / 18.5, 8 / (8 + 5.25), 8 / (8 + 1.05)]
    )


def test_mean_squares_of_statsmodels():
    from statsmodels.formula.api import ols
    from statsmodels.stats.anova import anova_lm

    values = drawn()
    n, tasks, attempts = values.shape
    model, task, _ = (axis.ravel() for axis in np.indices(values.shape))
    frame = pd.DataFrame({"y": values.ravel(), "model": model, "task": task})
    square = anova_lm(ols("y ~ C(model) * C(task)", frame).fit())["mean_sq"]
    both = square["C(model):C(task)"]
    assert raw(variance_components(values)) == pytest.approx(
        [
            (square["C(model)"] - both) / (tasks * attempts),
            (square["C(task)"] - both) / (n * attempts),
            (both - square["Residual"]) / attempts,
            square["Residual"],
        ],
        rel=1e-10,
    )


def test_reml_of_statsmodels():
    """Balanced and no estimate below zero: restricted maximum likelihood has the same solution."""
    from statsmodels.regression.mixed_linear_model import MixedLM

    values = drawn(n=4, tasks=5, attempts=2, seed=4)
    found = variance_components(values)
    assert min(raw(found)) > 0
    model, task, _ = (axis.ravel() for axis in np.indices(values.shape))
    frame = pd.DataFrame({"y": values.ravel(), "model": model, "task": task, "all": 1})
    parts = {"a_model": "0 + C(model)", "b_task": "0 + C(task)", "c_both": "0 + C(model):C(task)"}
    fitted = MixedLM.from_formula("y ~ 1", frame, groups="all", vc_formula=parts, re_formula="0").fit(
        reml=True
    )
    assert [*fitted.vcomp, fitted.scale] == pytest.approx(raw(found), rel=1e-3)


def test_unequal_attempts_by_hand():
    values = [[[2, NAN], [5, 7]], [[4, NAN], [12, 16]]]
    # Means as in the table by hand above. Within: (2 + 8) / 2 degrees of freedom = 5.
    # Harmonic mean of 1, 2, 1, 2 attempts: 1 / mean(1, .5, 1, .5) = 4 / 3; model x task 9 - 5 * 3 / 4.
    found = variance_components(values)
    assert raw(found) == pytest.approx([8, 20, 5.25, 5])
    assert found.n_attempts == pytest.approx(4 / 3)


def test_missing_cells_and_models_are_counted():
    values = drawn()
    holed = np.concatenate([values, np.full((1, 6, 3), NAN)])
    holed[1, 2] = NAN
    found = variance_components(holed)
    assert raw(found) == pytest.approx(raw(variance_components(np.delete(values, 2, axis=1))))
    assert (found.n_models, found.n_tasks) == (4, 5)
    assert found.notes == (
        "1 models without any value left out",
        "1 of 6 tasks left out: a model has no value there",
    )


def test_negative_estimates_stay_visible():
    # Both models score 0.5 on average, opposite on the two tasks: MS model = MS task = 0, MS rest = 1.
    found = variance_components([[0, 1], [1, 0]])
    assert raw(found)[:3] == pytest.approx([-0.5, -0.5, 1])
    assert (found.model, found.task, found.model_task) == (0, 0, 1)
    assert found.notes[-1] == "estimated below zero, set to 0: model (-0.5), task (-0.5)"
    assert coefficient(found, 10) == 0
    assert tasks_needed(found) == math.inf


@pytest.mark.parametrize(
    ("values", "reason"),
    [
        (np.ones((1, 5, 2)), "1 models and 5 complete tasks"),
        (np.ones((5, 1, 2)), "5 models and 1 complete tasks"),
        (np.full((3, 3, 1), NAN), "0 models"),
        ([[1, NAN], [NAN, 2]], "2 models and 0 complete tasks"),
    ],
)
def test_too_little(values, reason):
    found = variance_components(values)
    assert all(math.isnan(value) for value in (*raw(found), found.model, coefficient(found, 5)))
    assert math.isnan(tasks_needed(found))
    assert reason in found.notes[-1]
    interval = reliability_interval(values)
    assert math.isnan(interval.low) and math.isnan(interval.high)


def test_constants_and_noiseless_scores():
    constant = variance_components(np.full((3, 4, 2), 0.1))
    assert raw(constant) == [0, 0, 0, 0]
    assert math.isnan(coefficient(constant, 5)) and math.isnan(tasks_needed(constant))
    # model + task and nothing else: models 0, 1, 2 (variance 1), tasks 0.1, 0.2, 0.3 (variance 0.01)
    exact = variance_components(np.arange(3)[:, None] + np.array([0.1, 0.2, 0.3]))
    assert raw(exact)[:3] == pytest.approx([1, 0.01, 0])
    assert len(exact.notes) == 1
    assert coefficient(exact, 1) == 1
    assert tasks_needed(exact) == 1


def test_bad_input():
    with pytest.raises(ValueError, match="model 0 on task 1"):
        variance_components([[1, np.inf], [1, 2]])
    with pytest.raises(ValueError, match="shape"):
        variance_components([1, 2])
    single, several = variance_components([[1, 2], [4, 3]]), variance_components(drawn())
    with pytest.raises(ValueError, match="for 2 attempts"):
        coefficient(single, 5, 2)
    for bad in (lambda: coefficient(several, 0), lambda: coefficient(several, 5, 0)):
        with pytest.raises(ValueError, match="at least 1"):
            bad()
    with pytest.raises(ValueError, match="kind"):
        coefficient(several, 5, kind="total")
    with pytest.raises(ValueError, match="between 0 and 1"):
        tasks_needed(several, 1.0)
    with pytest.raises(ValueError, match="at least 1"):
        reliability_interval(drawn(), tasks=0)
    with pytest.raises(ValueError, match="at least 1"):
        reliability_interval(drawn(), tasks=np.nan)


def test_interval_is_feldts_and_carries_over_to_other_lengths(known):
    case = known["alpha_attitude"]
    matrix = np.asarray(case["data"]["matrix"], dtype=float)
    interval = reliability_interval(matrix)
    assert (interval.low, interval.high) == pytest.approx(tuple(case["expected"]["CI95"]), abs=1e-9)
    assert (interval.n, interval.unit, interval.method) == (len(matrix), "models", "Feldt F interval")
    # Spearman-Brown to 3 times the items: 3 a / (1 + 2 a)
    longer = reliability_interval(matrix, tasks=3 * matrix.shape[1])
    assert longer.low == pytest.approx(3 * interval.low / (1 + 2 * interval.low))
    assert longer.high == pytest.approx(3 * interval.high / (1 + 2 * interval.high))
    assert reliability_interval([[0, 1, 2], [1, 0, 3], [0, 2, 0]]).low == 0
    holed = drawn()
    holed[0, 0, 0] = NAN
    assert "unequal attempts" in reliability_interval(holed).method


@settings(max_examples=30, deadline=None)
@given(arrays(float, (5, 4), elements=st.integers(0, 9).map(float)))
def test_one_attempt_is_cronbachs_alpha_with_tasks_as_items(matrix):
    found, alpha = variance_components(matrix), cronbach_alpha(matrix).value
    if math.isnan(alpha) or found.raw["model"] <= 0:
        return
    assert coefficient(found, 4) == pytest.approx(alpha, abs=1e-9)
    assert coefficient(found, 4) == pytest.approx(icc(matrix)["ICC(3,k)"].value, abs=1e-9)


@settings(max_examples=20, deadline=None)
@given(st.permutations(range(4)), st.permutations(range(6)), st.floats(-100, 100), st.floats(0.1, 10))
def test_order_shift_and_scale(models, tasks, shift, scale):
    values = drawn()
    values[0, 0, 1] = values[2, 3, 0] = NAN
    moved = scale * values[np.ix_(models, tasks)][:, :, ::-1] + shift
    assert raw(variance_components(moved)) == pytest.approx(
        [scale**2 * value for value in raw(variance_components(values))], rel=1e-8
    )


@pytest.mark.parametrize("attempts", [1, 2, 5])
def test_tasks_needed_is_the_first_that_suffices(attempts):
    found = variance_components(drawn(tasks=8))
    for kind in ("relative", "absolute"):
        needed = tasks_needed(found, 0.95, attempts, kind)
        assert coefficient(found, int(needed), attempts, kind) >= 0.95 - 1e-12
        assert needed == 1 or coefficient(found, int(needed) - 1, attempts, kind) < 0.95


def test_a_whole_number_of_tasks_is_not_raised_by_rounding():
    equal = Components(1.0, 0.0, 0.75, 0.25, {}, 3, 4, 2.0)
    # error / model = 1: reliability 0.5 takes 1 task, 0.9 takes 0.9 / 0.1 = 9.000000000000002 in floats
    assert (tasks_needed(equal, 0.5), tasks_needed(equal, 0.9)) == (1, 9)


def test_win_shares_have_no_task_component(make_scores):
    shares = win_shares(Comparisons.from_scores(make_scores(tasks=30)))
    found = variance_components(shares)
    # Shares of a task sum to n / 2, so MS task = 0 and the raw estimate is -MS rest / n.
    assert found.raw["task"] == pytest.approx(-found.model_task / 6)
    assert found.task == 0
    assert coefficient(found, 30, kind="absolute") == coefficient(found, 30)
