"""Reading raw tables of any supported format, and the code that reads them again in a task's prepare.py."""

from __future__ import annotations

import gzip
import io
from pathlib import Path

import pandas as pd

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
_DELIMITERS = (",", "\t", ";", "|")
_SAMPLE_BYTES = 200_000


class UnreadableTable(ValueError):
    """A file that looks like a table by its name but cannot be read as one; the message says why."""


def table_format(path: Path) -> str | None:
    """``csv``, ``json``, ``jsonl`` or ``parquet`` by the file's name, or ``None``."""
    name = path.name.lower().removesuffix(".gz")
    return FORMATS.get(Path(name).suffix)


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


def dialect(path: Path) -> tuple[str, str]:
    """Encoding and delimiter of a text table: the delimiter that cuts most lines into equally many cells."""
    head = _head(path)
    encoding = "utf-8"
    try:
        # The sample may end inside a character; only its last bytes may fail.
        head[: head.rfind(b"\n") + 1].decode("utf-8-sig")
    except UnicodeDecodeError:
        encoding = "latin-1"
    lines = [
        line
        for line in io.StringIO(head.decode(encoding, errors="replace")).readlines()[:200]
        if line.strip()
    ]
    if path.name.lower().removesuffix(".gz").endswith((".tsv", ".tab")):
        return encoding, "\t"
    if not lines:
        raise UnreadableTable(f"{path.name}: the file is empty")
    best, score = ",", 0.0
    for delimiter in _DELIMITERS:
        counts = [line.count(delimiter) for line in lines]
        if counts[0] == 0:
            continue
        agreement = sum(count == counts[0] for count in counts) / len(counts)
        if agreement > score + 1e-9:
            best, score = delimiter, agreement
    return encoding, best


def _head(path: Path) -> bytes:
    if path.name.lower().endswith(".gz"):
        with gzip.open(path, "rb") as packed:
            return packed.read(_SAMPLE_BYTES)
    with path.open("rb") as stream:
        return stream.read(_SAMPLE_BYTES)
