"""Gate 5: uninformed submissions lie at the floor, and real baselines rise from it, with room left above."""

from __future__ import annotations

from collections.abc import Iterator

from generator.defects import Finding
from generator.verifier import floor
from generator.verifier.case import Case


class LadderInterrupted(Exception):
    """A baseline's trial ended for a reason that says nothing about the task."""


def check(case: Case) -> Iterator[Finding]:
    """Findings from submissions of known skill. Leaves their scores in the case."""
    yield from floor.check(case)
