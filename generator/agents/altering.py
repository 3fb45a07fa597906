"""Copies of raw data with the rows of their tables in another order, or only half of them.

What is derived from the rows themselves does not change with their order, and is gone with them.
"""

from __future__ import annotations

import bz2
import gzip
import json
import lzma
import random
import re
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType

import pandas as pd

from generator.agents.workbench import linked
from generator.datasets.catalogue import raw_files

_SEED = 11
_PACKERS: dict[str, ModuleType] = {".gz": gzip, ".bz2": bz2, ".xz": lzma}
#: Not by ``splitlines``: bytes of letters in UTF-8 are line breaks in Latin-1.
_LINE = re.compile(r"[^\n]*\n|[^\n]+")
_LINES = (".csv", ".tsv", ".tab", ".txt", ".data")
#: Larger tables are left as they are.
_BYTES = 256 << 20

#: Chooses the rows that stay, and their order.
Choice = Callable[[int], list[int]]


def shuffled(rows: int) -> list[int]:
    """All rows in another order."""
    order = list(range(rows))
    random.Random(_SEED).shuffle(order)
    return order


def halved(rows: int) -> list[int]:
    """Every second row."""
    return list(range(0, rows, 2))


def altered_copy(folder: Path, tables: list[str], target: Path, choice: Choice) -> list[str]:
    """Copy a raw folder with altered tables.

    Args:
        folder: the raw data.
        tables: paths of its tables below it.
        target: an empty folder.
        choice: which rows of each table stay, in which order.

    Returns:
        The tables that were altered; the others are of a kind that this cannot do.
    """
    done = []
    for path in raw_files(folder):
        name = path.relative_to(folder).as_posix()
        place = target / name
        place.parent.mkdir(parents=True, exist_ok=True)
        if name in tables and path.stat().st_size <= _BYTES and _alter(path, place, choice):
            done.append(name)
            continue
        if not linked(path, place):
            shutil.copyfile(path, place)
    return done


def _alter(path: Path, place: Path, choice: Choice) -> bool:
    packer = _PACKERS.get(path.suffix.lower())
    kind = (Path(path.stem).suffix if packer else path.suffix).lower()
    if kind == ".parquet":
        frame = pd.read_parquet(path)
        frame.iloc[choice(len(frame))].to_parquet(place)
        return True
    if kind not in (*_LINES, ".json", ".jsonl", ".ndjson"):
        return False
    data = path.read_bytes()
    # Every byte is a letter of Latin-1, so that any encoding comes out as it went in.
    text = (packer.decompress(data) if packer else data).decode("latin-1")
    changed = _altered_text(text, kind, choice)
    if changed is None:
        return False
    data = changed.encode("latin-1")
    place.write_bytes(packer.compress(data) if packer else data)
    return True


def _altered_text(text: str, kind: str, choice: Choice) -> str | None:
    if kind == ".json":
        try:
            rows = json.loads(text)
        except (ValueError, RecursionError):
            return None
        return json.dumps([rows[i] for i in choice(len(rows))]) if isinstance(rows, list) else None
    records = list(_records(text)) if kind in _LINES else _LINE.findall(text)
    head = 1 if kind in _LINES else 0
    body = [record if record.endswith("\n") else f"{record}\n" for record in records[head:] if record.strip()]
    return "".join([*records[:head], *(body[i] for i in choice(len(body)))])


def _records(text: str) -> Iterator[str]:
    """The records of a CSV text, whose quoted cells may hold line breaks."""
    held = ""
    for line in _LINE.findall(text):
        held += line
        if held.count('"') % 2 == 0:
            yield held
            held = ""
    if held:
        yield held
