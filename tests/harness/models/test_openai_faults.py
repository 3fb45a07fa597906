"""Every way in which an endpoint of OpenAI's APIs fails, and the fault or the reply that it becomes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from harness.models.base import Finish, Message, Model, Reply, Settings, Usage
from harness.models.faults import Fault, FaultKind
from harness.models.presets import Api
from harness.models.registry import ModelConfig, make_model
from tests.harness.models.chat_server import completion, error
from tests.harness.models.loopback import Loopback, Said, loopback
from tests.harness.models.responses_server import message, response

KEY = "sk-canary-0123456789abcdef"
BOTH = pytest.mark.parametrize("api", [Api.CHAT, Api.RESPONSES])


@pytest.fixture(autouse=True)
def _keys(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)


@pytest.fixture
def server() -> Iterator[Loopback]:
    with loopback() as opened:
        yield opened


def model(url: str, api: Api = Api.CHAT) -> Model:
    return make_model(ModelConfig(name="openai/m", base_url=url, api=api))


def ask(server: Loopback, said: Any, api: Api = Api.CHAT, **settings: Any) -> Reply:
    server.queue(said)
    return model(server.url, api).complete([Message("user", "Hello")], (), Settings(**settings))


def fault_of(server: Loopback, said: Any, api: Api = Api.CHAT, **settings: Any) -> Fault:
    with pytest.raises(Fault) as caught:
        ask(server, said, api, **settings)
    return caught.value


def openrouter(code: int, message: str, **metadata: Any) -> dict[str, Any]:
    """What OpenRouter says of a provider's failure, often with status 200."""
    return {"error": {"code": code, "message": message, "metadata": metadata}, "user_id": "u"}


# Statuses and codes. The bodies are the endpoints' own words.


@BOTH
@pytest.mark.parametrize(
    ("said", "kind", "words"),
    [
        (error(401, "Incorrect API key provided.", code="invalid_api_key"), FaultKind.KEY, "Incorrect"),
        (error(403, "Not here", code="unsupported_country_region_territory"), FaultKind.KEY, "Not here"),
        (error(403, "You may not use this model."), FaultKind.KEY, "may not"),
        (error(402, "Insufficient Balance"), FaultKind.QUOTA, "Balance"),
        (error(429, "You exceeded your current quota.", code="insufficient_quota"), FaultKind.QUOTA, "quota"),
        (error(400, "Hard limit.", code="billing_hard_limit_reached"), FaultKind.QUOTA, "Hard limit"),
        (error(429, "Limit 30000", code="rate_limit_exceeded", type="tokens"), FaultKind.RATE_LIMIT, "30000"),
        (error(429, "Too many requests"), FaultKind.RATE_LIMIT, "Too many"),
        (error(404, "The model `m` does not exist.", code="model_not_found"), FaultKind.MODEL, "`m`"),
        (Said(b"404 page not found", 404, {"content-type": "text/plain"}), FaultKind.MODEL, "page not found"),
        (error(404, "Item with id 'rs_1' not found.", param="input"), FaultKind.REQUEST, "Item"),
        (error(408, "Timed out"), FaultKind.OVERLOADED, "Timed out"),
        (error(409, "Locked"), FaultKind.OVERLOADED, "Locked"),
        (error(500, "The server had an error.", type="server_error"), FaultKind.OVERLOADED, "had an error"),
        (error(503, "Loading model", code=503), FaultKind.OVERLOADED, "Loading"),
        (error(529, "Overloaded"), FaultKind.OVERLOADED, "Overloaded"),
        (Said(b"", 502), FaultKind.OVERLOADED, "no message"),
        (
            Said(b"<html><title>502 Bad Gateway</title><hr>nginx</html>", 502, {"content-type": "text/html"}),
            FaultKind.OVERLOADED,
            "502: 502 Bad Gateway",
        ),
        (error(400, "Unsupported value.", param="temperature"), FaultKind.REQUEST, "(about temperature)"),
        (error(413, "Request Entity Too Large"), FaultKind.REQUEST, "Too Large"),
        (Said({"detail": [{"loc": ["body", "x"]}]}, 422), FaultKind.REQUEST, "body"),
        (Said([{"error": {"code": 400, "message": "Bad field."}}], 400), FaultKind.REQUEST, "Bad field"),
        (Said(b"", 307, {"location": "https://else.where/v1"}), FaultKind.REQUEST, "https://else.where/v1"),
    ],
)  # fmt: skip
def test_an_error_is_a_fault_in_the_endpoints_words(
    server: Loopback, api: Api, said: Said, kind: FaultKind, words: str
) -> None:
    fault = fault_of(server, said, api)
    assert fault.kind is kind
    assert words in str(fault)
    assert "\n" not in str(fault)
    assert len(server.asked) == 1  # the SDK does not ask again by itself


# How servers say that a conversation is too long, each as it was seen.
TOO_LONG = {
    "OpenAI": error(
        400,
        "This model's maximum context length is 128000 tokens. However, your messages resulted in 204308.",
        param="messages",
        code="context_length_exceeded",
    ),
    "OpenAI's Responses": error(
        400,
        "Your input exceeds the context window of this model.",
        code="context_length_exceeded",
        param="input",
    ),
    "DeepSeek": error(
        400,
        "This model's maximum context length is 131072 tokens. However, you requested 140000 tokens.",
        code="invalid_request_error",
    ),
    "vLLM": Said(
        {
            "object": "error",
            "message": "This model's maximum context length is 6048 tokens. However, you requested 6616.",
            "type": "BadRequestError",
            "param": None,
            "code": 400,
        },
        400,
    ),
    "vLLM since 2026": error(
        400,
        "You passed 99073 input tokens and requested 32000 output tokens. However, the model's context "
        "length is only 131072 tokens, resulting in a maximum input length of 99072 tokens.",
        type="BadRequestError",
        code=400,
        param="input_tokens",
    ),
    "llama.cpp": error(
        400,
        "request (4390 tokens) exceeds the available context size (4096 tokens), try increasing it",
        type="exceed_context_size_error",
        code=400,
    ),
    "vLLM's engine": error(400, "The prompt (total length 25938) is too long to fit into the model"),
    "vLLM's engine, otherwise": error(
        400, "The decoder prompt (length 9000) is longer than the maximum model length of 4096."
    ),
    "SGLang": error(400, "The input (691793 tokens) is longer than the model's context length (540000)."),
    "llama-cpp-python": error(400, "Requested tokens (2285) exceed context window of 2048", code=400),
    "llama.cpp, older": error(
        400, "the request exceeds the available context size. try increasing the context size", code=400
    ),
    "llama.cpp while it generates": error(
        500, "Context size has been exceeded.", type="server_error", code=500
    ),
    "Ollama": Said({"error": "the input length exceeds the context length"}, 400),
    "LM Studio": Said(
        {
            "error": "The number of tokens to keep from the initial prompt is greater than the context "
            "length (n_keep: 13055>= n_ctx: 4096)."
        },
        400,
    ),
    "LM Studio, older": Said(
        {"error": "Trying to keep the first 15857 tokens when context the overflows. However, ..."}, 400
    ),
    "Gemini": Said([{"error": {"code": 400, "message": "The input token count exceeds the maximum."}}], 400),
    "LM Studio with status 200": Said(
        {"error": "Cannot truncate prompt with n_keep (15028) >= n_ctx (7424)"}
    ),
    "OpenRouter": Said(
        openrouter(
            400, "This endpoint's maximum context length is 16384 tokens. However, you requested 94307."
        ),
        400,
    ),
    "a provider behind OpenRouter": Said(
        openrouter(502, "Provider returned error", raw='{"message":"prompt is too long: 205668 tokens"}')
    ),
}


@pytest.mark.parametrize("said", TOO_LONG.values(), ids=TOO_LONG.keys())
def test_a_conversation_that_is_too_long_is_told_apart(server: Loopback, said: Said) -> None:
    assert fault_of(server, said).kind is FaultKind.CONTEXT


@BOTH
@pytest.mark.parametrize(
    "said",
    [
        error(400, "Your request was rejected.", code="content_policy_violation"),
        error(
            400,
            "Invalid prompt: your prompt was flagged as potentially violating our usage policy.",
            code="invalid_prompt",
        ),
        error(400, "The response was filtered.", code="content_filter", param="prompt"),
        error(400, "Content Exists Risk", code="invalid_request_error"),
        error(400, "Your request was rejected as a result of our safety system."),
        error(400, "Filtered due to the prompt triggering Azure OpenAI's content management policy."),
        error(403, "Your chosen model requires moderation and your input was flagged"),
        error(403, "Content violates usage guidelines."),
        Said(openrouter(403, "Input was flagged", reasons=["violence"], flagged_input="..."), 403),
    ],
)
def test_a_filter_that_declines_the_prompt_is_a_refusal(server: Loopback, api: Api, said: Said) -> None:
    reply = ask(server, said, api)
    assert reply.finish is Finish.REFUSAL
    assert reply.text == said.body["error"]["message"]
    assert reply.usage == Usage()


def test_a_prompt_that_is_invalid_otherwise_is_a_wrong_request(server: Loopback) -> None:
    fault = fault_of(server, error(400, "Invalid prompt: messages.70 is empty.", code="invalid_prompt"))
    assert fault.kind is FaultKind.REQUEST


@pytest.mark.parametrize(
    "said",
    [
        error(400, "Failed to call a function. Please adjust your prompt.", code="tool_use_failed"),
        error(500, "error parsing tool call: raw='{\"code\"', err=unexpected end of JSON input"),
        error(500, "Failed to parse input at pos 12: </tool_call>", type="server_error", code=500),
    ],
)
def test_a_tool_call_that_its_own_server_cannot_read_is_a_malformed_reply(
    server: Loopback, said: Said
) -> None:
    assert ask(server, said).finish is Finish.MALFORMED


# How long to wait


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry_after_ms": "1500", "retry_after": "9"}, 1.5),
        ({"retry_after": "7"}, 7.0),
        ({"retry_after": "0.5"}, 0.5),
        ({"retry_after": "-3"}, 0.0),
        ({"retry_after": "soon"}, None),
        ({"retry_after": "nan"}, None),
        ({"retry_after": "Wed, 21 Oct 2015 07:28:00 GMT"}, 0.0),  # a moment that has passed
        ({}, None),
    ],
)
def test_what_the_endpoint_asks_to_wait_is_told(
    server: Loopback, headers: dict[str, str], seconds: float | None
) -> None:
    fault = fault_of(server, error(429, "Slow down.", **headers))
    assert (fault.kind, fault.status, fault.retry_after) == (FaultKind.RATE_LIMIT, 429, seconds)


# Answers that are none, with status 200


@BOTH
@pytest.mark.parametrize(
    ("body", "words"),
    [
        (b"{not json", "not JSON"),
        (b'{"choices": [{"mess', "not JSON"),
        (b"", "not JSON"),
        (b"<!DOCTYPE html><html>Sign in</html>", "base_url"),
        (b"[" * 100_000, "not JSON"),
        (b'{"usage": NaN}', "not JSON"),
        (b"\xff\xfe{}", "not JSON"),
        ([], "no JSON object"),
        ("hello", "no JSON object"),
        ({}, "Field required"),
    ],
)
def test_what_is_no_answer_is_garbled(server: Loopback, api: Api, body: Any, words: str) -> None:
    fault = fault_of(server, Said(body), api)
    assert fault.kind is FaultKind.GARBLED
    assert words in str(fault)


@pytest.mark.parametrize(
    "body",
    [
        {"choices": []},
        {"choices": None},
        {"choices": "hello"},
        {"choices": [{}]},
        {"choices": [None]},
        {"choices": [{"message": None, "finish_reason": "stop"}]},
        completion(calls=[{"id": "1", "type": "function"}]),
        completion(tokens={"prompt_tokens": "many"}),
        completion(tokens={"prompt_tokens": -1}),
    ],
)
def test_another_form_than_a_completion_is_garbled(server: Loopback, body: Any) -> None:
    assert fault_of(server, body).kind is FaultKind.GARBLED


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        (openrouter(429, "Provider returned error", raw="temporarily rate-limited"), FaultKind.RATE_LIMIT),
        (openrouter(502, "Provider disconnected"), FaultKind.OVERLOADED),
        (openrouter(402, "Insufficient credits"), FaultKind.QUOTA),
        ({"error": "something broke"}, FaultKind.OVERLOADED),
        (completion("half", finish="error"), FaultKind.OVERLOADED),
        (completion("", finish="insufficient_system_resource"), FaultKind.OVERLOADED),
        (
            {"choices": [{"message": {}, "finish_reason": "error", "error": {"code": 429, "message": "x"}}]},
            FaultKind.RATE_LIMIT,
        ),
    ],
)
def test_an_error_inside_a_success_is_a_fault(server: Loopback, body: Any, kind: FaultKind) -> None:
    assert fault_of(server, body).kind is kind


# The way there and back


@BOTH
@pytest.mark.parametrize(
    ("said", "kind"),
    [
        (Said(hang_up=True), FaultKind.CONNECTION),
        (Said({"a": "b" * 100}, cut=20), FaultKind.CONNECTION),
        (Said(b"no gzip", headers={"content-encoding": "gzip"}), FaultKind.GARBLED),
        (Said({}, delay=3.0), FaultKind.TIMEOUT),
        (Said(b" " * 100, drip=0.1), FaultKind.TIMEOUT),
    ],
    ids=["hang up", "reset mid-body", "broken gzip", "slow first byte", "byte by byte"],
)
def test_a_broken_or_slow_connection(server: Loopback, api: Api, said: Said, kind: FaultKind) -> None:
    fault = fault_of(server, said, api, timeout_seconds=0.5 if kind is FaultKind.TIMEOUT else 60.0)
    assert fault.kind is kind


@BOTH
def test_an_endpoint_that_is_not_there(api: Api) -> None:
    with pytest.raises(Fault, match="ConnectError") as caught:
        model("http://127.0.0.1:9/v1", api).complete([Message("user", "Hello")], (), Settings())
    assert caught.value.kind is FaultKind.CONNECTION


@BOTH
def test_a_client_works_on_after_every_fault(server: Loopback, api: Api) -> None:
    success = completion("Hi.") if api is Api.CHAT else response(message("Hi."))
    faults = (error(500, "x"), Said(hang_up=True), Said(b"{"), Said({}, delay=3.0))
    server.queue(*(said for fault in faults for said in (fault, success)))
    client = model(server.url, api)
    for _ in faults:
        with pytest.raises(Fault):
            client.complete([Message("user", "Hello")], (), Settings(timeout_seconds=0.5))
        assert client.complete([Message("user", "Hello")], (), Settings()).text == "Hi."


# The key


def _shown(error: BaseException | None) -> Iterator[str]:
    """All that a traceback or a debugger shows of an exception and those behind it."""
    while error is not None:
        yield f"{error} {error!r} {error.args} {vars(error)}"
        error = error.__cause__ or error.__context__


@BOTH
@pytest.mark.parametrize(
    "said",
    [
        error(401, f"Incorrect API key provided: {KEY}."),
        error(400, f"Header 'Bearer {KEY}' is wrong", param=KEY),
        error(500, f"{KEY}"),
        error(429, "Slow down.", x_echo=KEY),
        Said(b"<html>" + KEY.encode()),
        Said({"choices": KEY, "output": KEY}),
        Said({"error": {"message": KEY, "code": 429}}),
        Said(hang_up=True),
        Said(b"", 302, {"location": f"https://x.org/?key={KEY}"}),
    ],
)
def test_no_fault_shows_the_key_that_an_endpoint_repeats(server: Loopback, api: Api, said: Said) -> None:
    fault = fault_of(server, said, api)
    assert not [text for text in _shown(fault) if KEY in text]
    assert fault.__context__ is None


@BOTH
def test_no_reply_shows_the_key_that_an_endpoint_repeats(server: Loopback, api: Api) -> None:
    said: Callable[..., Any] = completion if api is Api.CHAT else lambda text: response(message(text))
    assert KEY not in repr(ask(server, said(f"your key is {KEY}"), api))
