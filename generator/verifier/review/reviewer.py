"""A language model that reviews a task."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

from generator.defects.base import Finding
from generator.verifier.case import Case


class Reviewer(Protocol):
    """Reads a task and says, with evidence, what is wrong with it."""

    @property
    def identity(self) -> str:
        """What its verdicts depend on beside the task: the model and the hash of its prompts."""
        ...

    def check(self, case: Case) -> Iterator[Finding]:
        """Findings about the task; an answer that cannot be read is no finding, and raises."""
        ...
