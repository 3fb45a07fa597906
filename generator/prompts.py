"""Prompts: texts in a folder of one version, and their identity."""

from __future__ import annotations

import functools
import hashlib
from pathlib import Path


@functools.cache
def read_prompt(folder: Path, name: str) -> str:
    """The text of ``<name>.txt``, to be filled in by ``str.format``."""
    return (folder / f"{name}.txt").read_text(encoding="utf-8")


@functools.cache
def hash_prompts(folder: Path) -> str:
    """SHA-256 over names and texts of all prompts of a folder, in hex."""
    digest = hashlib.sha256()
    for path in sorted(folder.glob("*.txt")):
        digest.update(path.name.encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()
