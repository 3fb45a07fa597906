"""Everything under public/ that holds words: cells, text files, names of columns and files."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

import pandas as pd

from generator.verifier.case import Case

_SUFFIXES = re.compile(r"\.(?:txt|md|jsonl?|xml|html?|eml|log|ya?ml|rst|tex|srt|py|csv|tsv)")
_ROWS = 50_000


@dataclass(frozen=True)
class Text:
    """Words of one place.

    Attributes:
        where: the place, in words.
        cells: its pieces, none of them empty.
        column: whether they are the cells of a column.
    """

    where: str
    cells: pd.Series
    column: bool = True


def columns(case: Case) -> Iterator[Text]:
    """The distinct cells of each column of words of each public table, in parts of many rows."""
    for path, table in case.tables.items():
        name = path.relative_to(case.prepared.public).as_posix()
        for column in table.columns:
            for start in range(0, len(table), _ROWS):
                cells = pd.Series(table[column].iloc[start : start + _ROWS].unique(), dtype=object)
                cells = cells[cells.str.contains("[^\\d.eE+-]", regex=True)]
                if len(cells):
                    yield Text(f"column {column} of {name}", cells)


def files(case: Case) -> Iterator[Text]:
    """The beginnings of text files that were not read as tables, at most ``text_files`` of them."""
    public, limits = case.prepared.public, case.limits.data
    paths = [path for path in sorted(public.rglob("*")) if _SUFFIXES.fullmatch(path.suffix.lower())]
    paths = [path for path in paths if path not in case.tables and path != public / "description.txt"]
    for path in [path for path in paths if path.is_file()][: limits.text_files]:
        with path.open("rb") as stream:
            head = stream.read(limits.text_bytes)
        if b"\0" not in head and head.strip():
            name = path.relative_to(public).as_posix()
            yield Text(name, pd.Series([head.decode("utf-8", errors="replace")], dtype=object), column=False)


def names(case: Case) -> Iterator[Text]:
    """The names of columns and of files, with spaces for the marks between words."""
    heads = sorted({name for table in case.tables.values() for name in table.columns})
    public = case.prepared.public
    found = sorted(path.relative_to(public).as_posix() for path in public.rglob("*"))
    for where, words in (("the name of a column", heads), ("the name of a file", found)):
        if words:
            cells = pd.Series(words, dtype=object).str.replace(r"[_\-./]+", " ", regex=True)
            yield Text(where, cells, column=False)
