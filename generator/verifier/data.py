"""Gate 3: ids, answers, classes, and rows that stand on both sides of the split."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd

from generator.defects import Finding, Severity, finding
from generator.verifier import leaks
from generator.verifier.case import Case, has_errors, to_numbers
from harness.tasks.package import file_hash
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
    yield from leaks.check(case)
    if case.test is not None and case.train is not None:
        yield from _check_split(case, case.train, case.test)


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
    answers = case.key.answers
    if len(answers) < case.limits.few_rows:
        yield finding(
            "few_test_rows",
            f"{len(answers)} test rows; scores will differ by luck below {case.limits.few_rows}",
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
    test, key = case.test, case.key
    if test is None:
        if any(path.name == "test.csv" for path in case.tables):
            yield finding(
                "test_ids_differ",
                f"test.csv has no column {key.id_column} with the ids of the answers",
                "write test rows, sample and answers from the same frame",
            )
        return
    # Several rows of one id may be meant, such as the visits of a customer.
    yield from _repeated("the test table", test[key.id_column], Severity.WARNING)
    ids, wanted = set(test[key.id_column]), set(key.answers[key.id_column])
    if ids != wanted:
        yield finding(
            "test_ids_differ",
            f"{len(wanted - ids)} answers have no test row, {len(ids - wanted)} test rows have no answer",
            "write test rows, sample and answers from the same frame",
        )
    for column in case.targets:
        if column in test.columns and test[column].str.strip().ne("").any():
            yield finding(
                "target_in_test", f"the test table holds {column}", f"drop {column} from the test table"
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
        unseen = set(_labels(case.key.answers[column])) - set(_labels(train[column]))
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


def _check_split(case: Case, train: pd.DataFrame, test: pd.DataFrame) -> Iterator[Finding]:
    split, id_column = case.task.spec.split, case.key.id_column
    if id_column in train.columns:
        shared = test[id_column].isin(set(train[id_column])).mean()
        if shared > case.limits.shared_ids:
            yield finding(
                "shared_ids",
                f"{shared:.1%} of the test ids also stand in the training table",
                "number all rows once, before the split",
            )
    yield from _check_duplicates(case, train, test)
    group, time = split.group_column, split.time_column
    if group and group in train.columns and group in test.columns:
        both = set(train[group]) & set(test[group])
        if both:
            yield finding(
                "group_leak",
                f"{len(both)} of {test[group].nunique()} groups by {group} in test also stand in training",
                "draw whole groups, not rows",
            )
    if time and time in train.columns and time in test.columns:
        moments = [to_times(table[time]) for table in (train, test)]
        early = float((moments[1] <= moments[0].max()).mean()) if moments[0].notna().any() else 0.0
        if early > case.limits.time_warning:
            yield finding(
                "time_leak",
                f"{early:.1%} of the test rows are not later than the last training row by {time}",
                "cut at a moment: train before it, test after it",
                Severity.ERROR if early > case.limits.time_error else Severity.WARNING,
            )


def to_times(column: pd.Series) -> pd.Series:
    """Numbers as they are, else the moments that dates stand for; what is neither is missing."""
    numbers = to_numbers(column)
    if numbers.notna().mean() > 0.9:
        return numbers
    moments = pd.to_datetime(column, errors="coerce", utc=True, format="mixed")
    return pd.Series(moments.astype("int64").where(moments.notna()), dtype=float)


def _check_duplicates(case: Case, train: pd.DataFrame, test: pd.DataFrame) -> Iterator[Finding]:
    """Test rows whose features, files by content, equal those of a training row."""
    features = [
        c for c in test.columns if c in train.columns and c not in (case.key.id_column, *case.targets)
    ]
    split = case.task.spec.split
    if not features or features == [split.time_column]:
        return
    known, asked = (_row_keys(case, table, features) for table in (train, test))
    first = pd.Series(np.arange(len(train)), index=known)
    first = first[~first.index.duplicated()]
    partner = asked.map(first)
    share = float(partner.notna().mean())
    targets = [column for column in case.targets if column in train.columns]
    if share <= case.limits.duplicate_share or not targets:
        return
    answers = case.key.answers.set_index(case.key.id_column)
    matched = partner.notna().to_numpy() & test[case.key.id_column].isin(answers.index).to_numpy()
    ours = leaks.row_hashes(answers.loc[test.loc[matched, case.key.id_column], targets])
    theirs = leaks.row_hashes(train.iloc[partner[matched].astype(int)][targets])
    agreement = leaks.agreement(leaks.Values(ours), leaks.Values(theirs))
    serious = agreement >= case.limits.duplicate_agreement
    yield finding(
        "duplicates_across_split",
        f"{share:.1%} of the test rows equal a training row in all {len(features)} shared columns "
        f"(agreement of their labels beyond chance: {agreement:.2f})",
        "drop duplicates, or keep equal rows on one side of the split",
        None if serious else Severity.WARNING,
    )


def _row_keys(case: Case, table: pd.DataFrame, features: list[str]) -> pd.Series:
    """A 64-bit hash of each row; the path of a file under public/ counts as the file's content."""
    columns = []
    for name in features:
        column = table[name]
        first = column.iloc[0] if len(column) else ""
        if first and len(first) < 200 and (case.prepared.public / first).is_file():
            column = column.map(lambda path: _content(case, path))
        columns.append(column)
    return leaks.row_hashes(pd.concat(columns, axis=1))


def _content(case: Case, path: str) -> str:
    file = case.prepared.public / path
    return file_hash(file) if file.is_file() else path
