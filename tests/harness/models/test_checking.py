"""``models check`` against servers as strict as the providers': what is seen, and what to do about it."""

from __future__ import annotations

import json
from typing import Any

import pytest

from harness.errors import InputError
from harness.models.base import Settings
from harness.models.calling import Retries
from harness.models.checking import EndpointCheck, Finding, State, check_endpoint
from harness.models.pricing import PriceTable, Rates
from harness.models.registry import ModelConfig, resolve_settings
from tests.harness.models import chat_server, gemini_server, responses_server
from tests.harness.models.chat_server import ChatServer
from tests.harness.models.loopback import Loopback, Said
from tests.harness.models.responses_server import ResponsesServer

AT_ONCE = Retries(attempts=2, first_seconds=0, longest_seconds=0)
CANARY = "sk-canary-42"


def check(config: ModelConfig, prices: PriceTable | None = None, **settings: Any) -> EndpointCheck:
    resolved = resolve_settings(Settings.model_validate(settings), config)
    return check_endpoint(config, resolved, prices or PriceTable(), AT_ONCE)


def at(server: Loopback, name: str = "openai/gpt-4o-mini", **keys: Any) -> ModelConfig:
    return ModelConfig.model_validate({"name": name, "base_url": server.url, **keys})


def states(checked: EndpointCheck) -> dict[str, State]:
    return {finding.what: finding.state for finding in checked.findings}


def finding(checked: EndpointCheck, what: str) -> Finding:
    return next(finding for finding in checked.findings if finding.what == what)


def reported(number: int = 42) -> dict[str, Any]:
    return chat_server.completion(None, calls=[chat_server.call("report", {"number": number})])


# Endpoints that work


def test_a_chat_endpoint_that_can_do_everything(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_KEY", CANARY)
    prices = PriceTable({"openai/gpt-4o-mini": Rates(input=1.0, output=10.0)})
    with ChatServer(key=CANARY) as server:
        server.pages = {"/v1/models": {"data": [{"id": "gpt-4o-mini", "max_model_len": 32768}]}}
        server.queue(reported())
        checked = check(at(server, key_variable="MY_KEY"), prices, temperature=0.0)
    assert checked.ok and set(states(checked).values()) == {State.OK}
    assert [f.what for f in checked.findings] == [
        "key", "endpoint", "actions", "settings", "usage", "price", "window",
    ]  # fmt: skip
    said = {f.what: f.text for f in checked.findings}
    assert said["key"] == "found in MY_KEY"
    assert said["actions"] == 'answered by a tool call: report({"number": 42})'
    assert said["settings"] == "accepted: temperature 0.0"
    assert said["usage"] == "12 tokens in, 3 out"
    assert said["price"].startswith("1 USD in, 10 USD out per million tokens (genai-prices")
    assert said["window"] == "32768 tokens, says the server"
    assert checked.version == "small-2026-11-01"
    # 12 tokens at 1 USD and 3 at 10 USD per million.
    assert checked.cost_usd == pytest.approx(12e-6 + 30e-6)
    assert len(server.asked) == 1, "one call"
    assert CANARY not in json.dumps(checked.to_document())


def test_the_responses_api(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", CANARY)
    with ResponsesServer(key=CANARY) as server:
        server.queue(
            responses_server.response(
                responses_server.reasoning("Add."), responses_server.call("report", {"number": 42})
            )
        )
        checked = check(at(server, api="responses"), effort="low")
    assert checked.ok and checked.version == "large-2026-11-01"
    assert "by responses: large-2026-11-01" in finding(checked, "endpoint").text
    assert finding(checked, "settings").text == "accepted: effort low"
    assert server.bodies[0]["reasoning"]["effort"] == "low"


def test_geminis_api(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GEMINI_API_KEY", gemini_server.KEY)
    monkeypatch.delenv("GOOGLE_API_KEY", raising=False)
    with gemini_server.gemini() as server:
        server.queue(gemini_server.answer(server.signed(gemini_server.call("report", {"number": 42}))))
        checked = check(ModelConfig(name=f"google/{gemini_server.MODEL}", base_url=server.url))
    assert checked.ok and finding(checked, "actions").state is State.OK
    assert checked.version == "gemini-3-flash-preview-11-2026"
    assert gemini_server.KEY not in json.dumps(checked.to_document())


@pytest.mark.parametrize("form", ["json", "schema"])
def test_actions_in_text_are_found_in_prose_and_fences(form: str) -> None:
    text = 'The sum:\n```json\n{"action": "report", "params": {"number": 42}}\n```'
    with ChatServer() as server:
        server.queue(chat_server.completion(text))
        checked = check(at(server, "vllm/qwen"), action_format=form)
    assert finding(checked, "actions") == Finding(
        "actions", State.OK, 'answered by a JSON object: report({"number": 42})'
    )
    assert "tools" not in server.bodies[0]
    assert ("response_format" in server.bodies[0]) == (form == "schema")


def test_a_scripted_candidate_calls_nothing() -> None:
    checked = check(ModelConfig(name="scripted/forest"))
    assert checked.ok and states(checked) == {"endpoint": State.OK}
    assert checked.outlook.usd_per_million == (0.0, 0.0)
    with pytest.raises(InputError, match="did you mean scripted/forest"):
        check(ModelConfig(name="scripted/forrest"))


def test_the_reply_has_room_to_think_but_no_more_than_half_the_window() -> None:
    with ChatServer() as server:
        server.queue(reported())
        for window, room in ((None, 4096), (2000, 1000)):
            check(at(server, "vllm/qwen"), context_window=window)
            assert server.bodies[-1]["max_tokens"] == room
        check(at(server, "vllm/qwen"), max_output_tokens=64)
        assert server.bodies[-1]["max_tokens"] == 64


# What falls short


def test_a_missing_key_is_a_failure_and_nothing_is_called(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("DEEPSEEK_API_KEY", raising=False)
    checked = check(ModelConfig(name="deepseek/deepseek-chat"))
    assert not checked.ok
    missing = finding(checked, "key")
    assert (missing.state, missing.text) == (State.FAIL, "DEEPSEEK_API_KEY is not set")
    assert missing.fix == "export DEEPSEEK_API_KEY=<your key>"
    assert set(states(checked)) == {"key", "price", "window"}
    assert finding(checked, "price").text.startswith("0.27 USD in, 1.1 USD out"), (
        "read off genai-prices 0.2.3"
    )


FAULTS: list[tuple[str, Said, int, str, str]] = [
    ("key", chat_server.error(401, f"Incorrect API key provided: {CANARY}."), 1, "key: 401", "MY_KEY"),
    ("forbidden", chat_server.error(403, "no access"), 1, "key: 403", "MY_KEY"),
    (
        "model",
        chat_server.error(404, "no such model"),
        1,
        "model: 404",
        "check the model's name and base_url",
    ),
    (
        "quota",
        chat_server.error(429, "You exceeded your current quota", code="insufficient_quota"),
        1,
        "quota: 429",
        "add credit or quota to the account of MY_KEY",
    ),
    ("busy", chat_server.error(429, "Rate limit reached"), 2, "rate limit: 429", "wait a minute"),
    ("down", chat_server.error(503, "overloaded"), 2, "overloaded: 503", "check again later"),
    (
        "setting",
        chat_server.error(400, "Unsupported parameter: 'temperature'", param="temperature"),
        1,
        "request: 400",
        "leave out the setting that the message names",
    ),
    ("page", Said(b"<html>Welcome</html>"), 2, "garbled", "the base URL is the API's"),
    ("cut", Said(b"{", cut=1), 2, "", ""),
    ("hang up", Said(hang_up=True), 2, "connection", "start the server"),
]


@pytest.mark.parametrize(("name", "said", "calls", "seen", "fix"), FAULTS, ids=[row[0] for row in FAULTS])
def test_an_endpoint_that_gives_no_answer(
    name: str, said: Said, calls: int, seen: str, fix: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MY_KEY", CANARY)
    with ChatServer() as server:
        server.queue(said)
        checked = check(at(server, "vllm/qwen", key_variable="MY_KEY"), temperature=0.5)
    failed = finding(checked, "endpoint")
    assert not checked.ok and failed.state is State.FAIL
    assert seen in failed.text and server.url in failed.text
    assert fix in failed.fix and failed.fix
    assert len(server.asked) == calls
    assert set(states(checked)) == {"key", "endpoint", "price", "window"}, "the rest cannot be known"
    assert CANARY not in json.dumps(checked.to_document())


def test_a_server_that_is_not_there() -> None:
    with ChatServer() as server:
        config = at(server, "vllm/qwen")
    failed = finding(check(config), "endpoint")
    assert failed.state is State.FAIL and "connection" in failed.text
    assert failed.fix == "start the server, or give another --base-url"


def test_vllm_without_tool_calls_is_told_how_to_have_them() -> None:
    with ChatServer() as server:
        server.queue(chat_server.error(400, '"auto" tool choice requires --enable-auto-tool-choice'))
        failed = finding(check(at(server, "vllm/qwen")), "endpoint")
    assert "--tool-call-parser" in failed.fix and "--action-format json" in failed.fix


OTHER_TOOL = {"text": None, "calls": [chat_server.call("run", {})]}
NO_ACTION: list[tuple[str, dict[str, Any], dict[str, Any], str, str]] = [
    ("prose", {}, {"text": "It is 42."}, "no tool call came back: 'It is 42.'", "--action-format json"),
    (
        "JSON instead of a call",
        {},
        {"text": '{"action": "report", "params": {"number": 42}}'},
        "no tool call came back, but JSON in its text",
        "--action-format json",
    ),
    (
        "prose instead of JSON",
        {"action_format": "json"},
        {"text": "42"},
        "no JSON object",
        "--action-format schema",
    ),
    (
        "not even by a schema",
        {"action_format": "schema"},
        {"text": "42"},
        "no JSON object",
        "follows instructions",
    ),
    ("another tool", {}, OTHER_TOOL, "no tool call", "--action-format"),
    (
        "cut off",
        {},
        {"text": "First", "finish": "length"},
        "ended by length",
        "raise settings.max_output_tokens",
    ),
    ("filtered", {}, {"text": "", "finish": "content_filter"}, "ended by refusal", "--action-format"),
]


@pytest.mark.parametrize(
    ("name", "settings", "said", "seen", "fix"), NO_ACTION, ids=[row[0] for row in NO_ACTION]
)
def test_a_reply_without_the_action(
    name: str, settings: dict[str, Any], said: dict[str, Any], seen: str, fix: str
) -> None:
    with ChatServer() as server:
        server.queue(chat_server.completion(**said))
        checked = check(at(server, "vllm/qwen"), **settings)
    failed = finding(checked, "actions")
    assert not checked.ok and failed.state is State.FAIL
    assert seen in failed.text and fix in failed.fix
    assert finding(checked, "endpoint").state is State.OK


def test_what_is_not_known_is_noted_and_holds_nothing_up() -> None:
    with ChatServer() as server:
        server.queue(reported() | {"usage": None})
        checked = check(at(server, "vllm/qwen"))
    assert checked.ok
    assert {what for what, state in states(checked).items() if state is State.NOTE} == {
        "usage",
        "price",
        "window",
    }
    assert (
        finding(checked, "price").text == "unpriced" and 'models."vllm/qwen"' in finding(checked, "price").fix
    )
    assert "cannot hold" in finding(checked, "usage").fix


def test_a_wrong_sum_is_no_failure_of_the_endpoint() -> None:
    with ChatServer() as server:
        server.queue(reported(41))
        assert check(at(server, "vllm/qwen")).ok


def test_a_reply_that_may_fill_the_window_alone_is_a_failure() -> None:
    with ChatServer() as server:
        server.pages = {"/v1/models": {"data": [{"id": "qwen", "max_model_len": 4096}]}}
        server.queue(reported())
        failed = finding(check(at(server, "vllm/qwen"), max_output_tokens=8192), "window")
    assert failed.state is State.FAIL and "8192 leaves no room" in failed.text
    assert failed.fix == "lower it for that model"


@pytest.mark.parametrize(
    ("name", "fix"),
    [
        ("openai/small", "this server wants a key: export OPENAI_API_KEY=<its key>"),
        ("vllm/small", "this server wants a key: export its key in a variable, named by --key-variable"),
    ],
)
def test_a_local_server_that_wants_a_key_says_where_to_put_it(
    name: str, fix: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with ChatServer(key=CANARY) as server:
        checked = check(at(server, name))
    assert finding(checked, "endpoint").fix == fix


def test_a_model_behind_no_variable_that_has_no_money_left() -> None:
    with ChatServer() as server:
        server.queue(chat_server.error(402, "Insufficient Balance"))
        checked = check(at(server, "vllm/small"))
    assert finding(checked, "endpoint").fix == "add credit or quota to the account of its key"
