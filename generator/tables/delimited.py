"""Recipes for text tables: CSV and its kin, however they are written."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice
from pathlib import Path
from typing import Any

from generator.tables.cells import missing_markers, number_style, tidy
from generator.tables.dialect import EVEN_SHARE, SPACES, Dialect, find_dialect
from generator.tables.formats import UnreadableTable
from generator.tables.layout import (
    MOST_SKIPPED,
    Body,
    Layout,
    check_size,
    find_layout,
    names_for,
    survey,
)
from generator.tables.recipe import Recipe, Step, guarded
from generator.tables.sources import PandasFile
from generator.tables.steps import Drop, Rename

_HEAD_ROWS = 500
#: Rows by whose cells numbers, dates and missing values are recognised.
TRIAL_ROWS = 100_000


def plan_delimited(folder: Path, relative: str) -> Recipe:
    """The recipe for a text table.

    Raises:
        UnreadableTable: its lines are no rows of a table.
    """
    path = folder / relative
    found = find_dialect(path)
    prose = path.name.lower().removesuffix(".gz").endswith(".txt")
    if prose and found.even < EVEN_SHARE:
        raise UnreadableTable(f"{path.name}: text whose lines are not cut into equally many cells")
    layout = find_layout(list(islice(found.rows_of(path), _HEAD_ROWS)), path.name)
    body = survey(found.rows_of(path), layout)
    check_size(body, path.name, max(layout.width, len(layout.names)))
    options, notes = _options(found, layout, body)
    plain = PandasFile("read_csv", relative, tuple(options.items()))
    trial = guarded(lambda: plain.read(folder, nrows=TRIAL_ROWS), path.name)
    markers = missing_markers(trial)
    if markers:
        options["na_values"] = markers
        notes.append(f"{_listed(markers)} stand for missing values")
        plain = PandasFile("read_csv", relative, tuple(options.items()))
        trial = guarded(lambda: plain.read(folder, nrows=TRIAL_ROWS), path.name)
    if found.delimiter != "," and (style := number_style(trial)):
        options |= style
        notes.append("numbers are written with a decimal comma")
        plain = PandasFile("read_csv", relative, tuple(options.items()))
        trial = guarded(lambda: plain.read(folder, nrows=TRIAL_ROWS), path.name)
    naming, said = _names(trial.columns, body)
    for step in naming:
        trial = step.apply(trial)
    steps, more = tidy(trial)
    return Recipe(plain, (*naming, *steps), (*notes, *said, *more))


def _options(found: Dialect, layout: Layout, body: Body) -> tuple[dict[str, Any], list[str]]:
    """Options of ``read_csv``, and what is to be said about the file."""
    options: dict[str, Any] = {"low_memory": False}
    notes: list[str] = []
    if found.delimiter != ",":
        options["sep"] = found.delimiter
    if found.encoding.name != "utf-8":
        options["encoding"] = found.encoding.name
    if found.encoding.broken:
        options["encoding_errors"] = "replace"
        notes.append(f"{found.encoding.broken} byte sequences are no characters and became U+FFFD")
    if not found.quoted:
        options["quoting"] = 3
        notes.append("quotes are characters like others: one is never closed")
    if found.spaced:
        options["skipinitialspace"] = True
    above = layout.header if layout.header is not None else layout.first
    skipped = list(range(above))
    if skipped:
        notes.append(f"{len(skipped)} lines above the {'header' if layout.header is not None else 'data'}")
    if layout.units and layout.header is not None:
        skipped.append(layout.header + 1)
        notes.append("a line of units below the header")
    unnamed = layout.header is None or (len(layout.names) < layout.width and not body.surplus)
    if unnamed:
        options |= {"header": None, "names": names_for(layout)}
        if layout.header is not None:
            skipped.append(layout.header)
            notes.append("the header has one name too few; the first column is the rows' name")
        else:
            notes.append("no header: the columns are named by their number")
    elif body.surplus:
        options["index_col"] = False
    if body.skipped:
        notes += _said(body)
        if len(body.skipped) <= MOST_SKIPPED:
            skipped += body.skipped
    if skipped:
        row = skipped == list(range(len(skipped)))
        options["skiprows"] = len(skipped) if row else tuple(skipped)
    if body.long and not body.surplus:
        options["on_bad_lines"] = "skip"
        notes.append(f"{body.long} lines with more cells than the header are left out")
    if found.delimiter == SPACES:
        options.pop("low_memory")
    return options, notes


def _said(body: Body) -> list[str]:
    short = len(body.skipped) - body.repeated
    done = "left out" if len(body.skipped) <= MOST_SKIPPED else "kept, as they are too many to be named"
    said = [f"{body.repeated} lines repeat the header: {done}"] if body.repeated else []
    return [*said, f"{short} lines of a single cell: {done}"] if short else said


def _names(columns: Iterable[str], body: Body) -> tuple[tuple[Step, ...], list[str]]:
    """Names for columns that have none, and trimmed ones; unnamed columns without a value go."""
    names = [str(name) for name in columns]
    taken = set(names)
    empty: list[str] = []
    renamed: dict[str, str] = {}
    for place, name in enumerate(names):
        if not name.startswith("Unnamed: "):
            clean = name.strip().lstrip("#\ufeff").strip()
            if clean and clean not in taken:
                renamed[name] = clean
                taken.add(clean)
        elif place < len(body.filled) and not body.filled[place]:
            empty.append(name)
        else:
            renamed[name] = _free(f"column_{place + 1}", taken)
            taken.add(renamed[name])
    steps: list[Step] = []
    notes = []
    if empty:
        steps.append(Drop(tuple(empty)))
        notes.append(f"{len(empty)} columns without a name and a value are left out")
    if renamed:
        steps.append(Rename(tuple(renamed.items())))
        unnamed = sum(name.startswith("Unnamed: ") for name in renamed)
        if unnamed:
            notes.append(f"{unnamed} columns without a name are named by their number")
    return tuple(steps), notes


def _free(name: str, taken: set[str]) -> str:
    while name in taken:
        name += "_"
    return name


def _listed(markers: Iterable[str]) -> str:
    return ", ".join(repr(marker) for marker in markers)
