"""Columns: labels to learn from, the same features on both sides, and no further target by accident."""

from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np
import pandas as pd

from generator.defects.base import Finding, Severity
from generator.defects.registry import finding
from generator.verifier.case import Case
from generator.verifier.data.distance import between
from generator.verifier.data.labels import Labels, opaque, spelled, visible
from generator.verifier.data.sides import Sides, sides
from generator.verifier.targets import Kind, to_numbers

_SHOWN = 6
#: Columns of a table of pairs: an id, the two that meet, and when.
_PAIR = 4
_ALIKE = 0.15
_TIED = 0.9


def check(case: Case) -> Iterator[Finding]:
    """Findings about which columns are where."""
    labels = {target: visible(case, target) for target in case.targets}
    yield from _check_labels(case, labels)
    both = sides(case)
    if both is not None:
        yield from _check_features(case, both, {found.column for found in labels.values() if found})
        yield from _check_emptied(case, both)


def _check_labels(case: Case, labels: dict[str, Labels | None]) -> Iterator[Finding]:
    """Every target can be seen somewhere in public/."""
    lacking = [target for target, found in labels.items() if found is None]
    named = [target for target, found in labels.items() if found is not None and found.named]
    if not lacking or (not named and opaque(case)):
        return
    train = "no table holds a column that test lacks"
    if case.train_path is not None and case.train is not None:
        shown = ", ".join(case.train.columns[:_SHOWN])
        train = f"{case.train_path.name} holds {shown}"
    yield finding(
        "nothing_to_learn",
        f"{_listed(lacking)} in no table, folder or file name under public/ ({len(lacking)} of "
        f"{len(case.targets)} targets; {train})",
        "keep the target columns in the training table",
        Severity.WARNING if _goes_without(case) else None,
    )


def _goes_without(case: Case) -> bool:
    """Whether a task of its kind may show no labels: anomalies among rows, pairs of a user and an item."""
    objective = case.task.spec.objective
    pairs = case.test is None or len(case.test.columns) <= _PAIR
    return objective == "anomaly detection" or (objective == "ranking" and pairs)


def _check_features(case: Case, both: Sides, sources: set[str]) -> Iterator[Finding]:
    """Columns of one side only; a renamed one is told from one that is not meant for the other side."""
    train, test = both.train, both.test
    own = {case.id_column, *case.targets, *sources}
    numbered = {_stem(name) for name in train.columns} & {_stem(name) for name in test.columns}
    numbered = {stem for stem in numbered if "#" in stem}
    only_train = [name for name in train.columns if name not in test.columns and name not in own]
    only_test = [name for name in test.columns if name not in train.columns and name not in own]
    # Wide series go on in test: d_1 ... d_28 in training, d_29 ... d_56 in test.
    only_train = [name for name in only_train if not (_stem(name) in numbered and only_test)]
    only_test = [name for name in only_test if _stem(name) not in numbered]
    if only_test:
        yield _told_of_test(case, both, only_train, only_test)
        only_train = [name for name in only_train if not _renamed(both, name, only_test)]
    further = [name for name in only_train if _is_label(case, train, name)]
    if further:
        yield finding(
            "undeclared_target",
            f"{_listed(further)} in {both.path.name}, neither in test nor among the targets, but like them",
            "declare it as a target, drop it, or say in the description what it is for",
        )
    others = [name for name in only_train if name not in further]
    if others:
        yield finding(
            "columns_across_split",
            f"{_listed(others)} in {both.path.name} only, not in the test table",
            "drop it, or say in the description that test rows lack it",
            Severity.WARNING,
        )


def _told_of_test(case: Case, both: Sides, only_train: list[str], only_test: list[str]) -> Finding:
    pairs = {name: _renamed(both, name, only_test) for name in only_train}
    said = [f"{name} of training is {other} in test" for name, other in pairs.items() if other]
    return finding(
        "columns_across_split",
        f"{_listed(only_test)} in the test table only" + (f"; {'; '.join(said[:3])}" if said else ""),
        "write train and test from one frame, so that features have one name",
        None if said else Severity.WARNING,
    )


def _renamed(both: Sides, name: str, only_test: list[str]) -> str:
    """The column of test that holds what a column of training holds, by its name or its values."""
    plain = _plain(name)
    for other in only_test:
        if plain and _plain(other) == plain:
            return other
    for other in only_test:
        if _alike(both.train[name], both.test[other]):
            return other
    return ""


def _alike(left: pd.Series, right: pd.Series) -> bool:
    """Whether two columns seem to be drawn from one: numbers of one distribution, or the same categories."""
    left, right = (column[column.str.strip() != ""] for column in (left, right))
    if min(len(left), len(right)) < 10:
        return False
    numbers = [to_numbers(column) for column in (left, right)]
    numeric = [bool(column.notna().mean() > 0.95) for column in numbers]
    if all(numeric) and min(column.nunique() for column in numbers) > 2:
        return between(*(column.dropna().to_numpy() for column in numbers)).size < _ALIKE
    if any(numeric):
        return False
    shares = [column.value_counts(normalize=True) for column in (left, right)]
    return bool(len(shares[0]) > 1 and np.minimum(*shares[0].align(shares[1], fill_value=0.0)).sum() > 0.7)


def _is_label(case: Case, train: pd.DataFrame, name: str) -> bool:
    """Whether a column that test lacks is of the targets' kind: their labels, or closely tied to one."""
    column = train[name]
    column = column[column.str.strip() != ""]
    targets = [target for target in case.targets if target in train.columns]
    if column.nunique() < 2:
        return False
    for target in targets:
        kind = case.kinds[target]
        if kind is Kind.NUMBER:
            both = pd.concat([to_numbers(train[name]), to_numbers(train[target])], axis=1).dropna()
            if len(both) >= 10 and abs(both.corr(method="spearman").to_numpy()[0, 1]) >= _TIED:
                return True
        elif kind is Kind.CLASS:
            if len(case.targets) > 1 and set(spelled(column)) <= set(spelled(train[target])):
                return True
            pairs = train.groupby([name, target]).ngroups
            if pairs == train[name].nunique() == train[target].nunique():
                return True
    return False


def _check_emptied(case: Case, both: Sides) -> Iterator[Finding]:
    """Features that training fills and test leaves empty, or the other way round."""
    filled = [
        tuple(float((table[name].str.strip() != "").mean()) for table in (both.train, both.test))
        for name in both.features
    ]
    for side, other, where in ((0, 1, "test"), (1, 0, "training")):
        names = [
            name
            for name, shares in zip(both.features, filled, strict=True)
            if shares[other] == 0 and shares[side] >= 0.5
        ]
        if names and min(len(both.train), len(both.test)) >= case.limits.data.drift_rows:
            yield finding(
                "columns_across_split",
                f"{_listed(names)} empty in all {where} rows, while the other side fills them{both.said}",
                "fill the column on both sides, or drop it",
                Severity.WARNING,
            )


def _plain(name: str) -> str:
    return "".join(sign for sign in name.casefold() if sign.isalnum())


def _stem(name: str) -> str:
    return re.sub(r"\d+", "#", name)


def _listed(names: list[str]) -> str:
    """``a and b are``, with the count of those that are left out."""
    shown = ", ".join(names[:_SHOWN]) + (f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else "")
    return f"{shown} {'is' if len(names) == 1 else 'are'}"
