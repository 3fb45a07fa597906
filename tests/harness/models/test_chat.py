"""The openai client: the real SDK over real HTTP to a loopback server that speaks Chat Completions."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from harness.actions import TOOLS
from harness.agents.react import AgentConfig
from harness.budget import Budget
from harness.errors import ContextOverflow, InputError, ProviderError, Refusal, Status
from harness.models.base import Message, Settings, Tool, ToolCall, Usage
from harness.models.openai import OpenAIModel
from harness.models.registry import ModelConfig, make_model
from harness.records import Feedback, TrialPaths
from harness.sandboxes.base import SandboxProvider
from harness.tasks.grading import Grader
from harness.tasks.package import Task, task_hash
from harness.trial import TrialSpec, run_trial
from tests.harness.replies import SAMPLE

KEY = "sk-canary-42"
HELLO = [Message("system", "Be brief."), Message("user", "Hello")]
QUICK = {"retry-after-ms": "1"}  # the SDK waits as long as the server says
Answer = tuple[int, Any, dict[str, str]]


class Endpoint:
    """Answers with what is queued, the last answer for ever, and keeps the requests."""

    def __init__(self) -> None:
        self.answers: list[Answer] = []
        self.requests: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.paths: list[str] = []
        endpoint = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                endpoint.paths.append(self.path)
                endpoint.headers.append(dict(self.headers))
                size = int(self.headers["content-length"])
                endpoint.requests.append(json.loads(self.rfile.read(size)))
                answers = endpoint.answers
                status, body, headers = answers.pop(0) if len(answers) > 1 else answers[0]
                data = body if isinstance(body, bytes) else json.dumps(body).encode()
                self.send_response(status)
                for name, value in {"content-type": "application/json", **headers}.items():
                    self.send_header(name, value)
                self.send_header("content-length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            def log_message(self, format: str, *args: Any) -> None:
                """Keep the test's output clean."""

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}/v1"

    def queue(self, *answers: Any) -> None:
        """Bodies, or (status, body[, headers])."""
        for answer in answers:
            status, body, *headers = answer if isinstance(answer, tuple) else (200, answer)
            self.answers.append((status, body, headers[0] if headers else {}))


@pytest.fixture
def endpoint(monkeypatch: pytest.MonkeyPatch) -> Iterator[Endpoint]:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    opened = Endpoint()
    threading.Thread(target=opened.server.serve_forever, args=(0.02,), daemon=True).start()
    yield opened
    opened.server.shutdown()
    opened.server.server_close()


def completion(content: str | None = "Hi.", finish: str = "stop", **message: Any) -> dict[str, Any]:
    return {
        "id": "x",
        "object": "chat.completion",
        "created": 1,
        "model": "small",
        "choices": [
            {
                "index": 0,
                "finish_reason": finish,
                "message": {"role": "assistant", "content": content, **message},
            }
        ],
        "usage": {"prompt_tokens": 12, "completion_tokens": 3, "total_tokens": 15},
    }


def calls(*wanted: tuple[str, str]) -> list[dict[str, Any]]:
    return [
        {"id": f"c{n}", "type": "function", "function": {"name": name, "arguments": arguments}}
        for n, (name, arguments) in enumerate(wanted)
    ]


def ask(endpoint: Endpoint, tools: tuple[Tool, ...] = (), **settings: Any) -> Any:
    return OpenAIModel("small", endpoint.url).complete(HELLO, tools, Settings(**settings))


def test_a_plain_reply_and_what_is_sent(endpoint: Endpoint) -> None:
    endpoint.queue(completion())
    reply = ask(endpoint, temperature=0.5, max_output_tokens=99, effort="low")
    assert (reply.text, reply.tool_calls, reply.finish) == ("Hi.", (), "stop")
    assert reply.usage == Usage(input=12, output=3)
    assert endpoint.paths == ["/v1/chat/completions"]
    assert endpoint.requests[0] == {
        "model": "small",
        "messages": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Hello"}],
        "temperature": 0.5,
        "max_tokens": 99,
        "reasoning_effort": "low",
    }
    assert endpoint.headers[0]["authorization"] == f"Bearer {KEY}"


def test_what_is_not_asked_for_is_not_sent(endpoint: Endpoint) -> None:
    endpoint.queue(completion())
    ask(endpoint)
    assert set(endpoint.requests[0]) == {"model", "messages"}


def test_tool_calls_come_and_go_unchanged(endpoint: Endpoint) -> None:
    wanted = calls(("execute_code", '{"code": "1"'), ("submit", "{}"))
    endpoint.queue(completion(None, "tool_calls", tool_calls=wanted))
    model = OpenAIModel("small", endpoint.url)
    reply = model.complete(HELLO, TOOLS, Settings())
    assert reply.text == ""
    assert reply.tool_calls == (
        ToolCall("c0", "execute_code", '{"code": "1"'),
        ToolCall("c1", "submit", "{}"),
    )
    sent = endpoint.requests[0]["tools"]
    assert [tool["function"]["name"] for tool in sent] == [tool.name for tool in TOOLS]
    assert sent[0]["function"]["parameters"] == TOOLS[0].parameters
    answers = [Message("tool", "done", tool_call_id=call.id) for call in reply.tool_calls]
    model.complete(
        [*HELLO, Message("assistant", "", reply.tool_calls, raw=reply.raw), *answers], TOOLS, Settings()
    )
    back = endpoint.requests[1]["messages"][2:]
    assert back[0]["tool_calls"] == wanted
    assert back[1:] == [{"role": "tool", "tool_call_id": f"c{n}", "content": "done"} for n in range(2)]


def test_usage_is_normalised(endpoint: Endpoint) -> None:
    body = completion()
    body["usage"] = {
        "prompt_tokens": 100, "completion_tokens": 50, "total_tokens": 150,
        "prompt_tokens_details": {"cached_tokens": 80}, "completion_tokens_details": {"reasoning_tokens": 30},
    }  # fmt: skip
    missing = completion()
    del missing["usage"]
    sparse = completion()
    sparse["usage"] |= {"prompt_tokens_details": {}, "completion_tokens_details": None}
    endpoint.queue(body, missing, sparse)
    assert ask(endpoint).usage == Usage(input=100, cache_read=80, output=50, reasoning=30)
    assert ask(endpoint).usage == Usage()
    assert ask(endpoint).usage == Usage(input=12, output=3)


@pytest.mark.parametrize("status", [429, 500, 503])
def test_a_passing_failure_is_tried_again(endpoint: Endpoint, status: int) -> None:
    endpoint.queue((status, {"error": {"message": "later"}}, QUICK), completion())
    assert ask(endpoint).text == "Hi."
    assert len(endpoint.requests) == 2


def test_retry_after_is_honoured(endpoint: Endpoint) -> None:
    endpoint.queue((429, {"error": {"message": "slow down"}}, {"retry-after": "1"}), completion())
    started = time.monotonic()
    assert ask(endpoint).text == "Hi."
    assert time.monotonic() - started >= 1.0


@pytest.mark.parametrize("status", [429, 500])
def test_a_lasting_failure_ends_after_bounded_retries(endpoint: Endpoint, status: int) -> None:
    endpoint.queue((status, {"error": {"message": "never"}}, QUICK))
    with pytest.raises(ProviderError, match="never"):
        ask(endpoint)
    assert len(endpoint.requests) == 6  # the first and five more


@pytest.mark.parametrize(
    ("answer", "error", "said"),
    [
        ((401, {"error": {"message": f"Incorrect API key provided: {KEY}"}}), ProviderError, "[key]"),
        ((403, {"error": {"message": f"{KEY} may not"}}), ProviderError, "[key] may not"),
        ((404, {"error": {"message": "no such model"}}), ProviderError, "no such model"),
        ((400, {"error": {"message": f"bad temperature, {KEY}"}}), ProviderError, "bad temperature"),
        (
            (400, {"error": {"message": "too long", "code": "context_length_exceeded"}}),
            ContextOverflow,
            "too long",
        ),
        (
            (400, {"error": {"message": "This model's maximum context length is 8 tokens"}}),
            ContextOverflow,
            "8",
        ),
        ((200, completion("", "content_filter")), Refusal, "content filter"),
        ((200, completion(None, refusal="I will not.")), Refusal, "I will not."),
        ((200, b"{not json"), ProviderError, "JSON"),
        ((200, b"<html>proxy</html>", {"content-type": "text/html"}), ProviderError, "choice"),
        ((200, b""), ProviderError, ""),
        ((200, {}), ProviderError, "without a choice"),
        ((200, {"choices": []}), ProviderError, "without a choice"),
        ((200, {"choices": None}), ProviderError, "without a choice"),
        ((200, {"choices": [{}]}), ProviderError, "another form"),
        ((200, {"choices": [None]}), ProviderError, "another form"),
        ((200, {"choices": [{"message": None, "finish_reason": "stop"}]}), ProviderError, "another form"),
        ((200, {"choices": "hello"}), ProviderError, "another form"),
        ((200, completion() | {"usage": {"prompt_tokens": "many"}}), ProviderError, "another form"),
        ((200, completion(tool_calls=[{"id": "1", "type": "function"}])), ProviderError, "another form"),
        ((200, []), ProviderError, "choice"),
    ],
)
def test_every_bad_answer_has_its_error_and_none_shows_the_key(
    endpoint: Endpoint, answer: Any, error: type[Exception], said: str
) -> None:
    endpoint.queue(answer)
    with pytest.raises(error) as caught:
        ask(endpoint)
    assert said in str(caught.value)
    seen: BaseException | None = caught.value
    while seen is not None:
        assert KEY not in str(seen)
        seen = seen.__cause__ or (None if seen.__suppress_context__ else seen.__context__)


def test_an_endpoint_that_is_not_there_or_too_slow(
    endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("harness.models.openai._RETRIES", 0)
    with pytest.raises(ProviderError, match="APIConnectionError"):
        OpenAIModel("small", "http://127.0.0.1:9/v1").complete(HELLO, (), Settings())
    endpoint.queue(completion())
    monkeypatch.setattr(endpoint, "answers", _Slow([(200, completion(), {})]))
    with pytest.raises(ProviderError, match="APITimeoutError"):
        ask(endpoint, timeout_seconds=0.2)


class _Slow(list[Answer]):
    def __len__(self) -> int:
        time.sleep(1.0)
        return super().__len__()


def test_a_missing_key_is_an_error_before_anything_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    with pytest.raises(InputError, match="OPENAI_API_KEY is not set; export the key of the OpenAI API"):
        make_model(ModelConfig(name="openai/gpt-4o"))
    config = ModelConfig(name="openai/m", base_url="https://example.org/v1", key_variable="MY_KEY")
    with pytest.raises(InputError, match=r"MY_KEY is not set; export the key of https://example\.org/v1"):
        make_model(config)
    assert make_model(ModelConfig(name="openai/m", base_url="http://localhost:1/v1")).name == "openai/m"


def test_a_whole_trial_through_the_endpoint(
    endpoint: Endpoint, iris: Task, tmp_path: Path, sandbox: SandboxProvider
) -> None:
    look = "import os; print(sorted(os.environ))"
    for name, arguments in (
        ("request_info", {"info_type": "overview"}),
        ("validate_code", {"code": look}),
        ("execute_code", {"code": SAMPLE}),
        ("submit", {}),
    ):
        endpoint.queue(completion(None, "tool_calls", tool_calls=calls((name, json.dumps(arguments)))))
    budget = Budget.model_validate({"execution_seconds": 20.0})
    spec = TrialSpec(iris, task_hash(iris), 1, budget, AgentConfig.model_validate({}), Feedback.TEST)
    paths = TrialPaths(tmp_path / "trial")
    with Grader(iris, sandbox) as grader:
        result = run_trial(spec, OpenAIModel("small", endpoint.url), grader, sandbox, paths)
    assert (result.status, result.valid, result.score_step, len(result.steps)) == (
        Status.SUBMITTED,
        True,
        3,
        4,
    )
    assert result.usage == Usage(input=48, output=12)
    assert "OPENAI" not in json.dumps(endpoint.requests)
    written = [path.read_text() for path in paths.root.rglob("*") if path.is_file()]
    assert not [text for text in written if KEY in text]
    assert KEY not in json.dumps(endpoint.requests)
