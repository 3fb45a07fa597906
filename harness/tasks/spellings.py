"""What people call the metrics: one table for the names in task.toml and for the prose of descriptions."""

from __future__ import annotations

import re
from collections.abc import Iterator

#: What people write in prose or as a name, by the metric's own name. A blank stands for any blank, hyphen or
#: underscore.
SPELLINGS: dict[str, tuple[str, ...]] = {
    "accuracy": ("accuracy", "accuracy score", "classification accuracy", "categorization accuracy",
                 "multiclass accuracy", "subset accuracy", "准确率", "exactitude"),
    "balanced_accuracy": ("balanced accuracy", "balanced accuracy score", "mean per class accuracy",
                          "macro averaged recall", "macro recall", "mean recall"),
    "f1": ("f1", "f1 score", "f1 measure", "f measure", "f score", "binary f1", "f1 binary", "f 1"),
    "macro_f1": ("macro f1", "macro averaged f1", "f1 macro", "macro f1 score", "macro averaged f1 score",
                 "mean f1 macro", "macro f 1", "unweighted mean of the f1", "unweighted mean f1"),
    "micro_f1": ("micro f1", "micro averaged f1", "f1 micro", "micro f1 score", "micro averaged f1 score",
                 "micro f 1"),
    "weighted_f1": ("weighted f1", "f1 weighted", "weighted f1 score", "weighted average f1",
                    "weighted averaged f1"),
    "fbeta": ("f2", "f2 score", "f0.5", "f0.5 score", "f beta", "f beta score"),
    "mcc": ("mcc", "matthews correlation", "matthews correlation coefficient", "matthews corrcoef",
            "phi coefficient"),
    "cohen_kappa": ("cohen kappa", "cohen's kappa", "cohens kappa", "cohen kappa score", "unweighted kappa"),
    "quadratic_weighted_kappa": ("quadratic weighted kappa", "quadratically weighted kappa", "qwk",
                                 "quadratic kappa", "cohen's kappa with quadratic weights",
                                 "cohen kappa with quadratic weights", "weighted kappa quadratic",
                                 "kappa quadratic"),
    "roc_auc": ("roc auc", "auc", "auroc", "auc roc", "roc auc score", "area under the roc curve",
                "area under roc curve", "area under roc", "area under the receiver operating curve",
                "area under the receiver operating characteristic curve", "area under the curve",
                "area under receiver operating characteristic curve", "mean column wise roc auc",
                "area under the receiver operating characteristic", "mean columnwise roc auc"),
    "average_precision": ("average precision", "average precision score", "pr auc", "auprc", "auc pr",
                          "area under the precision recall curve", "area under the pr curve",
                          "area under precision recall curve"),
    "map_at_k": ("map@k", "map@", "mean average precision", "map at k", "mean average precision at k"),
    "log_loss": ("log loss", "logloss", "logarithmic loss", "cross entropy", "cross entropy loss",
                 "binary cross entropy", "categorical cross entropy", "negative log likelihood",
                 "binary log loss", "multi class log loss", "multiclass log loss", "logistic loss",
                 "multi class logarithmic loss", "multiclass logarithmic loss", "neg log loss"),
    "brier": ("brier", "brier score", "brier loss", "brier score loss"),
    "mse": ("mse", "mean squared error", "mean square error", "mean of the squared errors"),
    "rmse": ("rmse", "root mean squared error", "root mean square error", "root of the mean squared error",
             "root mean square deviation", "rmsd", "square root of the mean squared error", "root mse"),
    "mcrmse": ("mcrmse", "mean columnwise root mean squared error", "mean column wise rmse",
               "mean columnwise rmse", "mean column wise root mean squared error", "column wise rmse"),
    "rmsle": ("rmsle", "root mean squared logarithmic error", "root mean squared log error",
              "root mean square logarithmic error", "root mean square log error"),
    "msle": ("msle", "mean squared logarithmic error", "mean squared log error"),
    "mae": ("mae", "mean absolute error", "mean absolute deviation", "average absolute error", "l1 error"),
    "median_ae": ("median absolute error", "median ae", "medae", "medianae"),
    "mape": ("mape", "mean absolute percentage error"),
    "smape": ("smape", "symmetric mean absolute percentage error", "symmetric mape"),
    "mase": ("mase", "mean absolute scaled error"),
    "r2": ("r2", "r^2", "r²", "r squared", "rsquared", "r2 score", "coefficient of determination"),
    "pearson": ("pearson", "pearson r", "pearson correlation", "pearson's r", "pearson's correlation",
                "pearson correlation coefficient", "pearsonr"),
    "spearman": ("spearman", "spearman correlation", "spearman's rank correlation", "spearmanr",
                 "spearman rho", "spearman's rho", "spearman rank correlation", "spearman's correlation"),
    "kendall": ("kendall tau", "kendall's tau", "kendall"),
    "ndcg": ("ndcg", "normalized discounted cumulative gain", "normalised discounted cumulative gain"),
    "mrr": ("mrr", "mean reciprocal rank"),
    "hit_rate": ("hit rate", "recall at k", "recall@"),
    "dice": ("dice", "dice coefficient", "dice score"),
    "jaccard": ("jaccard", "jaccard score", "jaccard index", "iou", "intersection over union"),
    "hamming": ("hamming loss",),
    "levenshtein": ("levenshtein", "levenshtein distance", "edit distance", "character error rate",
                    "word error rate"),
    "pinball": ("pinball loss", "quantile loss"),
    "hinge": ("hinge loss",),
    "kl_divergence": ("kullback leibler", "kl divergence", "kullback liebler"),
    "top_k_accuracy": ("top k accuracy", "top 5 accuracy", "top 3 accuracy"),
}  # fmt: skip

#: What means a metric only where the name of one is asked for: in prose it may be anything.
_AS_NAMES: dict[str, tuple[str, ...]] = {
    "accuracy": ("acc", "exact match"),
    "balanced_accuracy": ("bacc",),
    "cohen_kappa": ("kappa",),
    "average_precision": ("ap", "aucpr"),
    "roc_auc": ("rocauc",),
    "log_loss": ("multi class logloss", "multiclass logloss", "mlogloss"),
    "r2": ("r 2",),
    "error_rate": ("misclassification rate", "misclassification", "classification error", "zero one loss"),
}


def _plain(name: str) -> str:
    return re.sub(r"[^a-z0-9^@.]+", "_", name.lower().replace("\u00b2", "2")).strip("_").replace("^", "")


def _without_end(plain: str) -> str:
    return plain.removesuffix("_score").removesuffix("_error")


_NAMES: dict[str, str] = {
    form: name
    for table in (SPELLINGS, _AS_NAMES)
    for name, spellings in table.items()
    for spelling in (name, *spellings)
    for form in (_plain(spelling), _without_end(_plain(spelling)))
}


def canonical(name: str) -> Iterator[str]:
    """The names that a spelling may stand for, best first; in small letters with underscores when unknown."""
    plain = _plain(name)
    for candidate in (plain, _without_end(plain)):
        yield _NAMES.get(candidate, candidate)
