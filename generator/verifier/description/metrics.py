"""Names of metrics in prose and code, each with the one name by which it is compared."""

from __future__ import annotations

import re
from dataclasses import dataclass

from harness.tasks.spellings import SPELLINGS

#: Said of a metric in prose, though not its name, or of a near relation.
_LOOSE: dict[str, tuple[str, ...]] = {
    "accuracy": ("share of correct", "percentage of correct", "fraction of correct"),
    "f1": ("mean f1", "mean f1 score"),
    "precision": ("precision score", "mean precision"),
    "recall": ("recall score", "sensitivity"),
    "quadratic_weighted_kappa": ("weighted kappa",),
    "roc_auc": ("gini", "gini coefficient", "normalized gini"),
    "log_loss": ("mean column wise log loss",),
    "r2": ("explained variance",),
}

#: Metrics of which lower is better; of the others higher is.
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
        "hamming",
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
    "jaccard": {"map_at_k", "fbeta"},
    "rmse": {"mcrmse"},
    "accuracy": {"top_k_accuracy"},
    "log_loss": {"kl_divergence"},
}


def _pattern(words: str) -> str:
    return r"[\s_\-‐-–]{0,2}".join(re.escape(word) for word in words.split())


_BY_WORDS = sorted(
    {
        (words, name)
        for table in (SPELLINGS, _LOOSE)
        for name, spellings in table.items()
        for words in (*spellings, name.replace("_", " "))
    },
    key=lambda pair: (-len(pair[0]), pair[0]),
)
#: One alternative for each way of writing, the longest first, so that a part of a longer name is never taken.
_ANY = re.compile(
    r"(?<![^\W_])(?=[^\W_])(?:"
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
