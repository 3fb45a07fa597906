"""Whole trials through both of OpenAI's APIs: the real SDK over real HTTP to servers as strict as theirs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from harness.agents.react import AgentConfig
from harness.budget import Budget
from harness.errors import Status
from harness.models.base import Usage
from harness.models.presets import Api
from harness.models.registry import ModelConfig, make_model
from harness.records import Feedback, TrialPaths
from harness.sandboxes.base import SandboxProvider
from harness.tasks.grading import Grader
from harness.tasks.package import Task, task_hash
from harness.trial import run_trial
from harness.trialspec import TrialSpec
from tests.harness.models import chat_server, responses_server
from tests.harness.models.chat_server import ChatServer, completion
from tests.harness.models.responses_server import ResponsesServer, response
from tests.harness.replies import SAMPLE

KEY = "sk-canary-0123456789abcdef"
STEPS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("request_info", {"info_type": "overview"}),
    ("validate_code", {"code": "import os; print(sorted(os.environ))"}),
    ("execute_code", {"code": SAMPLE}),
    ("submit", {}),
)


@pytest.fixture(autouse=True)
def _keys(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)


@pytest.mark.parametrize("name", ["openai/small", "deepseek/deepseek-v4-pro"])
def test_chat_completions(name: str, iris: Task, tmp_path: Path, sandbox: SandboxProvider) -> None:
    """DeepSeek's thoughts have to come back with every later request, or it is refused."""
    thinks = name.startswith("deepseek")
    with ChatServer(reasoning=thinks, key=KEY) as server:
        for tool, arguments in STEPS:
            thought: dict[str, Any] = {"reasoning_content": f"Now {tool}."} if thinks else {}
            server.queue(completion(None, calls=[chat_server.call(tool, arguments)], **thought))
        _run(
            ModelConfig(name=name, base_url=server.url, key_variable="OPENAI_API_KEY"),
            iris,
            tmp_path,
            sandbox,
        )
        _check(server.bodies, tmp_path)


def test_responses(iris: Task, tmp_path: Path, sandbox: SandboxProvider) -> None:
    with ResponsesServer(key=KEY) as server:
        for tool, arguments in STEPS:
            thought = responses_server.reasoning(f"Now {tool}.")
            server.queue(response(thought, responses_server.call(tool, arguments)))
        _run(
            ModelConfig(name="openai/large", base_url=server.url, api=Api.RESPONSES), iris, tmp_path, sandbox
        )
        _check(server.bodies, tmp_path)


def _run(config: ModelConfig, iris: Task, folder: Path, sandbox: SandboxProvider) -> None:
    budget = Budget.model_validate({"execution_seconds": 20.0})
    spec = TrialSpec(iris, task_hash(iris), 1, budget, AgentConfig.model_validate({}), Feedback.TEST)
    with Grader(iris, sandbox) as grader:
        result = run_trial(spec, make_model(config), grader, sandbox, TrialPaths(folder / "trial"))
    assert (result.status, result.valid, result.score_step) == (Status.SUBMITTED, True, 3)
    one = Usage(input=20, output=5) if config.api is Api.RESPONSES else Usage(input=12, output=3)
    assert result.usage == one + one + one + one


def _check(bodies: list[Any], folder: Path) -> None:
    assert len(bodies) == len(STEPS)
    assert "OPENAI" not in json.dumps(bodies)  # the second step printed its environment
    written = [path.read_text() for path in (folder / "trial").rglob("*") if path.is_file()]
    assert written
    assert not [text for text in [*written, json.dumps(bodies)] if KEY in text]
