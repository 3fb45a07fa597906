"""Real baselines of graded skill, run on the task through the same trials as any candidate."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import pandas as pd

from generator.verifier.case import Case
from generator.verifier.empirical.trials import TrialInterrupted, Trials, open_trials
from harness.errors import Status
from harness.models.registry import ModelConfig, make_model
from harness.records import TrialPaths, TrialResult
from harness.tasks.submission import read_submission

log = logging.getLogger(__name__)

#: The reason of a rung that ended by an error of its own.
CRASHED = "crashed"
#: Cheap ones that are always run, simple ones first, so that a report has a ladder to show.
RUNGS = ("tree", "neighbours", "linear", "forest")
#: Those of :data:`RUNGS` that learn next to nothing: when they are perfect, there is nothing to learn.
SIMPLE = ("tree", "neighbours", "linear")
#: Stronger and slower ones, for a task on which the others do not rise from the floor.
STRONGER = ("boosting",)
#: The first one that looks at a series' own past.
FORECASTER = ("tuned",)


@dataclass(frozen=True)
class Rung:
    """One baseline on the task.

    Attributes:
        name: the scripted policy.
        score: its raw score, ``None`` without a valid submission.
        submission: what it was given for, in the form that the grader takes.
        reason: the last word of its last graded step, or how the trial ended.
        validated: the score that its program printed of its own held-out training rows.
        program: the program that wrote the submission.
    """

    name: str
    score: float | None
    submission: pd.DataFrame | None
    reason: str
    validated: float | None = None
    program: str = ""


def climb(case: Case, names: Sequence[str] = RUNGS) -> Iterator[Rung]:
    """Run baselines one after the other; raw scores also go to ``case.scores`` as ``ladder/<policy>``.

    They are told the test score, which spares them validation of their own. What they gain by choosing
    between two submissions is far below the separation asked for.

    Raises:
        TrialInterrupted: a trial was lost to the machine.
    """
    with open_trials(case) as trials:
        for name in names:
            case.say(f"running the {name} baseline")
            rung = _run(case, trials, name)
            if rung.score is not None:
                case.scores[f"ladder/{name}"] = rung.score
            yield rung


def _run(case: Case, trials: Trials, name: str) -> Rung:
    limits = case.limits.empirical
    model = make_model(ModelConfig(name=f"scripted/{name}"))
    try:
        result, paths = trials.run(name, model, limits.ladder_steps, limits.ladder_seconds)
    except TrialInterrupted as error:
        if error.status is not Status.INTERNAL_ERROR:
            raise
        # A baseline that stumbles over a task is not the task's fault, and the others can do without it.
        log.warning("%s: %s", case.task.id, error)
        return Rung(name, None, None, CRASHED)
    return _read(case, name, result, paths)


def _read(case: Case, name: str, result: TrialResult, paths: TrialPaths) -> Rung:
    if result.score is None or result.score_step is None:
        codes = [step.reason_code for step in result.steps if step.reason_code]
        ended = f"handed in nothing ({result.status} after {len(result.steps)} steps)"
        return Rung(name, None, None, codes[-1] if codes else ended)
    step = paths.step(result.score_step)
    submission = read_submission(step / "submission.csv", case.key)
    printed = (step / "output.txt").read_text(encoding="utf-8", errors="replace")
    said = re.findall(r"^validation: (\S+)$", printed, flags=re.MULTILINE)
    program = (step / "code.py").read_text(encoding="utf-8")
    return Rung(name, result.score, submission, "ok", float(said[-1]) if said else None, program)
