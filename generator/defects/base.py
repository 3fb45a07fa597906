"""Defects and findings: the forms in which the verifier reports.

Only a gate makes findings, and only about the task. Trouble of the machine is never a finding.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any


class Gate(StrEnum):
    """The stages of verification, in order of cost. Gates are only ever added."""

    STRUCTURE = "structure"
    PREPARATION = "preparation"
    DATA = "data"
    METRIC = "metric"
    EMPIRICAL = "empirical"
    DESCRIPTION = "description"
    REVIEW = "review"
    EXECUTION = "execution"


class Severity(StrEnum):
    """``error`` rejects the task, ``warning`` asks its author to look, ``info`` explains."""

    ERROR = "error"
    WARNING = "warning"
    INFO = "info"


@dataclass(frozen=True)
class Defect:
    """One kind of defect.

    Attributes:
        gate: where it is looked for.
        severity: how bad it is unless a gate knows better.
        meaning: in one line, what is wrong.
        example: evidence as a gate gives it, for the list of codes.
    """

    gate: Gate
    severity: Severity
    meaning: str
    example: str = ""


@dataclass(frozen=True)
class Finding:
    """One defect found in one task.

    Attributes:
        code: a key of :data:`generator.defects.registry.DEFECTS`.
        severity: how bad it is here.
        stage: the gate that found it.
        evidence: what was seen, with names and numbers.
        fix: what to change.
    """

    code: str
    severity: Severity
    stage: Gate
    evidence: str
    fix: str

    def to_dict(self) -> dict[str, Any]:
        """The finding as plain JSON data."""
        return {key: str(value) for key, value in asdict(self).items()}


def has_errors(findings: Iterable[Finding]) -> bool:
    """Whether a finding rejects the task."""
    return any(found.severity is Severity.ERROR for found in findings)
