"""Which metric fits a target."""

from __future__ import annotations

import numpy as np
import pandas as pd
from scipy.stats import skew

from generator.columns import as_numbers
from generator.rules.candidates import Candidate

#: Share of the rarer of two classes from which the classes count as balanced.
_BALANCED = 0.35
_UNEVEN = 3


def choose_metric(frame: pd.DataFrame, candidate: Candidate, *, easy: bool = False) -> tuple[str, str | None]:
    """The metric that fits the target's distribution, and the class written as 1 for probabilities.

    Args:
        frame: the raw table.
        candidate: what is asked for.
        easy: two classes are put in order almost without error, so that only labels leave room.
    """
    column = candidate.columns[0]
    fixed = {
        "multi-label classification": "micro_f1",
        "ranking": "ndcg",
        "multi-output": "mean_columnwise_nrmse",
    }.get(candidate.objective)
    if fixed is not None:
        return fixed, None
    if candidate.objective == "anomaly detection":
        return "average_precision", candidate.classes[1]
    if candidate.objective != "classification":
        return number_metric(as_numbers(frame[column.name])), None
    counts = [dict(column.classes)[name] for name in candidate.classes]
    if len(counts) == 2 and not easy:
        balanced = counts[1] > _BALANCED * sum(counts)
        return ("log_loss" if balanced else "roc_auc"), candidate.classes[1]
    if candidate.ordinal:
        return "quadratic_weighted_kappa", None
    return ("macro_f1" if counts[0] > _UNEVEN * counts[-1] else "accuracy"), None


def number_metric(values: pd.Series) -> str:
    """RMSLE for positive amounts over orders of magnitude, MAE for skewed values, else RMSE."""
    known = values.dropna().to_numpy(float)
    least, skewed = float(known.min()), float(skew(known))
    wide = float(np.quantile(known, 0.99)) > 5 * max(float(np.median(known)), 1e-9)
    if (least >= 0 and wide) or (least > 0 and skewed > 1.5):
        return "rmsle"
    return "mae" if abs(skewed) > 0.7 else "rmse"
