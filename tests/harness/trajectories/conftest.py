"""Real trials with all that can happen in one, run once for all tests here."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from harness.agents.react import AgentConfig
from harness.budget import Budget
from harness.models.base import ActionFormat, Finish, Message, Reply, Settings, ToolCall, Usage
from harness.models.calling import Retries
from harness.models.faults import Fault, FaultKind
from harness.records import Feedback, JobPaths, write_atomically
from harness.sandboxes.base import SandboxProvider
from harness.tasks.grading import Grader
from harness.tasks.package import load_task, task_hash
from harness.trajectories.trials import RecordedTrial, read_trial
from harness.trial import run_trial
from harness.trialspec import TrialSpec
from tests.harness.replies import SAMPLE, SUBMIT, ListModel

USAGE = Usage(input=1000, cache_read=600, output=50, reasoning=20)


@dataclass(frozen=True)
class Troubled:
    """A finished trial and what its model was sent.

    Attributes:
        job: the folder it lies in, laid out as a job's.
        sent: the conversation of every request, failed ones included.
    """

    job: Path
    trial: RecordedTrial
    sent: list[list[Message]]


def call(name: str, number: int, **params: str) -> ToolCall:
    """A tool call with an id of its own."""
    return ToolCall(f"call-{number}", name, json.dumps(params))


def reply(*calls: ToolCall, text: str = "", thought: str = "") -> Reply:
    """A reply of a model with a version, reasoning and a cache."""
    return Reply(text, thought, calls, usage=USAGE, version="listed-model-2026-01-02")


NATIVE: list[Reply | Exception] = [
    Fault(FaultKind.RATE_LIMIT, "slow down", status=429, retry_after=0.01),
    reply(
        call("request_info", 1, info_type="overview"),
        call("get_history", 2),
        text="Two things.",
        thought="Look.",
    ),
    reply(text="I would rather talk about it."),
    reply(call("execute_code", 4, code=SAMPLE), thought="The sample first."),
    reply(ToolCall("call-5", "execute_code", '{"code": '), call("get_history", 6), text="Both again."),
    Fault(FaultKind.CONTEXT, "too many tokens", status=400),
    reply(call("execute_code", 7, code=SAMPLE), text="Once more."),
]  # fmt: skip
"""Two calls in a reply (steps 1, 2), none (3), one (4), one broken and one good (5, 6), and one (7)."""

WRITTEN: list[Reply | Exception] = [
    reply(
        text='I look first.\n{"action": "request_info", "params": {"info_type": "overview"}}', thought="Hm."
    ),
    reply(text="No action here."),
    reply(text=json.dumps({"action": "execute_code", "params": {"code": SAMPLE}})),
    reply(text='{"action": "submit", "params": {}}'),
]
"""Actions written as text: three, and a reply without one (step 2)."""


ODD: list[Reply | Exception] = [
    reply(),
    Reply("I will not.", tool_calls=(call("get_history", 2),), finish=Finish.REFUSAL, usage=USAGE),
    reply(
        ToolCall("same", "get_history", ""), ToolCall("same", "reset", "{}"), ToolCall("", "nonsense", "[1]")
    ),
    reply(text="lone \ud800", thought="\ud800"),
]
"""Replies that no provider takes back as they are: empty (step 1), refused (2), with ids that are none
(3 to 5), and with half a character (6)."""


@pytest.fixture(scope="session")
def run_listed(
    _prepared_iris: Path, sandbox: SandboxProvider, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Callable[..., Troubled]]:
    """Runs a trial of the iris task with listed replies; the default is the native format."""
    task = load_task(_prepared_iris)
    with Grader(task, sandbox) as grader:

        def run(
            replies: list[Reply | Exception],
            name: str = "openai/gpt-4o",
            action_format: ActionFormat = ActionFormat.TOOLS,
        ) -> Troubled:
            job = tmp_path_factory.mktemp("job")
            write_atomically(JobPaths(job).config, '{"schema_version": 1}\n')
            spec = TrialSpec(
                task,
                task_hash(task),
                1,
                Budget(steps=12, execution_seconds=20.0),
                AgentConfig(),
                Feedback.TEST,
                settings=Settings(action_format=action_format, effort="low"),
                retries=Retries(first_seconds=0.01),
            )
            model = ListModel(*replies, name=name)
            paths = JobPaths(job).trial(task.spec.set, task.id, name, 1)
            run_trial(spec, model, grader, sandbox, paths)
            return Troubled(job, read_trial(paths.root), model.seen)

        yield run


@pytest.fixture(scope="session")
def troubled(run_listed: Callable[..., Troubled]) -> Troubled:
    """A trial with native tool calls, :data:`NATIVE`, that then submits (step 8)."""
    return run_listed([*NATIVE, SUBMIT])


@pytest.fixture(scope="session")
def odd(run_listed: Callable[..., Troubled]) -> Troubled:
    """A trial with :data:`ODD` replies."""
    return run_listed([*ODD, SUBMIT])


@pytest.fixture(scope="session")
def written(run_listed: Callable[..., Troubled]) -> Troubled:
    """A trial whose actions are written as text, :data:`WRITTEN`, with a model that has no price."""
    return run_listed(WRITTEN, name="local/nobody-prices-this", action_format=ActionFormat.JSON)
