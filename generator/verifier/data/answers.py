"""The answers by themselves: complete, varied, and enough of them."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd

from generator.defects.base import Finding, Severity
from generator.defects.registry import finding
from generator.verifier.case import Case
from generator.verifier.targets import Kind, missing_words, to_numbers


def check(case: Case) -> Iterator[Finding]:
    """Findings about the answers alone."""
    answers = case.answers
    if len(answers) < case.limits.data.few_rows:
        yield finding(
            "few_test_rows",
            f"{len(answers)} test rows; scores will differ by luck below {case.limits.data.few_rows}",
            "hold out more rows",
        )
    for column in case.targets:
        yield from _check_missing(case, column)
    yield from _check_constant(case, answers, "answers", case.targets)
    train = case.train
    if train is not None and case.task.spec.objective != "anomaly detection":
        # Learning what is normal from normal rows only is a task of its own.
        yield from _check_constant(
            case, train, "training values", [name for name in case.targets if name in train.columns]
        )


def _check_missing(case: Case, column: str) -> Iterator[Finding]:
    values = case.answers[column]
    empty = values.str.strip() == ""
    worded = missing_words(values)
    if case.kinds[column] is Kind.NUMBER or _all_numbers(values[~empty & ~worded]):
        worded |= np.isinf(to_numbers(values))
    else:
        # Pandas writes no such label by itself, so ``nan`` is an answer that got lost.
        worded |= values.str.strip() == "nan"
    missing = int(empty.sum()) + int(worded.sum())
    if not missing or (not worded.any() and _may_be_empty(case, column)):
        return
    parts = [f"{int(empty.sum())} empty"] * bool(empty.any())
    parts += [f"{int(worded.sum())} nan, null or infinite"] * bool(worded.any())
    yield finding(
        "missing_answers",
        f"{missing} of {len(values)} answers in {column} are missing: {', '.join(parts)}",
        "drop unlabelled rows before the split",
    )


def _all_numbers(values: pd.Series) -> bool:
    return bool(len(values)) and bool(to_numbers(values).notna().all())


def _may_be_empty(case: Case, column: str) -> bool:
    """Whether an empty cell says something: no label applies, no mask is drawn; training shows it too."""
    if case.kinds[column] not in (Kind.LABELS, Kind.TEXT):
        return False
    train = case.train
    if train is None or column not in train.columns:
        return bool((case.answers[column].str.strip() != "").any())
    return bool((train[column].str.strip() == "").any())


def _check_constant(case: Case, table: pd.DataFrame, what: str, columns: list[str]) -> Iterator[Finding]:
    constant = [name for name in columns if len(table) and table[name].nunique() == 1]
    # An empty column of training is nothing to learn from, and is told as that.
    constant = [name for name in constant if what == "answers" or table[name].iloc[0].strip()]
    if constant:
        yield finding(
            "constant_target",
            f"all {len(table)} {what} in {', '.join(constant)} are the same",
            "choose a target that varies, or another split",
            # One rare label of many may be absent by chance.
            None if len(constant) == len(case.targets) else Severity.WARNING,
        )
