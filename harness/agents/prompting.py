"""The agent's prompts, rendered from the templates in ``prompts/``."""

from __future__ import annotations

import functools
import hashlib
from pathlib import Path
from typing import Any

import jinja2

_FOLDER = Path(__file__).with_name("prompts")


@functools.cache
def _environment() -> jinja2.Environment:
    return jinja2.Environment(
        loader=jinja2.FileSystemLoader(_FOLDER),
        undefined=jinja2.StrictUndefined,
        autoescape=False,
        trim_blocks=True,
    )


def render(name: str, **values: Any) -> str:
    """Render ``prompts/<name>.txt.j2``; a missing value is an error."""
    return _environment().get_template(f"{name}.txt.j2").render(**values).strip()


def prompts_hash() -> str:
    """Identity of all prompts: SHA-256 over their names and texts."""
    digest = hashlib.sha256()
    for path in sorted(_FOLDER.glob("*.j2")):
        digest.update(path.name.encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()
