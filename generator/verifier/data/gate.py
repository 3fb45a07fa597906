"""Gate 3: ids, answers, classes, and rows that stand on both sides of the split."""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd

from generator.defects.base import Finding, Severity, has_errors
from generator.defects.registry import finding
from generator.verifier.case import Case
from generator.verifier.files import gate as files
from generator.verifier.leaks import gate as leaks
from generator.verifier.targets import to_numbers
from harness.tasks.submission import read_strings

_CATEGORICAL = ("classification", "multi-label classification")


def check(case: Case) -> Iterator[Finding]:
    """Findings about the data that prepare.py makes."""
    ids = list(_check_ids(case))
    yield from ids
    if has_errors(ids):
        return
    yield from _check_answers(case)
    yield from _check_test(case)
    yield from _check_training(case)
    yield from _check_shared_ids(case)
    yield from leaks.check(case)
    yield from files.check(case)


def _check_ids(case: Case) -> Iterator[Finding]:
    """Before anything is joined by id, ids must be one per row."""
    id_column = case.task.spec.id_column
    for path in (case.prepared.answer_path, case.prepared.sample_path):
        yield from _repeated(path.name, read_strings(path)[id_column])


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


def _check_answers(case: Case) -> Iterator[Finding]:
    answers = case.answers
    if len(answers) < case.limits.data.few_rows:
        yield finding(
            "few_test_rows",
            f"{len(answers)} test rows; scores will differ by luck below {case.limits.data.few_rows}",
            "hold out more rows",
        )
    for column in case.targets:
        empty = answers[column].str.strip().str.lower().isin(["", "nan"])
        if empty.any():
            yield finding(
                "missing_answers",
                f"{int(empty.sum())} of {len(answers)} answers in {column} are empty or nan",
                "drop unlabelled rows before the split",
            )
    constant = [column for column in case.targets if answers[column].nunique() == 1]
    if constant:
        yield finding(
            "constant_target",
            f"all {len(answers)} answers in {', '.join(constant)} are the same",
            "choose a target that varies, or another split",
            # One rare label of many may be absent by chance.
            None if len(constant) == len(case.targets) else Severity.WARNING,
        )


def _check_test(case: Case) -> Iterator[Finding]:
    test = case.test
    if test is None:
        if any(path.name == "test.csv" for path in case.tables):
            yield finding(
                "test_ids_differ",
                f"test.csv has no column {case.id_column} with the ids of the answers",
                "write test rows, sample and answers from the same frame",
            )
        return
    # Several rows of one id may be meant, such as the visits of a customer.
    yield from _repeated("the test table", test[case.id_column], Severity.WARNING)
    ids, wanted = set(test[case.id_column]), set(case.answers[case.id_column])
    if ids != wanted:
        yield finding(
            "test_ids_differ",
            f"{len(wanted - ids)} answers have no test row, {len(ids - wanted)} test rows have no answer",
            "write test rows, sample and answers from the same frame",
        )


def _check_training(case: Case) -> Iterator[Finding]:
    train = case.train
    if train is None:
        if case.test is not None and len(case.test.columns) > 1 and len(case.tables) > 1:
            yield finding(
                "nothing_to_learn",
                f"no table in public/ has a column besides {', '.join(case.test.columns[:6])}",
                "keep the target columns in the training table",
            )
        return
    if case.task.spec.objective not in _CATEGORICAL:
        return
    for column in case.targets:
        if column not in train.columns:
            continue
        unseen = set(_labels(case.answers[column])) - set(_labels(train[column]))
        if unseen:
            yield finding(
                "unseen_class",
                f"{len(unseen)} classes of {column} in the answers never occur in the training table",
                "split stratified, or drop classes that are too rare",
            )


def _labels(column: pd.Series) -> pd.Series:
    """Labels in one spelling: ``1`` and ``1.0`` are the same class."""
    numbers = to_numbers(column)
    return numbers if numbers.notna().all() else column.str.strip()


def _check_shared_ids(case: Case) -> Iterator[Finding]:
    train, test, id_column = case.train, case.test, case.id_column
    if train is None or test is None or id_column not in train.columns:
        return
    shared = test[id_column].isin(set(train[id_column])).mean()
    if shared > case.limits.data.shared_ids:
        yield finding(
            "shared_ids",
            f"{shared:.1%} of the test ids also stand in the training table",
            "number all rows once, before the split",
        )
