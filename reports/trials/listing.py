"""The trials of a job as a list, finished or not, and one trial as a document."""

from __future__ import annotations

from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from harness.errors import InputError, Status
from harness.models.pricing import PriceTable
from harness.records import JobPaths, TrialPaths, TrialResult, read_record
from harness.trajectories.events import EndEvent
from harness.trajectories.trials import RecordedTrial
from harness.trajectories.turns import Turn, turns_of
from leaderboards.costs import trial_cost

UNFINISHED = "unfinished"
"""The status shown for a trial without a record: it runs, or it was interrupted."""


@dataclass(frozen=True)
class ListedTrial:
    """One line of the list.

    Attributes:
        record: ``None`` for an unfinished trial.
        cost_usd: ``None`` where the price is unknown, and for an unfinished trial.
    """

    folder: Path
    task_set: str
    task: str
    model: str
    attempt: int
    record: TrialResult | None
    cost_usd: float | None

    @property
    def status(self) -> str:
        """How it ended, or :data:`UNFINISHED`."""
        return UNFINISHED if self.record is None else str(self.record.status)

    def document(self) -> dict[str, Any]:
        """The line as JSON data; what an unfinished trial does not have yet is null."""
        record = self.record
        return {
            "folder": str(self.folder),
            "task_set": self.task_set,
            "task": self.task,
            "model": self.model,
            "attempt": self.attempt,
            "status": self.status,
            "valid": record and record.valid,
            "score": record and record.score,
            "score_step": record and record.score_step,
            "metric": record and record.metric,
            "higher_is_better": record and record.higher_is_better,
            "steps": record and len(record.steps),
            "usage": record and record.usage.model_dump(),
            "cost_usd": self.cost_usd,
            "seconds": record and record.timings.total,
        }


def list_job(
    job: Path, prices: PriceTable, *, model: str = "*", task: str = "*", status: str = "*"
) -> list[ListedTrial]:
    """The trials of a job, sorted by set, task, model and attempt.

    Args:
        job: its folder.
        prices: what calls cost.
        model, task, status: patterns in which ``*`` stands for anything.

    Raises:
        InputError: the folder is no job, or no status fits the pattern.
    """
    paths = JobPaths(job)
    if not paths.config.is_file():
        raise InputError(f"{job}: not a job folder (no config.json); pass the --out folder of `mlesmith run`")
    known = [*Status, UNFINISHED]
    if not any(fnmatchcase(word, status) for word in known):
        raise InputError(f"--status {status}: no such status; there are {', '.join(known)}")
    found = [_listed(folder, prices) for folder in sorted(paths.trials.glob("*/*/*/*")) if folder.is_dir()]
    return [
        trial
        for trial in sorted(found, key=lambda t: (t.task_set, t.task, t.model, t.attempt))
        if fnmatchcase(trial.model, model)
        and fnmatchcase(trial.task, task)
        and fnmatchcase(trial.status, status)
    ]


def _listed(folder: Path, prices: PriceTable) -> ListedTrial:
    paths = TrialPaths(folder)
    if paths.result.exists():
        record = read_record(TrialResult, paths.result)
        names = (record.task_set, record.task, record.model, record.attempt)
        return ListedTrial(folder, *names, record, trial_cost(record, prices))
    task_set, task, model, attempt = folder.parts[-4:]
    number = int(attempt) if attempt.isdecimal() else 0
    return ListedTrial(folder, task_set, task, model.replace("--", "/", 1), number, None, None)


def chosen_turns(trial: RecordedTrial, step: int | None = None) -> list[Turn]:
    """All turns of a trial, or the one that holds a step.

    Raises:
        InputError: the trial has no such step.
    """
    turns = turns_of(trial.log.events)
    if step is None:
        return turns
    chosen = [turn for turn in turns if step in turn.steps]
    if not chosen:
        last = max((turn.steps[-1] for turn in turns), default=0)
        raise InputError(f"{trial.paths.root}: no step {step}; its steps are 1 to {last}")
    return chosen


def trial_document(trial: RecordedTrial, turns: list[Turn]) -> dict[str, Any]:
    """A trial and some of its turns as plain JSON data."""
    return {
        "schema_version": 1,
        "trial": trial.id,
        "record": trial.record and trial.record.model_dump(mode="json", exclude={"steps"}),
        "settings": trial.start.settings,
        "notes": list(trial.log.notes),
        "turns": [_turn_document(turn) for turn in turns],
        "end": next((end.model_dump(mode="json") for end in trial.log.all(EndEvent)), None),
    }


def _turn_document(turn: Turn) -> dict[str, Any]:
    return {
        "steps": list(turn.steps),
        "compactions": [event.model_dump(mode="json") for event in turn.compactions],
        "faults": [event.model_dump(mode="json") for event in turn.faults],
        "reply": turn.reply and turn.reply.model_dump(mode="json"),
        "acts": [
            {
                "step": act.step,
                "action": act.action and act.action.model_dump(mode="json"),
                "observation": act.observation and act.observation.model_dump(mode="json"),
                "format_error": act.error and act.error.model_dump(mode="json"),
            }
            for act in turn.acts
        ],
    }
