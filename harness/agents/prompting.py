"""The agent's prompts: templates in ``prompts/<version>/``, and their identity."""

from __future__ import annotations

import functools
import hashlib
from pathlib import Path
from typing import Any

import jinja2

_FOLDER = Path(__file__).with_name("prompts")
NEWEST = "v1"


def prompt_versions() -> list[str]:
    """The versions there are, oldest first."""
    return sorted(path.name for path in _FOLDER.iterdir() if path.is_dir())


@functools.cache
def _environment(version: str) -> jinja2.Environment:
    return jinja2.Environment(
        loader=jinja2.FileSystemLoader(_FOLDER / version),
        undefined=jinja2.StrictUndefined,
        autoescape=False,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def render(name: str, *, version: str = NEWEST, **values: Any) -> str:
    """Render ``prompts/<version>/<name>.txt.j2``; a missing value is an error."""
    return _environment(version).get_template(f"{name}.txt.j2").render(**values).strip()


def prompts_hash(version: str = NEWEST) -> str:
    """Identity of a version's prompts: SHA-256 over their names and texts."""
    digest = hashlib.sha256()
    for path in sorted((_FOLDER / version).glob("*.j2")):
        digest.update(path.name.encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()
