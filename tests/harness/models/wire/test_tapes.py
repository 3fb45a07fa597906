"""Conversations of the real SDKs recorded over real HTTP, and played back with the server gone."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx2
import openai
import pytest
from google import genai
from google.genai import errors, types

from harness.errors import InputError
from harness.models.wire.client import open_client
from harness.models.wire.exchanges import Exchange, Failure, read_exchanges
from harness.models.wire.tapes import Player, Recorder, Tape, TapeEnd
from tests.harness.models.loopback import Said, loopback

KEY = "sk-canary-0123456789"
TOOL = {"type": "function", "function": {"name": "run", "parameters": {"type": "object"}}}


def chat_answer(text: str, **message: Any) -> dict[str, Any]:
    """A chat completion."""
    turn = {"role": "assistant", "content": text, **message}
    return {
        "id": "c",
        "object": "chat.completion",
        "created": 1,
        "model": "m-2026",
        "choices": [{"index": 0, "finish_reason": "stop", "message": turn}],
        "usage": {"prompt_tokens": 5, "completion_tokens": 7, "total_tokens": 12},
    }


CALL = {"id": "call-1", "type": "function", "function": {"name": "run", "arguments": '{"code": "1"}'}}
CHAT = [
    Said(
        chat_answer("", tool_calls=[CALL]), headers={"x-request-id": "r-1", "x-ratelimit-limit-requests": "9"}
    ),
    Said({"error": {"message": f"slow down, {KEY}"}}, status=429, headers={"retry-after": "7"}),
    Said(hang_up=True),
    Said(chat_answer("done \u00e9\ud83d\ude00")),
]


def chat(url: str, tape: Tape) -> list[Any]:
    """A conversation in four calls with a tool; failures are told, as its caller would see them."""
    client = openai.OpenAI(
        api_key=KEY, base_url=url, http_client=open_client(url, KEY, tape), max_retries=0, timeout=20
    )
    messages: list[Any] = [{"role": "user", "content": "do it"}]
    told: list[Any] = []
    for _ in CHAT:
        try:
            answer = client.chat.completions.create(model="m", messages=messages, tools=[TOOL])  # type: ignore[list-item]
        except openai.APIStatusError as error:
            told.append((error.status_code, error.response.headers["retry-after"], str(error)))
        except openai.APIConnectionError as error:
            told.append((type(error.__cause__), str(error.__cause__)))
        else:
            message = answer.choices[0].message
            told.append(answer.model_dump())
            messages.append(message.model_dump(exclude_none=True))
            messages += [
                {"role": "tool", "tool_call_id": call.id, "content": "1"} for call in message.tool_calls or ()
            ]
    return told


SIGNED = {"functionCall": {"name": "run", "args": {"code": "1"}}, "thoughtSignature": "c2lnbmVk"}
GEMINI = [
    Said({"candidates": [{"content": {"role": "model", "parts": [SIGNED]}, "finishReason": "STOP"}]}),
    Said(
        {"error": {"code": 429, "message": f"slow down, {KEY}", "status": "RESOURCE_EXHAUSTED"}}, status=429
    ),
    Said(hang_up=True),
    Said(
        {"candidates": [{"content": {"role": "model", "parts": [{"text": "done"}]}, "finishReason": "STOP"}]}
    ),
]


def gemini(url: str, tape: Tape) -> list[Any]:
    """The same with Gemini, whose thought signature goes back."""
    options = types.HttpOptions(
        base_url=url.removesuffix("/v1"), httpx_client=open_client(url, KEY, tape), timeout=20_000
    )
    client = genai.Client(api_key=KEY, http_options=options)
    contents: list[Any] = [types.Content(role="user", parts=[types.Part(text="do it")])]
    told: list[Any] = []
    for _ in GEMINI:
        try:
            answer = client.models.generate_content(model="m", contents=contents)
        except errors.APIError as error:
            told.append((error.code, str(error)))
        except httpx2.RequestError as error:
            told.append((type(error), str(error)))
        else:
            told.append(answer.model_dump(exclude={"sdk_http_response"}))
            assert answer.candidates is not None
            contents.append(answer.candidates[0].content)
            if answer.function_calls:
                part = types.Part.from_function_response(name="run", response={"result": "1"})
                contents.append(types.Content(role="user", parts=[part]))
    return told


CONVERSATIONS = [pytest.param(chat, CHAT, id="openai"), pytest.param(gemini, GEMINI, id="google")]
Conversation = Callable[[str, Tape], list[Any]]


def record(conversation: Conversation, answers: list[Said], path: Path) -> tuple[str, list[Any]]:
    """Hold a conversation with a server; gives its address, which nobody serves any more, and the answers."""
    recorder = Recorder(path)
    with loopback() as server:
        server.queue(*answers)
        told = conversation(server.url, recorder)
    recorder.close()
    return server.url, told


@pytest.mark.parametrize(("conversation", "answers"), CONVERSATIONS)
def test_a_conversation_is_played_back_with_the_server_gone(
    conversation: Conversation, answers: list[Said], tmp_path: Path
) -> None:
    path = tmp_path / "trial" / "exchanges.jsonl"
    url, told = record(conversation, answers, path)
    exchanges = read_exchanges(path)
    assert [e.status for e in exchanges] == [200, 429, None, 200]
    assert [e.failure.kind for e in exchanges if e.failure] == ["ReadError"]
    player = Player(exchanges, strict=True)
    assert conversation(url, player) == told
    assert (player.played, player.left, player.differences) == (4, 0, [])


@pytest.mark.parametrize(("conversation", "answers"), CONVERSATIONS)
def test_no_key_is_written_but_all_of_the_bodies_is(
    conversation: Conversation, answers: list[Said], tmp_path: Path
) -> None:
    path = tmp_path / "exchanges.jsonl"
    record(conversation, answers, path)
    text = path.read_text()
    assert KEY not in text
    assert "authorization" not in text.lower()
    assert "x-goog-api-key" not in text.lower()
    exchanges = read_exchanges(path)
    assert exchanges[0].response == answers[0].data
    assert exchanges[1].response == answers[1].data.replace(KEY.encode(), b"[key]")
    assert exchanges[0].request_headers["content-type"] == "application/json"
    assert b'"1"' in exchanges[3].request


def test_a_key_in_an_address_or_a_request_is_not_written_either(tmp_path: Path) -> None:
    recorder = Recorder(tmp_path / "exchanges.jsonl")
    with loopback() as server, open_client(server.url, KEY, recorder) as client:
        server.queue({})
        client.post(f"{server.url}?key={KEY}", json={"said": KEY}, timeout=20)
    recorder.close()
    assert server.bodies == [{"said": KEY}]
    (exchange,) = read_exchanges(tmp_path / "exchanges.jsonl")
    assert exchange.url.endswith("?key=[key]") or exchange.url.endswith("?key=%5Bkey%5D")
    assert exchange.request == b'{"said":"[key]"}'


def test_headers_that_tell_limits_and_names_are_written(tmp_path: Path) -> None:
    record(chat, CHAT, tmp_path / "exchanges.jsonl")
    first, second, *_ = read_exchanges(tmp_path / "exchanges.jsonl")
    assert first.response_headers["x-request-id"] == "r-1"
    assert first.response_headers["x-ratelimit-limit-requests"] == "9"
    assert second.response_headers["retry-after"] == "7"


def test_a_recorder_without_exchanges_leaves_no_file_and_a_closed_one_writes_no_more(tmp_path: Path) -> None:
    path = tmp_path / "exchanges.jsonl"
    Recorder(path).close()
    assert not path.exists()
    recorder = Recorder(path)
    with loopback() as server:
        server.queue({})
        client = open_client(server.url, None, recorder)
        client.post(server.url, json=1)
        recorder.close()
        assert client.post(server.url, json=2).json() == {}
    assert [e.request for e in read_exchanges(path)] == [b"1"]


def played(*bodies: Any, failure: Failure | None = None) -> list[Exchange]:
    """Exchanges that were never recorded."""
    status = None if failure else 200
    return [
        Exchange(n, "", "POST", "http://a/", {}, json.dumps(body).encode(), status, {}, b"{}", 0.0, failure)
        for n, body in enumerate(bodies, start=1)
    ]


@pytest.mark.parametrize(
    ("recorded", "now", "said"),
    [
        (
            {"messages": ["a", {"content": "x" * 100 + "left: 5 s"}]},
            {"messages": ["a", {"content": "x" * 100 + "left: 9 s"}]},
            f"messages[1].content, character 107: recorded '{'x' * 14}left: 5 s', now '{'x' * 14}left: 9 s'",
        ),
        ({"a": [1]}, {"a": [1, 2]}, "a[1]: recorded nothing, now 2"),
        ({"a": 1, "b": 2}, {"a": 1}, "b: recorded 2, now nothing"),
        ({"a": True}, {"a": 1}, "a: recorded true, now 1"),
        ({"a": 1, "b": 2}, {"b": 2, "a": 1}, "the body, character 3: recorded"),
        ([], {}, "the body: recorded [], now {}"),
    ],
)
def test_a_strict_player_names_the_exchange_and_the_first_difference(
    recorded: Any, now: Any, said: str
) -> None:
    player = Player(played({}, recorded), strict=True)
    with open_client("http://a/", None, player) as client:
        client.post("http://a/", content=b"{}")
        with pytest.raises(TapeEnd) as caught:
            client.post("http://a/", content=json.dumps(now).encode())
    assert f"exchange 2 differs at {said}" in str(caught.value)
    assert (player.played, len(player.differences)) == (1, 1)


def test_headers_in_any_language_are_recorded_and_played(tmp_path: Path) -> None:
    path = tmp_path / "exchanges.jsonl"
    recorder = Recorder(path)
    with loopback() as server, open_client(server.url, None, recorder) as client:
        server.queue(Said({}, headers={"x-request-id": "requ\xeate"}))
        said = client.post(server.url, json=1).headers["x-request-id"]
    recorder.close()
    with open_client("http://a/", None, Player(read_exchanges(path))) as client:
        assert client.post("http://a/", json=1).headers["x-request-id"] == said == "requête"


def test_another_address_is_a_difference() -> None:
    player = Player(played(1))
    with open_client("http://a/", None, player) as client:
        client.get("http://a/")
    assert str(player.differences[0]) == "exchange 1 differs at method: recorded 'POST', now 'GET'"


def test_a_player_that_is_not_strict_keeps_differences_and_answers() -> None:
    player = Player(played(1, 2, 3))
    with open_client("http://a/", None, player) as client:
        assert [client.post("http://a/", json=n).status_code for n in (1, 5, 3)] == [200] * 3
    assert [str(d) for d in player.differences] == ["exchange 2 differs at the body: recorded 2, now 5"]


def test_running_out_is_an_error_of_its_own_or_the_one_that_is_given() -> None:
    with (
        open_client("http://a/", None, Player([])) as client,
        pytest.raises(TapeEnd, match="all 0 recorded exchanges"),
    ):
        client.post("http://a/")
    with open_client("http://a/", None, Player([], at_end=KeyError())) as client, pytest.raises(KeyError):
        client.post("http://a/")


def test_a_failure_that_httpx2_does_not_know_is_refused() -> None:
    player = Player(played(1, failure=Failure(kind="SystemExit", text="")))
    with (
        open_client("http://a/", None, player) as client,
        pytest.raises(InputError, match="'SystemExit' is no error"),
    ):
        client.post("http://a/", json=1)
