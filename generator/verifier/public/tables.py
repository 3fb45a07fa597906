"""The tables under public/, cells as strings."""

from __future__ import annotations

import logging
from collections import Counter
from pathlib import Path

import pandas as pd

from generator.tables import UnreadableTable, table_format
from generator.verifier.public.cells import read_cells
from generator.verifier.public.inventory import Content, PublicFile, contents
from generator.verifier.public.kinds import MEDIA, FileKind, suffix_of
from generator.verifier.public.sheets import table_of
from generator.verifier.public.strings import as_strings
from generator.verifier.thresholds.files import FileLimits

__all__ = ["as_strings", "public_tables"]

log = logging.getLogger(__name__)

#: Side files of single rows by the hundred are no tables.
_MOST_TABLES = 200
_IN_ZIP = ("csv", "tsv", "tab", "json", "jsonl", "ndjson", "parquet")


def public_tables(public: Path) -> dict[Path, pd.DataFrame]:
    """The tables below a folder by path, sorted; what cannot be read as one is left out.

    A zipped table (``train.csv.zip``) stands under the archive's path. Of folders with more than 200 tables,
    which hold one small file for each row, none is read.
    """
    tables = {}
    paths = [
        path
        for path in sorted(public.rglob("*"))
        if path != public / "description.txt" and not path.is_symlink() and path.is_file() and _may_be(path)
    ]
    counts = Counter(path.parent for path in paths)
    for path in paths:
        if counts[path.parent] > _MOST_TABLES:
            continue
        try:
            table = _read(path)
        except (UnreadableTable, ImportError, ValueError, OSError) as error:
            log.info("not looked at as a table: %s: %s", path, error)
            continue
        if table is not None:
            tables[path] = table
    return tables


def _may_be(path: Path) -> bool:
    return table_format(path) is not None or path.suffix.lower() in (".zip", ".xlsx")


def _read(path: Path) -> pd.DataFrame | None:
    suffix = suffix_of(path.name)
    if suffix in ("zip", "xlsx"):
        return _zipped(path)
    return read_cells(path)


def _zipped(path: Path) -> pd.DataFrame | None:
    """The table of a ``.csv.zip`` or of an archive with one table and else media only; or of a sheet."""
    suffix = suffix_of(path.name)
    kind = FileKind.ARCHIVE if suffix == "zip" else FileKind.TABLE
    found: list[Content] = []
    for content in contents(PublicFile(path, path.name, path.stat().st_size, kind, suffix), FileLimits()):
        if content.name.rpartition("/")[2].startswith(".") or "__MACOSX" in content.name:
            continue
        if content.kind in MEDIA:
            continue
        if found or content.suffix not in (*_IN_ZIP, "xlsx"):
            return None
        found.append(content)
    return table_of(found[0]) if found else None
