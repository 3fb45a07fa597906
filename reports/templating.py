"""Pages from templates: everything that is put into one is escaped."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined

FOLDER = Path(__file__).parent / "templates"


@cache
def environment() -> Environment:
    """The templates of ``reports/templates``; a name they do not get is an error."""
    made = Environment(
        loader=FileSystemLoader(FOLDER),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    made.filters.update(number=number, count=count, duration=duration, score=score)
    return made


def render(template: str, **values: Any) -> str:
    """The text of one page."""
    return environment().get_template(template).render(**values)


def number(value: float | None, digits: int = 3, nothing: str = "–") -> str:
    """A number with fixed digits; a dash where there is none."""
    return nothing if value is None or value != value else f"{value:z.{digits}f}"


def count(value: int, noun: str, plural: str | None = None) -> str:
    """``1 task``, ``2 tasks``."""
    return f"{value} {noun if value == 1 else plural or noun + 's'}"


def duration(seconds: float | None) -> str:
    """Wall time in the unit that suits it: ``0.4 s``, ``42 s``, ``12 min``, ``3.5 h``."""
    if seconds is None or seconds != seconds:
        return "–"
    if seconds < 90:
        return f"{seconds:.0f} s" if seconds >= 9.95 else f"{seconds:.1f}".removesuffix(".0") + " s"
    if seconds < 5400:
        return f"{seconds / 60:.1f}".removesuffix(".0") + " min"
    return f"{seconds / 3600:.1f}".removesuffix(".0") + " h"


def score(value: float | None) -> str:
    """A raw score with four significant digits."""
    return "–" if value is None or value != value else f"{value:.4g}"
