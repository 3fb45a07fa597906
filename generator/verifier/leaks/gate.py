"""The part of the data gate that looks for answers that can be had without learning."""

from __future__ import annotations

from collections.abc import Iterator

from generator.defects.base import Finding
from generator.verifier.case import Case
from generator.verifier.leaks import copies, duplicates, groups, times


def check(case: Case) -> Iterator[Finding]:
    """Findings about leaks."""
    for part in (copies, duplicates, groups, times):
        yield from part.check(case)
