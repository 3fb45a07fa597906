"""What names a task and what defines it, hashed part by part."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping

from harness.tasks.package import Task, file_hash, folder_hash

_FILES = ("task.toml", "description.txt", "prepare.py", "metric.py")
_FOLDERS = ("public", "private")


def key_of(task: Task) -> str:
    """``<set>/<id>``, as jobs and score files name a task."""
    return f"{task.spec.set}/{task.id}"


def hash_parts(task: Task) -> dict[str, str]:
    """SHA-256 of each file and folder that defines a prepared task; ``-`` where there is none.

    They are what :func:`harness.tasks.package.task_hash` hashes: the definition, what agents see and the
    answers, but not ``raw/``.
    """
    files = {name: task.root / name for name in _FILES}
    folders = {name: task.root / name for name in _FOLDERS}
    return {name: file_hash(path) if path.is_file() else "-" for name, path in files.items()} | {
        name: folder_hash(path) if path.is_dir() else "-" for name, path in folders.items()
    }


def joined_hash(files: Mapping[str, str]) -> str:
    """The hash of a task from those of its parts, equal to :func:`harness.tasks.package.task_hash`."""
    lines = "".join(f"{name}\0{digest}\n" for name, digest in files.items())
    return hashlib.sha256(lines.encode()).hexdigest()
