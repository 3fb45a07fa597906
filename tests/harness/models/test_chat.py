"""Chat Completions: the real openai SDK over real HTTP to a server as strict as the strictest."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import httpx2
import pytest

from harness.actions import TOOLS
from harness.errors import InputError
from harness.models.base import ActionFormat, Finish, Message, Reply, Settings, Tool, ToolCall, Usage
from harness.models.faults import Fault, FaultKind
from harness.models.openai.chat import ChatModel
from harness.models.registry import ModelConfig, make_model
from harness.models.wire.tapes import Send
from tests.harness.models.chat_server import ChatServer, call, completion, usage
from tests.harness.models.loopback import Said
from tests.harness.models.strict import ODD_NAMES
from tests.harness.models.talk import HELLO, results, turn

KEY = "sk-canary-0123456789abcdef"


@pytest.fixture(autouse=True)
def _keys(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)


@pytest.fixture
def server() -> Iterator[ChatServer]:
    with ChatServer(key=KEY) as opened:
        yield opened


def model(server: ChatServer, name: str = "openai/small") -> ChatModel:
    return ChatModel(ModelConfig(name=name, base_url=server.url, key_variable="OPENAI_API_KEY"))


def ask(server: ChatServer, *said: Any, tools: tuple[Tool, ...] = (), **settings: Any) -> Reply:
    server.queue(*said)
    return model(server).complete(HELLO, tools, Settings(**settings))


# What is sent


def test_a_plain_reply_and_all_that_is_sent_for_it(server: ChatServer) -> None:
    reply = ask(server, completion(), temperature=0.5, max_output_tokens=99, effort="low")
    assert (reply.text, reply.thought, reply.tool_calls, reply.finish) == ("Hi.", "", (), Finish.STOP)
    assert reply.version == "small-2026-11-01"
    assert server.asked[0].path == "/v1/chat/completions"
    assert server.asked[0].headers["authorization"] == f"Bearer {KEY}"
    assert server.bodies == [
        {
            "model": "small",
            "messages": [
                {"role": "system", "content": "Be brief."},
                {"role": "user", "content": "Hello"},
            ],
            "temperature": 0.5,
            "max_tokens": 99,
            "reasoning_effort": "low",
        }
    ]


def test_what_is_not_asked_for_is_not_sent(server: ChatServer) -> None:
    ask(server, completion(), temperature="default")
    assert set(server.bodies[0]) == {"model", "messages"}


def test_the_bound_of_output_has_the_name_that_the_provider_knows(server: ChatServer) -> None:
    server.queue(completion())
    model(server, "vllm/qwen").complete(HELLO, (), Settings(max_output_tokens=99))
    assert server.bodies[0]["max_tokens"] == 99


def test_tools_are_offered_as_they_are_described(server: ChatServer) -> None:
    ask(server, completion(), tools=TOOLS)
    assert [tool["function"] for tool in server.bodies[0]["tools"]] == [
        {"name": tool.name, "description": tool.description, "parameters": tool.parameters} for tool in TOOLS
    ]


def test_json_in_text_offers_no_tools(server: ChatServer) -> None:
    ask(server, completion(), tools=TOOLS, action_format=ActionFormat.JSON)
    assert set(server.bodies[0]) == {"model", "messages"}


class Listening:
    """A tape that answers in the network's place and keeps what was asked."""

    live = False

    def __init__(self) -> None:
        self.asked: list[httpx2.Request] = []

    def exchange(self, request: httpx2.Request, send: Send) -> httpx2.Response:
        self.asked.append(request)
        return httpx2.Response(200, json=completion())


@pytest.mark.parametrize(
    ("url", "bound", "one_object", "account"),
    [
        (None, "max_completion_tokens", True, "org-of-ours"),
        ("https://api.openai.com/v1", "max_completion_tokens", True, "org-of-ours"),
        ("https://eu.api.openai.com/v1", "max_completion_tokens", True, "org-of-ours"),
        ("https://mine.openai.azure.com/openai/v1", "max_completion_tokens", True, None),
        ("https://openai.com.example.org/v1", "max_tokens", False, None),
        ("http://localhost:11434/v1", "max_tokens", False, None),
    ],
)
def test_openai_is_asked_in_its_own_words_and_others_in_those_that_all_know(
    url: str | None, bound: str, one_object: bool, account: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_ORG_ID", "org-of-ours")
    config = ModelConfig.model_validate({"name": "openai/small", "base_url": url, "api": "chat"})
    tape = Listening()
    settings = Settings(max_output_tokens=99, action_format=ActionFormat.SCHEMA)
    ChatModel(config, tape).complete(HELLO, TOOLS, settings)
    body = json.loads(tape.asked[0].content)
    assert {key: body[key] for key in body if key.startswith("max_")} == {bound: 99}
    assert ("anyOf" not in body["response_format"]["json_schema"]["schema"]) == one_object
    assert tape.asked[0].headers.get("openai-organization") == account


def test_a_schema_has_one_branch_for_each_tool(server: ChatServer) -> None:
    ask(server, completion(), tools=TOOLS[:2], action_format=ActionFormat.SCHEMA)
    form = server.bodies[0]["response_format"]
    assert (form["type"], form["json_schema"]["strict"]) == ("json_schema", True)
    branches = form["json_schema"]["schema"]["anyOf"]
    assert [branch["properties"] for branch in branches] == [
        {
            "thought": {"type": "string"},
            "action": {"type": "string", "enum": [tool.name]},
            "params": tool.parameters,
        }
        for tool in TOOLS[:2]
    ]


def test_another_endpoint_is_told_nothing_of_openais_account(
    server: ChatServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_ORG_ID", "org-of-ours")
    monkeypatch.setenv("OPENAI_PROJECT_ID", "proj-of-ours")
    monkeypatch.setenv("OPENAI_ADMIN_KEY", "sk-admin-of-ours")
    monkeypatch.setenv("OPENAI_CUSTOM_HEADERS", "X-Gate: pass-of-ours\nAuthorization: Bearer key-of-ours")
    ask(server, completion())
    assert not [value for value in server.asked[0].headers.values() if "of-ours" in value]


# What goes back


def test_a_conversation_with_tools_goes_on(server: ChatServer) -> None:
    server.queue(
        completion(None, calls=[call("execute_code", {"code": "1"}), call("get_history", {})]),
        completion("Better now.", calls=[call("submit", {})]),
        completion("Done."),
    )
    messages, client = [*HELLO], model(server)
    for expected in (Finish.TOOL_CALLS, Finish.TOOL_CALLS, Finish.STOP):
        reply = client.complete(messages, TOOLS, Settings())
        assert reply.finish == expected
        messages += [turn(reply), *results(reply)]
    sent = server.bodies[2]["messages"]
    assert [message["role"] for message in sent[2:]] == ["assistant", "tool", "tool", "assistant", "tool"]
    first = sent[2]
    assert set(first) == {"role", "content", "tool_calls"}  # no refusal, no annotations
    assert [asked["function"] for asked in first["tool_calls"]] == [
        {"name": "execute_code", "arguments": '{"code": "1"}'},
        {"name": "get_history", "arguments": "{}"},
    ]
    assert sent[3] == {
        "role": "tool",
        "tool_call_id": first["tool_calls"][0]["id"],
        "content": "did execute_code",
    }


def test_a_call_without_its_result_is_refused(server: ChatServer) -> None:
    reply = ask(server, completion(None, calls=[call("submit", {})]), tools=TOOLS)
    with pytest.raises(Fault, match="did not have response messages") as caught:
        model(server).complete([*HELLO, turn(reply), Message("user", "?")], TOOLS, Settings())
    assert caught.value.kind is FaultKind.REQUEST


def test_broken_arguments_are_read_as_written_and_go_back_as_an_empty_object(server: ChatServer) -> None:
    """Sent back as they are, vLLM and llama.cpp refuse every later request of the conversation."""
    server.queue(completion(None, calls=[call("execute_code", '{"code": "1')], finish="length"), completion())
    reply = model(server).complete(HELLO, TOOLS, Settings())
    assert (reply.finish, reply.tool_calls[0].arguments) == (Finish.LENGTH, '{"code": "1')
    model(server).complete([*HELLO, turn(reply), *results(reply)], TOOLS, Settings())
    assert server.bodies[1]["messages"][2]["tool_calls"][0]["function"]["arguments"] == "{}"


def test_broken_arguments_that_could_be_read_go_back_as_they_were_read(server: ChatServer) -> None:
    """Else the model would not see the program that it ran."""
    server.queue(completion(None, calls=[call("execute_code", "{'code': '1'}")]), completion())
    reply = model(server).complete(HELLO, TOOLS, Settings())
    mended = ToolCall(reply.tool_calls[0].id, "execute_code", '{"code": "1"}')
    said = Message("assistant", reply.text, (mended,), raw=reply.raw)
    model(server).complete([*HELLO, said, *results(reply)], TOOLS, Settings())
    assert server.bodies[1]["messages"][2]["tool_calls"][0]["function"]["arguments"] == '{"code": "1"}'


@pytest.mark.parametrize(("name", "sent"), ODD_NAMES)
def test_a_tool_by_an_odd_name_is_read_as_written_and_does_not_end_the_conversation(
    server: ChatServer, name: str, sent: str
) -> None:
    server.queue(completion(None, calls=[call(name, {}), call("submit", {})]), completion("Sorry."))
    reply = model(server).complete(HELLO, TOOLS, Settings())
    assert reply.tool_calls[0].name == name
    again = model(server).complete([*HELLO, turn(reply), *results(reply)], TOOLS, Settings())
    assert again.text == "Sorry."
    assert server.bodies[1]["messages"][2]["tool_calls"][0]["function"]["name"] == sent


def test_half_characters_in_an_answer_do_not_make_it_unreadable(server: ChatServer) -> None:
    """Servers in JavaScript cut text in the middle of a character; JSON can say so, but UTF-8 cannot."""
    server.queue(Said(json.dumps(completion("a\ud83d")).encode()), completion())
    reply = model(server).complete(HELLO, (), Settings())
    assert reply.text == "a?"
    model(server).complete([*HELLO, turn(reply), Message("user", "Go on.")], (), Settings())


def test_turns_of_our_own_wording_go_too(server: ChatServer) -> None:
    server.queue(completion())
    own = ToolCall("call_1", "submit", "{}")
    talk = [
        Message("assistant", "", (own,)),
        Message("tool", "done", tool_call_id="call_1"),
        Message("assistant", "(steps 1 to 9 are left out)"),
        Message("user", "Go on."),
    ]
    model(server).complete([*HELLO, *talk], TOOLS, Settings())
    sent = server.bodies[0]["messages"][2:]
    function = {"name": "submit", "arguments": "{}"}
    assert sent[0]["tool_calls"] == [{"id": "call_1", "type": "function", "function": function}]
    assert sent[2] == {"role": "assistant", "content": "(steps 1 to 9 are left out)"}


def test_an_empty_reply_can_go_back(server: ChatServer) -> None:
    server.queue(completion(None, tool_calls=[]), completion())
    reply = model(server).complete(HELLO, TOOLS, Settings())
    assert (reply.text, reply.finish, reply.usage.output) == ("", Finish.STOP, 3)
    model(server).complete([*HELLO, turn(reply), Message("user", "Act.")], TOOLS, Settings())
    assert server.bodies[1]["messages"][2] == {"role": "assistant", "content": ""}


def test_text_that_has_no_utf8_is_sent_as_far_as_it_has(server: ChatServer) -> None:
    server.queue(completion())
    model(server).complete([Message("user", "half a \ud83d pair")], (), Settings())
    assert server.bodies[0]["messages"][0]["content"] == "half a ? pair"


def test_reasoning_goes_back_where_the_provider_wants_it() -> None:
    with ChatServer(reasoning=True) as server:
        server.queue(
            completion(None, calls=[call("get_history", {})], reasoning_content="Look first."),
            completion("Done.", reasoning_content="That was it."),
        )
        client = model(server, "deepseek/deepseek-v4-pro")
        reply = client.complete(HELLO, TOOLS, Settings())
        assert reply.thought == "Look first."
        client.complete(
            [*HELLO, Message("assistant", "(left out)"), turn(reply), *results(reply)], TOOLS, Settings()
        )
        sent = server.bodies[1]["messages"]
        assert [message.get("reasoning_content") for message in sent[2:4]] == ["", "Look first."]


def test_the_server_refuses_reasoning_that_was_dropped_or_altered() -> None:
    with ChatServer(reasoning=True) as server:
        server.queue(
            completion(None, calls=[call("get_history", {})], reasoning_content="Look first."), completion()
        )
        client = model(server, "deepseek/deepseek-v4-pro")
        reply = client.complete(HELLO, TOOLS, Settings())
        altered = reply.raw | {"reasoning_content": "Look last."}
        for raw in (None, altered):
            back = Message("assistant", reply.text, reply.tool_calls, raw=raw)
            with pytest.raises(Fault, match="must be passed back"):
                client.complete([*HELLO, back, *results(reply)], TOOLS, Settings())


def test_reasoning_does_not_go_back_where_nobody_wants_it(server: ChatServer) -> None:
    said = completion(None, calls=[call("submit", {})], reasoning_content="Enough.", reasoning="Enough.")
    server.queue(said, completion())
    reply = model(server, "vllm/qwen3").complete(HELLO, TOOLS, Settings())
    assert reply.thought == "Enough."
    model(server, "vllm/qwen3").complete([*HELLO, turn(reply), *results(reply)], TOOLS, Settings())
    assert set(server.bodies[1]["messages"][2]) == {"role", "content", "tool_calls"}


def test_openrouters_reasoning_details_go_back_unchanged() -> None:
    details = [{"type": "reasoning.encrypted", "data": "gAAAAAB", "id": "rs_1", "index": 0}]
    with ChatServer(details=True) as server:
        server.queue(
            completion(None, calls=[call("submit", {})], reasoning="So.", reasoning_details=details),
            completion(),
        )
        client = model(server, "openrouter/openai/gpt-5")
        reply = client.complete(HELLO, TOOLS, Settings())
        assert reply.thought == "So."
        client.complete([*HELLO, turn(reply), *results(reply)], TOOLS, Settings())
        assert server.bodies[1]["messages"][2]["reasoning_details"] == details


# What is read


@pytest.mark.parametrize(
    ("told", "expected"),
    [
        (usage(100, 50, cached=80, reasoning=30), Usage(input=100, cache_read=80, output=50, reasoning=30)),
        ({"prompt_tokens": 12, "completion_tokens": 3}, Usage(input=12, output=3)),
        (
            {"prompt_tokens": 12, "completion_tokens": 3, "prompt_tokens_details": {},
             "completion_tokens_details": None},
            Usage(input=12, output=3),
        ),
        (  # OpenRouter tells writes to the cache
            {"prompt_tokens": 90, "completion_tokens": 3,
             "prompt_tokens_details": {"cache_write_tokens": 70}},
            Usage(input=90, cache_write=70, output=3),
        ),
        (  # DeepSeek
            {"prompt_tokens": 90, "completion_tokens": 3, "prompt_cache_hit_tokens": 64,
             "prompt_cache_miss_tokens": 26},
            Usage(input=90, cache_read=64, output=3),
        ),
        (  # xAI counts reasoning beside the completion: 10 + 2 + 40 = 52
            {"prompt_tokens": 10, "completion_tokens": 2, "total_tokens": 52,
             "completion_tokens_details": {"reasoning_tokens": 40}},
            Usage(input=10, output=42, reasoning=40),
        ),
    ],
)  # fmt: skip
def test_usage_is_normalised_and_kept(server: ChatServer, told: Any, expected: Usage) -> None:
    reply = ask(server, completion(tokens=told))
    assert (reply.usage, reply.usage_raw) == (expected, told)


def test_missing_usage_is_no_usage(server: ChatServer) -> None:
    body = completion()
    del body["usage"]
    reply = ask(server, body)
    assert (reply.usage, reply.usage_raw) == (Usage(), None)


@pytest.mark.parametrize(
    ("said", "finish", "text"),
    [
        (completion("Cut o", finish="length"), Finish.LENGTH, "Cut o"),
        (completion("", finish="content_filter"), Finish.REFUSAL, "content filter"),
        (completion(None, refusal="I will not."), Finish.REFUSAL, "I will not."),
        (completion("", finish="function_call_filter: MALFORMED_FUNCTION_CALL"), Finish.MALFORMED, ""),
        (completion([{"type": "text", "text": "a "}, {"type": "text", "text": "b"}]), Finish.STOP, "a b"),
        (completion("<think>hm</think>Hi."), Finish.STOP, "<think>hm</think>Hi."),
        (completion("I call.", calls=[call("submit", {})], finish="stop"), Finish.TOOL_CALLS, "I call."),
    ],
)  # fmt: skip
def test_every_ending_keeps_its_usage(server: ChatServer, said: Any, finish: Finish, text: str) -> None:
    reply = ask(server, said)
    assert reply.finish == finish
    assert text in reply.text
    assert reply.usage == Usage(input=12, output=3)


def test_the_first_of_several_choices_counts(server: ChatServer) -> None:
    said, other = completion("one"), completion("two")
    said["choices"] += other["choices"]
    assert ask(server, said).text == "one"


def test_calls_without_an_id_or_with_an_object_for_arguments_are_read(server: ChatServer) -> None:
    loose = {"type": "function", "function": {"name": "execute_code", "arguments": {"code": "ä"}}}
    empty = {"id": "", "function": {"name": "submit", "arguments": None}}
    server.queue(completion(None, calls=[loose, empty, empty]), completion())
    reply = model(server).complete(HELLO, TOOLS, Settings())
    assert [call.arguments for call in reply.tool_calls] == ['{"code": "ä"}', "{}", "{}"]
    assert len({call.id for call in reply.tool_calls}) == 3
    model(server).complete([*HELLO, turn(reply), *results(reply)], TOOLS, Settings())


# The key


def test_a_missing_key_is_an_error_before_anything_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY")
    config = ModelConfig(name="openai/m", base_url="https://example.org/v1", key_variable="MY_KEY")
    with pytest.raises(InputError, match=r"MY_KEY is not set; export the key of https://example\.org/v1"):
        make_model(config)
    assert make_model(ModelConfig(name="openai/m", base_url="http://localhost:1/v1")).name == "openai/m"
