"""The standard error from halves of the rows against the formula for a mean."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from generator.verifier.case import Case
from generator.verifier.empirical.halving import Against, halves
from generator.verifier.thresholds.config import Thresholds
from generator.verifier.thresholds.empirical import EmpiricalLimits
from harness.sandboxes.base import SandboxProvider
from harness.tasks.package import Task


@pytest.fixture
def case(iris: Task, sandbox: SandboxProvider, tmp_path: Path) -> Case:
    return Case(iris, sandbox, tmp_path, Thresholds(empirical=EmpiricalLimits(halvings=12)), prepared=iris)


def test_halves_share_out_all_rows_and_each_class(case: Case) -> None:
    answers = case.key.answers["species"].to_numpy()
    parts = list(halves(case))
    assert len(parts) == 24
    for first, second in zip(parts[::2], parts[1::2], strict=True):
        assert sorted([*first, *second]) == list(range(50))
        counts = [pd.Series(answers[half]).value_counts() for half in (first, second)]
        assert (counts[0] - counts[1]).abs().max() <= 1
    assert any(not np.array_equal(parts[0], later) for later in parts[2::2])


def test_standard_error_is_that_of_a_stratified_mean(case: Case) -> None:
    """Two submissions differ in row i by d_i in {-1, 0, 1}; the error of their accuracies' difference is
    sqrt(sum over classes n_c var_c) / n. Twelve halvings know it to 15 %; three times that is allowed."""
    rng = np.random.default_rng(3)
    oracle = case.oracle()
    truth = oracle["species"].to_numpy(dtype=object)
    said = [np.where(rng.random(50) < share, truth, np.roll(truth, 1)) for share in (0.8, 0.3)]
    ours, theirs = (oracle.assign(species=values) for values in said)
    d = (said[0] == truth).astype(float) - (said[1] == truth)
    expected = np.sqrt(sum(d[truth == label].var() * (truth == label).sum() for label in set(truth)))
    expected /= 50
    with case.grader:
        found = Against(case, theirs).difference(ours)
        same = Against(case, ours).difference(ours)
    assert found is not None and same is not None
    assert found.value == pytest.approx(d.mean())
    assert found.standard_error == pytest.approx(expected, rel=0.45)
    assert found.z == found.value / found.standard_error
    assert (same.value, same.standard_error, same.z) == (0.0, 0.0, 0.0)
