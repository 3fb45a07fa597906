"""Gate 8: an agent works on the task."""

from __future__ import annotations

from collections.abc import Iterator

from generator.defects.base import Finding
from generator.verifier.case import Case


def check(case: Case) -> Iterator[Finding]:
    """Findings of an agent that works on the task."""
    yield from ()
