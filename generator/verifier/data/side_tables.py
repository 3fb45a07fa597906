"""Side tables, which rows of train and test look up by a key: do they know the keys of test rows?"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import pandas as pd

from generator.defects.base import Finding, Severity
from generator.defects.registry import finding
from generator.verifier.case import Case
from generator.verifier.data.sides import sides
from generator.verifier.targets import to_numbers


@dataclass
class _Side:
    """Tables of the same columns, of which one may be for training and one for test."""

    names: list[str] = field(default_factory=list)
    tables: list[pd.DataFrame] = field(default_factory=list)

    def keys(self, column: str) -> set[str]:
        """All values of a column."""
        return {value for table in self.tables for value in table[column].unique()} - {""}


def check(case: Case) -> Iterator[Finding]:
    """Side tables that cover the keys of training rows but not those of test rows."""
    both = sides(case)
    if both is None or case.test is None or both.path not in case.tables:
        return  # class folders have no keys
    train, test = case.tables[both.path], case.test
    tables = _side_tables(case, {both.path, case.test_path, case.train_path, case.prepared.sample_path})
    for key in [name for name in test.columns if name in train.columns and name not in case.targets]:
        holders = [side for side in tables if key in side.tables[0].columns]
        if not holders or not _is_key(case, train[key], test[key], key):
            continue
        known, asked = ({*table[key].unique()} - {""} for table in (train, test))
        shares = [
            tuple(len(keys & side.keys(key)) / len(keys) for keys in (known, asked)) for side in holders
        ]
        # Where test rows find something in another table, one for training alone may be meant.
        helped = any(share[1] > case.limits.data.side_share for share in shares)
        alone = len([name for name in both.features if name != key]) <= 1
        for side, (trained, tested) in zip(holders, shares, strict=True):
            if trained >= 0.5 and tested < case.limits.data.side_share * trained:
                yield finding(
                    "side_table_keys",
                    f"{' and '.join(side.names)} knows {trained:.1%} of the training keys by {key}, but "
                    f"{tested:.1%} of the test keys",
                    "cut side tables by the rows of both sides, or leave them whole",
                    Severity.ERROR if tested == 0 and not helped and (alone or trained >= 0.9) else None,
                )


def _side_tables(case: Case, own: set[object]) -> list[_Side]:
    """The other public tables; those of the same columns are one, and those of labels are left out."""
    sides: dict[tuple[str, ...], _Side] = {}
    for path, table in case.tables.items():
        if path in own or set(case.targets) & set(table.columns):
            continue
        side = sides.setdefault(tuple(sorted(table.columns)), _Side())
        side.names.append(path.relative_to(case.prepared.public).as_posix())
        side.tables.append(table)
    return list(sides.values())


def _is_key(case: Case, known: pd.Series, asked: pd.Series, name: str) -> bool:
    """Whether a column looks up rows: many values, whole numbers or words, and no moment in time."""
    if name == case.task.spec.split.time_column or asked.nunique() < case.limits.data.side_keys:
        return False
    head = pd.concat([known.iloc[:500], asked.iloc[:500]], ignore_index=True)
    numbers = to_numbers(head)
    if bool(numbers.notna().all()):
        return bool((numbers % 1 == 0).all())
    moments = pd.to_datetime(head, errors="coerce", format="mixed", utc=True)
    return float(moments.notna().mean()) < 0.9
