"""The usual spellings of the names of metrics."""

from __future__ import annotations

import re
from collections.abc import Iterator

_SPELLINGS: dict[str, str] = {
    "accuracy": "acc categorization_accuracy classification_accuracy exact_match multiclass_accuracy "
    "subset_accuracy",
    "balanced_accuracy": "bacc mean_recall macro_recall",
    "f1": "binary_f1 f1_binary f_1",
    "macro_f1": "f1_macro macro_averaged_f1 mean_f1_macro macro_averaged_f1_score macro_f_1",
    "micro_f1": "f1_micro micro_averaged_f1 micro_averaged_f1_score micro_f_1",
    "weighted_f1": "f1_weighted weighted_averaged_f1",
    "mcc": "matthews_corrcoef matthews_correlation_coefficient matthews_correlation",
    "cohen_kappa": "kappa cohens_kappa cohen_s_kappa",
    "quadratic_weighted_kappa": "qwk quadratic_kappa weighted_kappa_quadratic kappa_quadratic",
    "roc_auc": "auc auroc auc_roc rocauc area_under_the_roc_curve area_under_roc_curve "
    "area_under_receiver_operating_characteristic_curve mean_column_wise_roc_auc mean_columnwise_roc_auc",
    "average_precision": "ap auprc pr_auc auc_pr aucpr",
    "log_loss": "logloss logarithmic_loss binary_log_loss multi_class_log_loss multiclass_log_loss "
    "multi_class_logarithmic_loss multiclass_logarithmic_loss multi_class_logloss multiclass_logloss "
    "cross_entropy binary_cross_entropy categorical_cross_entropy cross_entropy_loss mlogloss",
    "brier": "brier_loss brier_score_loss",
    "mse": "mean_squared",
    "rmse": "root_mean_squared root_mean_square root_mse",
    "mcrmse": "mean_columnwise_rmse mean_column_wise_rmse column_wise_rmse "
    "mean_columnwise_root_mean_squared mean_column_wise_root_mean_squared",
    "rmsle": "root_mean_squared_logarithmic root_mean_squared_log root_mean_square_logarithmic",
    "msle": "mean_squared_logarithmic mean_squared_log",
    "mae": "mean_absolute mean_absolute_deviation",
    "median_ae": "median_absolute medae",
    "mape": "mean_absolute_percentage",
    "smape": "symmetric_mean_absolute_percentage symmetric_mape",
    "r2": "r_2 r_squared rsquared coefficient_of_determination",
    "pearson": "pearsonr pearson_r pearson_correlation pearson_correlation_coefficient",
    "spearman": "spearmanr spearman_rho spearman_correlation spearman_rank_correlation "
    "spearman_s_rank_correlation",
    "error_rate": "misclassification_rate misclassification classification_error zero_one_loss",
    "hamming": "hamming_loss",
    "jaccard": "jaccard_index iou intersection_over_union",
}
#: Other spellings of the names, in small letters with underscores, before ``_score`` or ``_error``.
ALIASES: dict[str, str] = {
    spelling: name for name, spellings in _SPELLINGS.items() for spelling in spellings.split()
}


def canonical(name: str) -> Iterator[str]:
    """The names that a spelling may stand for, best first: in small letters, with underscores."""
    plain = re.sub(r"[^a-z0-9]+", "_", name.lower().replace("\u00b2", "2")).strip("_")
    for candidate in (plain, plain.removesuffix("_score"), plain.removesuffix("_error")):
        yield ALIASES.get(candidate, candidate)
