"""Real baselines of graded skill, run on the task through the same trials as any candidate."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import pandas as pd

from generator.verifier.case import Case
from harness.agents.react import AgentConfig
from harness.budget import Budget
from harness.models.registry import ModelConfig, make_model
from harness.records import Feedback, TrialPaths, TrialResult
from harness.sandboxes.reuse import Reusing
from harness.tasks.package import task_hash
from harness.tasks.submission import read_submission
from harness.trial import run_trial
from harness.trialspec import TrialSpec

log = logging.getLogger(__name__)

#: Weakest first: the first of them is what "the simplest baseline" means.
RUNGS = ("linear", "forest", "boosting")


class LadderInterrupted(Exception):
    """A baseline's trial ended for a reason that says nothing about the task."""


@dataclass(frozen=True)
class Rung:
    """One baseline on the task.

    Attributes:
        name: the scripted policy.
        score: its raw score, ``None`` without a valid submission.
        submission: what it was given for, in the form that the grader takes.
        reason: the last word of its last graded step, or how the trial ended.
    """

    name: str
    score: float | None
    submission: pd.DataFrame | None
    reason: str


def climb(case: Case, names: Sequence[str] = RUNGS) -> Iterator[Rung]:
    """Run baselines one after the other; raw scores also go to ``case.scores`` as ``ladder/<policy>``.

    They are told the test score, which spares them validation of their own. What they gain by choosing
    between two submissions is far below the separation asked for.

    Raises:
        LadderInterrupted: a trial was lost to the machine.
    """
    limits = case.limits.empirical
    budget = Budget(
        steps=limits.ladder_steps,
        seconds=limits.ladder_seconds,
        execution_seconds=limits.ladder_seconds,
        tokens=None,
        cost_usd=None,
    )
    spec = TrialSpec(
        task=case.scored,
        task_hash=task_hash(case.scored),
        attempt=1,
        budget=budget,
        agent=AgentConfig(max_format_errors=3),
        feedback=Feedback.TEST,
    )
    with Reusing(case.provider, keep=1) as provider:
        for name in names:
            case.say(f"running the {name} baseline")
            paths = TrialPaths(case.scratch / "ladder" / name)
            model = make_model(ModelConfig(name=f"scripted/{name}"))
            rung = _read(case, name, run_trial(spec, model, case.grader, provider, paths), paths)
            if rung.score is not None:
                case.scores[f"ladder/{name}"] = rung.score
            yield rung


def _read(case: Case, name: str, result: TrialResult, paths: TrialPaths) -> Rung:
    if not result.counts:
        raise LadderInterrupted(f"the {name} baseline ended with {result.status}: {result.error}")
    if result.score is None or result.score_step is None:
        codes = [step.reason_code for step in result.steps if step.reason_code]
        return Rung(name, None, None, codes[-1] if codes else str(result.status))
    submission = read_submission(paths.step(result.score_step) / "submission.csv", case.key)
    return Rung(name, result.score, submission, "ok")
