"""Recipes for JSON documents and JSON lines."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pandas as pd

from generator.tables.cells import tidy
from generator.tables.encoding import find_encoding, opened
from generator.tables.formats import UnreadableTable
from generator.tables.recipe import Recipe, Source, Step, guarded
from generator.tables.sources import JsonRecords, PandasFile
from generator.tables.steps import Blank, TextNames

#: A JSON document has to be held whole, several times its size.
_MOST_BYTES = 1 << 29
_DEPTH = 4
_LEAST_RECORDS = 2
_MARKERS = ("", "N/A", "n/a", "NA", "NULL", "null", "None", "NaN", "nan", "?", "-", "--")


def plan_json(folder: Path, relative: str) -> Recipe:
    """The recipe for a JSON document, or for JSON lines whatever the file is called.

    Raises:
        UnreadableTable: it holds no list of records, or is no JSON, or is too large to be held.
    """
    path = folder / relative
    if path.stat().st_size > _MOST_BYTES:
        raise UnreadableTable(
            f"{path.name}: a JSON document of {path.stat().st_size} bytes is too large to be held; "
            "write it as JSON lines"
        )
    encoding = find_encoding(path).name
    with opened(path) as stream:
        text = stream.read().decode(encoding, errors="replace")
    try:
        document = json.loads(text)
    except ValueError as error:
        if _first_is_record(text):
            return plan_lines(folder, relative)
        raise UnreadableTable(f"{path.name}: cannot be read as JSON: {error}") from error
    if isinstance(document, list) and document and all(isinstance(each, dict) for each in document):
        flat = not any(isinstance(cell, dict) for record in document for cell in record.values())
        if flat and encoding == "utf-8":
            return _finished(PandasFile("read_json", relative, (("dtype", False),)), folder, path.name)
        return _finished(JsonRecords(relative, encoding=encoding), folder, path.name)
    if isinstance(document, dict) and _columns(document):
        return _finished(PandasFile("read_json", relative, (("dtype", False),)), folder, path.name)
    found = _find(document, (), 0)
    if found is None:
        if isinstance(document, list):
            return _finished(PandasFile("read_json", relative, (("dtype", False),)), folder, path.name)
        raise UnreadableTable(f"{path.name}: the JSON document holds no list of records")
    keys, keyed = found
    where = ".".join(keys) or "the document itself"
    source = JsonRecords(relative, keys, keyed=keyed, encoding=encoding)
    return _finished(source, folder, path.name, (f"the records are at {where}",))


def plan_lines(folder: Path, relative: str) -> Recipe:
    """The recipe for JSON lines.

    Raises:
        UnreadableTable: a line is no JSON; the message names it.
    """
    path = folder / relative
    encoding = find_encoding(path).name
    nested = False
    with opened(path) as stream:
        for number, line in enumerate(stream, start=1):
            if encoding in ("utf-8", "utf-8-sig") and line.strip() and (number <= 2_000 or not number % 97):
                try:
                    record = json.loads(line.decode(encoding if number == 1 else "utf-8"))
                except ValueError as error:
                    raise UnreadableTable(
                        f"{path.name}: line {number} cannot be read as jsonl: {error}"
                    ) from error
                if not isinstance(record, (dict, list)):
                    raise UnreadableTable(f"{path.name}: line {number} cannot be read as jsonl: no record")
                nested |= isinstance(record, dict) and any(isinstance(cell, dict) for cell in record.values())
    source: Source = (
        JsonRecords(relative, lines=True, encoding=encoding)
        if nested or encoding != "utf-8"
        else PandasFile("read_json", relative, (("lines", True), ("dtype", False)))
    )
    return _finished(source, folder, path.name)


def _finished(source: Source, folder: Path, name: str, notes: tuple[str, ...] = ()) -> Recipe:
    table = guarded(lambda: source.read(folder), name)
    steps: list[Step] = [] if all(isinstance(each, str) for each in table.columns) else [TextNames()]
    recipe = Recipe(source, tuple(steps))
    table = recipe.apply(table)
    more, said = finish(table)
    return recipe.then(*more, notes=(*notes, *said))


def finish(table: pd.DataFrame) -> tuple[tuple[Step, ...], list[str]]:
    """Steps for cells that no reader of text has seen: words for missing values, then as for text tables."""
    blanks: dict[tuple[str, ...], list[str]] = {}
    for name in table.columns:
        if not (table[name].dtype == object or pd.api.types.is_string_dtype(table[name])):
            continue
        words = [cell for cell in table[name] if isinstance(cell, str)]
        markers = tuple(marker for marker in _MARKERS if marker in set(words))
        others = pd.Series([cell for cell in words if cell not in _MARKERS], dtype=object)
        if markers and len(others) and pd.to_numeric(others, errors="coerce").notna().mean() >= 0.95:
            blanks.setdefault(markers, []).append(name)
    blank = [Blank(tuple(columns), markers) for markers, columns in blanks.items()]
    for step in blank:
        table = step.apply(table)
    steps, notes = tidy(table)
    notes = [f"words for missing values: {', '.join(map(repr, each.markers))}" for each in blank] + notes
    return (*blank, *steps), notes


def _find(value: Any, path: tuple[str, ...], depth: int) -> tuple[tuple[str, ...], bool] | None:
    """The keys to the longest list of records, and whether it is a mapping of records."""
    best: tuple[int, tuple[str, ...], bool] | None = None
    queue = [(value, path)]
    while queue:
        inner, keys = queue.pop(0)
        size = _records(inner)
        keyed = isinstance(inner, dict)
        if size >= _LEAST_RECORDS and (best is None or size > best[0]):
            best = (size, keys, keyed)
        if keyed and len(keys) < _DEPTH and size < _LEAST_RECORDS:
            queue += [(each, (*keys, str(key))) for key, each in inner.items()]
    return None if best is None else (best[1], best[2])


def _records(value: Any) -> int:
    """How many records of like keys a list or a mapping holds; 0 when it holds anything else."""
    members = list(value.values()) if isinstance(value, dict) else value if isinstance(value, list) else []
    if not members or not all(isinstance(member, dict) for member in members):
        return 0
    if isinstance(value, dict):
        first = set(members[0])
        if len(members) < 10 or not all(len(first & set(member)) >= 0.5 * len(first) for member in members):
            return 0
    return len(members)


def _columns(document: dict[str, Any]) -> bool:
    """Whether a document is a table by columns: equally long lists, or mappings of the same keys."""
    members = list(document.values())
    if len(members) < 2 or any(isinstance(cell, (dict, list)) for each in members for cell in _cells(each)):
        return False
    if all(isinstance(member, list) for member in members):
        return len({len(member) for member in members}) == 1 and len(members[0]) > 1
    return (
        all(isinstance(member, dict) for member in members)
        and len({tuple(member) for member in members}) == 1
        and len(members) < len(members[0])
    )


def _cells(member: Any) -> list[Any]:
    return list(member.values()) if isinstance(member, dict) else member if isinstance(member, list) else []


def _first_is_record(text: str) -> bool:
    first = text.lstrip().split("\n", 1)[0].strip()
    if not (first.startswith("{") and first.endswith("}")):
        return False
    try:
        json.loads(first)
    except ValueError:
        return False
    return True
