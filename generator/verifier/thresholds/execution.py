"""Limits of the execution gate."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class ExecutionLimits:
    """Limits of the execution gate.

    Attributes:
        candidate: who works on the task, ``<provider>/<model>`` as in a job; name a language model to have
            its agent try the task, as the paper does. By default it is the cheapest baseline that rose from
            the floor when it was told its scores: it is deterministic, free, and validates for itself, and
            that a costlier one gets through as well would prove no more.
        steps: actions of the agent, as in the paper's validation (arXiv 2510.07307, section 4).
        seconds: wall time of its trial.
        probe_seconds: how long a program looks for private files; within seconds it has seen all that an
            isolated sandbox shows.
    """

    candidate: str | None = None
    steps: int = 10
    seconds: float = 900.0
    probe_seconds: float = 20.0
