"""Known metrics against values by hand and against scikit-learn and scipy, which most of them do not call."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats
from sklearn import metrics as sk

from harness.tasks.metrics import METRICS, named_metric

LABELS = (np.array(["a", "a", "b", "c", "c", "c"]), np.array(["a", "b", "b", "c", "c", "a"]))
BINARY = (np.array([1, 1, 1, 0, 0, 0, 0, 0]), np.array([1, 1, 0, 1, 0, 0, 0, 0]))
NUMBERS = (np.array([1.0, 2.0, 4.0, 8.0]), np.array([1.5, 2.0, 3.0, 10.0]))


def score(name: str, arrays: tuple[np.ndarray, np.ndarray]) -> float:
    return METRICS[name](*arrays)


@pytest.mark.parametrize(
    ("name", "arrays", "expected"),
    [
        ("accuracy", LABELS, 4 / 6),  # right: rows 1, 3, 4, 5
        ("balanced_accuracy", LABELS, (1 / 2 + 1 + 2 / 3) / 3),  # recalls of a, b, c
        ("macro_f1", LABELS, (1 / 2 + 2 / 3 + 4 / 5) / 3),  # 2TP/(2TP+FP+FN): 2/4, 2/3, 4/5
        ("micro_f1", LABELS, 4 / 6),  # with one label a row it is the accuracy
        ("f1", BINARY, 4 / 6),  # TP 2, FP 1, FN 1
        ("precision", BINARY, 2 / 3),
        ("recall", BINARY, 2 / 3),
        ("mcc", BINARY, (2 * 4 - 1 * 1) / 15),  # sqrt(3 * 3 * 5 * 5) = 15
        ("mse", NUMBERS, (0.25 + 0 + 1 + 4) / 4),
        ("rmse", NUMBERS, np.sqrt(5.25 / 4)),
        ("mae", NUMBERS, 3.5 / 4),
        ("median_ae", NUMBERS, 0.75),  # of 0, 0.5, 1, 2
        ("mape", NUMBERS, (0.5 + 0 + 0.25 + 0.25) / 4),
        ("r2", NUMBERS, 1 - 5.25 / 28.75),  # mean 3.75; 7.5625 + 3.0625 + 0.0625 + 18.0625
        ("spearman", NUMBERS, 1.0),
        ("roc_auc", (np.array([0, 0, 1, 1]), np.array([0.1, 0.4, 0.35, 0.8])), 0.75),  # 3 of 4 pairs in order
        ("log_loss", (np.array([1, 0]), np.array([0.5, 0.75])), (np.log(2) + np.log(4)) / 2),
        ("brier", (np.array([1, 0]), np.array([0.5, 0.75])), (0.25 + 0.5625) / 2),
    ],
)
def test_value_by_hand(name: str, arrays: tuple[np.ndarray, np.ndarray], expected: float) -> None:
    assert score(name, arrays) == pytest.approx(expected, abs=1e-12)


def test_own_formulas_agree_with_scikit_learn_and_scipy() -> None:
    rng = np.random.default_rng(5)
    grades, said = rng.integers(0, 6, 200), rng.integers(0, 6, 200)
    true, pred = rng.gamma(2, size=200), rng.gamma(2, size=200)
    yes, chance = rng.integers(0, 2, 200), rng.uniform(0.01, 0.99, 200)
    kappa = sk.cohen_kappa_score(grades, said, weights="quadratic")
    assert score("quadratic_weighted_kappa", (grades, said)) == pytest.approx(kappa)
    recalls = sk.balanced_accuracy_score(grades, said)
    assert score("balanced_accuracy", (grades, said)) == pytest.approx(recalls)
    assert score("precision", (yes, chance > 0.5)) == pytest.approx(sk.precision_score(yes, chance > 0.5))
    assert score("rmsle", (true, pred)) == pytest.approx(sk.root_mean_squared_log_error(true, pred))
    assert score("log_loss", (yes, chance)) == pytest.approx(sk.log_loss(yes, chance))
    assert score("brier", (yes, chance)) == pytest.approx(sk.brier_score_loss(yes, chance))
    assert score("spearman", (grades, said)) == pytest.approx(stats.spearmanr(grades, said).statistic)
    assert score("pearson", (true, pred)) == pytest.approx(stats.pearsonr(true, pred).statistic)


def test_log_loss_of_several_classes_agrees_with_scikit_learn() -> None:
    rng = np.random.default_rng(6)
    classes, chances = rng.integers(0, 3, 50), rng.dirichlet([1, 1, 1], 50)
    assert score("log_loss", (np.eye(3)[classes], chances)) == pytest.approx(sk.log_loss(classes, chances))


@pytest.mark.parametrize("name", sorted(METRICS))
def test_truth_gets_the_declared_best_and_errors_get_worse(name: str) -> None:
    rng = np.random.default_rng(7)
    truth = rng.integers(0, 2, 60).astype(float)
    if name in ("mape", "rmsle"):
        truth += 1.0
    metric = METRICS[name]
    wrong = truth.copy()
    wrong[:20] = wrong[:20][::-1].copy()
    wrong = np.clip(wrong, 0.1, 0.9) if metric.name == "log_loss" else wrong
    best, worse = metric(truth, truth), metric(truth, wrong)
    assert best == pytest.approx(metric.best)
    if name != "median_ae":  # the median ignores few errors
        assert (worse < best) if metric.higher_is_better else (worse > best)


def test_names_are_found_in_common_spellings() -> None:
    assert named_metric("ROC-AUC") is METRICS["roc_auc"]
    assert named_metric("Log Loss") is METRICS["log_loss"]
    assert named_metric("profit") is None


@pytest.mark.parametrize(
    ("name", "arrays", "message"),
    [
        ("rmse", (np.zeros(2), np.zeros(3)), "shape"),
        ("mae", (np.zeros(0), np.zeros(0)), "no rows"),
        ("f1", (np.array(["yes", "no"]), np.array(["no", "no"])), "classes 0 and 1"),
        ("log_loss", (np.array([1, 0]), np.array([1.2, 0.5])), r"\[0, 1\]"),
        ("pearson", (np.array([1.0, 2.0]), np.array([3.0, 3.0])), "constant"),
        ("mape", (np.array([0.0, 2.0]), np.array([3.0, 3.0])), "answer is 0"),
    ],
)
def test_undefined_arrays_are_refused(name: str, arrays: tuple[np.ndarray, np.ndarray], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        score(name, arrays)
