"""Recipes for the sheets of Excel workbooks, and for parquet files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd

from generator.tables.documents import finish
from generator.tables.formats import UnreadableTable
from generator.tables.layout import MOST_SKIPPED, find_layout, names_for, survey
from generator.tables.recipe import Recipe, Step, guarded
from generator.tables.sources import PandasFile
from generator.tables.steps import Drop, Flatten, Rename, TextNames
from generator.tables.typed import plain_types

#: A workbook has to be held whole, many times its size.
_MOST_BYTES = 1 << 27
_LEAST_ROWS = 2
_HEAD_ROWS = 2_000


def plan_workbook(folder: Path, relative: str) -> tuple[tuple[str, Recipe], ...]:
    """Name and recipe of each sheet that holds a table, the largest first.

    Raises:
        UnreadableTable: none does, or the workbook is too large, or the package that reads it is missing.
    """
    path = folder / relative
    if path.stat().st_size > _MOST_BYTES:
        raise UnreadableTable(
            f"{path.name}: a workbook of {path.stat().st_size} bytes is too large; export it as CSV"
        )
    sheets = guarded(lambda: pd.read_excel(path, sheet_name=None, header=None, dtype=object), path.name)
    found = []
    for number, (sheet, cells) in enumerate(sheets.items()):
        if cells.shape[0] >= _LEAST_ROWS and cells.notna().to_numpy().any():
            recipe = _plan_sheet(folder, relative, number, str(sheet), cells, len(sheets) > 1)
            found.append((cells.size, str(sheet), recipe))
    if not found:
        raise UnreadableTable(f"{path.name}: no sheet holds a table")
    found.sort(key=lambda each: -each[0])
    return tuple((sheet, recipe) for _, sheet, recipe in found)


def _plan_sheet(
    folder: Path, relative: str, number: int, sheet: str, cells: pd.DataFrame, several: bool
) -> Recipe:
    rows = [_row(row) for row in cells.itertuples(index=False)]
    layout = find_layout(rows[:_HEAD_ROWS], f"{Path(relative).name}, sheet {sheet}")
    body = survey(rows, layout)
    options: dict[str, Any] = {"sheet_name": sheet} if several or number else {}
    notes = [f"sheet {sheet}"] if several else []
    above = layout.header if layout.header is not None else layout.first
    skipped = list(range(above))
    if skipped:
        notes.append(f"{above} rows above the {'header' if layout.header is not None else 'data'}")
    if layout.units and layout.header is not None:
        skipped.append(layout.header + 1)
        notes.append("a row of units below the header")
    repeated = [place for place in body.skipped if list(rows[place]) == list(layout.names)]
    lonely = [place for place, row in enumerate(rows) if place >= layout.first and (not row or _lonely(row))]
    skipped += sorted({*repeated, *lonely})[:MOST_SKIPPED]
    if repeated or lonely:
        count = len({*repeated, *lonely})
        notes.append(f"{count} rows that repeat the header or hold at most one cell are left out")
    if layout.header is None:
        options |= {"header": None, "names": names_for(layout)}
        notes.append("no header: the columns are named by their number")
    if skipped:
        options["skiprows"] = len(skipped) if skipped == list(range(len(skipped))) else tuple(skipped)
    source = PandasFile("read_excel", relative, tuple(options.items()))
    table = guarded(lambda: source.read(folder), Path(relative).name)
    steps: list[Step] = [] if all(isinstance(name, str) for name in table.columns) else [TextNames()]
    recipe = Recipe(source, tuple(steps))
    names = [str(name) for name in table.columns]
    empty = tuple(name for name, own in zip(table.columns, names, strict=True) if own.startswith("Unnamed: ")
                  and table[name].isna().all())  # fmt: skip
    table = recipe.apply(table)
    if empty:
        recipe = recipe.then(Drop(empty))
        table = table.drop(columns=list(empty))
    renamed = {name: f"column_{place + 1}" for place, name in enumerate(names)
               if name.startswith("Unnamed: ") and name not in empty}  # fmt: skip
    if renamed:
        recipe = recipe.then(Rename(tuple(renamed.items())))
        table = table.rename(columns=renamed)
    plain, typed = plain_types(table)
    recipe = recipe.then(*plain)
    for step in plain:
        table = step.apply(table)
    more, said = finish(table)
    return recipe.then(*more, notes=(*notes, *typed, *said))


def plan_parquet(folder: Path, relative: str) -> Recipe:
    """The recipe for a parquet file."""
    source = PandasFile("read_parquet", relative)
    table = guarded(lambda: next(source.chunks(folder, _HEAD_ROWS)), Path(relative).name)
    steps: list[Step] = [] if all(isinstance(name, str) for name in table.columns) else [TextNames()]
    if any(isinstance(cell, dict) for name in table for cell in table[name].dropna().iloc[:1]):
        steps.append(Flatten())
    recipe = Recipe(source, tuple(steps))
    table = recipe.apply(table)
    plain, typed = plain_types(table)
    for step in plain:
        table = step.apply(table)
    more, said = finish(table)
    return recipe.then(*plain, *more, notes=(*typed, *said))


def _row(cells: tuple[Any, ...]) -> tuple[str, ...]:
    """A row as text; an empty one has no cells."""
    texts = tuple("" if pd.isna(cell) else str(cell) for cell in cells)
    return texts if any(texts) else ()


def _lonely(row: tuple[str, ...]) -> bool:
    """Whether a wide row holds a single cell: a remark or a title within the data."""
    return len(row) >= 3 and sum(bool(cell) for cell in row) == 1
