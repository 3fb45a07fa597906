"""What the cells of a table that was read still need: numbers, dates, lists and missing values as such."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

import numpy as np
import pandas as pd

from generator.tables.recipe import Step
from generator.tables.steps import Dates, Lengths, ListText, Numbers

#: Markers of missing values that pandas does not take for such by itself, and that are never values.
_ALWAYS = ("?", "\\N", "(null)", "n.a.", "N.A.")
#: Those that are missing values where all other cells are numbers.
_AMONG_NUMBERS = (*_ALWAYS, "-", "--", ".", "*", "nil", "NIL", "missing", "Missing", "unknown", "Unknown")
#: Cells of a column that must be of one form to be read by it.
_SHARE = 0.95
_LOOKED_AT = 5_000
_SIGNS = "$€£¥₹₽₩₺฿"
_CODES = r"(?:USD|EUR|GBP|JPY|CHF|CNY|INR|CAD|AUD|SEK|NOK|DKK|PLN|BRL|R\$)"
_SIGN = rf"(?:[{_SIGNS}]|\b{_CODES}\b|{_CODES})"
#: What a number may carry: a sign of a currency on either side, per cent, brackets when it is negative.
_AROUND = rf"\(?\s*[-+]?\s*{_SIGN}?\s*[-+]?{{}}\s*(?:{_SIGN}|%)?\s*\)?"
_POINT = re.compile(_AROUND.format(r"(?:\d{1,3}(?:[,' \u00a0\u202f]\d{3})+|\d+)(?:\.\d+)?"))
_COMMA = re.compile(_AROUND.format(r"(?:\d{1,3}(?:[.' \u00a0\u202f]\d{3})+|\d+)(?:,\d+)?"))
_THOUSANDS_BY_COMMA = re.compile(r"\d{1,3}(?:,\d{3})+(?!\d)")
_DECIMAL_COMMA = re.compile(r"[-+]?(?:\d{1,3}(?:\.\d{3})+|\d+),\d+")
_DATE = re.compile(r"(\d{1,2})([./-])(\d{1,2})\2(\d{4}|\d{2})(?:[ T](\d{1,2}):(\d{2})(:\d{2})?)?")
_TIME_NAME = re.compile(r"(?:^|_|\b)(date|day|time|timestamp|datetime|ts|epoch)(?:$|_|\b)", re.IGNORECASE)

#: The format of dates that are whole numbers.
_DIGITS = "%Y%m%d"


def missing_markers(table: pd.DataFrame) -> tuple[str, ...]:
    """Words that stand for a missing value in some column, and that pandas did not take for one."""
    found: set[str] = set()
    for _, cells in _texts(table):
        counts = cells.value_counts()
        present = [marker for marker in _AMONG_NUMBERS if marker in counts.index]
        if not present:
            continue
        others = cells[~cells.isin(present)]
        numeric = len(others) > 0 and pd.to_numeric(others, errors="coerce").notna().mean() >= _SHARE
        # A few words in a column of many numbers make it no other column; the profile counts them.
        needed = numeric and (len(others) < _SHARE * len(cells) or others.nunique() <= 20)
        found |= {marker for marker in present if needed or (len(others) and marker in _ALWAYS)}
    return tuple(marker for marker in _AMONG_NUMBERS if marker in found)


def number_style(table: pd.DataFrame) -> dict[str, Any]:
    """Options of ``read_csv`` for decimal commas, when all numbers with a fraction are written so."""
    commas, thousands = 0, False
    for _, cells in _texts(table):
        if cells.str.fullmatch(_DECIMAL_COMMA.pattern + r"|[-+]?\d+").mean() >= _SHARE and (
            cells.str.contains(",", regex=False).any() and not _only_thousands(cells)
        ):
            commas += 1
            thousands |= bool(cells.str.contains(".", regex=False).any())
    if not commas or any(
        pd.api.types.is_float_dtype(table[name]) and _fractions(table[name]) for name in table
    ):
        return {}
    return {"decimal": ","} | ({"thousands": "."} if thousands else {})


def tidy(table: pd.DataFrame) -> tuple[tuple[Step, ...], list[str]]:
    """Steps that make cells what they mean, and what is to be said about them."""
    numbers: dict[tuple[str, str, bool], list[str]] = {}
    dates: dict[tuple[str | None, str | None], list[str]] = {}
    steps, notes = _nested(table)
    for name, cells in _texts(table):
        style = _style(cells)
        if style is not None:
            numbers.setdefault(style, []).append(name)
        elif (form := _date_format(cells)) is not None:
            dates.setdefault((form, None), []).append(name)
    for name in table.columns:
        if (clock := _clock(name, table[name])) is not None:
            dates.setdefault(clock, []).append(name)
    for (remove, decimal, brackets), columns in numbers.items():
        steps.append(Numbers(tuple(columns), remove, decimal, brackets))
        notes.append(f"numbers written with signs are read as numbers: {', '.join(columns)}")
    for (form, unit), columns in dates.items():
        digits = form == _DIGITS
        steps.append(Dates(tuple(columns), form, unit, digits=digits))
        notes.append(
            f"dates by {f'the format {form}' if form else f'{unit} since 1970'}: {', '.join(columns)}"
        )
    return tuple(steps), notes


def _texts(table: pd.DataFrame) -> Iterable[tuple[str, pd.Series]]:
    """Columns of text with those of their cells that are not missing, a part of a long column."""
    for name in table.columns:
        values = table[name]
        if not (pd.api.types.is_string_dtype(values) or values.dtype == object):
            continue
        present = values.dropna()
        present = present.iloc[:: max(1, len(present) // _LOOKED_AT)]
        cells = present.to_numpy(dtype=object)
        if len(cells) and all(isinstance(cell, str) for cell in cells):
            yield name, pd.Series([cell.strip() for cell in cells], dtype="str")


def _style(cells: pd.Series) -> tuple[str, str, bool] | None:
    """How a column's numbers are written: what to remove, the decimal sign, negative brackets."""
    if pd.to_numeric(cells, errors="coerce").notna().mean() >= _SHARE:
        return None
    seen = list(cells)
    if sum(any(map(str.isdigit, cell)) for cell in seen[:100]) < 0.5 * len(seen[:100]):
        return None
    point = sum(_POINT.fullmatch(cell) is not None for cell in seen) >= _SHARE * len(seen)
    comma = sum(_COMMA.fullmatch(cell) is not None for cell in seen) >= _SHARE * len(seen)
    if not point and not comma:
        return None
    # "1,234" is both; the whole column says which.
    decimal = "." if point and (not comma or _only_thousands(cells)) else ","
    every = "".join(seen)
    brackets = "(" in every
    removed = []
    if any(sign in every for sign in _SIGNS) or re.search(_CODES, every):
        removed.append("".join(sign for sign in _SIGNS if sign in every))
    letters = "A-Z" if re.search(r"[A-Z]", every) else ""
    marks = "".join(mark for mark in ("%", "'", "," if decimal == "." else ".") if mark in every)
    spaces = r"\s" if re.search(r"\s", every) else ""
    inside = "".join(removed) + letters + marks + spaces
    return (f"[{inside}]" if inside else "", decimal, brackets)


def _only_thousands(cells: pd.Series) -> bool:
    """Whether every comma stands before three digits that end a group, so that it separates thousands."""
    with_comma = cells[cells.str.contains(",", regex=False)]
    parts = [part for cell in with_comma for part in re.findall(r"\d[\d,]*", cell) if "," in part]
    return bool(parts) and all(
        _THOUSANDS_BY_COMMA.fullmatch(part) and not part.startswith("0") for part in parts
    )


def _fractions(values: pd.Series) -> bool:
    present = values.dropna()
    return bool((present % 1 != 0).any())


def _date_format(cells: pd.Series) -> str | None:
    """The format of dates whose first number is the day, which pandas would take for the month."""
    seen = list(cells)
    first = _DATE.fullmatch(seen[0])
    if first is None or not seen[0][0].isdigit():
        return None
    matches = [match for cell in seen if (match := _DATE.fullmatch(cell))]
    if len(matches) < _SHARE * len(seen):
        return None
    shapes = {(match[2], len(match[4]), match[5] is not None, match[7] is not None) for match in matches}
    if len(shapes) != 1:
        return None
    days, months = (max(int(match[group]) for match in matches) for group in (1, 3))
    separator, year, timed, seconds = shapes.pop()
    if months > 12 or not (12 < days <= 31 or separator == "."):
        return None
    clock = (" %H:%M" + (":%S" if seconds else "")) if timed else ""
    if timed and "T" in seen[0]:
        clock = clock.replace(" ", "T")
    return f"%d{separator}%m{separator}{'%Y' if year == 4 else '%y'}{clock}"


def _clock(name: str, values: pd.Series) -> tuple[str | None, str | None] | None:
    """Whole numbers that are dates: 20200131, or seconds and milliseconds since 1970 by the column's name."""
    if not pd.api.types.is_integer_dtype(values) or not _TIME_NAME.search(str(name)) or len(values) < 3:
        return None
    low, high = int(values.min()), int(values.max())
    if low >= 19_000_101 and high <= 21_001_231:
        parsed = pd.to_datetime(values.astype(str), format=_DIGITS, errors="coerce")
        return (_DIGITS, None) if parsed.notna().all() else None
    if low >= 500_000_000 and high <= 4_000_000_000:
        return (None, "s")
    if low >= 500_000_000_000 and high <= 4_000_000_000_000:
        return (None, "ms")
    return None


def _nested(table: pd.DataFrame) -> tuple[list[Step], list[str]]:
    """Cells that hold lists, of JSON and of parquet."""
    lists: dict[str, list[str]] = {}
    records = []
    for name in table.columns:
        if table[name].dtype != object:
            continue
        cells = [cell for cell in table[name] if isinstance(cell, (list, np.ndarray))]
        if not cells:
            continue
        entries = [entry for cell in cells for entry in cell]
        if any(isinstance(entry, (dict, list, np.ndarray)) for entry in entries):
            records.append(name)
        else:
            # A separator that stands in no entry.
            inside = any(", " in str(entry) for entry in entries)
            lists.setdefault("|" if inside else ", ", []).append(name)
    steps: list[Step] = [ListText(tuple(columns), separator) for separator, columns in lists.items()]
    notes = (
        [f"lists as text: {', '.join(name for columns in lists.values() for name in columns)}"]
        if lists
        else []
    )
    if records:
        steps.append(Lengths(tuple(records)))
        notes.append(f"lists of records are given by their number: {', '.join(records)}")
    return steps, notes
