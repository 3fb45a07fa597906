"""What the name of a board says about the tasks it holds."""

from __future__ import annotations


def is_part_whole(a: str, b: str) -> bool:
    """Whether, by their names, one board holds tasks of the other: combined, a set or a modality."""
    return a != b and _kind(a) != _kind(b)


def _kind(name: str) -> str:
    lower = name.lower().removeprefix("board-").removeprefix("scores-")
    return "combined" if lower == "combined" else "modality" if lower.startswith("modality-") else "set"
