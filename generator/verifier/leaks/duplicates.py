"""Test rows that also stand in training."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd

from generator.defects.base import Finding, Severity
from generator.defects.registry import finding
from generator.verifier.case import Case
from generator.verifier.leaks.comparing import Values, agreement
from generator.verifier.leaks.copies import row_hashes
from harness.tasks.package import file_hash


def check(case: Case) -> Iterator[Finding]:
    """Test rows whose features, files by content, equal those of a training row."""
    train, test, features = case.train, case.test, case.features
    if train is None or test is None:
        return
    split = case.task.spec.split
    if not features or features == [split.time_column]:
        return
    known, asked = (_row_keys(case, table, features) for table in (train, test))
    first = pd.Series(np.arange(len(train)), index=known)
    first = first[~first.index.duplicated()]
    partner = asked.map(first)
    share = float(partner.notna().mean())
    targets = [column for column in case.targets if column in train.columns]
    if share <= case.limits.leaks.duplicate_share or not targets:
        return
    answers = case.answers.set_index(case.id_column)
    matched = partner.notna().to_numpy() & test[case.id_column].isin(answers.index).to_numpy()
    ours = row_hashes(answers.loc[test.loc[matched, case.id_column], targets])
    theirs = row_hashes(train.iloc[partner[matched].astype(int)][targets])
    agreed = agreement(Values(ours), Values(theirs))
    serious = agreed >= case.limits.leaks.duplicate_agreement
    yield finding(
        "duplicates_across_split",
        f"{share:.1%} of the test rows equal a training row in all {len(features)} shared columns "
        f"(agreement of their labels beyond chance: {agreed:.2f})",
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
    return row_hashes(pd.concat(columns, axis=1))


def _content(case: Case, path: str) -> str:
    file = case.prepared.public / path
    return file_hash(file) if file.is_file() else path
