"""Looks at files inside the sandbox for an agent. A standalone script.

browse.py REQUEST

REQUEST is a JSON object with ``raw`` and ``work`` (the two folders that may be seen), ``do``, and what that
needs. What was asked for is printed. It ends with code 3 where a path is refused or there is nothing there.
"""

from __future__ import annotations

import itertools
import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ENTRIES, HITS, LINE = 100, 50, 240
#: Files that are searched, and bytes of each.
SEARCHED, BYTES = 2_000, 20_000_000


class Refused(Exception):
    """What was asked for cannot be had; the message says what can."""


def resolved(path: str, asked: dict[str, Any], write: bool = False) -> Path:
    """The real path of what a model calls ``path``."""
    raw, work = Path(asked["raw"]).resolve(), Path(asked["work"]).resolve()
    first, _, rest = path.partition("/")
    real = (raw / rest if first == "raw" and not (work / "raw").exists() else work / path).resolve()
    if real.is_relative_to(work):
        return real
    if write:
        raise Refused(f"only files below {work} can be written; {raw} is read-only")
    if real.is_relative_to(raw):
        return real
    raise Refused(f"only {raw} (read-only) and {work} can be looked at")


def listing(folder: Path) -> Iterator[str]:
    """The entries of a folder: files with their size, folders with how many files they hold."""
    if not folder.is_dir():
        raise Refused(f"{folder} is no folder; use read_file for a file")
    entries = sorted(folder.iterdir())
    yield f"{folder}: {len(entries)} entries"
    for entry in entries[:ENTRIES]:
        if entry.is_dir() and not entry.is_symlink():
            count = sum(each.is_file() for each in entry.rglob("*"))
            yield f"{entry.name!a}/  {count:,} files"
        else:
            yield f"{entry.name!a}  {entry.lstat().st_size:,} bytes"
    if len(entries) > ENTRIES:
        yield f"and {len(entries) - ENTRIES:,} more"


def reading(path: Path, offset: int, most: int) -> Iterator[str]:
    """A part of a text file, from a byte on."""
    if not path.is_file():
        raise Refused(f"there is no file {path}; list_files shows what there is")
    size, offset = path.stat().st_size, max(0, offset)
    with path.open("rb") as stream:
        if b"\0" in stream.read(4_096):
            raise Refused(f"{path} ({size:,} bytes) is no text; look at it with run_python")
        stream.seek(offset)
        data = stream.read(most)
    yield data.decode("utf-8", errors="replace")
    yield f"[bytes {offset:,} to {offset + len(data):,} of {size:,}]"


def searching(path: Path, pattern: str) -> Iterator[str]:
    """The lines of text files that match, each with its file and number."""
    try:
        wanted = re.compile(pattern)
    except (re.error, RecursionError) as error:
        raise Refused(f"{pattern!r} is no regular expression of Python: {error}") from error
    if not path.exists():
        raise Refused(f"there is no file {path}; list_files shows what there is")
    files = sorted(each for each in path.rglob("*") if each.is_file()) if path.is_dir() else [path]
    hits = 0
    for file in files[:SEARCHED]:
        try:
            with file.open("rb") as stream:
                data = stream.read(BYTES)
        except OSError:
            continue
        if b"\0" in data[:4_096]:
            continue
        for number, line in enumerate(data.decode("utf-8", errors="replace").splitlines(), 1):
            if wanted.search(line):
                hits += 1
                yield f"{file}:{number}: {line[:LINE]}"
                if hits == HITS:
                    yield f"[the first {HITS} hits; there may be more]"
                    return
    yield f"[{hits} hits in {min(len(files), SEARCHED):,} of {len(files):,} files]"


def main(asked: dict[str, Any]) -> int:
    """Do what is asked for."""
    try:
        path = resolved(str(asked["path"]), asked, write=asked["do"] == "write")
        lines: Iterator[str] = iter([str(path)])
        if asked["do"] == "list":
            lines = listing(path)
        elif asked["do"] == "read":
            lines = reading(path, int(asked["offset"]), int(asked["most"]))
        elif asked["do"] == "search":
            lines = searching(path, str(asked["pattern"]))
        # All lines or the refusal alone.
        print(*itertools.chain(lines), sep="\n")
    except (Refused, OSError, ValueError) as error:
        print(error)
        return 3
    return 0


if __name__ == "__main__":
    sys.exit(main(json.loads(sys.argv[1])))
