"""Which files are tables by their names, and the error for those that are not."""

from __future__ import annotations

from pathlib import Path

#: Suffixes that are read as tables, each also with ``.gz`` after it.
FORMATS = {
    ".csv": "csv",
    ".tsv": "csv",
    ".tab": "csv",
    ".txt": "csv",
    ".json": "json",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".parquet": "parquet",
}
#: Suffixes of files that may be the raw data of a table, each also with ``.gz`` after it.
RAW_FORMATS = {
    **FORMATS,
    ".data": "csv",
    ".dat": "csv",
    ".log": "log",
    ".xlsx": "excel",
    ".xlsm": "excel",
}


class UnreadableTable(ValueError):
    """A file that looks like a table by its name but cannot be read as one; the message says why."""


def table_format(path: Path) -> str | None:
    """``csv``, ``json``, ``jsonl`` or ``parquet`` by the file's name, or ``None``."""
    name = path.name.lower().removesuffix(".gz")
    return FORMATS.get(Path(name).suffix)


def raw_format(path: Path) -> str | None:
    """As :func:`table_format`, for raw data: also ``log`` and ``excel``."""
    name = path.name.lower().removesuffix(".gz")
    return RAW_FORMATS.get(Path(name).suffix)
