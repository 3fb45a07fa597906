"""A whole trial with a Gemini model: the real SDK over real HTTP to a server as strict as Google's."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from harness.agents.react import AgentConfig
from harness.budget import Budget
from harness.errors import Status
from harness.models.base import Usage
from harness.models.calling import Retries
from harness.records import Feedback, TrialPaths
from harness.sandboxes.base import SandboxProvider
from harness.tasks.grading import Grader
from harness.tasks.package import Task, task_hash
from harness.trial import run_trial
from harness.trialspec import TrialSpec
from tests.harness.models.gemini_server import (
    KEY,
    GeminiServer,
    answer,
    call,
    gemini,
    refused,
    text,
)
from tests.harness.replies import SAMPLE


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[GeminiServer]:
    monkeypatch.setenv("GEMINI_API_KEY", KEY)
    monkeypatch.delenv("GOOGLE_API_KEY", raising=False)
    with gemini() as opened:
        yield opened


def test_a_whole_trial_with_thoughts_signatures_and_a_rate_limit(
    server: GeminiServer, iris: Task, tmp_path: Path, sandbox: SandboxProvider
) -> None:
    look = call("request_info", {"info_type": "overview"})
    show = "import os; print(sorted(os.environ))"
    server.queue(
        answer(text("First a look.", thought=True), server.signed(look)),
        refused(429, "RESOURCE_EXHAUSTED", "slow down", {"@type": "RetryInfo", "retryDelay": "0.01s"}),
        answer(server.signed(call("validate_code", {"code": show}, id="v1"))),
        answer(text("Now."), server.signed(call("execute_code", {"code": SAMPLE}, id="e1"))),
        answer(server.signed(call("submit", id="s1"))),
    )  # fmt: skip
    budget = Budget.model_validate({"execution_seconds": 20.0})
    spec = TrialSpec(
        iris,
        task_hash(iris),
        1,
        budget,
        AgentConfig.model_validate({}),
        Feedback.TEST,
        retries=Retries(first_seconds=0.0),
    )
    paths = TrialPaths(tmp_path / "trial")
    with Grader(iris, sandbox) as grader:
        result = run_trial(spec, server.model(), grader, sandbox, paths)
    assert (result.status, result.valid, result.score_step) == (Status.SUBMITTED, True, 3)
    assert len(result.steps) == 4
    assert result.usage == Usage(input=48, output=12)
    written = "".join(path.read_text() for path in paths.root.rglob("*") if path.is_file())
    assert "First a look." in written
    assert "429 RESOURCE_EXHAUSTED: slow down" in written
    assert KEY not in written + json.dumps(server.bodies)
    assert "GEMINI" not in written + json.dumps(server.bodies)
