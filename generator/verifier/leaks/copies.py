"""Answers that lie in the open: under another name, in another file, in the sample submission."""

from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np
import pandas as pd
from scipy.stats import rankdata

from generator.defects.base import Finding, Severity
from generator.defects.registry import finding
from generator.verifier.case import Case
from generator.verifier.leaks.comparing import SAME_ORDER, Values, agreement, same_where_filled
from generator.verifier.leaks.times import to_times

_ALL = "the targets together"


def check(case: Case) -> Iterator[Finding]:
    """Look through the test table and the sample for a column that tells the answers."""
    named = list(_named(case))
    for column, target, placeholder in named:
        yield finding(
            "target_in_test",
            f"the test table holds {column}, one value in every row"
            if placeholder
            else f"the test table holds {column}" + ("" if column == target else f", which is {target}"),
            f"drop {column} from the test table",
            Severity.WARNING if placeholder else None,
        )
    known = {column for column, _, _ in named}
    # All other files are searched by the files' part of this gate, as they may have any form.
    own = (case.test_path, case.prepared.sample_path)
    for path, table in [(path, table) for path, table in case.tables.items() if path in own]:
        name = path.relative_to(case.prepared.public).as_posix()
        for column, target, how in _telling(case, table):
            if table is case.test:
                if column not in known:
                    yield finding(
                        "target_copied",
                        f"column {column} of {name} is {target} itself: {how}",
                        f"drop {column} from the public tables",
                    )
            else:
                yield finding(
                    "sample_is_answers",
                    f"column {column} of the sample submission: {how}",
                    "fill the sample with a constant or random values",
                )


def _named(case: Case) -> Iterator[tuple[str, str, bool]]:
    """Columns of the test table that are named as a target, however spelt; and if all cells are alike."""
    if case.test is None:
        return
    for target in case.targets:
        for column in case.test.columns:
            if column == case.id_column or (column != target and column in case.targets):
                continue
            if _plain(column) != _plain(target) or not _plain(target):
                continue
            cells = case.test[column].str.strip()
            if cells.ne("").any() and (column == target or not _unlike(case, column, target)):
                yield column, target, cells.nunique() == 1


def _unlike(case: Case, column: str, target: str) -> bool:
    """Whether a column with a similar name is another one: it stands in training beside the target, and
    has nothing to do with it."""
    train = case.train
    if train is None or column not in train.columns or target not in train.columns:
        return False
    return agreement(Values(train[column]), Values(train[target])) < 0.5


def _plain(name: str) -> str:
    return re.sub(r"[\W_]+", "", name).casefold()


def _telling(case: Case, table: pd.DataFrame) -> Iterator[tuple[str, str, str]]:
    """Columns that equal a target, with the target and how, once rows are matched.

    Rows are matched by id, or by order in a table without ids that has as many rows as there are answers.
    """
    answers = case.answers.drop_duplicates(case.id_column).set_index(case.id_column)
    ids = next((name for name in table.columns if _covers(table[name], answers.index)), None)
    if ids is not None:
        rows = table.drop_duplicates(ids).set_index(ids)
        common = answers.index.intersection(rows.index)
        rows, answers = rows.loc[common], answers.loc[common]
    elif len(table) == len(answers):
        rows = table
    else:
        return
    if len(answers) < case.limits.leaks.copy_rows:
        return
    truths = {target: Values(answers[target]) for target in case.targets}
    if len(case.targets) > 1:
        # A column of labels beside targets that are its parts: it is each of them, and none alone.
        truths[_ALL] = Values(answers[case.targets].agg("\x1f".join, axis=1))
    for name in rows.columns:
        column = Values(rows[name])
        for target, truth in truths.items():
            how = same_where_filled(column, truth, case.limits.leaks)
            if how and not (how.startswith(SAME_ORDER) and _trends(case, rows, column, truth)):
                yield name, target, how


def _trends(case: Case, rows: pd.DataFrame, column: Values, truth: Values) -> bool:
    """Whether a forecast's answers only rise or fall all the time, as another column does, in other steps."""
    time = case.task.spec.split.time_column
    times = pd.Series(rows.index) if rows.index.name == time else rows.get(time)
    if case.task.spec.objective != "forecasting" or times is None:
        return False
    if column.numbers is None or truth.numbers is None or truth.ranks is None:
        return False
    moments = to_times(times).to_numpy(dtype=float)
    if not np.isfinite(moments).all() or np.ptp(moments) == 0:
        return False
    if abs(np.corrcoef(rankdata(moments), truth.ranks)[0, 1]) < 0.9:
        return False
    order = np.argsort(moments, kind="stable")
    ours, theirs = (rankdata(np.diff(values[order])) for values in (column.numbers, truth.numbers))
    even = np.ptp(ours) == 0 or np.ptp(theirs) == 0
    return bool(even or abs(np.corrcoef(ours, theirs)[0, 1]) < 0.9)


def _covers(column: pd.Series, ids: pd.Index) -> bool:
    return bool(ids.isin(pd.Index(column)).mean() >= 0.9)


def row_hashes(frame: pd.DataFrame) -> pd.Series:
    """A 64-bit hash of each row's cells; equal rows have equal hashes in any table with these columns."""
    return pd.util.hash_pandas_object(frame, index=False).reset_index(drop=True)
