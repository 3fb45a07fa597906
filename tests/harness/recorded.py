"""A trial of a model behind a real client and real HTTP, and what its server answered."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from harness.job import run_job
from harness.jobconfig import JobConfig
from harness.records import JobPaths, TrialPaths
from harness.tasks.package import Task
from tests.harness.models.chat_server import ChatServer, call, completion, error
from tests.harness.models.loopback import Said
from tests.harness.replies import SAMPLE

CANARY = "sk-canary-0123456789"
BETTER = """
import pandas as pd
test = pd.read_csv('/mlesmith/public/test.csv', dtype={'flower': str})
test['species'] = ['setosa' if width < 0.8 else 'virginica' for width in test['petal width (cm)']]
test[['flower', 'species']].to_csv('submission.csv', index=False)
"""


def runs(code: str) -> dict[str, Any]:
    """A completion that executes code."""
    return completion("I run it.", calls=[call("execute_code", {"code": code})])


SUBMIT = completion("", calls=[call("submit", {})])
#: Everything that a replay must do again: a wait, a break, a reply without an action, two submissions.
ANSWERS = [
    runs(SAMPLE),
    error(429, f"slow down, {CANARY}", code="rate_limit_exceeded"),
    completion("I think that I am done."),
    Said(hang_up=True),
    runs(BETTER),
    SUBMIT,
]


def trial_of(job: Path) -> TrialPaths:
    """The one trial of a job."""
    return JobPaths(job).trial("reference", "iris", "vllm/small@low", 1)


def record(task: Task, out: Path, *answers: Any, **more: Any) -> TrialPaths:
    """Run a job of one trial against a server that answers so, and ends with the call."""
    with pytest.MonkeyPatch.context() as environment, ChatServer(key=CANARY) as server:
        environment.setenv("CANARY_KEY", CANARY)
        server.queue(*answers)
        model = {"name": "vllm/small", "base_url": server.url, "key_variable": "CANARY_KEY", "label": "low"}
        config = {
            "tasks": [task.root],
            "models": [model],
            "budget": {"steps": 8, "execution_seconds": 30.0},
            "retries": {"first_seconds": 0.0},
            "sandbox": "bubblewrap",
            "workers": 1,
        }
        run_job(JobConfig.model_validate({**config, **more}), out)
    return trial_of(out)
