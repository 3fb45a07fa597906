"""Proposals from the rows of one table: classes, numbers, several labels, several numbers, rankings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy.stats import skew, spearmanr

from generator.columns import Column, Kind, as_numbers
from generator.proposals import Evidence, Proposal, Refusal, SplitChoice
from generator.rules.context import (
    CLASS_ROWS,
    LEAST_ROWS,
    MOST_CLASSES,
    MOST_RANKING_SKILL,
    MOST_SKILL,
    PROXY_SKILL,
    Context,
    difficulty,
    few_rows,
    usable,
    verdict,
)
from generator.rules.naming import outcome_score, plain, snake, stems, task_id, words
from generator.rules.probe import encode, proxies, skill
from generator.series import times_of
from generator.splits import choose_split

_QUERIES = (20, 400)
_QUERY_WORDS = {
    "year", "neighborhood", "neighbourhood", "city", "state", "county", "region", "district", "country",
    "school", "team", "store", "shop", "user", "customer", "session", "query", "search", "race",
    "group",
}  # fmt: skip
_COARSER_SHARE = 0.98


@dataclass(frozen=True)
class Candidate:
    """A formulation worth a check: its objective, its raw columns and how promising its name is."""

    objective: str
    columns: tuple[Column, ...]
    promise: float
    classes: tuple[str, ...] = ()
    query: str | None = None
    ordinal: bool = False

    @property
    def name(self) -> str:
        """The target in a word."""
        return " and ".join(column.name for column in self.columns)


@dataclass(frozen=True)
class _Basis:
    """The features of a candidate, what was left out, the split and the evidence."""

    features: tuple[str, ...]
    ignored: tuple[tuple[str, str], ...]
    split: SplitChoice
    evidence: Evidence


def candidates(context: Context) -> list[Candidate]:
    """All formulations by promise, the most promising first."""
    found: list[Candidate] = []
    last = context.table.columns[-1].name
    for column in context.table.columns:
        if column.missing > 0.4 * context.table.rows or column.name in context.table.wide_series:
            continue
        promise = outcome_score(column.name, context.about) + (0.7 if column.name == last else 0.0)
        promise -= 2.0 * column.missing / context.table.rows
        if column.kind is Kind.LIST:
            found.append(Candidate("multi-label classification", (column,), promise + 1.0))
        classes = kept_classes(column, context.table.rows)
        if classes:
            few = column.is_number and len(classes) > 2
            counts = np.array([dict(column.classes)[name] for name in classes], dtype=float)
            shares = counts / counts.sum()
            bonus = 0.5 * float(-(shares * np.log(shares)).sum() / np.log(len(shares)))
            found.append(Candidate("classification", (column,), promise + bonus, classes, ordinal=few))
        elif column.is_number and column.unique >= 20:
            found.append(Candidate("regression", (column,), promise + 0.2))
    numbers = [c for c in found if c.objective == "regression" and c.promise > 0]
    found += _pairs(context, numbers)
    query = _query(context)
    if query is not None and numbers:
        best = max(numbers, key=lambda c: (c.promise, c.name))
        found.append(Candidate("ranking", best.columns, best.promise - 0.1, query=query))
    return sorted(found, key=lambda c: (-c.promise, c.objective, c.name))


def kept_classes(column: Column, rows: int) -> tuple[str, ...]:
    """The classes frequent enough to be asked for, or nothing when the column is no fit class."""
    few_numbers = column.kind is Kind.INTEGER and column.unique <= 10
    if column.kind not in (Kind.CATEGORY, Kind.BOOLEAN) and not few_numbers:
        return ()
    kept = [(name, count) for name, count in column.classes if count >= max(CLASS_ROWS, 0.01 * rows)][
        :MOST_CLASSES
    ]
    covered = sum(count for _, count in kept)
    if len(kept) < 2 or covered < LEAST_ROWS or kept[0][1] > 0.95 * covered:
        return ()
    # A column of many values may be cut to its frequent ones, as long as those are many rows.
    if covered < 0.7 * rows and covered < 800:
        return ()
    return tuple(name for name, _ in kept)


def examine(context: Context, candidate: Candidate) -> Proposal | Refusal:
    """Check that the target is learnable and not given away, and write the proposal."""
    frame = context.frame
    target = _target(frame, candidate)
    known = target.dropna().index
    if len(known) < LEAST_ROWS:
        return _refuse(
            candidate, "few_rows", f"only {len(known)} rows have it; at least {LEAST_ROWS} are needed"
        )
    basis = _basis(context, candidate, target.loc[known])
    if isinstance(basis, Refusal):
        return basis
    return _proposal(context, candidate, basis)


def _basis(context: Context, candidate: Candidate, target: pd.Series) -> _Basis | Refusal:
    columns, left = usable(context)
    own = {column.name for column in candidate.columns}
    columns = [column for column in columns if column.name not in own]
    classes = candidate.objective == "classification"
    frame = context.frame.loc[target.index]
    matrix = encode(frame, columns)
    single = matrix[[name for name in matrix.columns if " topic " not in name]]
    for feature, alone in proxies(single, target, classes=classes, limit=PROXY_SKILL):
        owner = next(c.name for c in columns if feature == c.name or feature.startswith(f"{c.name} "))
        if owner not in {name for name, _ in left}:
            left.append((owner, f"it determines {candidate.name} alone (skill {alone:.2f})"))
    if classes:
        left += [
            (column.name, f"it is a coarser form of {candidate.name}")
            for column in columns
            if column.kind is Kind.CATEGORY
            and column.name not in dict(left)
            and _coarser(frame[column.name], target)
        ]
    gone = {name for name, _ in left}
    columns = [column for column in columns if column.name not in gone]
    features = tuple(column.name for column in columns)
    if not features:
        return _refuse(candidate, "given_away", "no feature is left beside the columns that give it away")
    split = choose_split(
        context.table, context.frame, features, target.reindex(context.frame.index), classes=classes
    )
    if candidate.query is not None and split.kind != "time":
        reason = f"each {plain(candidate.query)} is ranked on its own, so it is on one side whole"
        split = SplitChoice(kind="group", columns=(candidate.query,), reason=reason)
    matrix = matrix[[name for name in matrix.columns if any(_belongs(name, f) for f in features)]]
    groups = None
    if split.kind == "group":
        groups = frame.groupby(list(split.columns), dropna=False, sort=False).ngroup()
    order = times_of(frame, split.columns) if split.kind == "time" else None
    evidence = skill(matrix, target, classes=classes, groups=groups, order=order)
    problem = verdict(evidence, MOST_SKILL if candidate.query is None else MOST_RANKING_SKILL)
    if problem is not None:
        return _refuse(candidate, *problem)
    return _Basis(features, tuple(left), split, evidence)


def _proposal(context: Context, candidate: Candidate, basis: _Basis) -> Proposal:
    column = candidate.columns[0]
    metric, positive = choose_metric(context.frame, candidate)
    said = " and ".join(plain(c.name) for c in candidate.columns)
    targets: tuple[str, ...] = tuple(c.name for c in candidate.columns)
    source = None
    suffix = "ranking" if candidate.objective == "ranking" else ""
    if candidate.objective == "multi-label classification":
        source = column.name
        kept = [label for label, count in column.labels if count >= 0.02 * context.table.rows][:12]
        targets = tuple(f"{snake(column.name)}_{snake(label)}" for label in kept)
        classes = tuple(kept)
    else:
        classes = candidate.classes
    return Proposal(
        id=task_id(context.dataset, " ".join(c.name for c in candidate.columns), suffix),
        title=_title(candidate, said, context),
        shape="table",
        table=context.table.path,
        modality=_modality(context, basis),
        objective="regression" if candidate.objective == "multi-output" else candidate.objective,
        targets=targets,
        source_target=source,
        metric=metric,
        features=basis.features,
        ignored=basis.ignored,
        classes=classes,
        positive=positive,
        train_rows=few_rows(basis.evidence, len(candidate.classes)),
        query=candidate.query,
        split=basis.split,
        difficulty=difficulty(basis.evidence),
        rationale=f"{said} can be learned from {len(basis.features)} other columns: a quick forest reaches a "
        f"skill of {basis.evidence.skill:.2f} ({basis.evidence.measure}), no single column gives it away.",
        evidence=basis.evidence,
        tags=(candidate.objective,) if candidate.objective == "multi-output" else (),
    )


def choose_metric(frame: pd.DataFrame, candidate: Candidate) -> tuple[str, str | None]:
    """The metric that fits the target's distribution, and the class written as 1 for probabilities."""
    column = candidate.columns[0]
    if candidate.objective == "multi-label classification":
        return "micro_f1", None
    if candidate.objective == "ranking":
        return "ndcg", None
    if candidate.objective == "multi-output":
        return "mean_columnwise_nrmse", None
    if candidate.objective == "classification":
        counts = [dict(column.classes)[name] for name in candidate.classes]
        if len(counts) == 2:
            balanced = counts[1] > 0.35 * sum(counts)
            return ("log_loss" if balanced else "roc_auc"), candidate.classes[1]
        if candidate.ordinal:
            return "quadratic_weighted_kappa", None
        return ("macro_f1" if counts[0] > 3 * counts[-1] else "accuracy"), None
    return number_metric(as_numbers(frame[column.name])), None


def number_metric(values: pd.Series) -> str:
    """RMSLE for positive amounts over orders of magnitude, MAE for skewed values, else RMSE."""
    known = values.dropna().to_numpy(float)
    least, skewed = float(known.min()), float(skew(known))
    wide = float(np.quantile(known, 0.99)) > 5 * max(float(np.median(known)), 1e-9)
    if (least >= 0 and wide) or (least > 0 and skewed > 1.5):
        return "rmsle"
    return "mae" if abs(skewed) > 0.7 else "rmse"


def _target(frame: pd.DataFrame, candidate: Candidate) -> pd.Series:
    """What the quick check predicts: the class, the number, or their combination into one number."""
    column = candidate.columns[0]
    if candidate.objective == "classification":
        values = frame[column.name]
        names = class_names(values, column)
        return names.where(names.isin(candidate.classes)).rename(column.name)
    if candidate.objective == "multi-label classification":
        entries = frame[column.name].fillna("").astype(str)
        # The most frequent label stands for all: when it can be learned, the task has something to learn.
        label = column.labels[0][0]
        split = entries.str.split(column.separator or ",")
        return split.map(lambda cell: float(label in [entry.strip() for entry in cell])).rename(column.name)
    scaled = []
    for part in candidate.columns:
        values = as_numbers(frame[part.name])
        if number_metric(values) == "rmsle":
            values = np.log1p(values)
        scaled.append((values - values.mean()) / values.std())
    return pd.concat(scaled, axis=1).mean(axis=1, skipna=False).rename(column.name)


def class_names(values: pd.Series, column: Column) -> pd.Series:
    """The classes as the strings that the profile lists."""
    if column.kind in (Kind.INTEGER, Kind.CATEGORY) and pd.api.types.is_numeric_dtype(values):
        return values.astype("Int64").astype("string")
    return values.astype("string")


def _pairs(context: Context, numbers: Sequence[Candidate]) -> list[Candidate]:
    """Two measurements of the same thing: numbers that go together without being copies of each other."""
    strong = sorted(numbers, key=lambda c: (-c.promise, c.name))[:6]
    best: tuple[float, Candidate, Candidate] | None = None
    for i, first in enumerate(strong):
        for second in strong[i + 1 :]:
            pair = context.frame[[first.name, second.name]].apply(as_numbers)
            together = abs(float(spearmanr(pair.to_numpy(float), nan_policy="omit").statistic))
            if 0.4 <= together <= 0.95 and (best is None or together > best[0]):
                best = (together, first, second)
    if best is None:
        return []
    _, first, second = best
    promise = min(first.promise, second.promise) - 0.2
    return [Candidate("multi-output", (first.columns[0], second.columns[0]), promise)]


def _query(context: Context) -> str | None:
    """A column within whose values rows can be ranked: a year or a category of some size."""
    if context.table.time is not None and context.table.time.series:
        return None
    low, high = _QUERIES
    for column in context.table.columns:
        if column.kind in (Kind.CATEGORY, Kind.INTEGER) and set(words(column.name)) & _QUERY_WORDS:
            sizes = context.frame[column.name].value_counts()
            if low <= column.unique <= high and sizes.median() >= 10 and column.missing == 0:
                return column.name
    return None


def _modality(context: Context, basis: _Basis) -> str:
    if set(context.table.wide_series) & set(basis.features):
        return "time series"
    texts = [name for name in basis.features if context.table.column(name).kind is Kind.TEXT]
    if texts and (context.modality == "text" or len(basis.features) <= 3 * len(texts)):
        return "text"
    return "time series" if basis.split.kind == "time" else "tabular"


def _title(candidate: Candidate, said: str, context: Context) -> str:
    verb = {
        "ranking": f"Rank by {said} within each {plain(candidate.query or '')}",
        "multi-label classification": f"Name every {said} that applies",
        "classification": f"Classify the {said}",
    }.get(candidate.objective, f"Predict the {said}")
    # A title that already names the target would say it twice.
    if not context.title or stems(said) & stems(context.title):
        return f"{verb} ({plain(context.dataset)})"
    return f"{verb}: {context.title}"


def _coarser(feature: pd.Series, target: pd.Series) -> bool:
    """Whether each class has one value of the feature, though the feature has several values."""
    counts = pd.crosstab(target.to_numpy(), feature.astype("string").fillna("").to_numpy())
    settled = float(counts.max(axis=1).sum()) / len(target)
    return settled >= _COARSER_SHARE > float(counts.sum().max()) / len(target)


def _belongs(encoded: str, feature: str) -> bool:
    return encoded == feature or encoded.startswith(f"{feature} ")


def _refuse(candidate: Candidate, code: str, reason: str) -> Refusal:
    return Refusal(target=candidate.name, objective=candidate.objective, reason=reason, code=code)
