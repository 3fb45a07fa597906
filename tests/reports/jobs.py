"""A small job written by hand through the harness's own records: test data, no results of anything."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from harness.budget import Budget
from harness.errors import Status
from harness.models.base import Usage
from harness.records import (
    Feedback,
    JobPaths,
    StepRecord,
    Timings,
    TrialPaths,
    TrialResult,
    write_atomically,
    write_record,
)
from harness.trajectories.writing import Trajectory

HOSTILE = '<script>alert("x")</script><img src=x onerror=alert(1)> {{ 7 * 7 }} $x_1$ & </pre>'
SKILL = {"nothing": None, "constant": 0.1, "linear": 0.45, "forest": 0.6, "boosting": 0.65, "blend": 0.7}
TASKS = {
    "reference": ["flowers", "houses", "letters", "rivers", "songs"],
    "smith": ["cars-1", "cars-2", "digits-1", "news-1", "wine-1", "wine-2"],
}
BUDGET = Budget.model_validate({"steps": 8, "seconds": 600, "execution_seconds": 60})
MODALITIES = ("tabular", "text", "tabular", "time series", "image", "tabular")


def write_sample_job(root: Path) -> Path:
    """Two sets, eleven tasks, six models; one trial ends by a failure of the infrastructure."""
    paths = JobPaths(root)
    write_atomically(paths.config, '{"schema_version": 1}\n')
    rng = np.random.default_rng(4)
    for task_set, tasks in TASKS.items():
        for index, task in enumerate(tasks):
            for model, skill in SKILL.items():
                noise = rng.normal(0, 0.14, 3)
                scores = [None if skill is None else float(np.clip(skill + n, 0.01, 0.99)) for n in noise]
                lost = (task, model) == ("songs", "linear")
                record = sample_trial(
                    task_set, task, f"scripted/{model}", [None, *([None] * 3 if lost else scores)],
                    modality=MODALITIES[index],
                    metric="mae" if index % 2 else "accuracy",
                    higher_is_better=index % 2 == 0,
                    status=Status.SANDBOX_LOST if lost else Status.SUBMITTED,
                )  # fmt: skip
                write_trial(paths.trial(task_set, task, record.model, 1), record)
    return root


def sample_trial(
    task_set: str, task: str, model: str, scores: Sequence[float | None], **changes: Any
) -> TrialResult:
    """A trial whose first step asks for information and whose others execute code."""
    up = bool(changes.get("higher_is_better", True))
    values = [None if s is None else s if up else 1 - s for s in scores]
    usage = Usage(input=900, output=150)
    steps = tuple(
        StepRecord(
            step=i, action="request_info" if i == 1 else "execute_code", ok=i == 1 or value is not None,
            seconds=0.8, model_seconds=0.2, submitted=i > 1, valid=None if i == 1 else value is not None,
            score=value, feedback_score=value, usage=usage,
            reason_code=None if i == 1 else "ok" if value is not None else "missing_column",
        )
        for i, value in enumerate(values, start=1)
    )  # fmt: skip
    valid = [(v, i) for i, v in enumerate(values, start=1) if v is not None]
    best, best_step = (max if up else min)(valid) if valid else (None, None)
    total = sum((step.usage for step in steps), Usage())
    fields: dict[str, Any] = {
        "task_set": task_set, "task": task, "task_hash": f"hash of {task}", "modality": "tabular",
        "objective": "classification" if up else "regression", "metric": "accuracy", "higher_is_better": up,
        "metric_best": 1.0 if up else 0.0, "model": model, "agent": "react", "attempt": 1,
        "feedback": Feedback.TEST, "budget": BUDGET,
        "sandbox": "bubblewrap", "spec_hash": "0123456789ab", "status": Status.SUBMITTED,
        "valid": best is not None, "score": best, "score_step": best_step,
        "last_score": valid[-1][0] if valid else None, "best_score": best, "position_score": None,
        "steps": steps, "usage": total, "cost_usd": 0.0 if model.startswith("scripted/") else None,
        "timings": Timings(total=12.5, model=0.8, execution=3.2, grading=0.6),
        "started": "2026-01-02T10:00:00+00:00", "finished": "2026-01-02T10:00:12+00:00",
    }  # fmt: skip
    return TrialResult(**{**fields, **changes})


def write_trial(paths: TrialPaths, record: TrialResult, thought: str = "Try something simple.") -> None:
    """The record and a trajectory in the words of the ReAct agent; ``thought`` is in every text of it."""
    with Trajectory(paths) as trajectory:
        trajectory.record(
            "start",
            {"task_set": record.task_set, "task": record.task, "model": record.model,
             "attempt": record.attempt, "agent": record.agent, "spec_hash": record.spec_hash,
             "settings": {"temperature": 0.5, "effort": None, "action_format": "tools"}},
        )  # fmt: skip
        trajectory.record(
            "prompt", {"system": "You are a machine-learning engineer.", "user": "Begin.", "sha256": "0"}
        )
        for step in record.steps:
            params = {"info_type": "overview"} if step.step == 1 else {"code": f"print({step.step} < 10)\n"}
            call = {"id": f"call-{step.step}", "name": step.action, "arguments": json.dumps(params)}
            if step.step == 2:
                _write_troubles(trajectory, thought)
            trajectory.record(
                "reply",
                {"step": step.step, "thought": thought, "text": f"So: {thought}", "tool_calls": [call],
                 "finish": "tool_calls", "usage": step.usage.model_dump(), "usage_raw": None,
                 "version": "model-2026", "seconds": step.model_seconds, "waited": 0.0, "attempts": 1,
                 "messages": 2 * step.step, "prompt_sha256": "0"},
            )  # fmt: skip
            trajectory.record(
                "action",
                {"step": step.step, "thought": thought, "action": step.action, "params": params,
                 "call_id": call["id"]},
            )  # fmt: skip
            trajectory.record(
                "observation",
                {"step": step.step, "ok": step.ok, "text": f"The program ended without an error. {thought}",
                 "valid": step.valid, "reason_code": step.reason_code, "score": step.score,
                 "feedback_score": step.feedback_score, "seconds": step.seconds,
                 "budget_left": f"{8 - step.step} steps, 500 s", "call_id": call["id"]},
            )  # fmt: skip
        trajectory.record("end", {"status": str(record.status), "reason": "the agent submitted"})
    write_record(paths.result, record)


def _write_troubles(trajectory: Trajectory, thought: str) -> None:
    """What can come before a model's second call."""
    trajectory.record(
        "fault",
        {"step": 2, "attempt": 1, "kind": "rate_limit", "status": 429, "message": f"slow down {thought}",
         "seconds": 0.2, "wait": 30.0},
    )  # fmt: skip
    trajectory.record("compaction", {"step": 2, "dropped": [1], "text": f"In short: {thought}"})
