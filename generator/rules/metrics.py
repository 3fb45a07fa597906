"""The metrics that the rules can give a task, each with what people and the grader must know of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Prediction = Literal["label", "probability", "number", "amount", "flag"]


@dataclass(frozen=True)
class MetricKind:
    """One metric.

    Attributes:
        name: as in ``task.toml``; the body of its formula is ``templates/metrics/<name>.py.j2``.
        title: as people call it.
        higher_is_better: its direction.
        best: the score of a perfect submission.
        worst: the worst possible score where there is one.
        predicts: what a submission holds: labels, probabilities of class 1, numbers, amounts of at least 0,
            or flags 0 and 1.
        formula: how it is computed, in a sentence or two.
    """

    name: str
    title: str
    higher_is_better: bool
    best: float
    worst: float | None
    predicts: Prediction
    formula: str


METRICS: dict[str, MetricKind] = {
    kind.name: kind
    for kind in (
        MetricKind(
            "accuracy", "Accuracy", True, 1.0, 0.0, "label", "The share of test rows whose label is right."
        ),
        MetricKind(
            "macro_f1",
            "Macro-averaged F1",
            True,
            1.0,
            0.0,
            "label",
            "For each class, F1 = 2 TP / (2 TP + FP + FN); the score is the plain mean over the classes, so "
            "rare classes count as much as frequent ones.",
        ),
        MetricKind(
            "quadratic_weighted_kappa",
            "Quadratic weighted kappa",
            True,
            1.0,
            -1.0,
            "label",
            "1 - sum(w O) / sum(w E) over all pairs of true and predicted level, where O counts the "
            "pairs, E is "
            "what chance would give with the same totals, and w is the squared difference of the levels.",
        ),
        MetricKind(
            "roc_auc",
            "Area under the ROC curve",
            True,
            1.0,
            0.0,
            "probability",
            "The probability that a random row of class 1 gets a higher value than a random row of "
            "class 0; ties "
            "count one half.",
        ),
        MetricKind(
            "average_precision",
            "Average precision",
            True,
            1.0,
            0.0,
            "number",
            "Rows are sorted by the submitted value, the highest first; at each row of class 1 the share of "
            "class 1 among the rows down to it is taken, and the score is the mean of these shares. Rows of "
            "equal value count as one step.",
        ),
        MetricKind(
            "log_loss",
            "Log loss",
            False,
            0.0,
            None,
            "probability",
            "The mean of -(y log p + (1 - y) log(1 - p)), where y is the true class and p the predicted "
            "probability of class 1, kept between 1e-15 and 1 - 1e-15.",
        ),
        MetricKind(
            "rmse",
            "Root mean squared error",
            False,
            0.0,
            None,
            "number",
            "The square root of the mean of (prediction - truth)^2.",
        ),
        MetricKind(
            "mae",
            "Mean absolute error",
            False,
            0.0,
            None,
            "number",
            "The mean of |prediction - truth|.",
        ),
        MetricKind(
            "rmsle",
            "Root mean squared logarithmic error",
            False,
            0.0,
            None,
            "amount",
            "The square root of the mean of (log(1 + prediction) - log(1 + truth))^2: relative "
            "errors count, and "
            "predictions must not be negative.",
        ),
        MetricKind(
            "smape",
            "Symmetric mean absolute percentage error",
            False,
            0.0,
            200.0,
            "number",
            "100 times the mean of 2 |prediction - truth| / (|prediction| + |truth|), where 0 / 0 "
            "counts as 0.",
        ),
        MetricKind(
            "micro_f1",
            "Micro-averaged F1",
            True,
            1.0,
            0.0,
            "flag",
            "F1 = 2 TP / (2 TP + FP + FN), with the true positives, false positives and false "
            "negatives of all "
            "labels and rows added up first.",
        ),
        MetricKind(
            "mean_columnwise_rmse",
            "Mean columnwise root mean squared error",
            False,
            0.0,
            None,
            "number",
            "The root mean squared error of each target column, averaged over the columns.",
        ),
        MetricKind(
            "mean_columnwise_nrmse",
            "Mean columnwise normalised root mean squared error",
            False,
            0.0,
            None,
            "number",
            "The root mean squared error of each target column divided by the standard deviation of its true "
            "values, averaged over the columns; the true mean everywhere scores 1.",
        ),
        MetricKind(
            "ndcg",
            "NDCG at 10",
            True,
            1.0,
            0.0,
            "number",
            "Within each group, rows get the relevance 0 to 4 by the fifth of the group in which "
            "their true value "
            "lies. Sorted by the submitted values, DCG = sum over the first 10 of (2^relevance - 1) "
            "/ log2(1 + "
            "place), ties averaged; NDCG divides it by that of the right order, and the score is the "
            "mean over "
            "the groups.",
        ),
    )
}
