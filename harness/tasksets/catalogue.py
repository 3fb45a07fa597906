"""The hand-made reference set: which tasks there are and where their packages lie."""

from __future__ import annotations

import difflib
from pathlib import Path

from harness.errors import TaskError

REFERENCE = Path(__file__).parent / "reference"


def list_tasks() -> list[str]:
    """The ids of the reference tasks, in alphabetical order."""
    return sorted(path.parent.name for path in REFERENCE.glob("*/task.toml"))


def reference_task(name: str) -> Path:
    """The folder of a reference task; copy it before preparing, for preparation writes beside ``raw/``.

    Raises:
        TaskError: no reference task has that id; the message names the nearest ones.
    """
    known = list_tasks()
    if name in known:
        return REFERENCE / name
    near = difflib.get_close_matches(name, known, n=3, cutoff=0.5)
    hint = f"did you mean {', '.join(near)}?" if near else f"there are {', '.join(known)}"
    raise TaskError(f"no reference task is called {name!r}: {hint}")


def ships_with_us(task: Path) -> bool:
    """Whether the code of a task package, wherever it lies, is that of the reference task of its name."""
    pairs = [(REFERENCE / task.name / name, task / name) for name in ("prepare.py", "metric.py")]
    return all(
        ours.is_file() and theirs.is_file() and ours.read_bytes() == theirs.read_bytes()
        for ours, theirs in pairs
    )
