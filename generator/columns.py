"""What a column of a raw table holds: its kind, missing values, distinct values and range."""

from __future__ import annotations

import re
import warnings
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
import pandas as pd

_MEDIA = (".png", ".jpg", ".jpeg", ".gif", ".bmp", ".tif", ".tiff", ".wav", ".flac", ".mp3", ".ogg", ".mp4")
_TRUTH = {"true", "false", "yes", "no", "y", "n", "t", "f", "0", "1", "0.0", "1.0"}
_ID_NAME = re.compile(r"(^|[_\s-])(id|uuid|guid|key|index|nr|no)$|[a-z](ID|Id)$|^Unnamed: \d+$", re.ASCII)
_SEPARATORS = (", ", "|", ";", ",")
_PARSED_SHARE = 0.95
_FIRST_YEAR = 1400
_MOST_LABELS = 40


class Kind(StrEnum):
    """The kinds a column can be of."""

    ID = "id"
    NUMERIC = "numeric"
    INTEGER = "integer"
    BOOLEAN = "boolean"
    CATEGORY = "category"
    LIST = "list"
    TEXT = "text"
    DATE = "date"
    PATH = "path"
    CONSTANT = "constant"


@dataclass(frozen=True)
class Column:
    """The facts about one column.

    Attributes:
        name: as in the file.
        kind: see :class:`Kind`.
        missing: number of empty cells, and of cells that are no number in a numeric column.
        unique: number of distinct values that are not missing.
        minimum: of a numeric column; ``maximum`` and ``mean`` likewise.
        classes: the most frequent values with their counts, for categories and few-valued integers.
        words: mean number of words of a text cell.
        separator: between the entries of a list cell.
        labels: the distinct entries of list cells with their counts, most frequent first.
        coerced: cells of a numeric column that had to be dropped because they are not numbers.
    """

    name: str
    kind: Kind
    missing: int
    unique: int
    minimum: float | None = None
    maximum: float | None = None
    mean: float | None = None
    classes: tuple[tuple[str, int], ...] = ()
    words: float | None = None
    separator: str | None = None
    labels: tuple[tuple[str, int], ...] = ()
    coerced: int = 0

    @property
    def is_number(self) -> bool:
        """Whether the column measures something by numbers."""
        return self.kind in (Kind.NUMERIC, Kind.INTEGER)


def profile_column(values: pd.Series) -> Column:
    """Classify one column and collect its facts."""
    name = str(values.name)
    values = _flat(values)
    present = values.dropna()
    missing, unique = int(values.isna().sum()), int(present.nunique())
    if unique <= 1:
        return Column(name, Kind.CONSTANT, missing, unique, classes=_classes(present))
    if pd.api.types.is_datetime64_any_dtype(present):
        return Column(name, Kind.DATE, missing, unique)
    text = present.astype(str).str.strip()
    if unique == 2 and set(text.str.lower().unique()) <= _TRUTH:
        return Column(name, Kind.BOOLEAN, missing, unique, classes=_classes(present))
    numbers = pd.to_numeric(present, errors="coerce")
    if pd.api.types.is_bool_dtype(present):
        return Column(name, Kind.BOOLEAN, missing, unique, classes=_classes(present))
    parsed = float(numbers.notna().mean())
    if parsed == 1.0 or (parsed >= _PARSED_SHARE and numbers.nunique() > 20):
        return _number(name, values, numbers.dropna())
    return _words(name, values, present, text, missing, unique)


def as_numbers(values: pd.Series) -> pd.Series:
    """The column as floats; what is no number becomes missing."""
    return pd.to_numeric(values, errors="coerce").astype(float)


def as_dates(values: pd.Series) -> pd.Series:
    """The column as UTC time stamps without a zone; what is no date becomes ``NaT``."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        parsed = pd.to_datetime(values, errors="coerce", utc=True, format="mixed")
    return parsed.dt.tz_localize(None)


def _flat(values: pd.Series) -> pd.Series:
    """Nested cells (lists and objects of JSON) as text, so that everything can be counted."""
    if values.dtype == object and values.map(lambda cell: isinstance(cell, (list, dict))).any():
        return values.map(lambda cell: str(cell) if isinstance(cell, (list, dict)) else cell)
    return values


def _number(name: str, values: pd.Series, numbers: pd.Series) -> Column:
    unique = int(numbers.nunique())
    missing = len(values) - len(numbers)
    finite = numbers[np.isfinite(numbers.astype(float))]
    whole = bool((finite % 1 == 0).all())
    kind = Kind.INTEGER if whole else Kind.NUMERIC
    all_distinct = whole and unique == len(values)
    counts_up = all_distinct and bool((numbers.diff().dropna() > 0).all())
    if all_distinct and (_ID_NAME.search(name) or counts_up):
        kind = Kind.ID
    elif whole and _ID_NAME.search(name) and unique < len(values):
        kind = Kind.CATEGORY
    return Column(
        name,
        kind,
        missing,
        unique,
        minimum=float(finite.min()),
        maximum=float(finite.max()),
        mean=float(finite.mean()),
        classes=_classes(numbers.astype("int64") if whole else numbers) if unique <= _MOST_LABELS else (),
        coerced=missing - int(values.isna().sum()),
    )


def _words(
    name: str, values: pd.Series, present: pd.Series, text: pd.Series, missing: int, unique: int
) -> Column:
    rows, words = len(values), float((text.str.count(r"\s+") + 1).mean())
    if float(text.str.lower().str.endswith(_MEDIA).mean()) >= _PARSED_SHARE:
        return Column(name, Kind.PATH, missing, unique)
    sample = text.iloc[:: max(1, len(text) // 500)]
    # Parsers make a second of the year 1 of ``M07``; no raw data are that old.
    if sample.str.contains(r"\d", regex=True).mean() >= _PARSED_SHARE and (
        (as_dates(sample).dt.year >= _FIRST_YEAR).mean() >= _PARSED_SHARE
    ):
        return Column(name, Kind.DATE, missing, unique)
    listed = _labels(text, unique)
    if listed is not None:
        separator, labels = listed
        return Column(name, Kind.LIST, missing, unique, separator=separator, labels=labels)
    share = unique / max(1, rows - missing)
    if share > 0.95 and words < 1.3:
        return Column(name, Kind.ID, missing, unique)
    if (words >= 3 and unique > 100) or (share > 0.6 and words >= 2):
        return Column(name, Kind.TEXT, missing, unique, words=round(words, 2))
    return Column(name, Kind.CATEGORY, missing, unique, classes=_classes(present))


def _labels(text: pd.Series, unique: int) -> tuple[str, tuple[tuple[str, int], ...]] | None:
    """Separator and entries of a column that lists several labels from a small vocabulary in each cell."""
    for separator in _SEPARATORS:
        if float(text.str.contains(separator, regex=False).mean()) < 0.2:
            continue
        entries = text.str.split(separator).explode().str.strip()
        counts = entries[entries != ""].value_counts()
        if 3 <= len(counts) <= _MOST_LABELS and unique > len(counts):
            ordered = sorted(counts.items(), key=lambda item: (-int(item[1]), str(item[0])))
            return separator, tuple((str(label), int(count)) for label, count in ordered)
    return None


def _classes(values: pd.Series) -> tuple[tuple[str, int], ...]:
    counts = values.value_counts()
    ordered = sorted(counts.items(), key=lambda item: (-int(item[1]), str(item[0])))
    return tuple((str(value), int(count)) for value, count in ordered[:_MOST_LABELS])
