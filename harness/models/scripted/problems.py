"""From what was read to what is to be done: the kind of the target and the role of every column."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, Literal

from harness.models.scripted.reading import Facts, Unreadable

Kind = Literal["classes", "shares", "flags", "levels", "order", "numbers"]

_SOFT = ("roc_auc", "average_precision", "log_loss", "brier", "mrr")
_FAMILIES = {
    "quadratic": "quadratic_weighted_kappa",
    "qwk": "quadratic_weighted_kappa",
    "kappa": "cohen_kappa",
    "micro": "micro_f1",
    "weighted_f1": "weighted_f1",
    "macro": "macro_f1",
    "f1": "f1",
    "average_precision": "average_precision",
    "pr_auc": "average_precision",
    "auc": "roc_auc",
    "gini": "roc_auc",
    "rmsle": "rmsle",
    "logarithmic_loss": "log_loss",
    "logarithmic": "rmsle",
    "log_loss": "log_loss",
    "logloss": "log_loss",
    "cross_entropy": "log_loss",
    "brier": "brier",
    "balanced": "balanced_accuracy",
    "mcc": "mcc",
    "matthews": "mcc",
    "acc": "accuracy",
    "normalised_rmse": "normalised_rmse",
    "nrmse": "normalised_rmse",
    "smape": "smape",
    "mape": "mape",
    "mae": "mae",
    "mase": "mae",
    "median_ae": "mae",
    "absolute": "mae",
    "r2": "r2",
    "pearson": "correlation",
    "spearman": "correlation",
    "mrr": "mrr",
    "reciprocal": "mrr",
    "ndcg": "ndcg",
    "mse": "rmse",
    "squared": "rmse",
}
"""Part of a metric's name -> the metric by which programs validate; the first part found decides."""


@dataclass(frozen=True)
class Problem:
    """What the programs must know.

    Attributes:
        kind: the target: one label of many (classes), a probability for each class (shares), several yes or
            no (flags), steps of a scale (levels), an order within groups (order), or plain numbers.
        output: whether a submission holds labels, or probabilities where there are classes or flags.
        metric: the metric by which the programs validate, in their words.
        higher_is_better: its direction.
        forecasts: the test rows come after the training rows.
        logarithm: to be learnt as log(1 + y).
        absolute: the median, not the mean, is the best constant.
        never_negative: no training value is below 0.
        ranks: rows are compared within groups.
        n_outputs: columns of what a model says: classes, flags or numbers.
        rows: training and test rows.
        numbers, blocks, categories, dates, texts: names of feature columns; blocks are common beginnings of
            numbered columns.
        series: the blocks are values in the order of time.
        documents: those of the texts that stand in files of their own.
        images: the column of image paths.
        sounds: the column of paths of recordings.
        group: the column of what belongs together and must not be split.
        id_is_group: the id's part before its last dash says so.
        time: the column of dates by which the test rows come later.
        width: how many features there are, texts, dates and images aside.
    """

    kind: Kind
    output: Literal["label", "probability"]
    metric: str
    higher_is_better: bool
    forecasts: bool
    logarithm: bool
    absolute: bool
    never_negative: bool
    ranks: bool
    n_outputs: int
    rows: tuple[int, int]
    numbers: tuple[str, ...]
    blocks: tuple[str, ...]
    series: bool
    categories: tuple[str, ...]
    dates: tuple[str, ...]
    texts: tuple[str, ...]
    documents: tuple[str, ...]
    images: str | None
    sounds: str | None
    group: str | None
    id_is_group: bool
    time: str | None
    width: int

    @property
    def classifies(self) -> bool:
        """Whether models give probabilities."""
        return self.kind in ("classes", "shares", "flags")

    @property
    def encodes_target(self) -> bool:
        """Whether a category can be replaced by its mean target."""
        return self.kind in ("classes", "shares") or self.n_outputs == 1

    @property
    def has_derived(self) -> bool:
        """Whether there is something to derive further features from."""
        encodes = bool(self.categories) and self.encodes_target
        return bool(self.texts or self.images or self.series or self.forecasts or encodes)

    @property
    def has_numbers(self) -> bool:
        """Whether there are features for one who reads numbers only."""
        return bool(self.numbers or self.blocks or self.dates or self.texts or self.images or self.sounds)


def understand(facts: Facts, seen: dict[str, Any]) -> Problem:
    """Decide the kind of the problem and the role of every column.

    Args:
        facts: what the environment declares.
        seen: what the look at the data printed.

    Raises:
        Unreadable: nothing to learn from, or nothing that can be learnt.
    """
    if 0 in seen["rows"]:
        raise Unreadable(f"there are no {'test' if seen['rows'][0] else 'training'} rows")
    targets = seen["targets"]
    single = targets[facts.targets[0]]
    metric = metric_family(facts.metric)
    numeric = all(about["numeric"] for about in targets.values())
    flags = ((about["whole"], about["low"], about["high"]) for about in targets.values())
    binary = numeric and all(whole and low >= 0 and high <= 1 for whole, low, high in flags)
    kind = _kind(facts, metric, seen, numeric, binary)
    if kind == "classes" and single["unique"] < 2:
        raise Unreadable("the training target has a single value")
    metric = metric or {"classes": "accuracy", "flags": "accuracy", "shares": "log_loss"}.get(kind, "rmse")
    soft = metric in _SOFT or facts.objective == "ranking"
    columns = _columns(seen)
    forecasts = facts.objective == "forecasting"
    dates = columns["dates"]
    if seen["id_dates"] > 0.95 and forecasts:
        dates = [facts.id_column, *dates]
    positive = numeric and all(about["low"] >= 0 for about in targets.values())
    later = [name for name in columns["dates"] if seen["words"][name]["later"]]
    ranks = facts.objective == "ranking"
    groups = [*columns["groups"], *seen["identities"]]
    id_is_group = 1 < seen["id_prefixes"] < 0.6 * seen["rows"][1]
    if ranks and not groups and not id_is_group:
        raise Unreadable("no column says which rows are ranked together")
    return Problem(
        kind=kind,
        output="probability" if soft else "label",
        metric=metric,
        higher_is_better=facts.higher_is_better,
        forecasts=forecasts and bool(dates),
        logarithm=kind == "numbers" and positive and metric in ("rmsle", "smape", "mape"),
        absolute=metric in ("mae", "smape", "mape"),
        never_negative=positive,
        ranks=ranks,
        n_outputs=single["unique"] if kind == "classes" else len(facts.targets),
        rows=(seen["rows"][0], seen["rows"][1]),
        numbers=tuple(seen["numbers"]),
        blocks=tuple(seen["blocks"]),
        series=bool(seen["blocks"]) and facts.modality in ("time series", "audio", "video"),
        categories=tuple(columns["categories"]),
        dates=tuple(dates),
        texts=tuple(columns["texts"]),
        documents=tuple(seen["documents"]),
        images=columns["images"][0] if columns["images"] else None,
        sounds=columns["sounds"][0] if columns["sounds"] else None,
        group=groups[0] if groups else None,
        id_is_group=id_is_group,
        time=dates[0] if dates and forecasts else later[0] if later else None,
        width=len(seen["numbers"]) + sum(seen["blocks"].values()) + len(columns["categories"]),
    )


def metric_family(name: str) -> str | None:
    """The metric of the programs that a declared metric's name belongs to, or ``None``."""
    plain = _plain(name)
    return next((family for part, family in _FAMILIES.items() if part in plain), None)


def _plain(name: str) -> str:
    return re.sub(r"[^a-z0-9]+", "_", name.lower())


def _kind(facts: Facts, metric: str | None, seen: dict[str, Any], numeric: bool, binary: bool) -> Kind:
    several = len(facts.targets) > 1
    if facts.objective == "ranking":
        return "classes" if binary and not several else "order"
    if metric == "quadratic_weighted_kappa" and numeric and not several:
        return "levels"
    if several and seen["one_of"] and facts.objective == "classification":
        return "shares"
    if several and binary:
        return "flags"
    if facts.objective in ("regression", "forecasting"):
        if not numeric:
            raise Unreadable("the target is not made of numbers")
        return "numbers"
    if several:
        raise Unreadable("several targets that are neither numbers nor yes or no")
    return "classes"


def _columns(seen: dict[str, Any]) -> dict[str, list[str]]:
    """Roles of the columns that do not hold numbers."""
    roles: dict[str, list[str]] = {
        "categories": [], "dates": [], "texts": [], "images": [], "sounds": [], "groups": [],
    }  # fmt: skip
    for name, about in seen["words"].items():
        if about["files"] > 0.9:
            role = "images"
        elif about["sounds"] > 0.9:
            role = "sounds"
        elif about["dates"] > 0.95:
            role = "dates"
        elif about["unique"] > 50 and about["words"] >= 1.5:
            role = "texts"
        elif about["seen"] < 0.05 and about["unique"] > 20:
            role = "groups"
        else:
            role = "categories"
        roles[role].append(name)
    return roles
