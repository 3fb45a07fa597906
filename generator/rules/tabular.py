"""Proposals from the rows of one table: classes, numbers, several labels or numbers, rankings, anomalies."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from generator.columns import Column, Kind, as_numbers
from generator.proposals import Evidence, Proposal, Refusal, SplitChoice
from generator.rules.candidates import FROM_TEXT, Candidate
from generator.rules.context import (
    EASY_SKILL,
    FEW_ROWS,
    KNOWN_ANOMALIES,
    LEAST_ROWS,
    MOST_NUMBER_SKILL,
    MOST_RANKING_SKILL,
    MOST_SKILL,
    PAIR_FIT,
    PROXY_SKILL,
    Context,
    difficulty,
    usable,
)
from generator.rules.families import applies
from generator.rules.metricchoice import choose_metric, number_metric
from generator.rules.naming import plain, snake, stems, task_id
from generator.rules.probe import encode, joined, proxies, skill, together
from generator.series import times_of
from generator.splits import choose_split

_COARSER_SHARE = 0.98
_MOST_LABELS = 12
#: Labels or numbers of one target that a quick check looks at.
_PARTS = 4
#: Features a target needs unless they are texts: from one number alone there is little to find out.
_LEAST_FEATURES = 2


@dataclass(frozen=True)
class _Part:
    """One column of numbers or classes that a quick check predicts."""

    values: pd.Series
    classes: bool


@dataclass(frozen=True)
class _Basis:
    """The features of a candidate, what was left out, the split and the evidence.

    ``train_rows`` and ``easy`` say what was done about a target that is nearly given away.
    """

    features: tuple[str, ...]
    ignored: tuple[tuple[str, str], ...]
    split: SplitChoice
    evidence: Evidence
    train_rows: int | None = None
    easy: bool = False


def examine(context: Context, candidate: Candidate) -> Proposal | Refusal:
    """Check that the target is learnable and not given away, and write the proposal."""
    parts = _parts(context.frame, candidate)
    known = pd.concat([part.values for part in parts], axis=1).dropna().index
    if len(known) < LEAST_ROWS:
        return _refuse(
            candidate, "few_rows", f"only {len(known)} rows have it; at least {LEAST_ROWS} are needed"
        )
    basis = _basis(context, candidate, [_Part(part.values.loc[known], part.classes) for part in parts])
    if isinstance(basis, Refusal):
        return basis
    return _proposal(context, candidate, basis)


def _basis(context: Context, candidate: Candidate, parts: Sequence[_Part]) -> _Basis | Refusal:
    columns, left = usable(context)
    own = {column.name for column in candidate.columns}
    columns = [column for column in columns if column.name not in own]
    if candidate.texts:
        left += [(c.name, "the task is about the texts") for c in columns if c.kind is not Kind.TEXT]
        columns = [column for column in columns if column.kind is Kind.TEXT]
    first = parts[0]
    frame = context.frame.loc[first.values.index]
    matrix = encode(frame, columns)
    if context.probed:
        left += _giveaways(candidate, parts, columns, matrix, {name for name, _ in left})
    if candidate.objective == "classification":
        left += [
            (column.name, f"it is a coarser form of {candidate.name}")
            for column in columns
            if column.kind is Kind.CATEGORY
            and column.name not in dict(left)
            and _coarser(frame[column.name], first.values)
        ]
    gone = {name for name, _ in left}
    columns = [column for column in columns if column.name not in gone]
    features = tuple(column.name for column in columns)
    if not features:
        return _refuse(candidate, "given_away", "no feature is left beside the columns that give it away")
    time = context.table.time
    if time is not None and set(features) <= {*time.columns, time.entity}:
        return _refuse(candidate, "is_forecast", "there is only the time to learn it from, as in a forecast")
    if len(features) < _LEAST_FEATURES and not any(c.kind in (Kind.TEXT, Kind.LIST) for c in columns):
        return _refuse(candidate, "few_features", f"{features[0]} is the only column to learn it from")
    split = _split(context, candidate, features, first)
    if isinstance(split, Refusal):
        return split
    matrix = matrix[[name for name in matrix.columns if any(_belongs(name, f) for f in features)]]
    for part in parts:
        pair = None if part.classes else together(matrix, part.values, limit=PAIR_FIT)
        if pair is not None and context.probed:
            reason = f"{pair[0]} nearly is {part.values.name} (R² {pair[1]:.3f})"
            return _refuse(candidate, "given_away", reason)
    return _judged(context, candidate, parts, matrix, frame, _Basis(features, tuple(left), split, _NOTHING))


_NOTHING = Evidence(skill=0.0, spread=0.0, measure="", rows=0)


def _giveaways(
    candidate: Candidate,
    parts: Sequence[_Part],
    columns: Sequence[Column],
    matrix: pd.DataFrame,
    left: set[str],
) -> list[tuple[str, str]]:
    """Columns from one of which alone a part of the target follows."""
    single = matrix[[name for name in matrix.columns if " topic " not in name]]
    found: dict[str, str] = {}
    names = [column.name for column in columns]
    for part in parts:
        for feature, alone in proxies(single, part.values, classes=part.classes, limit=PROXY_SKILL):
            owner = feature if feature in names else next(n for n in names if _belongs(feature, n))
            if owner not in left:
                said = candidate.name if len(parts) == 1 else str(part.values.name)
                found.setdefault(owner, f"it determines {said} alone (skill {alone:.2f})")
    return list(found.items())


def _split(
    context: Context, candidate: Candidate, features: tuple[str, ...], part: _Part
) -> SplitChoice | Refusal:
    split = choose_split(
        context.table, context.frame, features, part.values.reindex(context.frame.index), classes=part.classes
    )
    if candidate.objective == "multi-label classification" and split.kind == "stratified":
        return SplitChoice(kind="random", reason="independent rows, each with labels of its own")
    if candidate.query is None or split.kind == "time":
        return split
    if split.kind == "group" and split.columns != (candidate.query,) and len(split.columns) == 1:
        return _refuse(
            candidate, "entangled",
            f"rows that share {split.columns[0]} resemble each other, and stand in several {candidate.query}",
        )  # fmt: skip
    reason = f"each {plain(candidate.query)} is ranked on its own, so it is on one side whole"
    return SplitChoice(kind="group", columns=(candidate.query,), reason=reason)


def _judged(
    context: Context,
    candidate: Candidate,
    parts: Sequence[_Part],
    matrix: pd.DataFrame,
    frame: pd.DataFrame,
    basis: _Basis,
) -> _Basis | Refusal:
    """The basis with its evidence, or why the target is not fit; easy classes get few labelled rows."""
    split = basis.split
    groups = None
    if split.kind == "group":
        groups = frame.groupby(list(split.columns), dropna=False, sort=False).ngroup()
    order = times_of(frame, split.columns) if split.kind == "time" else None
    rare = KNOWN_ANOMALIES if candidate.objective == "anomaly detection" else None
    evidence = joined(
        [
            skill(matrix, part.values, classes=part.classes, groups=groups, order=order, rare=rare)
            for part in parts
        ]
    )
    train_rows, easy = None, False
    if candidate.objective == "classification" and evidence.skill > EASY_SKILL:
        train_rows = FEW_ROWS * len(candidate.classes)
        if evidence.skill > MOST_SKILL:
            easy = True
            evidence = skill(
                matrix,
                parts[0].values,
                classes=True,
                groups=groups,
                order=order,
                most=train_rows,
                labels=True,
            )
    most = MOST_SKILL if parts[0].classes else MOST_NUMBER_SKILL
    problem = context.unfit(evidence, most if candidate.query is None else MOST_RANKING_SKILL)
    if problem is not None:
        return _refuse(candidate, *problem)
    return _Basis(basis.features, basis.ignored, split, evidence, train_rows, easy)


def _proposal(context: Context, candidate: Candidate, basis: _Basis) -> Proposal:
    column = candidate.columns[0]
    metric, positive = choose_metric(context.frame, candidate, easy=basis.easy)
    said = " and ".join(plain(c.name) for c in candidate.columns)
    targets: tuple[str, ...] = tuple(c.name for c in candidate.columns)
    source, classes = None, candidate.classes
    if column.kind is Kind.LIST:
        source = column.name
        kept = [label for label, count in column.labels if count >= 0.02 * context.table.rows][:_MOST_LABELS]
        targets = tuple(f"{snake(column.name)}_{snake(label)}" for label in kept)
        classes = tuple(kept)
    elif candidate.objective == "multi-label classification":
        positive, said = applies(column), _family(candidate.columns)
    suffix = {"ranking": "ranking", "anomaly detection": "detection"}.get(candidate.objective, "")
    named = said if len(candidate.columns) > 2 else " ".join(c.name for c in candidate.columns)
    return Proposal(
        id=task_id(context.dataset, named, "from text" if candidate.texts else suffix),
        title=_title(candidate, said, context),
        shape="table",
        table=context.table.path,
        modality="text" if candidate.texts else _modality(context, basis),
        objective="regression" if candidate.objective == "multi-output" else candidate.objective,
        targets=targets,
        source_target=source,
        metric=metric,
        features=basis.features,
        ignored=basis.ignored,
        classes=classes,
        positive=positive,
        train_rows=basis.train_rows,
        known_anomalies=KNOWN_ANOMALIES if candidate.objective == "anomaly detection" else None,
        query=candidate.query,
        split=basis.split,
        difficulty=difficulty(basis.evidence),
        rationale=f"{said} can be learned from {len(basis.features)} other columns: a quick forest reaches a "
        f"skill of {basis.evidence.skill:.2f} ({basis.evidence.measure}), no single column gives it away.",
        evidence=basis.evidence,
        tags=_tags(candidate),
    )


def _tags(candidate: Candidate) -> tuple[str, ...]:
    tags = [candidate.objective] * (candidate.objective == "multi-output") + [FROM_TEXT] * candidate.texts
    return tuple(tags)


def _parts(frame: pd.DataFrame, candidate: Candidate) -> list[_Part]:
    """What the quick check predicts: the class, the number, or the first few labels or numbers."""
    column = candidate.columns[0]
    if candidate.objective in ("classification", "anomaly detection"):
        names = class_names(frame[column.name], column)
        return [_Part(names.where(names.isin(candidate.classes)).rename(column.name), True)]
    if column.kind is Kind.LIST:
        entries = frame[column.name].fillna("").astype(str).str.split(column.separator or ",")
        split = entries.map(lambda cell: {entry.strip() for entry in cell})
        return [
            _Part(split.map(lambda cell, label=label: str(int(label in cell))).rename(label), True)
            for label, _ in column.labels[:_PARTS]
        ]
    if candidate.objective == "multi-label classification":
        even = sorted(candidate.columns, key=lambda c: (-min(count for _, count in c.classes), c.name))
        return [_Part(class_names(frame[c.name], c), True) for c in even[:_PARTS]]
    parts = []
    for part in candidate.columns:
        values = as_numbers(frame[part.name]).rename(part.name)
        parts.append(_Part(np.log1p(values) if number_metric(values) == "rmsle" else values, False))
    return parts


def class_names(values: pd.Series, column: Column) -> pd.Series:
    """The classes as the strings that the profile lists."""
    if column.kind in (Kind.INTEGER, Kind.CATEGORY) and pd.api.types.is_numeric_dtype(values):
        return values.astype("Int64").astype("string")
    return values.astype("string")


def _family(columns: Sequence[Column]) -> str:
    """What flags are called together: the words that all of them share, or the first and the last of them."""
    shared = [
        word for word in plain(columns[0].name).split()
        if not word.isdigit() and all(word in plain(c.name).split() for c in columns)
    ]  # fmt: skip
    if shared:
        return " ".join(shared)
    return f"{plain(columns[0].name)} to {plain(columns[-1].name)}"


def _modality(context: Context, basis: _Basis) -> str:
    if set(context.table.wide_series) & set(basis.features):
        return "time series"
    texts = [name for name in basis.features if context.table.column(name).kind is Kind.TEXT]
    if texts and (context.modality == "text" or len(basis.features) <= 3 * len(texts)):
        return "text"
    return "time series" if basis.split.kind == "time" else "tabular"


def _title(candidate: Candidate, said: str, context: Context) -> str:
    family = len(candidate.columns) > 1
    verb = {
        "ranking": f"Rank by {said} within each {plain(candidate.query or '')}",
        "multi-label classification": (
            f"Say which of {len(candidate.columns)} flags apply, {said}"
            if family
            else f"Name all {said} that apply"
        ),
        "classification": f"Classify the {said}",
        "multi-output": f"Predict {said} together",
        "anomaly detection": f"Find the rare rows {_rare(candidate, said)}",
    }.get(candidate.objective, f"Predict the {said}")
    if candidate.texts:
        verb += " from the text alone"
    # A title that already names the target would say it twice.
    if not context.title or stems(said) & stems(context.title):
        return f"{verb} ({plain(context.dataset)})"
    return f"{verb}: {context.title}"


def _rare(candidate: Candidate, said: str) -> str:
    rare = candidate.classes[-1] if candidate.classes else ""
    return f"flagged as {said}" if applies(candidate.columns[0]) == rare else f"whose {said} is {rare}"


def _coarser(feature: pd.Series, target: pd.Series) -> bool:
    """Whether each class has one value of the feature, though the feature has several values."""
    counts = pd.crosstab(target.to_numpy(), feature.astype("string").fillna("").to_numpy())
    settled = float(counts.max(axis=1).sum()) / len(target)
    return settled >= _COARSER_SHARE > float(counts.sum().max()) / len(target)


def _belongs(encoded: str, feature: str) -> bool:
    return encoded == feature or encoded.startswith(f"{feature} ")


def _refuse(candidate: Candidate, code: str, reason: str) -> Refusal:
    return Refusal(target=candidate.name, objective=candidate.objective, reason=reason, code=code)
