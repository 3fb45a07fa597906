"""Ids: one per row, the same in answers, sample and test table, and others than in training."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pandas as pd

from generator.defects.base import Finding, Severity
from generator.defects.registry import finding
from generator.verifier.case import Case
from harness.tasks.submission import read_strings

_SAME_FRAME = "write test rows, sample and answers from the same frame"
_ASKED = 200


def check(case: Case) -> Iterator[Finding]:
    """Before anything is joined by id, ids must be one per row."""
    for path in (case.prepared.answer_path, case.prepared.sample_path):
        ids = read_strings(path)[case.id_column]
        yield from _repeated(path.name, ids)
        empty = int((ids.str.strip() == "").sum())
        if empty:
            yield finding("duplicate_ids", f"{path.name}: {empty} rows have no {ids.name}", "number all rows")


def check_tables(case: Case) -> Iterator[Finding]:
    """Ids of the test table and of the training table, against those of the answers."""
    yield from _check_test(case)
    train, test = case.train, case.test
    if train is None or test is None or case.id_column not in train.columns:
        return
    shared = test[case.id_column].isin(set(train[case.id_column])).mean()
    if shared > case.limits.data.shared_ids:
        yield finding(
            "shared_ids",
            f"{shared:.1%} of the test ids also stand in the training table",
            "number all rows once, before the split",
        )


def _repeated(name: str, ids: pd.Series, severity: Severity | None = None) -> Iterator[Finding]:
    repeated = ids[ids.duplicated()]
    if len(repeated):
        yield finding(
            "duplicate_ids",
            f"{name}: {repeated.nunique()} values of {ids.name} stand in several rows, "
            f"{repeated.iloc[0]!r} for one",
            "give every test row an id of its own",
            severity,
        )


def _check_test(case: Case) -> Iterator[Finding]:
    test = case.test
    if test is None:
        yield from _check_unfound(case)
        return
    # Several rows of one id may be meant, such as the visits of a customer.
    yield from _repeated("the test table", test[case.id_column], Severity.WARNING)
    ids = set(test[case.id_column]) - {""}
    wanted = set(case.answers[case.id_column])
    if ids == wanted:
        return
    # A test table of a series may show rows that nobody is asked about.
    dated = case.task.spec.split.kind == "time" or case.task.spec.objective == "forecasting"
    yield finding(
        "test_ids_differ",
        f"{len(wanted - ids)} answers have no test row, {len(ids - wanted)} test rows have no answer, "
        f"{case.id_column} {sorted(ids ^ wanted)[0]!r} for one",
        _SAME_FRAME,
        Severity.WARNING if dated and wanted < ids else None,
    )


def _check_unfound(case: Case) -> Iterator[Finding]:
    """No table holds most ids of the answers; is there one that should?"""
    answers = case.answers[case.id_column]
    for path, table in case.tables.items():
        if path == case.prepared.sample_path or not (_is_test(path.stem) or _is_like_test(case, path)):
            continue
        name = path.relative_to(case.prepared.public).as_posix()
        if case.id_column in table.columns:
            told = f"{name} holds {table[case.id_column].isin(set(answers)).mean():.1%} ids of the answers"
        elif len(table) == len(answers) and not _composed(answers, table):
            told = f"{name} has no column {case.id_column} with the ids of the answers"
        else:
            continue
        if not _composed(answers, table):
            yield finding("test_ids_differ", told, _SAME_FRAME)
        return


def _is_test(stem: str) -> bool:
    return "test" in re.split(r"[^a-z]+", stem.lower())


def _is_like_test(case: Case, path: Path) -> bool:
    """Whether a table has the columns of the training table but for the targets, and is not that table."""
    train, table = case.train, case.tables[path]
    if train is None or path == case.train_path or case.id_column not in table.columns:
        return False
    return set(table.columns) == set(train.columns) - set(case.targets) != {case.id_column}


def _composed(ids: pd.Series, table: pd.DataFrame) -> bool:
    """Whether ids are made of the values of a column, as in ``<recording>_<second>``, or are that column."""
    asked = ids.iloc[:: max(1, len(ids) // _ASKED)]
    starts = [set(_starts(value)) for value in asked]
    for column in table.columns:
        values = {form for value in table[column].unique() for form in (value, _stem(value))} - {""}
        if sum(bool(parts & values) for parts in starts) >= 0.9 * len(starts):
            return True
    return False


def _stem(value: str) -> str:
    """The name of a file without its folder and suffix."""
    return value.rsplit("/", 1)[-1].rsplit(".", 1)[0]


def _starts(value: str) -> Iterator[str]:
    """An id and what stands before each of its marks."""
    yield value
    for mark in re.finditer(r"[^A-Za-z0-9]+", value):
        yield value[: mark.start()]
