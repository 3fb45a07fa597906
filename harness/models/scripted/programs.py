"""The programs that policies run, rendered from the templates in ``programs/``."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Any

import jinja2

from harness.models.scripted.reading import Facts

_FOLDER = Path(__file__).with_name("programs")


@functools.cache
def _environment() -> jinja2.Environment:
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(_FOLDER),
        undefined=jinja2.StrictUndefined,
        autoescape=False,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["py"] = repr
    return environment


def write_program(name: str, facts: Facts, **choices: Any) -> str:
    """A complete Python program for a task: ``programs/<name>.py.j2`` with what is known and chosen."""
    return _environment().get_template(f"{name}.py.j2").render(facts=facts, **choices)
