"""Small trial folders written through the harness's own records."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from harness.budget import Budget
from harness.errors import Status
from harness.models.base import Usage
from harness.records import (
    Feedback,
    JobPaths,
    StepRecord,
    Timings,
    TrialResult,
    write_atomically,
    write_record,
)


def trial(task: str, model: str, score: float | None, **changes: Any) -> TrialResult:
    """A trial of one step, 1000 + 100 tokens and half an hour; invalid if the score is None."""
    usage = Usage(input=1000, output=100)
    step = StepRecord(
        step=1, action="execute_code", ok=True, seconds=1.0, model_seconds=1.0, submitted=True,
        valid=score is not None, score=score, feedback_score=score, usage=usage,
    )  # fmt: skip
    fields: dict[str, Any] = {
        "task_set": "reference", "task": task, "task_hash": f"hash-of-{task}", "modality": "tabular",
        "objective": "regression", "metric": "mae", "higher_is_better": False, "metric_best": 0.0,
        "model": model, "agent": "react", "attempt": 1, "feedback": Feedback.TEST,
        "budget": Budget.model_validate({"steps": 15}), "sandbox": "process", "spec_hash": "spec-1",
        "status": Status.SUBMITTED, "valid": score is not None, "score": score,
        "score_step": None if score is None else 1, "last_score": score, "best_score": score,
        "position_score": None, "steps": (step,), "usage": usage,
        "cost_usd": 0.0 if model.startswith("scripted/") else None,
        "timings": Timings(total=1800.0, model=1.0, execution=1.0, grading=1.0),
        "started": "2026-01-02T10:00:00+00:00", "finished": "2026-01-02T10:30:00+00:00",
    }  # fmt: skip
    return TrialResult(**{**fields, **changes})


def write_job(root: Path, *trials: TrialResult, lock: str | None = None) -> Path:
    """A job folder with these trials."""
    paths = JobPaths(root)
    write_atomically(paths.config, '{"schema_version": 1}\n')
    if lock is not None:
        write_atomically(paths.lock, lock)
    for record in trials:
        write_record(paths.trial(record.task_set, record.task, record.model, record.attempt).result, record)
    return root
