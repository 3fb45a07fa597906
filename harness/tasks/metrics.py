"""Known metrics by name: direction, best, worst and formula, to hold a task's own metric against.

Predictions and answers are arrays of one column (labels, numbers, or scores of class 1) or of several (one
per target, or one per class). Labels may be strings. scikit-learn is imported on use.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from harness.tasks.spellings import canonical

Array = npt.NDArray[Any]
Function = Callable[[Array, Array], float]


@dataclass(frozen=True)
class NamedMetric:
    """One known metric.

    Attributes:
        name: as in ``metric.name`` of task.toml.
        higher_is_better: its direction.
        best: the score of perfect predictions.
        worst: the lowest possible score (the highest, when lower is better); ``None`` when there is no bound.
        function: ``function(y_true, y_pred)``.
        soft: predictions are scores or probabilities while answers are 0 and 1.
    """

    name: str
    higher_is_better: bool
    best: float
    worst: float | None
    function: Function
    soft: bool = False

    def __call__(self, y_true: Array, y_pred: Array) -> float:
        """The score.

        Args:
            y_true: answers, shape (n,), (n, 1) or (n, k).
            y_pred: predictions of the same shape.

        Raises:
            ValueError: the metric is not defined for such arrays.
        """
        y_true, y_pred = (_column(np.asarray(values)) for values in (y_true, y_pred))
        if y_true.shape != y_pred.shape:
            raise ValueError(f"answers have shape {y_true.shape}, predictions {y_pred.shape}")
        if len(y_true) == 0:
            raise ValueError("there are no rows")
        score = float(self.function(y_true, y_pred))
        if not np.isfinite(score):
            raise ValueError(f"{self.name} is not defined for these arrays")
        return score


def named_metric(name: str) -> NamedMetric | None:
    """The metric of that name in a usual spelling (see :mod:`harness.tasks.spellings`), or ``None``."""
    return next((METRICS[each] for each in canonical(name) if each in METRICS), None)


def _column(values: Array) -> Array:
    return values[:, 0] if values.ndim == 2 and values.shape[1] == 1 else values


def _numbers(y_true: Array, y_pred: Array) -> tuple[Array, Array]:
    return y_true.astype(float), y_pred.astype(float)


def _one_column(y_true: Array) -> None:
    if y_true.ndim != 1:
        raise ValueError("defined for one target column only")


def accuracy(y_true: Array, y_pred: Array) -> float:
    """Share of rows in which every column is right: (1/n) sum [p_i = t_i]."""
    right = y_true == y_pred
    return float(np.mean(right if right.ndim == 1 else right.all(axis=1)))


def balanced_accuracy(y_true: Array, y_pred: Array) -> float:
    """Mean recall of the classes that occur: (1/k) sum_c TP_c / (TP_c + FN_c)."""
    _one_column(y_true)
    return float(np.mean([np.mean(y_pred[y_true == label] == label) for label in np.unique(y_true)]))


def _f1(average: str) -> Function:
    def f1(y_true: Array, y_pred: Array) -> float:
        from sklearn.metrics import f1_score

        if y_true.ndim == 2:
            y_true, y_pred = y_true.astype(int), y_pred.astype(int)
        elif average == "binary":
            y_true, y_pred = _binary(y_true), _binary(y_pred)
        return float(f1_score(y_true, y_pred, average=average, zero_division=0))

    f1.__doc__ = f"F1 = 2 TP / (2 TP + FP + FN), {average} average; of class 1 when binary."
    return f1


def _binary(values: Array) -> Array:
    try:
        numbers = values.astype(float)
    except ValueError:
        raise ValueError("defined for classes 0 and 1") from None
    if numbers.ndim != 1 or not np.isin(numbers, (0.0, 1.0)).all():
        raise ValueError("defined for classes 0 and 1")
    return numbers.astype(int)


def precision(y_true: Array, y_pred: Array) -> float:
    """Precision of class 1: TP / (TP + FP), 0 when nothing is predicted."""
    y_true, y_pred = _binary(y_true), _binary(y_pred)
    predicted = int(y_pred.sum())
    return float((y_true & y_pred).sum() / predicted) if predicted else 0.0


def recall(y_true: Array, y_pred: Array) -> float:
    """Recall of class 1: TP / (TP + FN)."""
    y_true, y_pred = _binary(y_true), _binary(y_pred)
    if not y_true.any():
        raise ValueError("class 1 does not occur")
    return float((y_true & y_pred).sum() / y_true.sum())


def mcc(y_true: Array, y_pred: Array) -> float:
    """Matthews' correlation coefficient, for two classes
    (TP TN - FP FN) / sqrt((TP+FP)(TP+FN)(TN+FP)(TN+FN)); Gorodkin (2004) for more."""
    from sklearn.metrics import matthews_corrcoef

    _one_column(y_true)
    return float(matthews_corrcoef(y_true, y_pred))


def cohen_kappa(y_true: Array, y_pred: Array) -> float:
    """(p_o - p_e) / (1 - p_e), with observed and expected agreement; Cohen (1960)."""
    from sklearn.metrics import cohen_kappa_score

    _one_column(y_true)
    return float(cohen_kappa_score(y_true, y_pred))


def quadratic_weighted_kappa(y_true: Array, y_pred: Array) -> float:
    """1 - sum w_ij O_ij / sum w_ij E_ij with w_ij = (i - j)^2 over the values of the labels; Cohen (1968).

    With O and E as joint and product distribution: 1 - mean (t - p)^2 / mean (t - p')^2, p' independent of t.
    """
    _one_column(y_true)
    true, pred = _numbers(y_true, y_pred)
    expected = true.var() + pred.var() + (true.mean() - pred.mean()) ** 2
    if expected == 0:
        raise ValueError("answers and predictions are one constant")
    return float(1.0 - np.mean((true - pred) ** 2) / expected)


def roc_auc(y_true: Array, y_pred: Array) -> float:
    """P(score of a 1 > score of a 0) + P(equal) / 2; the mean over columns when there are several."""
    from sklearn.metrics import roc_auc_score

    true, pred = _numbers(y_true, y_pred)
    return float(roc_auc_score(true.astype(int), pred))


def average_precision(y_true: Array, y_pred: Array) -> float:
    """sum_k (R_k - R_{k-1}) P_k over falling thresholds; the mean over columns when there are several."""
    from sklearn.metrics import average_precision_score

    true, pred = _numbers(y_true, y_pred)
    return float(average_precision_score(true.astype(int), pred))


def log_loss(y_true: Array, y_pred: Array) -> float:
    """-(1/n) sum log(probability of the true class).

    One column is the probability of class 1; several are those of the classes, of which each row has one, and
    rows are scaled to sum 1.

    Raises:
        ValueError: a probability is outside [0, 1] or a true class has probability 0.
    """
    true, pred = _numbers(y_true, y_pred)
    if ((pred < 0) | (pred > 1)).any():
        raise ValueError("probabilities must lie in [0, 1]")
    if true.ndim == 1:
        right = np.where(_binary(true) == 1, pred, 1.0 - pred)
    else:
        if not (true.sum(axis=1) == 1).all():
            raise ValueError("each row must have one true class")
        right = (true * pred).sum(axis=1) / pred.sum(axis=1)
    if (right <= 0).any():
        raise ValueError("a true class has probability 0")
    return float(-np.log(right).mean())


def brier(y_true: Array, y_pred: Array) -> float:
    """(1/n) sum (p_i - t_i)^2 over one column of probabilities of class 1; Brier (1950), halved."""
    return mse(_binary(y_true), y_pred)


def mse(y_true: Array, y_pred: Array) -> float:
    """(1/n) sum (p_i - t_i)^2, the mean over columns."""
    true, pred = _numbers(y_true, y_pred)
    return float(np.mean((pred - true) ** 2))


def rmse(y_true: Array, y_pred: Array) -> float:
    """sqrt((1/n) sum (p_i - t_i)^2) of one column."""
    _one_column(y_true)
    return float(np.sqrt(mse(y_true, y_pred)))


def mcrmse(y_true: Array, y_pred: Array) -> float:
    """The mean over columns of the RMSE of each."""
    true, pred = _numbers(y_true, y_pred)
    return float(np.mean(np.sqrt(np.mean((pred - true) ** 2, axis=0))))


def rmsle(y_true: Array, y_pred: Array) -> float:
    """sqrt((1/n) sum (log(1 + p_i) - log(1 + t_i))^2) of one column; negative predictions are not defined."""
    true, pred = _numbers(y_true, y_pred)
    if (true < 0).any() or (pred < 0).any():
        raise ValueError("values must not be negative")
    return rmse(np.log1p(true), np.log1p(pred))


def mae(y_true: Array, y_pred: Array) -> float:
    """(1/n) sum |p_i - t_i|, the mean over columns."""
    true, pred = _numbers(y_true, y_pred)
    return float(np.mean(np.abs(pred - true)))


def median_ae(y_true: Array, y_pred: Array) -> float:
    """Median of |p_i - t_i| of one column."""
    _one_column(y_true)
    true, pred = _numbers(y_true, y_pred)
    return float(np.median(np.abs(pred - true)))


def mape(y_true: Array, y_pred: Array) -> float:
    """(1/n) sum |p_i - t_i| / |t_i|, as a share; answers of 0 are not defined."""
    true, pred = _numbers(y_true, y_pred)
    if (true == 0).any():
        raise ValueError("an answer is 0")
    return float(np.mean(np.abs((pred - true) / true)))


def r2(y_true: Array, y_pred: Array) -> float:
    """1 - sum (p_i - t_i)^2 / sum (t_i - mean t)^2, the mean over columns."""
    from sklearn.metrics import r2_score

    true, pred = _numbers(y_true, y_pred)
    return float(r2_score(true, pred))


def pearson(y_true: Array, y_pred: Array) -> float:
    """Pearson's correlation of one column."""
    _one_column(y_true)
    true, pred = _numbers(y_true, y_pred)
    if true.std() == 0 or pred.std() == 0:
        raise ValueError("a constant has no correlation")
    return float(np.corrcoef(true, pred)[0, 1])


def spearman(y_true: Array, y_pred: Array) -> float:
    """Pearson's correlation of the ranks of one column, ties at their mean rank."""
    from scipy.stats import rankdata

    _one_column(y_true)
    true, pred = _numbers(y_true, y_pred)
    return pearson(rankdata(true), rankdata(pred))


def smape(y_true: Array, y_pred: Array) -> float:
    """(100/n) sum 2 |p_i - t_i| / (|p_i| + |t_i|) with 0/0 = 0, from 0 to 200; Makridakis (1993)."""
    true, pred = _numbers(y_true, y_pred)
    size = np.abs(true) + np.abs(pred)
    return float(
        100 * np.divide(2 * np.abs(pred - true), size, out=np.zeros_like(size), where=size > 0).mean()
    )


def msle(y_true: Array, y_pred: Array) -> float:
    """(1/n) sum (log(1 + p_i) - log(1 + t_i))^2 of one column; negative predictions are not defined."""
    return rmsle(y_true, y_pred) ** 2


def error_rate(y_true: Array, y_pred: Array) -> float:
    """Share of rows in which a column is wrong: 1 - accuracy."""
    return 1.0 - accuracy(y_true, y_pred)


def hamming(y_true: Array, y_pred: Array) -> float:
    """Hamming loss, the share of wrong cells."""
    return float(np.mean(y_true != y_pred))


def jaccard(y_true: Array, y_pred: Array) -> float:
    """TP / (TP + FP + FN) of class 1 in one column; the mean over rows when there are several of 0 and 1.

    A row without labels in both counts 1.
    """
    if y_true.ndim == 1:
        true, pred = _binary(y_true)[None, :], _binary(y_pred)[None, :]
    else:
        true, pred = (_binary(values.ravel()).reshape(values.shape) for values in (y_true, y_pred))
    both, either = (true & pred).sum(axis=1), (true | pred).sum(axis=1)
    return float(np.divide(both, either, out=np.ones(len(both)), where=either > 0).mean())


METRICS: dict[str, NamedMetric] = {
    metric.name: metric
    for metric in (
        NamedMetric("accuracy", True, 1.0, 0.0, accuracy),
        NamedMetric("balanced_accuracy", True, 1.0, 0.0, balanced_accuracy),
        NamedMetric("f1", True, 1.0, 0.0, _f1("binary")),
        NamedMetric("macro_f1", True, 1.0, 0.0, _f1("macro")),
        NamedMetric("micro_f1", True, 1.0, 0.0, _f1("micro")),
        NamedMetric("weighted_f1", True, 1.0, 0.0, _f1("weighted")),
        NamedMetric("precision", True, 1.0, 0.0, precision),
        NamedMetric("recall", True, 1.0, 0.0, recall),
        NamedMetric("mcc", True, 1.0, -1.0, mcc),
        NamedMetric("cohen_kappa", True, 1.0, -1.0, cohen_kappa),
        NamedMetric("quadratic_weighted_kappa", True, 1.0, -1.0, quadratic_weighted_kappa),
        NamedMetric("roc_auc", True, 1.0, 0.0, roc_auc, soft=True),
        NamedMetric("average_precision", True, 1.0, 0.0, average_precision, soft=True),
        NamedMetric("log_loss", False, 0.0, None, log_loss, soft=True),
        NamedMetric("brier", False, 0.0, 1.0, brier, soft=True),
        NamedMetric("mse", False, 0.0, None, mse),
        NamedMetric("rmse", False, 0.0, None, rmse),
        NamedMetric("mcrmse", False, 0.0, None, mcrmse),
        NamedMetric("rmsle", False, 0.0, None, rmsle),
        NamedMetric("mae", False, 0.0, None, mae),
        NamedMetric("median_ae", False, 0.0, None, median_ae),
        NamedMetric("mape", False, 0.0, None, mape),
        NamedMetric("r2", True, 1.0, None, r2),
        NamedMetric("pearson", True, 1.0, -1.0, pearson),
        NamedMetric("spearman", True, 1.0, -1.0, spearman),
        NamedMetric("smape", False, 0.0, 200.0, smape),
        NamedMetric("msle", False, 0.0, None, msle),
        NamedMetric("error_rate", False, 0.0, 1.0, error_rate),
        NamedMetric("hamming", False, 0.0, 1.0, hamming),
        NamedMetric("jaccard", True, 1.0, 0.0, jaccard),
    )
}
