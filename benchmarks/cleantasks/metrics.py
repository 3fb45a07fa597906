"""metric.py as an ordinary author writes it, for each of the usual metrics."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Metric:
    """One metric.

    Attributes:
        label: its name in prose.
        higher: higher scores are better.
        best: the best possible score.
        formula: how the description defines it.
        body: lines of ``evaluate``; ``truth`` and ``said`` are frames of the target columns, aligned by id.
        values: what a submission holds: ``label``, ``number``, ``chance``, ``chances`` or ``flags``.
        imports: what the body needs.
        worst: the worst possible score, if there is one.
    """

    label: str
    higher: bool
    best: float
    formula: str
    body: str
    values: str
    imports: str = ""
    worst: float | None = None


METRICS = {
    "accuracy": Metric(
        "accuracy",
        True,
        1.0,
        "the share of rows whose label is right",
        "return float((truth[TARGET].astype(str) == said[TARGET].astype(str)).mean())",
        "label",
        worst=0.0,
    ),
    "macro_f1": Metric(
        "macro F1",
        True,
        1.0,
        "the F1 score of each class, averaged over the classes without weights",
        'return float(f1_score(truth[TARGET].astype(str), said[TARGET].astype(str), average="macro"))',
        "label",
        "from sklearn.metrics import f1_score",
        worst=0.0,
    ),
    "auc": Metric(
        "area under the ROC curve",
        True,
        1.0,
        "the chance that a positive row gets a higher value than a negative one",
        "return float(roc_auc_score(truth[TARGET].astype(int), said[TARGET].astype(float)))",
        "chance",
        "from sklearn.metrics import roc_auc_score",
        worst=0.0,
    ),
    "log_loss": Metric(
        "log loss",
        False,
        0.0,
        "-mean(y log(p) + (1 - y) log(1 - p)), where p is kept between 1e-15 and 1 - 1e-15",
        "chance = said[TARGET].astype(float).clip(1e-15, 1 - 1e-15)\n"
        "y = truth[TARGET].astype(float)\n"
        "return float(-(y * np.log(chance) + (1 - y) * np.log(1 - chance)).mean())",
        "chance",
    ),
    "class_log_loss": Metric(
        "multi-class log loss",
        False,
        0.0,
        "the mean of -log(p) of the true class; each row is divided by its sum, and p is at least 1e-15",
        "chances = said[TARGETS].to_numpy(float)\n"
        "chances = chances / chances.sum(axis=1, keepdims=True)\n"
        "right = (chances * truth[TARGETS].to_numpy(float)).sum(axis=1)\n"
        "return abs(float(np.log(np.clip(right, 1e-15, 1)).mean()))",
        "chances",
    ),
    "rmse": Metric(
        "root mean squared error",
        False,
        0.0,
        "the square root of the mean of the squared errors",
        "return float(np.sqrt(((truth[TARGET] - said[TARGET].astype(float)) ** 2).mean()))",
        "number",
    ),
    "mae": Metric(
        "mean absolute error",
        False,
        0.0,
        "the mean of the absolute errors",
        "return float((truth[TARGET] - said[TARGET].astype(float)).abs().mean())",
        "number",
    ),
    "rmsle": Metric(
        "root mean squared logarithmic error",
        False,
        0.0,
        "the square root of mean((log(1 + p) - log(1 + y))^2); predictions below 0 count as 0",
        "p = np.log1p(said[TARGET].astype(float).clip(lower=0))\n"
        "return float(np.sqrt(((p - np.log1p(truth[TARGET])) ** 2).mean()))",
        "number",
    ),
    "r2": Metric(
        "R2",
        True,
        1.0,
        "1 minus the sum of squared errors over the sum of squares around the mean",
        "return float(r2_score(truth[TARGET], said[TARGET].astype(float)))",
        "number",
        "from sklearn.metrics import r2_score",
    ),
    "quadratic_weighted_kappa": Metric(
        "quadratic weighted kappa",
        True,
        1.0,
        "agreement of predicted and true grades beyond chance, disagreements weighted by their square; "
        "predictions are rounded to the nearest whole grade",
        "said_grade = said[TARGET].astype(float).round().astype(int)\n"
        'return float(cohen_kappa_score(truth[TARGET].astype(int), said_grade, weights="quadratic"))',
        "number",
        "from sklearn.metrics import cohen_kappa_score",
        worst=-1.0,
    ),
    "spearman": Metric(
        "Spearman's rank correlation",
        True,
        1.0,
        "the correlation of the ranks of predictions and truths; equal predictions for all rows score 0",
        "if said[TARGET].nunique() == 1:\n    return 0.0\n"
        "return float(spearmanr(truth[TARGET], said[TARGET].astype(float)).statistic)",
        "number",
        "from scipy.stats import spearmanr",
        worst=-1.0,
    ),
    "micro_f1": Metric(
        "micro F1",
        True,
        1.0,
        "2 TP / (2 TP + FP + FN), counted over all rows and labels",
        "hit = (truth[TARGETS].to_numpy(int) & said[TARGETS].to_numpy(int)).sum()\n"
        "return float(2 * hit / (truth[TARGETS].to_numpy(int).sum() + said[TARGETS].to_numpy(int).sum()))",
        "flags",
        worst=0.0,
    ),
    "smape": Metric(
        "symmetric mean absolute percentage error",
        False,
        0.0,
        "200 times the mean of |y - p| / (|y| + |p|); a term with both 0 counts as 0",
        "size = truth[TARGET].abs() + said[TARGET].astype(float).abs()\n"
        "gap = (truth[TARGET] - said[TARGET].astype(float)).abs()\n"
        "return float(200 * (gap / size.where(size > 0, 1)).mean())",
        "number",
        worst=200.0,
    ),
}

_CHECKS = {
    "label": "        if not submission[TARGET].astype(str).isin(LABELS).all():\n"
    '            raise InvalidSubmissionError(f"{TARGET} must be one of {LABELS}")\n',
    "number": "",
    "chance": "        if not values.to_numpy().min() >= 0 or not values.to_numpy().max() <= 1:\n"
    '            raise InvalidSubmissionError("predictions must lie between 0 and 1")\n',
    "chances": "        if values.to_numpy().min() < 0 or (values.sum(axis=1) <= 0).any():\n"
    '            raise InvalidSubmissionError("probabilities must not be negative, nor all be zero")\n',
    "flags": "        if not values.isin([0, 1]).all(axis=None):\n"
    '            raise InvalidSubmissionError("labels must be 0 or 1")\n',
}
_NUMBERS = """\
        values = submission[TARGETS].apply(pd.to_numeric, errors="coerce")
        if not np.isfinite(values.to_numpy(float)).all():
            raise InvalidSubmissionError("predictions must be finite numbers")
"""


def metric_code(name: str, id_column: str, targets: list[str], labels: list[str]) -> str:
    """The text of metric.py."""
    metric = METRICS[name]
    body = metric.body.replace("\n", "\n        ")
    known = f"LABELS = {labels!r}\n" if metric.values == "label" else ""
    imports = f"{metric.imports}\n" if metric.imports else ""
    checks = ("" if metric.values == "label" else _NUMBERS) + _CHECKS[metric.values]
    return f'''\
"""{metric.label[:1].upper()}{metric.label[1:]}."""

import numpy as np
import pandas as pd
from mledojo.metrics.base import CompetitionMetrics, InvalidSubmissionError
{imports}
ID = {id_column!r}
TARGETS = {targets!r}
TARGET = TARGETS[0]
{known}

class Score(CompetitionMetrics):
    def __init__(self):
        super().__init__(higher_is_better={metric.higher})

    def evaluate(self, y_true, y_pred):
        truth = y_true.set_index(ID)
        said = y_pred.set_index(ID).loc[truth.index]
        {body}

    def validate_submission(self, submission, ground_truth):
        missing = [name for name in [ID, *TARGETS] if name not in submission.columns]
        if missing:
            raise InvalidSubmissionError(f"columns are missing: {{missing}}")
        if submission[ID].duplicated().any():
            raise InvalidSubmissionError("an id stands twice")
        if set(submission[ID]) != set(ground_truth[ID]):
            raise InvalidSubmissionError("the ids must be those of the test set")
{checks}        return "Submission is valid"
'''
