"""OpenAI's Responses API: the real SDK over real HTTP to a server that is as strict, and keeps nothing."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any

import pytest

from harness.actions import TOOLS
from harness.errors import InputError
from harness.models.base import ActionFormat, Finish, Message, Reply, Settings, Tool, ToolCall, Usage
from harness.models.faults import Fault, FaultKind
from harness.models.openai.responses import ResponsesModel
from harness.models.presets import Api
from harness.models.registry import ModelConfig, make_model
from tests.harness.models.loopback import Said
from tests.harness.models.responses_server import (
    ResponsesServer,
    call,
    message,
    reasoning,
    refusal,
    response,
    usage,
)
from tests.harness.models.strict import ODD_NAMES
from tests.harness.models.talk import HELLO, results, turn

KEY = "sk-canary-0123456789abcdef"


@pytest.fixture(autouse=True)
def _keys(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)


@pytest.fixture
def server() -> Iterator[ResponsesServer]:
    with ResponsesServer(key=KEY) as opened:
        yield opened


def model(server: ResponsesServer) -> ResponsesModel:
    made = make_model(ModelConfig(name="openai/large", base_url=server.url, api=Api.RESPONSES))
    assert isinstance(made, ResponsesModel)
    return made


def ask(server: ResponsesServer, *said: Any, tools: tuple[Tool, ...] = (), **settings: Any) -> Reply:
    server.queue(*said)
    return model(server).complete(HELLO, tools, Settings(**settings))


# What is sent


def test_a_plain_reply_and_all_that_is_sent_for_it(server: ResponsesServer) -> None:
    reply = ask(server, response(message("Hi.")), temperature=0.5, max_output_tokens=99, effort="low")
    assert (reply.text, reply.thought, reply.tool_calls, reply.finish) == ("Hi.", "", (), Finish.STOP)
    assert reply.version == "large-2026-11-01"
    assert server.asked[0].path == "/v1/responses"
    assert server.asked[0].headers["authorization"] == f"Bearer {KEY}"
    assert server.bodies == [
        {
            "model": "large",
            "instructions": "Be brief.",
            "input": [{"role": "user", "content": "Hello"}],
            "store": False,
            "include": ["reasoning.encrypted_content"],
            "temperature": 0.5,
            "max_output_tokens": 99,
            "reasoning": {"effort": "low"},
        }
    ]


def test_what_is_not_asked_for_is_not_sent(server: ResponsesServer) -> None:
    ask(server, response(message("Hi.")), temperature="default")
    assert set(server.bodies[0]) == {"model", "instructions", "input", "store", "include"}


def test_tools_are_offered_strictly(server: ResponsesServer) -> None:
    ask(server, response(message("Hi.")), tools=TOOLS)
    assert server.bodies[0]["tools"] == [
        {
            "type": "function",
            "name": tool.name,
            "description": tool.description,
            "parameters": tool.parameters,
            "strict": True,
        }
        for tool in TOOLS
    ]


def test_a_schema_is_one_object(server: ResponsesServer) -> None:
    """OpenAI takes several forms only below the root, no two alike; six tools have three of parameters."""
    ask(server, response(message("{}")), tools=TOOLS, action_format=ActionFormat.SCHEMA)
    form = server.bodies[0]["text"]["format"]
    assert (form["type"], form["strict"]) == ("json_schema", True)
    properties = form["schema"]["properties"]
    assert properties["action"]["enum"] == [tool.name for tool in TOOLS]
    assert [list(form["properties"]) for form in properties["params"]["anyOf"]] == [
        ["info_type"],
        ["code"],
        [],
    ]


# What goes back


def test_a_conversation_with_tools_goes_on_with_its_reasoning(server: ResponsesServer) -> None:
    first = [
        reasoning("I look first.", status="completed"),
        call("get_history", {}),
        call("execute_code", {"code": "1"}),
    ]
    second = [reasoning(), reasoning(), message("Better now."), call("submit", {})]
    server.queue(response(*first), response(*second), response(message("Done.")))
    messages, client = [*HELLO], model(server)
    for expected in (Finish.TOOL_CALLS, Finish.TOOL_CALLS, Finish.STOP):
        reply = client.complete(messages, TOOLS, Settings())
        assert reply.finish == expected
        messages += [turn(reply), *results(reply)]
    sent = server.bodies[2]["input"]
    assert sent[1] == {key: value for key, value in first[0].items() if key != "status"}
    assert sent[2:4] == first[1:]
    assert sent[4:6] == [
        {"type": "function_call_output", "call_id": first[1]["call_id"], "output": "did get_history"},
        {"type": "function_call_output", "call_id": first[2]["call_id"], "output": "did execute_code"},
    ]
    assert sent[6:10] == second


def test_the_server_refuses_reasoning_that_was_dropped_moved_or_altered(server: ResponsesServer) -> None:
    items = [reasoning(), call("submit", {})]
    server.queue(response(*items), response(message("Done.")))
    client = model(server)
    reply = client.complete(HELLO, TOOLS, Settings())
    altered = copy.deepcopy(items)
    altered[0]["encrypted_content"] = "gAAAAAB"
    bare = {key: value for key, value in items[1].items() if key != "id"}
    for raw, said in (
        (items[1:], "without its required 'reasoning' item"),
        ([bare], "without its required 'reasoning' item"),
        ([*items[1:], items[0], message("x")], "without its required 'reasoning' item"),
        (altered, "could not be verified"),
    ):
        with pytest.raises(Fault, match=said) as caught:
            client.complete(
                [*HELLO, Message("assistant", "", reply.tool_calls, raw=raw), *results(reply)],
                TOOLS,
                Settings(),
            )
        assert caught.value.kind is FaultKind.REQUEST
    client.complete([*HELLO, turn(reply), *results(reply)], TOOLS, Settings())


def test_thought_that_was_cut_off_does_not_go_back(server: ResponsesServer) -> None:
    """The API refuses reasoning that nothing follows."""
    cut = response(reasoning(status="incomplete"), status="incomplete", reason="max_output_tokens")
    server.queue(cut, response(message("Hi.")))
    client = model(server)
    reply = client.complete(HELLO, TOOLS, Settings())
    assert (reply.finish, reply.text) == (Finish.LENGTH, "")
    client.complete([*HELLO, turn(reply), Message("user", "Be shorter.")], TOOLS, Settings())
    assert [item["content"] for item in server.bodies[1]["input"]] == ["Hello", "Be shorter."]


def test_a_result_without_its_call_is_refused(server: ResponsesServer) -> None:
    server.queue(response(message("Hi.")))
    with pytest.raises(Fault, match="No tool call found for function call output"):
        model(server).complete([*HELLO, Message("tool", "done", tool_call_id="call_0")], TOOLS, Settings())


@pytest.mark.parametrize(("name", "sent"), ODD_NAMES)
def test_a_tool_by_an_odd_name_is_read_as_written_and_does_not_end_the_conversation(
    server: ResponsesServer, name: str, sent: str
) -> None:
    server.queue(response(reasoning(), call(name, {})), response(message("Sorry.")))
    reply = model(server).complete(HELLO, TOOLS, Settings())
    assert reply.tool_calls[0].name == name
    again = model(server).complete([*HELLO, turn(reply), *results(reply)], TOOLS, Settings())
    assert again.text == "Sorry."
    assert server.bodies[1]["input"][2]["name"] == sent


def test_a_call_without_arguments_can_go_back(server: ResponsesServer) -> None:
    server.queue(response(call("submit", {}) | {"arguments": None}), response(message("Sorry.")))
    reply = model(server).complete(HELLO, TOOLS, Settings())
    assert reply.tool_calls[0].arguments == ""
    model(server).complete([*HELLO, turn(reply), *results(reply)], TOOLS, Settings())


def test_turns_of_our_own_wording_go_too(server: ResponsesServer) -> None:
    server.queue(response(message("Hi.")))
    talk = [
        Message("assistant", "", (ToolCall("call_0", "submit", "{}"),)),
        Message("tool", "done", tool_call_id="call_0"),
        Message("assistant", "(steps 1 to 9 are left out)"),
        Message("user", "Go on."),
    ]
    model(server).complete([*HELLO, *talk], TOOLS, Settings())
    assert server.bodies[0]["input"][1:] == [
        {"type": "function_call", "call_id": "call_0", "name": "submit", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "call_0", "output": "done"},
        {"role": "assistant", "content": "(steps 1 to 9 are left out)"},
        {"role": "user", "content": "Go on."},
    ]


# What is read


def test_usage_is_normalised_and_kept(server: ResponsesServer) -> None:
    told = usage(100, 50, cached=60, written=30, reasoning=40)
    reply = ask(server, response(message("Hi."), tokens=told))
    assert reply.usage == Usage(input=100, cache_read=60, cache_write=30, output=50, reasoning=40)
    assert reply.usage_raw == told
    body = response(message("Hi.")) | {"usage": None}
    reply = ask(server, body)
    reply = model(server).complete(HELLO, (), Settings())
    assert (reply.usage, reply.usage_raw) == (Usage(), None)


def test_the_summary_of_reasoning_is_the_thought(server: ResponsesServer) -> None:
    said = response(reasoning("First this."), call("reset", {}), reasoning("Then that."), message("Hi."))
    assert ask(server, said).thought == "First this.\n\nThen that."


@pytest.mark.parametrize(
    ("said", "finish", "text"),
    [
        (response(message("Cut o"), status="incomplete", reason="max_output_tokens"), Finish.LENGTH, "Cut o"),
        (response(status="incomplete", reason="content_filter"), Finish.REFUSAL, "content filter"),
        (response(refusal("I will not.")), Finish.REFUSAL, "I will not."),
        (
            response(status="failed", error={"code": "bio_policy", "message": "Not this."}),
            Finish.REFUSAL,
            "Not this.",
        ),
        (response(message("a"), message("b")), Finish.STOP, "ab"),
        (response(), Finish.STOP, ""),
    ],
)
def test_every_ending_keeps_its_usage(server: ResponsesServer, said: Any, finish: Finish, text: str) -> None:
    reply = ask(server, said)
    assert reply.finish == finish
    assert text in reply.text
    assert reply.usage == Usage(input=20, output=5)


@pytest.mark.parametrize(
    ("said", "kind"),
    [
        ({"code": "rate_limit_exceeded", "message": "Slow down."}, FaultKind.RATE_LIMIT),
        ({"code": "server_error", "message": "The model failed."}, FaultKind.OVERLOADED),
        ({"code": "server_error", "message": "Your input exceeds the context window."}, FaultKind.CONTEXT),
        ({"code": "insufficient_quota", "message": "Pay first."}, FaultKind.QUOTA),
    ],
)
def test_a_response_that_failed_is_a_fault(
    server: ResponsesServer, said: dict[str, str], kind: FaultKind
) -> None:
    with pytest.raises(Fault, match=said["message"]) as caught:
        ask(server, response(status="failed", error=said))
    assert caught.value.kind is kind


@pytest.mark.parametrize(
    "said",
    [
        {},
        response() | {"output": None},
        response() | {"output": [None]},
        response() | {"output": [{"type": "function_call", "arguments": "{}"}]},
        response(message("Hi.")) | {"usage": {"input_tokens": "many"}},
        response(status="in_progress"),
    ],
)
def test_another_form_is_garbled(server: ResponsesServer, said: Any) -> None:
    # Not through queue, which remembers the items of a response.
    server.judge = lambda asked: Said(said)
    with pytest.raises(Fault) as caught:
        model(server).complete(HELLO, (), Settings())
    assert caught.value.kind is FaultKind.GARBLED


# The key


def test_a_missing_key_is_an_error_before_anything_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY")
    with pytest.raises(InputError, match="OPENAI_API_KEY is not set; export the key of openai's API"):
        make_model(ModelConfig(name="openai/gpt-5"))
