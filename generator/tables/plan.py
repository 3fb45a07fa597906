"""Finding out how a raw file is read: the recipe for the tables in it."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from generator.tables.delimited import plan_delimited
from generator.tables.dialect import EVEN_SHARE, SPACES, find_dialect
from generator.tables.documents import plan_json, plan_lines
from generator.tables.formats import RAW_FORMATS, UnreadableTable, raw_format
from generator.tables.logs import plan_log
from generator.tables.recipe import Recipe, guarded
from generator.tables.workbooks import plan_parquet, plan_workbook


def plan_tables(folder: Path, relative: str) -> tuple[tuple[str, Recipe], ...]:
    """Name and recipe of each table in a raw file; the largest first, named like the file.

    Args:
        folder: the raw folder.
        relative: the file, relative to it.

    Raises:
        UnreadableTable: the file holds no table; the message says why.
    """
    kind = raw_format(folder / relative)
    if kind == "excel":
        sheets = plan_workbook(folder, relative)
        first, *others = sheets
        return ((relative, first[1]), *((f"{relative}#{sheet}", recipe) for sheet, recipe in others))
    return ((relative, guarded(lambda: _plan(folder, relative, kind), Path(relative).name)),)


def plan_table(folder: Path, relative: str) -> Recipe:
    """The recipe for the one table, or the largest, of a raw file; see :func:`plan_tables`."""
    return plan_tables(folder, relative)[0][1]


def read_table(path: Path) -> pd.DataFrame:
    """Read a raw table by its recipe; cells are data, never anything else.

    Raises:
        UnreadableTable: it cannot be parsed, or has no rows or columns.
    """
    return plan_table(path.parent, path.name).read(path.parent)


def _plan(folder: Path, relative: str, kind: str | None) -> Recipe:
    path = folder / relative
    if kind == "csv":
        # A log may be called .txt, and its lines may be cut evenly by chance.
        if path.name.lower().removesuffix(".gz").endswith((".txt", ".dat", ".data")):
            try:
                return plan_log(folder, relative)
            except UnreadableTable:
                pass
        return plan_delimited(folder, relative)
    if kind == "json":
        return plan_json(folder, relative)
    if kind == "jsonl":
        return plan_lines(folder, relative)
    if kind == "parquet":
        return plan_parquet(folder, relative)
    if kind == "log":
        return _plan_logged(folder, relative)
    raise UnreadableTable(f"{path.name}: not a table format; known are {', '.join(sorted(RAW_FORMATS))}")


def _plan_logged(folder: Path, relative: str) -> Recipe:
    """A file called a log: JSON lines, a known kind of log, or a text table."""
    try:
        return plan_lines(folder, relative)
    except UnreadableTable:
        pass
    try:
        return plan_log(folder, relative)
    except UnreadableTable:
        found = find_dialect(folder / relative)
        if found.even < EVEN_SHARE or found.delimiter == SPACES:
            raise
        return plan_delimited(folder, relative)
