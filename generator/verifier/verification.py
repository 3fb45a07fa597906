"""What verification of a task gives."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from generator.defects.base import Finding

SCHEMA_VERSION = 1


class Verdict(StrEnum):
    """``error`` says nothing about the task: the machine got in the way, and verifying again may help."""

    VERIFIED = "verified"
    REJECTED = "rejected"
    ERROR = "error"


@dataclass(frozen=True)
class Verification:
    """What verification of one task gave.

    Attributes:
        task: the task's id, or its folder's name when it does not load.
        verdict: ``verified`` without a finding of severity error, else ``rejected``; or ``error``.
        findings: in the order of the gates.
        scores: raw scores by name: ``oracle``, ``sample``, ``constant``, ``ladder/<candidate>``, ...
        seconds: wall time; that of the verification itself when the verdict comes from the cache.
        error: with verdict ``error``, what the machine did.
        gates: seconds of each gate that was run, in order.
        exhibits: what a report plots; see :mod:`generator.verifier.exhibits`.
        cached: the verdict was remembered.
    """

    task: str
    verdict: Verdict
    findings: tuple[Finding, ...]
    scores: Mapping[str, float]
    seconds: float
    error: str | None = None
    gates: Mapping[str, float] = field(default_factory=dict)
    exhibits: Mapping[str, Any] = field(default_factory=dict)
    cached: bool = False

    def to_dict(self) -> dict[str, Any]:
        """The entry of one task in the document of :func:`to_document`."""
        return {
            "task": self.task,
            "verdict": str(self.verdict),
            "findings": [found.to_dict() for found in self.findings],
            "scores": dict(self.scores),
            "seconds": round(self.seconds, 3),
            "error": self.error,
            "gates": {gate: round(seconds, 3) for gate, seconds in self.gates.items()},
            "exhibits": dict(self.exhibits),
        }


def to_document(verifications: Iterable[Verification]) -> dict[str, Any]:
    """The document that ``mlesmith task verify --json`` prints."""
    return {"schema_version": SCHEMA_VERSION, "tasks": [each.to_dict() for each in verifications]}
