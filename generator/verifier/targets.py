"""What the values of a target are: classes, numbers, lists of labels, or free text."""

from __future__ import annotations

from enum import StrEnum

import numpy as np
import pandas as pd

_MOST_CLASSES = 20
_SEPARATORS = (" ", ",", ";", "|")
_BRACKETS = "[](){} \t"
_QUOTES = "\"' "
_COUNTED = ("regression", "forecasting", "ranking")
_SAMPLE = 20_000

#: Words by which tables say that a cell has no value. A column of labels may hold them as labels.
MISSING_WORDS = frozenset({"nan", "na", "n/a", "null", "none", "<na>", "nat", "missing"})


class Kind(StrEnum):
    """What a target's values are."""

    CLASS = "class"
    NUMBER = "number"
    LABELS = "labels"
    TEXT = "text"


def to_numbers(column: pd.Series) -> pd.Series:
    """Strings as floats, ``true`` and ``false`` as 1 and 0; what is no number becomes NaN."""
    numbers = pd.to_numeric(column, errors="coerce").astype(float)
    rest = numbers.isna()
    if rest.any():
        words = column[rest].astype(str).str.strip().str.lower()
        truth = words.map({"true": 1.0, "false": 0.0})
        numbers = numbers.where(~rest, truth.reindex(numbers.index).astype(float))
    return numbers


def missing_words(values: pd.Series) -> pd.Series:
    """Which cells say in a word that there is no value, in a column whose other cells are all numbers.

    Among other words, ``NA`` or ``None`` may be a label of its own, and no cell is told missing.
    """
    worded = values.str.strip().str.lower().isin(MISSING_WORDS)
    if worded.any():
        others = values[~worded & (values.str.strip() != "")]
        if not len(others) or bool(to_numbers(others).isna().any()):
            worded = worded & False
    return worded


def is_code(values: pd.Series) -> bool:
    """Whether cells that look like numbers are names: zeros stand before some, as in ``007``."""
    return bool(values.str.fullmatch(r"\s*0\d+\s*").any())


def kind_of(values: pd.Series, objective: str) -> Kind:
    """The kind of a target column whose cells are strings; empty cells are left out.

    Numbers are classes when the objective is to classify, unless they are fractions of many values, and when
    there are two of them at most; otherwise a measured objective or many values make them numbers. Numbers
    with leading zeros are names. Words are classes when they repeat, lists when they share a small
    vocabulary, and text otherwise.

    Args:
        values: the answers.
        objective: as task.toml declares it, which decides whether whole numbers are classes.
    """
    present = values[(values.str.strip() != "") & ~missing_words(values)]
    numbers = to_numbers(present)
    if len(present) and not is_code(present) and bool(numbers.notna().all()):
        return _kind_of_numbers(numbers, objective)
    few = int(present.nunique()) <= max(_MOST_CLASSES, len(present) // 5)
    if objective == "multi-label classification":
        return Kind.LABELS if not few or separator(present) is not None else Kind.CLASS
    if objective == "classification":
        return Kind.CLASS if few or _are_names(present) else _kind_of_words(present)
    return Kind.CLASS if few else _kind_of_words(present)


def separator(values: pd.Series) -> str | None:
    """What separates the labels of a cell, when cells list labels of a small vocabulary."""
    values = values.iloc[:_SAMPLE]
    for mark in _SEPARATORS:
        labels = listed(values, mark)
        if len(labels) > 1.2 * len(values) and labels.nunique() <= max(_MOST_CLASSES, len(values) // 5):
            return mark
    return None


def listed(values: pd.Series, mark: str) -> pd.Series:
    """The labels that cells list, one a row under the index of its cell, without brackets and quotes."""
    labels = values.str.strip(_BRACKETS).str.split(mark).explode().str.strip(_QUOTES)
    return labels[labels.notna() & (labels != "")]


def _kind_of_numbers(numbers: pd.Series, objective: str) -> Kind:
    distinct = int(numbers.nunique())
    fractions = bool((numbers % 1 != 0).any())
    if distinct <= 2:
        return Kind.CLASS
    if "classification" in objective or objective == "anomaly detection":
        many = distinct > max(_MOST_CLASSES, len(numbers) // 5)
        return Kind.NUMBER if fractions and many else Kind.CLASS
    counted = objective in _COUNTED or fractions or not np.isfinite(numbers).all()
    return Kind.NUMBER if counted or distinct > _MOST_CLASSES else Kind.CLASS


def _kind_of_words(present: pd.Series) -> Kind:
    return Kind.LABELS if separator(present) is not None else Kind.TEXT


def _are_names(values: pd.Series) -> bool:
    """Whether cells are short enough for the names of classes, of which there may be as many as rows."""
    words = values.str.count(r"\s+") + 1
    return bool((words <= 4).all() and (values.str.len() <= 60).all())
