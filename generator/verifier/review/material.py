"""What a reviewer is shown of a task: a bounded part of its files, each in marks of its own."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from generator.verifier.case import Case

_CELL = 120
_ROWS = 8
_COLUMNS = 40
_TABLES = 6
_LISTED = 60
#: Characters of a token, on the safe side: code and numbers take more tokens than prose.
CHARACTERS = 3
#: The parts of the room that files get, in the order in which they are shown; what one leaves the next gets.
_SHARES = {"description.txt": 0.3, "task.toml": 0.1, "metric.py": 0.15, "prepare.py": 0.15}


@dataclass(frozen=True)
class Document:
    """One file as it is shown.

    Attributes:
        name: as the reviewer is to name it.
        text: its text, cut to the room that it has.
    """

    name: str
    text: str

    def marked(self) -> str:
        """The text between marks that nothing in it can end, since they hold its own hash."""
        mark = hashlib.sha256(f"{self.name}\0{self.text}".encode()).hexdigest()[:12]
        return f"<<<FILE {self.name} {mark}\n{self.text}\nEND {mark}>>>"


def documents(case: Case, tokens: int) -> list[Document]:
    """What is shown of a task, in about that many tokens at most. No answer is among it."""
    room = tokens * CHARACTERS
    task, shown = case.task, list[Document]()
    spare = 0.0
    for name, share in _SHARES.items():
        text = _read(task.root / name)
        allowed = int(room * share + spare)
        shown.append(Document(name, _clipped(text, allowed)))
        spare = max(0.0, allowed - len(text))
    known = _clipped(_known(case), int(room * 0.1))
    listing = _clipped("\n".join(_listing(case)), int(room * 0.05))
    shown += [Document("programs.txt", known), Document("public.txt", listing)]
    left = room - sum(len(one.text) for one in shown) - 60 * (len(shown) + _TABLES)
    tables = list(_tables(case))
    for number, (name, text) in enumerate(tables):
        allowed = max(0, left // (len(tables) - number))
        if allowed < 200:
            break
        shown.append(Document(name, _clipped(text, allowed)))
        left -= len(shown[-1].text)
    return shown


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""


def _clipped(text: str, most: int) -> str:
    text = _clean(text)
    if len(text) <= most:
        return text
    return (
        f"{text[: max(0, most - 60)]}\n[... {len(text) - max(0, most - 60):,} more characters are not shown]"
    )


def _clean(text: str) -> str:
    """Without signs that cannot be printed, which could hide words from people."""
    return "".join(sign for sign in text if sign.isprintable() or sign in "\n\t")


def _listing(case: Case) -> Iterator[str]:
    public = case.prepared.public
    paths = sorted(path for path in public.rglob("*") if path.is_file())
    yield f"{len(paths):,} files under public/"
    for path in paths[:_LISTED]:
        rows = f", {len(case.tables[path]):,} rows" if path in case.tables else ""
        yield f"{path.relative_to(public).as_posix()}  {path.stat().st_size:,} bytes{rows}"
    if len(paths) > _LISTED:
        yield f"and {len(paths) - _LISTED:,} more"


def _tables(case: Case) -> Iterator[tuple[str, str]]:
    """The first rows of the public tables, each as JSON lines, the larger tables last."""
    public = case.prepared.public
    first = [
        path for path in (case.train_path, case.test_path, case.prepared.sample_path) if path in case.tables
    ]
    others = [path for path in case.tables if path not in first]
    for path in [*first, *others][:_TABLES]:
        if path is None:
            continue
        table = case.tables[path]
        columns = list(table.columns[:_COLUMNS])
        more = f" and {len(table.columns) - _COLUMNS} more" if len(table.columns) > _COLUMNS else ""
        lines = [
            f"the first {min(_ROWS, len(table))} of {len(table):,} rows; columns{more}: {json.dumps(columns)}"
        ]
        for row in table[columns].head(_ROWS).itertuples(index=False):
            cells = [str(cell) if len(str(cell)) <= _CELL else f"{str(cell)[:_CELL]}..." for cell in row]
            lines.append(json.dumps(cells, ensure_ascii=False))
        yield f"public/{path.relative_to(public).as_posix()}", "\n".join(lines)


def _known(case: Case) -> str:
    """What the gates before found and measured; nothing of it is an answer."""
    lines = [f"found: {found.severity} {found.code}: {_plain(found.evidence)}" for found in case.findings]
    scores = {name: round(score, 5) for name, score in sorted(case.scores.items())}
    return "\n".join([*(lines or ["found: nothing"]), f"scores: {json.dumps(scores)}"])


def _plain(text: str) -> str:
    return re.sub(r"\s+", " ", text)[:300]
