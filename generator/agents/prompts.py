"""The agents' prompts: texts in ``prompts/<version>/``, and their identity."""

from __future__ import annotations

import functools
import hashlib
from pathlib import Path

_FOLDER = Path(__file__).with_name("prompts")
NEWEST = "v1"


@functools.cache
def prompt(name: str, version: str = NEWEST) -> str:
    """The text of a prompt, to be filled in by ``str.format``."""
    return (_FOLDER / version / f"{name}.txt").read_text(encoding="utf-8").strip()


@functools.cache
def prompts_hash(version: str = NEWEST) -> str:
    """SHA-256 of all prompts of a version, in hex."""
    digest = hashlib.sha256()
    for path in sorted((_FOLDER / version).glob("*.txt")):
        digest.update(path.name.encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()
