"""Limits of the execution gate."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class ExecutionLimits:
    """Limits of the execution gate.

    Attributes:
        candidate: who works on the task, ``<provider>/<model>`` as in a job. The default is deterministic,
            free, and validates for itself; name a language model to have its agent try the task, as the
            paper does.
        steps: actions of the agent, as in the paper's validation (arXiv 2510.07307, section 4).
        seconds: wall time of its trial.
        probe_seconds: how long a program looks for private files; within seconds it has seen all that an
            isolated sandbox shows.
    """

    candidate: str = "scripted/forest"
    steps: int = 10
    seconds: float = 900.0
    probe_seconds: float = 20.0
