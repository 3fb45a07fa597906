"""What the values of a target are: classes, numbers, lists of labels, or free text."""

from __future__ import annotations

from enum import StrEnum

import numpy as np
import pandas as pd

_MOST_CLASSES = 20
_SEPARATORS = (" ", ",", ";", "|")


class Kind(StrEnum):
    """What a target's values are."""

    CLASS = "class"
    NUMBER = "number"
    LABELS = "labels"
    TEXT = "text"


def to_numbers(column: pd.Series) -> pd.Series:
    """Strings as floats, ``true`` and ``false`` as 1 and 0; what is no number becomes NaN."""
    lowered = column.astype(str).str.strip().str.lower()
    truth = lowered.map({"true": "1", "false": "0"})
    return pd.to_numeric(truth.fillna(lowered), errors="coerce").astype(float)


def kind_of(values: pd.Series, objective: str) -> Kind:
    """The kind of a target column whose cells are strings; empty cells are left out.

    Args:
        values: the answers.
        objective: as task.toml declares it, which decides whether whole numbers are classes.
    """
    present = values[values.str.strip() != ""]
    numbers = to_numbers(present)
    if len(present) and bool(np.isfinite(numbers).all()):
        distinct = int(numbers.nunique())
        if distinct <= 2 or "classification" in objective or objective == "anomaly detection":
            return Kind.CLASS
        counted = objective in ("regression", "forecasting", "ranking") or bool((numbers % 1 != 0).any())
        return Kind.NUMBER if counted or distinct > _MOST_CLASSES else Kind.CLASS
    if objective == "multi-label classification" and _separator(present) is not None:
        return Kind.LABELS
    if present.nunique() <= max(_MOST_CLASSES, len(present) // 5):
        return Kind.CLASS
    return Kind.LABELS if _separator(present) is not None else Kind.TEXT


def _separator(values: pd.Series) -> str | None:
    """What separates the labels of a cell, when cells list labels of a small vocabulary."""
    for mark in _SEPARATORS:
        entries = values.str.split(mark).explode().str.strip()
        entries = entries[entries != ""]
        if len(entries) > 1.2 * len(values) and entries.nunique() <= max(_MOST_CLASSES, len(values) // 5):
            return mark
    return None
