"""Nested plain data, as JSON holds them, as tables."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pandas as pd

from generator.verifier.public.strings import as_strings

_DEPTH = 5
_FEWEST = 5
_MOST_COLUMNS = 200


def json_frames(data: Any, lines: bool = False) -> Iterator[tuple[str, pd.DataFrame]]:
    """Tables of everything in nested data that could be one, each with the words that say where it stands.

    A list of values is one column, a list of records or of lists a table; a mapping is a table of its keys
    and values (whose own fields or items become columns), or of its values when these are lists of one
    length; a mapping of lists is also a table of each item beside its key.

    Args:
        data: bytes of JSON, or what they were read to.
        lines: each line is a document of its own.

    Raises:
        ValueError: the bytes are no JSON.
    """
    if isinstance(data, bytes):
        text = data.decode("utf-8-sig")
        documents = text.splitlines() if lines else [text]
        data = [json.loads(document) for document in documents if document.strip()]
        data = data if lines else data[0]
    yield from _walk(data, "", _DEPTH)


def _walk(data: Any, where: str, depth: int) -> Iterator[tuple[str, pd.DataFrame]]:
    if isinstance(data, Mapping):
        yield from _of_mapping(data, where)
        inner = [(str(key), value) for key, value in data.items()]
    elif _is_list(data):
        if len(data) >= _FEWEST:
            yield where, _records(data)
        inner = [(str(number), value) for number, value in enumerate(data)]
    else:
        return
    if depth == 0:
        return
    # Many alike parts are rows of the table that was given already.
    inner = inner if len(inner) <= _MOST_COLUMNS else []
    for key, value in inner:
        yield from _walk(value, f"{where} {key}" if where else f" entry {key}", depth - 1)


def _of_mapping(data: Mapping[Any, Any], where: str) -> Iterator[tuple[str, pd.DataFrame]]:
    keys, values = [str(key) for key in data], list(data.values())
    if len(keys) >= _FEWEST:
        frame = _records(values)
        frame.insert(0, "key", keys, allow_duplicates=True)
        yield where, frame
    lists = {str(key): value for key, value in data.items() if _is_list(value) and not _holds_parts(value)}
    for length in sorted({len(value) for value in lists.values()} - set(range(_FEWEST))):
        alike = {key: value for key, value in lists.items() if len(value) == length}
        if len(alike) <= _MOST_COLUMNS:
            yield where, as_strings(pd.DataFrame(alike))
    if len(lists) > 1:
        pairs = [(key, item) for key, value in lists.items() for item in value]
        if len(pairs) >= _FEWEST:
            yield where, as_strings(pd.DataFrame(pairs, columns=["key", "item"]))
    # Columns of pandas' own form: {"target": {"0": 1, "1": 0}}.
    maps = {str(key): value for key, value in data.items() if isinstance(value, Mapping)}
    if 1 < len(maps) <= _MOST_COLUMNS and len({len(value) for value in maps.values()}) == 1:
        yield where, as_strings(pd.DataFrame({key: _plain_values(value) for key, value in maps.items()}))


def _plain_values(data: Mapping[Any, Any]) -> list[str]:
    return [str(value) for value in data.values()]


def _records(values: Sequence[Any]) -> pd.DataFrame:
    """One row for each value: fields of mappings under dotted names, items of lists by number, or itself."""
    rows = []
    for value in values:
        row: dict[str, str] = {}
        _flatten("", value, row, _DEPTH)
        rows.append(row)
    return as_strings(pd.DataFrame(rows))


def _flatten(name: str, value: Any, row: dict[str, str], depth: int) -> None:
    if len(row) >= _MOST_COLUMNS:
        return
    if isinstance(value, Mapping) and depth:
        for key, inner in value.items():
            _flatten(f"{name}.{key}" if name else str(key), inner, row, depth - 1)
    elif _is_list(value) and depth:
        for number, inner in enumerate(value[:_MOST_COLUMNS]):
            _flatten(f"{name}.{number}" if name else str(number), inner, row, depth - 1)
    else:
        row[name or "value"] = "" if value is None else str(value)


def _is_list(value: Any) -> bool:
    return isinstance(value, (list, tuple))


def _holds_parts(values: Sequence[Any]) -> bool:
    return any(isinstance(value, (Mapping, list, tuple)) for value in values[:10])
