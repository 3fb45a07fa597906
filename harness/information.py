"""What an agent is told about a task on request: its facts, its files and the sample submission."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator
from pathlib import Path

from harness.tasks.package import Task

_TREE_ENTRIES = 40
_ENTRIES_BELOW = 5
_SAMPLE_ROWS = 3


def overview(task: Task) -> str:
    """The declared facts, one per line as ``key: value``, then the description."""
    spec = task.spec
    direction = "higher is better" if spec.metric.higher_is_better else "lower is better"
    return (
        f"title: {spec.title}\n"
        f"modality: {spec.modality}\n"
        f"objective: {spec.objective}\n"
        f"metric: {spec.metric.name} ({direction}, best {spec.metric.best:g})\n"
        f"id column: {spec.id_column}\n"
        f"target columns: {json.dumps(list(spec.target_columns))}\n"
        f"\n{task.description_path.read_text(encoding='utf-8')}"
    )


def sample(task: Task) -> str:
    """The header and the first rows of the sample submission."""
    with task.sample_path.open(encoding="utf-8-sig") as stream:
        lines = [line.rstrip("\n") for _, line in zip(range(_SAMPLE_ROWS + 1), stream, strict=False)]
    return "\n".join(lines)


def describe_folder(folder: Path) -> Iterator[str]:
    """A tree of a folder, bounded per level, with the header and the number of rows of every CSV file."""
    for path, depth, left_out in _walk(folder, 0):
        indent = "  " * depth
        if left_out:
            yield f"{indent}... {left_out} more"
        elif path.is_dir():
            yield f"{indent}{path.name}/ ({sum(1 for _ in path.iterdir())} entries)"
        elif path.suffix == ".csv":
            yield f"{indent}{path.name} ({_describe_csv(path)})"
        else:
            yield f"{indent}{path.name} ({path.stat().st_size} bytes)"


def _walk(folder: Path, depth: int) -> Iterator[tuple[Path, int, int]]:
    entries = sorted(folder.iterdir(), key=lambda path: (path.is_dir(), path.name))
    limit = _TREE_ENTRIES if depth == 0 else _ENTRIES_BELOW
    for entry in entries[:limit]:
        yield entry, depth, 0
        if entry.is_dir():
            yield from _walk(entry, depth + 1)
    if len(entries) > limit:
        yield folder, depth, len(entries) - limit


def _describe_csv(path: Path) -> str:
    try:
        with path.open(encoding="utf-8-sig", newline="") as stream:
            reader = csv.reader(stream)
            header = next(reader, [])
            rows = sum(1 for _ in reader)
    except (UnicodeDecodeError, csv.Error):
        return f"{path.stat().st_size} bytes"
    shown = ", ".join(header[:_TREE_ENTRIES])
    more = f", ... {len(header) - _TREE_ENTRIES} more" if len(header) > _TREE_ENTRIES else ""
    return f"{rows} rows, {len(header)} columns: {shown}{more}"
