"""Names of metrics in prose and code, each with the one name by which it is compared."""

from __future__ import annotations

import re
from dataclasses import dataclass

#: What people write, by canonical name. A space stands for any blank, hyphen or underscore, or none where
#: the words are also written as one.
SYNONYMS: dict[str, tuple[str, ...]] = {
    "accuracy": ("accuracy", "accuracy score", "classification accuracy", "categorization accuracy",
                 "share of correct", "percentage of correct", "fraction of correct", "准确率", "exactitude"),
    "balanced_accuracy": ("balanced accuracy", "balanced accuracy score", "mean per class accuracy",
                          "macro averaged recall", "macro recall", "mean recall"),
    "f1": ("f1", "f1 score", "f1 measure", "f measure", "f score", "binary f1", "mean f1", "mean f1 score"),
    "macro_f1": ("macro f1", "macro averaged f1", "f1 macro", "macro f1 score", "macro averaged f1 score",
                 "unweighted mean of the f1", "unweighted mean f1"),
    "micro_f1": ("micro f1", "micro averaged f1", "f1 micro", "micro f1 score", "micro averaged f1 score"),
    "weighted_f1": ("weighted f1", "f1 weighted", "weighted f1 score", "weighted average f1"),
    "fbeta": ("f2", "f2 score", "f0.5", "f0.5 score", "f beta", "f beta score"),
    "precision": ("precision score", "mean precision"),
    "recall": ("recall score", "sensitivity"),
    "mcc": ("mcc", "matthews correlation", "matthews correlation coefficient", "matthews corrcoef",
            "phi coefficient"),
    "cohen_kappa": ("cohen kappa", "cohen's kappa", "cohens kappa", "cohen kappa score", "unweighted kappa"),
    "quadratic_weighted_kappa": ("quadratic weighted kappa", "quadratically weighted kappa", "qwk",
                                 "quadratic kappa", "cohen's kappa with quadratic weights", "weighted kappa",
                                 "cohen kappa with quadratic weights"),
    "roc_auc": ("roc auc", "auc", "auroc", "auc roc", "roc auc score", "area under the roc curve",
                "area under roc curve", "area under the receiver operating characteristic curve",
                "area under the receiver operating characteristic", "area under the receiver operating curve",
                "area under the curve", "area under roc", "gini", "gini coefficient", "normalized gini"),
    "average_precision": ("average precision", "average precision score", "pr auc", "auprc", "auc pr",
                          "area under the precision recall curve", "area under the pr curve",
                          "area under precision recall curve"),
    "map_at_k": ("map@k", "map@", "mean average precision", "map at k", "mean average precision at k"),
    "log_loss": ("log loss", "logloss", "logarithmic loss", "cross entropy", "cross entropy loss",
                 "binary cross entropy", "categorical cross entropy", "negative log likelihood",
                 "multi class log loss", "multiclass log loss", "mean column wise log loss", "logistic loss",
                 "neg log loss"),
    "brier": ("brier", "brier score", "brier score loss"),
    "mse": ("mse", "mean squared error", "mean square error", "mean of the squared errors"),
    "rmse": ("rmse", "root mean squared error", "root mean square error", "root of the mean squared error",
             "root mean square deviation", "rmsd", "square root of the mean squared error"),
    "mcrmse": ("mcrmse", "mean columnwise root mean squared error", "mean column wise rmse",
               "mean columnwise rmse"),
    "rmsle": ("rmsle", "root mean squared logarithmic error", "root mean squared log error",
              "root mean square logarithmic error", "root mean square log error"),
    "msle": ("msle", "mean squared logarithmic error", "mean squared log error"),
    "mae": ("mae", "mean absolute error", "mean absolute deviation", "average absolute error", "l1 error"),
    "median_ae": ("median absolute error", "median ae", "medae", "medianae"),
    "mape": ("mape", "mean absolute percentage error"),
    "smape": ("smape", "symmetric mean absolute percentage error"),
    "mase": ("mase", "mean absolute scaled error"),
    "r2": ("r2", "r^2", "r²", "r squared", "r2 score", "coefficient of determination", "explained variance"),
    "pearson": ("pearson", "pearson correlation", "pearson's r", "pearson correlation coefficient",
                "pearson's correlation", "pearsonr"),
    "spearman": ("spearman", "spearman correlation", "spearman's rank correlation", "spearmanr",
                 "spearman's rho",
                 "spearman rank correlation", "spearman's correlation"),
    "kendall": ("kendall tau", "kendall's tau", "kendall"),
    "ndcg": ("ndcg", "normalized discounted cumulative gain", "normalised discounted cumulative gain"),
    "mrr": ("mrr", "mean reciprocal rank"),
    "hit_rate": ("hit rate", "recall at k", "recall@"),
    "dice": ("dice", "dice coefficient", "dice score"),
    "iou": ("iou", "intersection over union", "jaccard", "jaccard score", "jaccard index"),
    "hamming_loss": ("hamming loss",),
    "levenshtein": ("levenshtein", "levenshtein distance", "edit distance", "character error rate",
                    "word error rate"),
    "pinball": ("pinball loss", "quantile loss"),
    "hinge": ("hinge loss",),
    "kl_divergence": ("kullback leibler", "kl divergence", "kullback liebler"),
    "top_k_accuracy": ("top k accuracy", "top 5 accuracy", "top 3 accuracy"),
}  # fmt: skip

#: Metrics of which lower is better; of the others in :data:`SYNONYMS` higher is.
LOWER = frozenset(
    [
        "log_loss",
        "brier",
        "mse",
        "rmse",
        "mcrmse",
        "rmsle",
        "msle",
        "mae",
        "median_ae",
        "mape",
        "smape",
        "mase",
        "hamming_loss",
        "levenshtein",
        "pinball",
        "hinge",
        "kl_divergence",
    ]
)

#: A general name and the metrics it may stand for.
GENERAL = {
    "f1": {"macro_f1", "micro_f1", "weighted_f1"},
    "cohen_kappa": {"quadratic_weighted_kappa"},
    "average_precision": {"map_at_k"},
    "iou": {"map_at_k", "fbeta"},
    "rmse": {"mcrmse"},
    "accuracy": {"top_k_accuracy"},
    "log_loss": {"kl_divergence"},
}


def _pattern(words: str) -> str:
    return r"[\s_\-‐-–]{0,2}".join(re.escape(word) for word in words.split())


_BY_WORDS = sorted(
    ((words, name) for name, all_words in SYNONYMS.items() for words in (*all_words, name.replace("_", " "))),
    key=lambda pair: -len(pair[0]),
)
#: One alternative for each way of writing, the longest first, so that a part of a longer name is never taken.
_ANY = re.compile(
    r"(?<![^\W_])(?:"
    + "|".join(f"(?P<m{i}>{_pattern(words)})" for i, (words, _) in enumerate(_BY_WORDS))
    + r")"
    r"(?:['’]?s)?(?![^\W_])|(?P<at>(?i:map|recall|ndcg)\s?@\s?(?:\d+|k))",
    re.IGNORECASE,
)
_AT = {"map": "map_at_k", "rec": "hit_rate", "ndc": "ndcg"}


@dataclass(frozen=True)
class Mention:
    """A metric that a text names.

    Attributes:
        name: the canonical name.
        words: as they are written.
        start, end: where.
    """

    name: str
    words: str
    start: int
    end: int


def mentions(text: str) -> list[Mention]:
    """The metrics that a text names, in order; a name within a longer one does not count."""
    found = []
    for match in _ANY.finditer(text):
        group = match.lastgroup or ""
        name = _AT[match[0][:3].lower()] if group == "at" else _BY_WORDS[int(group[1:])][1]
        found.append(Mention(name, match[0], match.start(), match.end()))
    return found


def canonical(name: str) -> str | None:
    """The canonical name of a metric's name such as ``ROC-AUC`` or ``auc``; ``None`` when it is not known."""
    found = mentions(name.strip())
    whole = [each for each in found if each.end - each.start >= 0.6 * len(name.strip())]
    return whole[0].name if whole else None


def agree(said: str, declared: str) -> bool:
    """Whether a metric may be meant by another name: itself, or by a general name of its family."""
    return said == declared or declared in GENERAL.get(said, ()) or said in GENERAL.get(declared, ())


def lower_is_better(name: str) -> bool:
    """The direction of a canonical metric."""
    return name in LOWER
