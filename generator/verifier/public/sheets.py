"""What any file holds, in the form of tables of strings: the one form in which values are looked for."""

from __future__ import annotations

import io
import logging
import pickle
import sqlite3
import tempfile
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from generator.tables import UnreadableTable
from generator.verifier.public.arrays import array_frames
from generator.verifier.public.cells import read_cells
from generator.verifier.public.inventory import Content
from generator.verifier.public.kinds import FileKind
from generator.verifier.public.nested import json_frames
from generator.verifier.public.pickled import pickled_frames
from generator.verifier.public.strings import as_strings
from generator.verifier.public.words import text_frames
from harness.tasks.submission import InvalidSubmission

log = logging.getLogger(__name__)


#: What broken or hostile files raise in the libraries that read them.
UNREADABLE = (
    InvalidSubmission, UnreadableTable, ValueError, OSError, ImportError, EOFError, KeyError, TypeError,
    IndexError, OverflowError, RecursionError, NotImplementedError, AttributeError, MemoryError,
    sqlite3.Error, pickle.UnpicklingError, zipfile.BadZipFile, zlib.error,
)  # fmt: skip


@dataclass(frozen=True)
class Sheet:
    """A table found somewhere under public/.

    Attributes:
        name: where: ``notes.zip/labels.json`` or ``data.sqlite table answers``.
        frame: its cells as strings.
    """

    name: str
    frame: pd.DataFrame


def sheets(content: Content, text_bytes: int) -> Iterator[Sheet]:
    """All tables that a file's content can be read as; none when it cannot be read.

    Args:
        content: of one file.
        text_bytes: of a file that is read word by word, this much.
    """
    try:
        for part, frame in _frames(content, text_bytes):
            if len(frame) and len(frame.columns):
                yield Sheet(f"{content.name}{part}", frame)
    except UNREADABLE as error:
        log.info("%s cannot be read: %s", content.name, error)


def _frames(content: Content, text_bytes: int) -> Iterator[tuple[str, pd.DataFrame]]:
    suffix = content.suffix
    if suffix in ("json", "jsonl", "ndjson"):
        yield from json_frames(content.data, lines=suffix != "json")
    elif suffix in ("sqlite", "sqlite3", "db"):
        yield from _database(content.data)
    elif suffix in ("csv", "parquet", "xlsx"):
        yield "", table_of(content)
    elif suffix in ("pkl", "pickle"):
        yield from pickled_frames(content.data)
    elif content.kind is FileKind.ARRAY:
        yield from array_frames(content.data, suffix)
    elif content.kind in (FileKind.TEXT, FileKind.TABLE):
        yield from text_frames(content.data[:text_bytes].decode("utf-8", errors="replace"))


def table_of(content: Content) -> pd.DataFrame:
    """The one table of a CSV, TSV, parquet or Excel file, cells as strings.

    Raises:
        UnreadableTable: it is none.
    """
    if content.suffix == "xlsx":
        return as_strings(pd.read_excel(io.BytesIO(content.data), dtype=object))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"table.{content.suffix}"
        path.write_bytes(content.data)
        return read_cells(path)


def _database(data: bytes) -> Iterator[tuple[str, pd.DataFrame]]:
    with tempfile.NamedTemporaryFile(suffix=".sqlite") as file:
        file.write(data)
        file.flush()
        base = sqlite3.connect(f"file:{file.name}?mode=ro&immutable=1", uri=True)
        try:
            listed = base.execute("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name")
            for (table,) in listed.fetchall():
                quoted = str(table).replace('"', '""')
                yield f" table {table}", as_strings(pd.read_sql_query(f'SELECT * FROM "{quoted}"', base))
        finally:
            base.close()
