"""The tables in ``raw/``, also those in zip archives; tables of the same columns are one table."""

from __future__ import annotations

import logging
import zipfile
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from generator.tables import UnreadableTable, read_table, table_format

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class RawTable:
    """One table of the raw data.

    Attributes:
        names: the files that it was put together from, below ``raw/``.
        rows: their rows, as :func:`generator.tables.read_table` gives them.
    """

    names: tuple[str, ...]
    rows: pd.DataFrame

    @property
    def name(self) -> str:
        """The files in words."""
        more = f" and {len(self.names) - 1} more" if len(self.names) > 1 else ""
        return f"raw/{self.names[0]}{more}"


def raw_tables(raw: Path, scratch: Path, most_bytes: int) -> list[RawTable]:
    """All that can be read as tables, the longest first; nothing when they are larger than ``most_bytes``."""
    paths = sorted(path for path in raw.rglob("*") if path.is_file())
    tables = [(path.relative_to(raw).as_posix(), path) for path in paths if table_format(path) is not None]
    for path in paths:
        if path.suffix.lower() == ".zip":
            tables += _unzipped(path, scratch / "unzipped" / path.name, raw, most_bytes)
    if sum(path.stat().st_size for _, path in tables) > most_bytes:
        return []
    groups: dict[tuple[str, ...], list[tuple[str, pd.DataFrame]]] = {}
    for name, path in tables:
        try:
            frame = read_table(path)
        except UnreadableTable as error:
            log.debug("not a raw table: %s", error)
            continue
        groups.setdefault(tuple(frame.columns), []).append((name, frame))
    whole = [
        RawTable(tuple(name for name, _ in parts), pd.concat([part for _, part in parts], ignore_index=True))
        for parts in groups.values()
    ]
    return sorted(whole, key=lambda table: -len(table.rows))


def _unzipped(archive: Path, place: Path, raw: Path, most_bytes: int) -> list[tuple[str, Path]]:
    found = []
    try:
        with zipfile.ZipFile(archive) as packed:
            for number, member in enumerate(packed.infolist()):
                if member.is_dir() or table_format(Path(member.filename)) is None:
                    continue
                if member.file_size > most_bytes:
                    return []
                path = place / str(number) / Path(member.filename).name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(packed.read(member))
                found.append((f"{archive.relative_to(raw).as_posix()}/{member.filename}", path))
    except (OSError, ValueError, RuntimeError, NotImplementedError, zipfile.BadZipFile) as error:
        log.debug("%s: %s", archive, error)
    return found
