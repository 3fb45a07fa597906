"""Limits of the execution gate."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class ExecutionLimits:
    """Limits of the execution gate.

    Attributes:
        steps: actions of the agent, as in the paper's validation (arXiv 2510.07307, section 4).
        seconds: wall time of its trial.
    """

    steps: int = 10
    seconds: float = 900.0
