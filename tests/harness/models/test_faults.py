"""The table of faults: what follows when an endpoint fails, by the real SDKs over real HTTP, for every API.

Each trial submits once, then meets the fault: for ever, or once before the endpoint is well again. However it
ends, its record and its log are there and can be read, and nothing that is written holds the key.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from harness.agents.react import AgentConfig
from harness.budget import Budget
from harness.errors import Status
from harness.models.base import Settings
from harness.models.calling import Retries
from harness.models.presets import Api
from harness.models.registry import ModelConfig, make_model
from harness.models.wire.tapes import Recorder
from harness.records import Feedback, TrialPaths, TrialResult, read_record
from harness.sandboxes.base import SandboxProvider
from harness.sandboxes.settings import SandboxConfig
from harness.tasks.grading import Grader
from harness.tasks.package import load_task, task_hash
from harness.trajectories.reading import read_events
from harness.trial import run_trial
from harness.trialspec import TrialSpec
from tests.harness.models import chat_server, gemini_server, responses_server
from tests.harness.models.loopback import Said
from tests.harness.replies import SAMPLE

KEY = gemini_server.KEY
RETRIES = Retries(attempts=3, first_seconds=0.01, longest_seconds=0.3)
HTML = {"content-type": "text/html"}


@dataclass(frozen=True)
class Spoken:
    """One API: its server, the model's name there, and how it words what they say.

    Attributes:
        act: the body of a reply that calls one tool.
        refuse: an error, from its status, its message and what the API calls such an error.
        empty: a success with nothing in it.
        filtered: a reply that a filter stopped.
    """

    serve: Callable[[], AbstractContextManager[Any]]
    name: str
    act: Callable[..., Any]
    refuse: Callable[..., Said]
    empty: Any
    filtered: Any


def _refused_by_google(status: int, message: str, *, code: str, **headers: str) -> Said:
    if code == "insufficient_quota":
        message = "Your prepayment credits are depleted."
    if code == "context_length_exceeded":
        message = "The input token count (9) exceeds the maximum number of tokens allowed (8)."
    return gemini_server.refused(status, code.upper(), message, **headers)


def _chat(name: str, **arguments: str) -> Any:
    return chat_server.completion(None, calls=[chat_server.call(name, arguments)])


def _responses(name: str, **arguments: str) -> Any:
    return responses_server.response(responses_server.reasoning(), responses_server.call(name, arguments))


def _gemini(name: str, **arguments: str) -> Any:
    part = gemini_server.call(name, arguments) | {"thoughtSignature": gemini_server.UNSIGNED}
    return gemini_server.answer(part)


SPOKEN = {
    Api.CHAT: Spoken(
        chat_server.ChatServer,
        "openai/small",
        _chat,
        chat_server.error,
        {"choices": []},
        chat_server.completion("", finish="content_filter"),
    ),
    Api.RESPONSES: Spoken(
        responses_server.ResponsesServer,
        "openai/large",
        _responses,
        responses_server.error,
        {"output": None},
        responses_server.response(status="incomplete", reason="content_filter"),
    ),
    Api.GOOGLE: Spoken(
        gemini_server.gemini,
        f"google/{gemini_server.MODEL}",
        _gemini,
        _refused_by_google,
        {"candidates": []},
        gemini_server.answer(finish="SAFETY"),
    ),
}


@dataclass(frozen=True)
class Row:
    """A fault and what is expected of it.

    Attributes:
        said: the fault, in the words of an API.
        kind: how it is recorded: ``fault <kind>`` for a call that failed, else the kind of format error.
        end: the trial's status when the fault lasts; one that passes is always ``submitted``.
        requests: requests that meet the fault when it lasts.
        waits: seconds that each but the last of them is followed by, at least.
        patience: seconds that a call may take.
    """

    said: Callable[[Spoken], Any]
    kind: str
    end: Status = Status.PROVIDER_ERROR
    requests: int = RETRIES.attempts
    waits: float = 0.01
    patience: float = 30.0

    @property
    def passes(self) -> bool:
        """Whether the trial goes on when the endpoint is well again."""
        return self.requests > 1


def status(number: int, code: str, **headers: str) -> Callable[[Spoken], Said]:
    return lambda spoken: spoken.refuse(number, f"the key {KEY} is to blame", code=code, **headers)


def whole(spoken: Spoken) -> Any:
    return spoken.act("submit")


FAULTS = {
    "429": Row(status(429, "rate_limit_exceeded"), "fault rate_limit"),
    "429 with Retry-After": Row(
        status(429, "rate_limit_exceeded", retry_after="0.2"), "fault rate_limit", waits=0.2
    ),
    "429 with a long Retry-After": Row(
        status(429, "rate_limit_exceeded", retry_after="900"), "fault rate_limit", waits=0.3
    ),
    "429 without quota": Row(status(429, "insufficient_quota"), "fault quota", requests=1),
    "500": Row(status(500, "server_error"), "fault overloaded"),
    "503": Row(status(503, "unavailable"), "fault overloaded"),
    "408": Row(status(408, "timeout"), "fault overloaded"),
    "reset mid-body": Row(lambda spoken: Said(whole(spoken), cut=20), "fault connection"),
    "hang-up": Row(lambda spoken: Said(hang_up=True), "fault connection"),
    "slow first byte": Row(lambda spoken: Said(whole(spoken), delay=5.0), "fault timeout", patience=0.4),
    "dripping body": Row(lambda spoken: Said(whole(spoken), drip=0.1), "fault timeout", patience=0.4),
    "truncated JSON": Row(lambda spoken: Said(json.dumps(whole(spoken)).encode()[:50]), "fault garbled"),
    "HTML": Row(lambda spoken: Said(b"<html>Sign in</html>", headers=HTML), "fault garbled"),
    "empty choices": Row(lambda spoken: spoken.empty, "fault garbled"),
    "conversation too long": Row(
        # The second request is that of the conversation without its only step.
        status(400, "context_length_exceeded"), "fault context", Status.CONTEXT_OVERFLOW, requests=2, waits=0
    ),
    "content filter": Row(lambda spoken: spoken.filtered, "refusal", Status.REFUSAL, waits=0),
    "400": Row(status(400, "invalid_value"), "fault request", requests=1),
    "401": Row(status(401, "unauthenticated"), "fault key", requests=1),
    "404": Row(status(404, "not_found"), "fault model", requests=1),
}  # fmt: skip


@pytest.fixture(scope="module")
def grader(_prepared_iris: Path, sandbox: SandboxProvider) -> Iterator[Grader]:
    with Grader(load_task(_prepared_iris), sandbox) as opened:
        yield opened


@pytest.fixture(autouse=True)
def _keys(monkeypatch: pytest.MonkeyPatch) -> None:
    for variable in ("OPENAI_API_KEY", "GEMINI_API_KEY"):
        monkeypatch.setenv(variable, KEY)
    for variable in ("OPENAI_BASE_URL", "GOOGLE_API_KEY"):
        monkeypatch.delenv(variable, raising=False)


def trial(
    api: Api, row: Row, grader: Grader, sandbox: SandboxProvider, paths: TrialPaths, *, lasts: bool
) -> tuple[TrialResult, int]:
    """Run a trial that meets the fault after its first step; its record, and the requests that met it."""
    spoken = SPOKEN[api]
    budget = Budget(steps=6, execution_seconds=20.0)
    spec = TrialSpec(
        grader.task,
        task_hash(grader.task),
        1,
        budget,
        AgentConfig.model_validate({}),
        Feedback.TEST,
        SandboxConfig(warm=False),  # its one program imports nothing
        settings=Settings(timeout_seconds=row.patience),
        retries=RETRIES,
    )
    with spoken.serve() as server:
        well = [] if lasts else [spoken.act("submit")]
        server.queue(spoken.act("execute_code", code=SAMPLE), row.said(spoken), *well)
        config = ModelConfig(name=spoken.name, base_url=server.url, api=None if api is Api.GOOGLE else api)
        model = make_model(config, Recorder(paths.exchanges))
        result = run_trial(spec, model, grader, sandbox, paths)
        return result, len(server.bodies) - 1 - len(well)


def events_of(paths: TrialPaths) -> list[dict[str, Any]]:
    return [json.loads(line) for line in paths.trajectory.read_text().splitlines()]


def check_what_is_always_kept(paths: TrialPaths, result: TrialResult) -> None:
    assert read_record(TrialResult, paths.result) == result
    assert len(read_events(paths.trajectory).events) == len(events_of(paths)) - 1
    assert events_of(paths)[-1]["status"] == result.status
    assert result.steps[0].valid
    assert result.valid is result.counts
    assert result.timings.working is not None
    assert result.timings.waiting + result.timings.working == pytest.approx(result.timings.total, abs=0.01)
    for path in paths.root.rglob("*"):
        assert not path.is_file() or KEY.encode() not in path.read_bytes()


@pytest.mark.parametrize("api", SPOKEN, ids=str)
@pytest.mark.parametrize("row", FAULTS.values(), ids=FAULTS)
def test_a_fault_that_lasts(
    api: Api, row: Row, grader: Grader, sandbox: SandboxProvider, tmp_path: Path
) -> None:
    paths = TrialPaths(tmp_path / "trial")
    result, requests = trial(api, row, grader, sandbox, paths, lasts=True)
    assert (result.status, requests, result.calls) == (row.end, row.requests, row.requests + 1)
    check_what_is_always_kept(paths, result)
    events = events_of(paths)
    faults = [event for event in events if event.get("event") == "fault"]
    if row.kind.startswith("fault "):
        kind = row.kind.removeprefix("fault ")
        assert [event["kind"] for event in faults] == [kind] * row.requests
        assert result.faults == {kind: row.requests}
        assert all(event["wait"] >= row.waits for event in faults[:-1])
        assert faults[-1]["wait"] == 0
        spent = sum(event["wait"] + event["seconds"] for event in faults)
        assert result.timings.waiting >= spent - 0.01
    else:
        assert faults == []
        seen = [event["kind"] for event in events if event.get("event") == "format_error"]
        assert seen == [row.kind] * row.requests


@pytest.mark.parametrize("api", SPOKEN, ids=str)
@pytest.mark.parametrize("row", [pytest.param(row, id=name) for name, row in FAULTS.items() if row.passes])
def test_a_fault_that_passes(
    api: Api, row: Row, grader: Grader, sandbox: SandboxProvider, tmp_path: Path
) -> None:
    paths = TrialPaths(tmp_path / "trial")
    result, requests = trial(api, row, grader, sandbox, paths, lasts=False)
    assert (result.status, requests, result.score_step) == (Status.SUBMITTED, 1, 1)
    check_what_is_always_kept(paths, result)
    kinds = [f"{event['event']} {event['kind']}" for event in events_of(paths) if "kind" in event]
    assert kinds == [row.kind if row.kind.startswith("fault ") else f"format_error {row.kind}"]
    assert result.timings.waiting >= (row.waits if row.kind.startswith("fault ") else 0)
