"""Prepared tables that were read with the wrong delimiter, header or encoding."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

import pandas as pd

from generator.defects.base import Finding, Severity
from generator.defects.registry import finding
from generator.verifier.case import Case
from generator.verifier.preparation.raw_tables import RawTable
from generator.verifier.preparation.tracing import same_names
from generator.verifier.sampling import sampled

_DELIMITERS = (";", "\t", "|", ",")
_LOST = "\N{REPLACEMENT CHARACTER}"
#: What the bytes after the first of a UTF-8 letter become in Windows-1252 and Latin-1.
_NEXT = "[\x80-\xbf€‚ƒ„…†‡ˆ‰Š‹ŒŽ‘’“”•–—˜™š›œžŸ]"
#: UTF-8 that was read as one of these: western letters; those of central Europe; words in Greek or Cyrillic;
#: signs of three bytes; the mark at the beginning of a file.
_MOJIBAKE = re.compile(
    f"[ÂÃ]{_NEXT}|â€|ï»¿|(?:[ÎÏÐÑ]{_NEXT}){{2}}|[ã-é](?!{_NEXT}\\s){_NEXT}{{2}}"
    "|[ÄÅ][\x80-\x9f\xa1-\xaa\xac-\xba\xbc-\xbf]"
)
#: Cells that are looked for in a raw column, and the share of them that shows where they come from.
_LOOKED_AT, _MOST = 200, 0.5
_REPEAT = re.compile(r"\.\d+$")


def check_tables(case: Case, raw: Sequence[RawTable]) -> Iterator[Finding]:
    """Findings about the training and the test table, at most one each."""
    known = {str(name) for table in raw for name in table.rows.columns}
    for path, table in ((case.train_path, case.train), (case.test_path, case.test)):
        if path is None or table is None:
            continue
        name = path.name
        found = (
            _glued(name, table, case.limits.preparation.misread)
            or _header_in_data(name, table, known)
            or _data_in_header(name, table, case)
            or _encoding(name, table, raw, case)
        )
        if found is not None:
            yield found


def _glued(name: str, table: pd.DataFrame, share: float) -> Finding | None:
    """A column whose name and cells all hold a delimiter equally often is several columns."""
    for column in table.columns:
        cells = table[column].iloc[:2_000]
        for delimiter in _DELIMITERS:
            times = str(column).count(delimiter)
            each = cells.str.count(re.escape(delimiter)) == times
            if times and len(cells) and float(each.mean()) >= share:
                return finding(
                    "misparsed_table",
                    f"{name}: column {str(column)[:60]!r} and its cells hold {delimiter!r} {times} times "
                    f"each: they are {times + 1} columns",
                    f"read the raw table with sep={delimiter!r}",
                )
    return None


def _data_in_header(name: str, table: pd.DataFrame, case: Case) -> Finding | None:
    """Column names that are values of their own columns are a row of data."""
    own = {case.id_column, *case.targets}
    names = [str(column) for column in table.columns]
    if all(column.isdigit() for column in names if column not in own):
        return None
    hits = []
    for column in names:
        bare = column if (table[column] == column).any() else _REPEAT.sub("", column)
        # An indicator column may be named like its one value; numbers and repeated names are not.
        if (table[column] == bare).any() and table[column].nunique() > 2:
            hits.append(column)
    others = [column for column in names if column not in own or column in hits]
    if len(hits) >= 2 and len(hits) * 2 >= len(others):
        return finding(
            "misparsed_table",
            f"{name}: the column names {', '.join(map(repr, hits[:4]))} are values of their columns: "
            "a row of data was read as the header",
            "read the raw table with header=None, and name its columns",
        )
    return None


def _header_in_data(name: str, table: pd.DataFrame, known: set[str]) -> Finding | None:
    """A row whose cells are names of raw columns is a header."""
    names = {each for each in known | {str(column) for column in table.columns} if not _is_number(each)}
    if len(table.columns) < 2:
        return None
    hits = sum((table[column].isin(names)).astype(int) for column in table.columns)
    rows = table[(hits >= 2) & (hits * 2 > len(table.columns) - 1)]
    # A header stands once in each raw file; a table whose cells are column names is about columns.
    if 0 < len(rows) <= max(5, len(table) // 100):
        shown = ", ".join(repr(cell) for cell in rows.iloc[0].tolist()[:4])
        return finding(
            "misparsed_table",
            f"{name}: {len(rows)} rows hold the names of columns ({shown}): the header was read as data",
            "read the raw table with header=0",
        )
    return None


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _encoding(name: str, table: pd.DataFrame, raw: Sequence[RawTable], case: Case) -> Finding | None:
    """Characters that reading with a wrong encoding leaves, where the raw data hold none of them."""
    part = sampled(table, case.limits.sampling.rows)
    for column in table.columns:
        cells = part[column]
        lost = int(cells.str.contains(_LOST, regex=False).sum())
        mixed = cells[cells.str.contains(_MOJIBAKE)]
        if not lost and not len(mixed):
            continue
        if _held(raw, _LOST if lost else None):
            continue
        wrong = cells.str.contains(_LOST, regex=False) | cells.str.contains(_MOJIBAKE)
        known = any(_holds(source, column, cells[~wrong & (cells != "")]) for source in raw)
        what = f"the replacement character in {lost}"
        if not lost:
            what = f"{mixed.iloc[0][:40]!r} and the like in {len(mixed)}"
        return finding(
            "misparsed_table",
            f"{name}: column {column} holds {what} of {len(part):,} cells: it was read in a wrong encoding",
            "read the raw table in its own encoding, as encoding='utf-8' or 'latin-1'",
            # Texts that come from no raw table may have been so in the raw files.
            None if known else Severity.WARNING,
        )
    return None


def _holds(raw: RawTable, column: str, cells: pd.Series) -> bool:
    """Whether a raw table has a column of that name or of those cells."""
    named = pd.DataFrame(columns=[column])
    if same_names(named, raw) or not len(cells):
        return bool(same_names(named, raw))
    some = cells.iloc[:_LOOKED_AT]
    return any(some.isin(set(raw.rows[name].astype(str))).mean() >= _MOST for name in raw.rows.columns)


def _held(raw: Sequence[RawTable], mark: str | None) -> bool:
    """Whether the raw tables hold such characters themselves, in whichever row."""
    for table in raw:
        for column in table.rows.columns:
            if pd.api.types.is_numeric_dtype(table.rows[column].dtype):
                continue
            texts = table.rows[column].dropna().astype(str)
            held = texts.str.contains(mark, regex=False) if mark else texts.str.contains(_MOJIBAKE)
            if bool(held.any()):
                return True
    return False
