"""Trials of candidates on the task under verification, by the harness's own loop."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from generator.verifier.case import Case
from harness.agents.react import AgentConfig
from harness.budget import Budget
from harness.errors import Status
from harness.models.base import Model
from harness.records import Feedback, TrialPaths, TrialResult
from harness.sandboxes.base import SandboxProvider
from harness.sandboxes.reuse import Reusing
from harness.tasks.package import task_hash
from harness.trial import run_trial
from harness.trialspec import TrialSpec

_FORMAT_ERRORS = 3


class TrialInterrupted(Exception):
    """A trial ended for a reason that says nothing about the task.

    Attributes:
        status: how it ended, where it did not come to its own end.
    """

    def __init__(self, message: str, status: Status | None = None) -> None:
        super().__init__(message)
        self.status = status


@dataclass(frozen=True)
class Trials:
    """Runs candidates one after the other on the scored task, in one sandbox; see :func:`open_trials`."""

    case: Case
    provider: SandboxProvider
    hash: str

    def run(
        self, name: str, model: Model, steps: int, seconds: float, feedback: Feedback = Feedback.TEST
    ) -> tuple[TrialResult, TrialPaths]:
        """One trial and where its steps lie, below ``case.scratch`` by the name.

        Raises:
            TrialInterrupted: it was lost to the machine, or to the model's endpoint.
        """
        budget = Budget(steps=steps, seconds=seconds, execution_seconds=seconds, tokens=None, cost_usd=None)
        agent = AgentConfig(max_format_errors=_FORMAT_ERRORS)
        spec = TrialSpec(self.case.scored, self.hash, 1, budget, agent, feedback)
        paths = TrialPaths(self.case.scratch / "trials" / name)
        result = run_trial(spec, model, self.case.grader, self.provider, paths)
        if not result.counts:
            told = f"the trial of {name} ended with {result.status}: {result.error}"
            raise TrialInterrupted(told, result.status)
        return result, paths


@contextmanager
def open_trials(case: Case) -> Iterator[Trials]:
    """Trials that share a sandbox, which ends with the context."""
    with Reusing(case.provider, keep=1) as provider:
        yield Trials(case, provider, task_hash(case.scored))
