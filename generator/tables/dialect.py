"""The encoding and the delimiter of a text table."""

from __future__ import annotations

import gzip
import io
from pathlib import Path

from generator.tables.formats import UnreadableTable

_DELIMITERS = (",", "\t", ";", "|")
_SAMPLE_BYTES = 200_000


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
