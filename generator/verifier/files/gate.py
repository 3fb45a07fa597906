"""The part of the data gate that looks into files: archives, side files, media."""

from __future__ import annotations

from collections.abc import Iterator

from generator.defects.base import Finding
from generator.verifier.case import Case


def check(case: Case) -> Iterator[Finding]:
    """Findings about files under public/."""
    yield from ()
