"""Families of metrics: those that ask a model for the same kind of answer."""

from __future__ import annotations

from collections.abc import Iterator

from harness.tasks.spellings import canonical

OTHER = "other"

#: By what a submission has to get right. Two metrics of one family mostly order models alike.
FAMILIES: dict[str, tuple[str, ...]] = {
    "labels": (
        "accuracy", "balanced_accuracy", "error_rate", "f1", "macro_f1", "micro_f1", "weighted_f1", "fbeta",
        "mcc", "precision", "recall", "cohen_kappa", "quadratic_weighted_kappa", "hamming",
        "top_k_accuracy", "hinge",
    ),
    "probabilities": ("log_loss", "brier", "kl_divergence"),
    "order": (
        "roc_auc", "average_precision", "map_at_k", "ndcg", "mrr", "hit_rate", "spearman", "kendall",
    ),
    "squared error": ("mse", "rmse", "mcrmse", "r2", "pearson"),
    "absolute error": ("mae", "median_ae", "mase", "pinball"),
    "relative error": ("rmsle", "msle", "mape", "smape"),
    "overlap": ("dice", "jaccard", "levenshtein"),
}  # fmt: skip

_OF = {metric: family for family, metrics in FAMILIES.items() for metric in metrics}


def family(metric: str) -> str:
    """The family of a metric by its name in task.toml; :data:`OTHER` when no part of the name is known.

    The end of a name tells most: ``mean_normalised_rmse`` is an ``rmse``.
    """
    return next((_OF[name] for each in _ends(metric) for name in canonical(each) if name in _OF), OTHER)


def _ends(name: str) -> Iterator[str]:
    words = name.replace("-", " ").replace("_", " ").split()
    return (" ".join(words[first:]) for first in range(len(words)))
