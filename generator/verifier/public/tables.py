"""The tables under public/, cells as strings."""

from __future__ import annotations

import logging
from pathlib import Path

import pandas as pd

from generator.tables import UnreadableTable, read_table, table_format
from harness.tasks.submission import InvalidSubmission, read_strings

log = logging.getLogger(__name__)


def public_tables(public: Path) -> dict[Path, pd.DataFrame]:
    """The tables below a folder by path, sorted; what cannot be read as one is left out."""
    tables = {}
    for path in sorted(public.rglob("*")):
        if path == public / "description.txt" or not path.is_file() or table_format(path) is None:
            continue
        try:
            tables[path] = read_strings(path) if path.suffix == ".csv" else as_strings(read_table(path))
        except (InvalidSubmission, UnreadableTable) as error:
            log.info("not looked at as a table: %s: %s", path, error)
    return tables


def as_strings(frame: pd.DataFrame) -> pd.DataFrame:
    """Every cell as the string it would be in a CSV file; a missing one is empty."""
    missing = frame.isna()
    return frame.astype(str).mask(missing, "")
