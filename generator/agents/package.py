"""The files of a package that agents write: into their sandbox, out of it, and onto the disk."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from generator.agents.workbench import Workbench

#: All that is taken out of an agent's folder; whatever else it holds never reaches a package.
WRITTEN = ("prepare.py", "metric.py", "description.txt")


def lay_out(bench: Workbench, root: Path) -> None:
    """Put what was written before into the work folder."""
    bench.put({
        name: (root / name).read_text(encoding="utf-8", errors="replace")
        for name in WRITTEN if (root / name).is_file()
    })  # fmt: skip


def take(bench: Workbench, root: Path, names: Sequence[str] = WRITTEN) -> list[str]:
    """Take the files out of the work folder into ``root``, and say what is wrong with them."""
    problems = []
    for name in names:
        text = bench.get(name)
        if text is None or not text.strip():
            problems.append(f"- {bench.work}/{name} is not there, is empty, or is no regular file: write it")
            continue
        if name.endswith(".py"):
            try:
                compile(text, name, "exec", dont_inherit=True)
            except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
                problems.append(f"- {name} is no valid Python: {error}")
                continue
        (root / name).write_text(text, encoding="utf-8")
    return problems
