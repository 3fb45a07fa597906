"""Text and JSON tables with every cell as the string that stands in the file."""

from __future__ import annotations

import bz2
import gzip
import json
import logging
import lzma
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from generator.tables import UnreadableTable, dialect, table_format
from generator.verifier.public.strings import as_strings
from harness.tasks.submission import InvalidSubmission, read_strings

log = logging.getLogger(__name__)

_UNPACK: dict[str, Callable[[bytes], bytes]] = {
    ".gz": gzip.decompress,
    ".bz2": bz2.decompress,
    ".xz": lzma.decompress,
}
#: What broken files raise in the readers.
_BROKEN = (ValueError, OSError, EOFError, ImportError, lzma.LZMAError, RecursionError)


class Written(float):
    """A number of a JSON document that prints as it was written: ``1.50`` stays ``1.50``."""

    text: str

    def __new__(cls, text: str) -> Written:
        """A number from its digits."""
        number = super().__new__(cls, text)
        number.text = text
        return number

    def __repr__(self) -> str:
        """The digits."""
        return self.text

    __str__ = __repr__


#: One for all lines: a decoder with a hook of its own takes long to make.
_DECODER = json.JSONDecoder(parse_float=Written)
#: The same for records without lists and records in them, whose numbers need be no numbers.
_FLAT = json.JSONDecoder(parse_float=str)


def read_cells(path: Path) -> pd.DataFrame:
    """A CSV, TSV, JSON, JSON lines or parquet table, packed or not; cells as strings, empty where missing.

    The delimiter of a text table is that which cuts its lines most evenly. Ids such as ``0042`` and words
    such as ``NA`` stay what they are; whole numbers are never ``5.0``.

    Raises:
        UnreadableTable: it is no such table, or has no rows or columns; a CSV file may be a header alone.
    """
    kind = table_format(path)
    try:
        if kind == "csv":
            frame = _read_text(path)
        elif kind in ("json", "jsonl"):
            frame = _json_table(_text_of(path), lines=kind == "jsonl")
        elif kind == "parquet":
            frame = as_strings(pd.read_parquet(path, dtype_backend="numpy_nullable"))
        else:
            raise UnreadableTable(f"{path.name}: not a table format")
    except UnreadableTable:
        raise
    except _BROKEN as error:
        raise UnreadableTable(f"{path.name}: cannot be read as {kind}: {error}") from error
    if frame.shape[1] == 0 or (frame.shape[0] == 0 and path.suffix != ".csv"):
        raise UnreadableTable(f"{path.name}: a table without rows or columns")
    frame.columns = pd.Index([str(column) for column in frame.columns])
    return frame


def _read_text(path: Path) -> pd.DataFrame:
    frame = None
    if path.suffix == ".csv":
        try:
            frame = read_strings(path)
        except InvalidSubmission as error:
            log.info("not as a submission would be read: %s", error)
        if frame is not None and len(frame.columns) > 1:
            return frame
    encoding, delimiter = dialect(path)
    if frame is not None and delimiter == ",":
        return frame
    frame = pd.read_csv(
        path, sep=delimiter, encoding=encoding, dtype=str, keep_default_na=False, na_filter=False
    )
    if not isinstance(frame.index, pd.RangeIndex):
        raise UnreadableTable(f"{path.name}: rows have more cells than the header")
    return frame.fillna("")


def _text_of(path: Path) -> str:
    data = path.read_bytes()
    unpack = _UNPACK.get(path.suffix.lower())
    return (data if unpack is None else unpack(data)).decode("utf-8-sig")


def _json_table(text: str, lines: bool) -> pd.DataFrame:
    """The cells of a JSON document: a list of records, or one of the forms that pandas writes.

    Raises:
        ValueError: it is none.
    """
    if lines:
        return _records([_line(line) for line in text.split("\n") if line.strip()])
    data = _parsed(text)
    if isinstance(data, list):
        return _records(data)
    if not isinstance(data, Mapping):
        raise ValueError("a single value")
    if set(data) == {"columns", "index", "data"}:
        return as_strings(pd.DataFrame(data["data"], columns=data["columns"], dtype=object))
    if set(data) == {"schema", "data"}:
        return _records(data["data"])
    columns = {
        name: list(cells.values() if isinstance(cells, Mapping) else cells)
        for name, cells in data.items()
        if isinstance(cells, (Mapping, list))
    }
    if len(columns) < len(data) or len({len(cells) for cells in columns.values()}) != 1:
        raise ValueError("neither a list of records nor columns of one length")
    return as_strings(pd.DataFrame(columns, dtype=object))


def _parsed(text: str) -> Any:
    return _DECODER.decode(text)


def _line(text: str) -> Any:
    flat = "[" not in text and text.count("{") == 1
    return (_FLAT if flat else _DECODER).decode(text)


def _records(data: list[Any]) -> pd.DataFrame:
    if not all(isinstance(record, (Mapping, list)) for record in data):
        raise ValueError("not a list of records")
    if not all(isinstance(record, Mapping) for record in data):
        return as_strings(pd.DataFrame(data, dtype=object))
    names: dict[str, Any] = {}
    for record in data:
        names.update(record)
    return pd.DataFrame({name: [_cell(record.get(name)) for record in data] for name in names}, dtype=str)


def _cell(value: Any) -> str:
    if type(value) is str:
        return value
    return "" if value is None or value != value else str(value)
