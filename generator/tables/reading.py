"""Reading raw tables of any supported format, and the code that reads them again in a task's prepare.py."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from generator.tables.dialect import dialect
from generator.tables.formats import FORMATS, UnreadableTable, table_format


def read_code(path: Path, relative: str) -> str:
    """The expression that reads ``path`` in a prepare.py, where the raw folder is called ``raw``.

    Evaluating it and calling :func:`read_table` give the same frame.

    Raises:
        UnreadableTable: the file is no table.
    """
    kind = table_format(path)
    where = f"raw / {relative!r}".replace("'", '"')
    if kind == "csv":
        encoding, delimiter = dialect(path)
        options = ["low_memory=False"]
        if delimiter != ",":
            options.append(f'sep="{delimiter}"'.replace("\t", "\\t"))
        if encoding != "utf-8":
            options.append(f'encoding="{encoding}"')
        return f"pd.read_csv({where}, {', '.join(options)})"
    if kind == "json":
        return f"pd.read_json({where}, dtype=False)"
    if kind == "jsonl":
        return f"pd.read_json({where}, lines=True, dtype=False)"
    if kind == "parquet":
        return f"pd.read_parquet({where})"
    raise UnreadableTable(f"{path.name}: not a table format; known are {', '.join(sorted(FORMATS))}")


def read_table(path: Path) -> pd.DataFrame:
    """Read a raw table; cells are data, never anything else.

    Raises:
        UnreadableTable: it cannot be parsed, or has no rows or columns.
    """
    kind = table_format(path)
    try:
        if kind == "csv":
            encoding, delimiter = dialect(path)
            frame = pd.read_csv(path, sep=delimiter, encoding=encoding, low_memory=False)
        elif kind == "json":
            frame = pd.read_json(path, dtype=False)
        elif kind == "jsonl":
            frame = pd.read_json(path, lines=True, dtype=False)
        elif kind == "parquet":
            frame = pd.read_parquet(path)
        else:
            raise UnreadableTable(f"{path.name}: not a table format")
    except UnreadableTable:
        raise
    except (ValueError, OSError, ImportError, EOFError) as error:
        raise UnreadableTable(f"{path.name}: cannot be read as {kind}: {error}") from error
    if frame.shape[0] == 0 or frame.shape[1] == 0:
        raise UnreadableTable(f"{path.name}: a table without rows or columns")
    frame.columns = pd.Index([str(column) for column in frame.columns])
    return frame
