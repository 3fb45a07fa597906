"""A real language model, offline: SmolLM2-135M behind llama.cpp's server, through the commands people run.

It is far too small to solve a task. What it shows is that a real endpoint's replies, good and bad, its usage
and its window go through client, loop, sandbox and record as they should. Only on request: ``pytest -m llm``.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from harness.agents.history import fingerprint
from harness.models.base import Usage
from harness.records import TrialPaths, TrialResult, read_record
from harness.sandboxes.base import SandboxProvider
from harness.tasks.package import Task
from harness.trajectories.conversation import exchanges
from harness.trajectories.events import CompactionEvent, FaultEvent, FormatErrorEvent, ReplyEvent
from harness.trajectories.reading import read_events
from tests.small_llm import ON_REQUEST, small_llm

ROOT = Path(__file__).parents[3]
WINDOW = 4096
pytestmark = ON_REQUEST

JOB = """\
tasks = ["{task}"]
feedback = "test"
[[models]]
name = "openai/smollm2-135m"
base_url = "{url}"
[models.settings]
action_format = "{action_format}"
temperature = 0.8
max_output_tokens = 250
max_input_tokens = 2000
context_window = {window}
[agent]
max_format_errors = 20
[budget]
steps = 16
seconds = 7200
execution_seconds = 60
[sandbox]
kind = "{sandbox}"
trust = true
"""


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with small_llm(WINDOW) as address:
        yield address


def mlesmith(*arguments: object) -> dict[str, Any]:
    """The document that the real command prints."""
    command = [sys.executable, "-m", "mlesmith", *map(str, arguments), "--json"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, env=environment, check=False)
    assert done.returncode == 0, done.stderr
    document: dict[str, Any] = json.loads(done.stdout)
    return document


@pytest.mark.parametrize("action_format", ["schema", "json"])
def test_a_whole_trial(
    url: str, action_format: str, iris: Task, sandbox: SandboxProvider, tmp_path: Path
) -> None:
    job = tmp_path / "job.toml"
    job.write_text(
        JOB.format(task=iris.root, url=url, action_format=action_format, window=WINDOW, sandbox=sandbox.name)
    )
    out = tmp_path / "out"
    mlesmith("run", job, "--out", out)

    (path,) = out.glob("trials/**/result.json")
    result = read_record(TrialResult, path)
    assert result.status in ("submitted", "step_limit", "format_errors")
    assert result.counts and len(result.steps) >= 5
    log = read_events(TrialPaths(path.parent).trajectory)
    assert not log.notes and not log.all(FaultEvent)

    # Tokens are those that the server counted, and no call came near to overflow.
    replies = log.all(ReplyEvent)
    assert result.usage == sum((reply.usage for reply in replies), Usage())
    for reply in replies:
        assert reply.usage_raw["prompt_tokens"] == reply.usage.input > 0
        assert reply.usage.input + reply.usage.output <= WINDOW
    # Steps left the conversation as it grew, and the log still tells every conversation that was sent.
    assert log.all(CompactionEvent)
    told = [fingerprint(exchange.sent) for exchange in exchanges(log)]
    assert told == [reply.prompt_sha256 for reply in replies]

    # What is held to a schema is an action, unless it was cut off.
    kinds = {error.kind for error in log.all(FormatErrorEvent)}
    assert action_format == "json" or kinds <= {"cut_off"}


def test_the_check_of_the_endpoint(url: str) -> None:
    document = mlesmith(
        "models", "check", "openai/smollm2-135m", "--base-url", url, "--action-format", "schema"
    )
    (checked,) = document["models"]
    found = {finding["what"]: finding for finding in checked["findings"]}
    assert all(found[what]["state"] == "ok" for what in ("key", "endpoint", "actions", "usage"))
    assert found["window"]["text"].startswith(f"{WINDOW} tokens")
