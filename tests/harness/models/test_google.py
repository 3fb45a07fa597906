"""The google client: the real SDK over real HTTP to a server as strict as Gemini's."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from harness.actions import TOOLS
from harness.errors import InputError
from harness.models.base import ActionFormat, Finish, Message, Reply, Settings, Tool, ToolCall, Usage
from harness.models.faults import Fault, FaultKind
from harness.models.google.contents import UNSIGNED
from harness.models.registry import ModelConfig, make_model
from tests.harness.models.gemini_server import (
    KEY,
    MODEL,
    OLDER,
    OLDEST,
    GeminiServer,
    answer,
    call,
    gemini,
    text,
)
from tests.harness.models.talk import HELLO, results, turn


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[GeminiServer]:
    monkeypatch.setenv("GEMINI_API_KEY", KEY)
    monkeypatch.delenv("GOOGLE_API_KEY", raising=False)
    with gemini() as opened:
        yield opened


def ask(server: GeminiServer, *said: Any, tools: tuple[Tool, ...] = (), **settings: Any) -> Reply:
    server.queue(*said)
    return server.model().complete(HELLO, tools, Settings(**settings))


def fault_of(server: GeminiServer, said: Any, **settings: Any) -> Fault:
    with pytest.raises(Fault) as caught:
        ask(server, said, **settings)
    return caught.value


# What is sent


def test_a_plain_reply_and_what_is_sent_for_it(server: GeminiServer) -> None:
    reply = ask(server, answer(text("Hi.")), temperature=0.5, max_output_tokens=99, effort="low")
    assert (reply.text, reply.thought, reply.tool_calls, reply.finish) == ("Hi.", "", (), Finish.STOP)
    assert reply.version == "gemini-3-flash-preview-11-2026"
    assert server.bodies == [
        {
            "systemInstruction": {"role": "user", "parts": [{"text": "Be brief."}]},
            "contents": [{"role": "user", "parts": [{"text": "Hello"}]}],
            "generationConfig": {
                "temperature": 0.5,
                "maxOutputTokens": 99,
                "thinkingConfig": {"include_thoughts": True, "thinking_level": "LOW"},
            },
        }
    ]
    asked = server.loopback.asked[0]
    assert asked.path == f"/v1beta/models/{MODEL}:generateContent"
    assert asked.headers["x-goog-api-key"] == KEY
    assert asked.headers["x-server-timeout"] == "600"  # seconds; the SDK is told milliseconds


def test_what_is_not_asked_for_is_not_sent(server: GeminiServer) -> None:
    ask(server, answer(text("Hi.")), temperature="default")
    assert server.bodies[0]["generationConfig"] == {"thinkingConfig": {"include_thoughts": True}}
    assert "tools" not in server.bodies[0]


def test_tools_are_declared_for_native_calls_and_not_for_actions_as_json(server: GeminiServer) -> None:
    ask(server, answer(text("Hi.")), tools=TOOLS)
    ask(server, answer(text("{}")), tools=TOOLS, action_format=ActionFormat.JSON)
    declared = server.bodies[0]["tools"][0]["functionDeclarations"]
    assert [each["name"] for each in declared] == [tool.name for tool in TOOLS]
    assert [each["parameters_json_schema"] for each in declared] == [tool.parameters for tool in TOOLS]
    assert server.bodies[0]["toolConfig"] == {"functionCallingConfig": {"mode": "AUTO"}}
    assert "tools" not in server.bodies[1]
    assert "responseJsonSchema" not in server.bodies[1]["generationConfig"]


def test_actions_by_schema_are_held_to_one_that_names_every_tool(server: GeminiServer) -> None:
    ask(server, answer(text("{}")), tools=TOOLS, action_format=ActionFormat.SCHEMA)
    generation = server.bodies[0]["generationConfig"]
    assert generation["responseMimeType"] == "application/json"
    assert all(tool.name in json.dumps(generation["responseJsonSchema"]) for tool in TOOLS)
    assert "tools" not in server.bodies[0]


@pytest.mark.parametrize(
    ("name", "effort", "sent"),
    [
        (MODEL, "minimal", {"include_thoughts": True, "thinking_level": "MINIMAL"}),
        (MODEL, "xhigh", {"include_thoughts": True, "thinking_level": "XHIGH"}),
        (OLDER, None, {"include_thoughts": True}),
        # The numbers are those of Google's table of efforts in its page on compatibility with OpenAI.
        (OLDER, "medium", {"include_thoughts": True, "thinking_budget": 8192}),
        (OLDER, "high", {"include_thoughts": True, "thinking_budget": 24576}),
        (OLDEST, None, None),
    ],
)
def test_effort_is_said_in_the_words_of_the_models_generation(
    server: GeminiServer, name: str, effort: str | None, sent: Any
) -> None:
    server.queue(answer(text("Hi.")))
    server.model(name).complete(HELLO, (), Settings(effort=effort))
    assert server.bodies[0].get("generationConfig", {}).get("thinkingConfig") == sent


@pytest.mark.parametrize(
    ("name", "effort", "why"),
    [
        (OLDEST, "low", "google/gemini-2.0-flash does not think; leave its effort out"),
        (OLDER, "xhigh", "takes no effort 'xhigh'; it takes minimal, low, medium, high"),
    ],
)
def test_an_effort_that_a_model_cannot_make_is_refused_before_anything_is_sent(
    server: GeminiServer, name: str, effort: str, why: str
) -> None:
    with pytest.raises(InputError, match=why):
        make_model(ModelConfig(name=f"google/{name}", settings=Settings(effort=effort)))
    server.queue(answer(text("Hi.")))
    with pytest.raises(Fault, match=why) as caught:  # asked by the agent's profile
        server.model(name).complete(HELLO, (), Settings(effort=effort))
    assert caught.value.kind is FaultKind.REQUEST
    assert server.bodies == []


# The conversation


def test_a_conversation_with_tools_keeps_every_signature_and_answers_calls_in_order(
    server: GeminiServer,
) -> None:
    gemini_model = server.model()
    first = answer(
        text("Two things.", thought=True), text("Look:"),
        server.signed(call("request_info", {"info_type": "overview"}, id="a1")), call("get_history", id="a2"),
    )  # fmt: skip
    second = answer(server.signed(call("execute_code", {"code": "print('ä')"})))
    third = answer(server.signed(text("Done.")))
    server.queue(first, second, third, answer(text("Bye.")))
    talk = list(HELLO)
    for _ in range(3):
        reply = gemini_model.complete(talk, TOOLS, Settings())
        talk += [turn(reply), *results(reply)]
    talk.append(Message("user", "Go on."))
    assert gemini_model.complete(talk, TOOLS, Settings()).text == "Bye."
    sent = server.bodies[3]["contents"]
    assert [content["role"] for content in sent] == [
        "user", "model", "user", "model", "user", "model", "user",
    ]  # fmt: skip
    made = [body["candidates"][0]["content"] for body in (first, second, third)]
    assert [sent[1], sent[3], sent[5]] == made  # unchanged to the last character of each signature
    assert any(sign in made[0]["parts"][2]["thoughtSignature"] for sign in "+/")
    assert [part["functionResponse"] for part in sent[2]["parts"]] == [
        {"id": "a1", "name": "request_info", "response": {"output": "did request_info"}},
        {"id": "a2", "name": "get_history", "response": {"output": "did get_history"}},
    ]
    # A call without an id is answered without one.
    assert sent[4]["parts"] == [
        {"functionResponse": {"name": "execute_code", "response": {"output": "did execute_code"}}}
    ]


def test_a_reply_shows_thoughts_text_and_calls_apart(server: GeminiServer) -> None:
    said = answer(
        text("I look ", thought=True), text("first.", thought=True), text("So: "), text("here."),
        call("execute_code", {"code": "ä\n"}, id="a1"), call("submit"), call("submit"),
    )  # fmt: skip
    reply = ask(server, said, tools=TOOLS)
    assert (reply.thought, reply.text, reply.finish) == ("I look first.", "So: here.", Finish.TOOL_CALLS)
    assert reply.tool_calls[0] == ToolCall("a1", "execute_code", '{"code": "ä\\n"}')
    assert [wanted.arguments for wanted in reply.tool_calls[1:]] == ["{}", "{}"]
    assert len({wanted.id for wanted in reply.tool_calls}) == 3  # also where Google gives none


@pytest.mark.parametrize("spoil", ["drop", "alter", "move"])
def test_the_server_refuses_signatures_that_were_dropped_altered_or_moved(
    server: GeminiServer, spoil: str
) -> None:
    gemini_model = server.model()
    server.queue(answer(server.signed(call("submit", id="a1")), call("reset", id="a2")), answer(text("no")))
    reply = gemini_model.complete(HELLO, TOOLS, Settings())
    parts = reply.raw["parts"]
    signature = parts[0].pop("thoughtSignature")
    if spoil == "alter":
        parts[0]["thoughtSignature"] = signature[:-4] + "AAAA"
    elif spoil == "move":
        parts[1]["thoughtSignature"] = signature
    with pytest.raises(Fault, match="ignature") as caught:
        gemini_model.complete([*HELLO, turn(reply), *results(reply)], TOOLS, Settings())
    assert (caught.value.kind, caught.value.status) == (FaultKind.REQUEST, 400)


def test_calls_that_another_model_made_are_marked_as_unsigned(server: GeminiServer) -> None:
    made = (ToolCall("x1", "execute_code", '{"code": "1"}'), ToolCall("x2", "submit", '{"broken'))
    told = [Message("tool", "a", tool_call_id="x1"), Message("tool", "b", tool_call_id="x2")]
    server.queue(answer(text("Hi.")))
    server.model().complete([*HELLO, Message("assistant", "Both.", made), *told], TOOLS, Settings())
    assert server.bodies[0]["contents"][1]["parts"] == [
        {"text": "Both."},
        {
            "functionCall": {"id": "x1", "name": "execute_code", "args": {"code": "1"}},
            "thoughtSignature": UNSIGNED,
        },
        {"functionCall": {"id": "x2", "name": "submit", "args": {"arguments": '{"broken'}}},
    ]


def test_turns_of_one_role_in_a_row_become_one_and_empty_turns_none(server: GeminiServer) -> None:
    server.queue(answer(text("Hi.")))
    talk = [*HELLO, Message("assistant", ""), Message("user", "Say something."), Message("system", "Now.")]
    server.model().complete(talk, (), Settings())
    assert server.bodies[0]["contents"] == [
        {"role": "user", "parts": [{"text": "Hello"}, {"text": "Say something."}]}
    ]
    assert server.bodies[0]["systemInstruction"]["parts"] == [{"text": "Be brief.\n\nNow."}]


def test_an_answer_to_a_call_that_nobody_made_is_not_sent(server: GeminiServer) -> None:
    with pytest.raises(Fault, match="'c9' answers no call before it"):
        server.model().complete([*HELLO, Message("tool", "done", tool_call_id="c9")], TOOLS, Settings())
    assert server.bodies == []


# How replies end


def test_usage_counts_thoughts_as_output_and_cached_tokens_as_input(server: GeminiServer) -> None:
    counts = {
        "promptTokenCount": 100, "cachedContentTokenCount": 80, "toolUsePromptTokenCount": 5,
        "candidatesTokenCount": 20, "thoughtsTokenCount": 30, "totalTokenCount": 155,
        "promptTokensDetails": [{"modality": "TEXT", "tokenCount": 100}],
    }  # fmt: skip
    server.queue(answer(text("Hi."), usage=counts), answer(text("Hi."), usage={}))
    reply = server.model().complete(HELLO, (), Settings())
    assert reply.usage == Usage(input=105, cache_read=80, output=50, reasoning=30)
    assert reply.usage_raw == counts
    assert server.model().complete(HELLO, (), Settings()).usage == Usage()


@pytest.mark.parametrize(
    ("reason", "finish"),
    [
        ("STOP", Finish.STOP), ("FINISH_REASON_UNSPECIFIED", Finish.STOP), (None, Finish.STOP),
        ("MAX_TOKENS", Finish.LENGTH), ("CONTINUATION", Finish.LENGTH),
        ("SAFETY", Finish.REFUSAL), ("RECITATION", Finish.REFUSAL), ("BLOCKLIST", Finish.REFUSAL),
        ("PROHIBITED_CONTENT", Finish.REFUSAL), ("SPII", Finish.REFUSAL), ("LANGUAGE", Finish.REFUSAL),
        ("ESCALATION", Finish.REFUSAL), ("OTHER", Finish.REFUSAL), ("INVENTED_LATER", Finish.REFUSAL),
        ("MALFORMED_FUNCTION_CALL", Finish.MALFORMED), ("UNEXPECTED_TOOL_CALL", Finish.MALFORMED),
        ("TOO_MANY_TOOL_CALLS", Finish.MALFORMED), ("MALFORMED_RESPONSE", Finish.MALFORMED),
    ],
)  # fmt: skip
def test_a_reply_without_content_ends_as_its_finish_reason_says_and_keeps_its_usage(
    server: GeminiServer, reason: str | None, finish: Finish
) -> None:
    reply = ask(server, answer(finish=reason))
    assert (reply.finish, reply.tool_calls, reply.raw) == (finish, (), None)
    assert reply.usage == Usage(input=12, output=3)
    told = finish in (Finish.REFUSAL, Finish.MALFORMED)
    assert reply.text == (f"the provider stopped the reply: {reason}" if told else "")


def test_a_cut_off_reply_keeps_what_was_said(server: GeminiServer) -> None:
    reply = ask(server, answer(text("Half a"), finish="MAX_TOKENS"))
    assert (reply.text, reply.finish) == ("Half a", Finish.LENGTH)
    assert reply.raw == {"role": "model", "parts": [{"text": "Half a"}]}


def test_a_reply_that_google_would_continue_is_one_request(server: GeminiServer) -> None:
    reply = ask(server, answer(text("Half a"), finish="CONTINUATION", continuationToken="dG9rZW4="))
    assert (reply.text, reply.finish, len(server.bodies)) == ("Half a", Finish.LENGTH, 1)


@pytest.mark.parametrize("reason", ["OTHER", "INVENTED_LATER"])
def test_an_unknown_end_of_a_reply_that_says_something_is_its_end(server: GeminiServer, reason: str) -> None:
    assert ask(server, answer(text("Hi."), finish=reason)).finish is Finish.STOP


def test_googles_own_words_about_a_broken_call_are_passed_on(server: GeminiServer) -> None:
    why = "Malformed function call: print(default_api.submit("
    reply = ask(server, answer(finish="MALFORMED_FUNCTION_CALL", finishMessage=why), tools=TOOLS)
    assert (reply.text, reply.finish) == (why, Finish.MALFORMED)


@pytest.mark.parametrize("name", ["run code!", "", None, "1st", "x" * 129])
def test_a_call_of_what_no_function_can_be_called_is_a_broken_call(
    server: GeminiServer, name: str | None
) -> None:
    odd = {"functionCall": {"name": name, "args": {}}}
    reply = ask(server, answer(text("So:"), call("submit"), odd))
    assert (reply.finish, reply.tool_calls, reply.raw) == (Finish.MALFORMED, (), None)
    assert reply.text == f"So:\nno function can have the name {name or ''!r}"
    assert reply.usage.input > 0


def test_text_that_has_no_utf8_is_sent_as_far_as_it_has(server: GeminiServer) -> None:
    half = "a\ud83d"
    own = ToolCall("call_1", "execute_code", '{"code": "a\\ud83d"}')
    talk = [Message("assistant", half, (own,)), Message("tool", half, tool_call_id="call_1")]
    server.queue(answer(text("Hi.")))
    server.model().complete([Message("system", half), Message("user", half), *talk], TOOLS, Settings())
    assert "\\ud83d" not in json.dumps(server.bodies)
    assert json.dumps(server.bodies).count("a?") == 5


def test_calls_of_a_refused_reply_are_not_made(server: GeminiServer) -> None:
    reply = ask(server, answer(text("I"), call("submit"), finish="SAFETY"), tools=TOOLS)
    assert reply.text == "I\nthe provider stopped the reply: SAFETY"
    assert (reply.tool_calls, reply.raw, reply.finish) == ((), None, Finish.REFUSAL)


@pytest.mark.parametrize("reason", ["SAFETY", "OTHER", "INVENTED_LATER"])
def test_a_blocked_prompt_is_a_refusal_with_usage(server: GeminiServer, reason: str) -> None:
    reply = ask(server, {"promptFeedback": {"blockReason": reason}, "usageMetadata": {"promptTokenCount": 7}})
    assert (reply.text, reply.finish) == (f"the provider blocked the prompt: {reason}", Finish.REFUSAL)
    assert reply.usage == Usage(input=7)


@pytest.mark.parametrize(
    ("reason", "kind"),
    [("MISSING_THOUGHT_SIGNATURE", FaultKind.REQUEST), ("PUP_LIMITED_DISABLED", FaultKind.KEY)],
)
def test_finish_reasons_about_request_and_account_are_faults(
    server: GeminiServer, reason: str, kind: FaultKind
) -> None:
    assert fault_of(server, answer(finish=reason)).kind is kind
