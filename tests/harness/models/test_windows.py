"""Context windows, asked of a real server over HTTP; the answers are worded as each server words them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from harness.models.base import Settings
from harness.models.registry import ModelConfig
from harness.models.windows import Window, context_window, with_context_window
from tests.harness.models.loopback import Asked, Loopback, Said, loopback


@pytest.fixture
def server() -> Iterator[Loopback]:
    with loopback() as opened:
        yield opened


def local(server: Loopback, name: str = "openai/qwen") -> ModelConfig:
    return ModelConfig(name=name, base_url=server.url)


def models(*entries: dict[str, Any]) -> dict[str, Any]:
    return {"/v1/models": {"object": "list", "data": list(entries)}}


PLAIN = {"id": "qwen", "object": "model", "owned_by": "library"}

SERVERS: dict[str, tuple[dict[str, Any], int | None]] = {
    "vLLM": (models({**PLAIN, "max_model_len": 32768}), 32768),
    "OpenRouter": (models({**PLAIN, "context_length": 131072}), 131072),
    "llama.cpp, by its list": (models({**PLAIN, "meta": {"n_ctx": 4096, "n_ctx_train": 8192}}), 4096),
    "llama.cpp, by its properties": (
        {
            **models({**PLAIN, "id": "/weights/file.gguf", "meta": {"n_ctx_train": 8192}}),
            "/props": {"default_generation_settings": {"n_ctx": 2048}},
        },
        2048,
    ),
    "LM Studio, loaded": (
        {
            **models(PLAIN),
            "/api/v0/models/qwen": {"loaded_context_length": 8192, "max_context_length": 32768},
        },
        8192,
    ),
    "LM Studio, not loaded": (
        {**models(PLAIN), "/api/v0/models/qwen": {"max_context_length": 32768}},
        32768,
    ),
    "Ollama, loaded": (
        {**models(PLAIN), "/api/ps": {"models": [{"name": "qwen:latest", "context_length": 16384}]}},
        16384,
    ),
    "a list without this model": (models({"id": "other", "max_model_len": 32768}), None),
    "a window that is no number": (models({**PLAIN, "max_model_len": "32k", "context_length": True}), None),
    "a list of another form": ({"/v1/models": ["qwen"]}, None),
    "no JSON": ({"/v1/models": b"<html>"}, None),
    "nothing": ({}, None),
}


@pytest.mark.parametrize("kind", SERVERS)
def test_a_server_on_this_machine_is_asked(kind: str, server: Loopback) -> None:
    server.pages, tokens = SERVERS[kind]
    expected = None if tokens is None else Window(tokens, "the server")
    assert context_window(local(server), Settings()) == expected
    assert server.asked == [], "nothing is generated"


def test_ollama_tells_what_it_will_load_a_model_with_but_never_the_models_own_maximum() -> None:
    def show(asked: Asked) -> Said:
        assert asked.body == {"model": "qwen"}
        return Said({"parameters": parameters, "model_info": {"qwen3.context_length": 40960}})

    with loopback(show) as server:
        server.pages = {"/api/ps": {"models": []}}
        parameters = 'stop    "<|im_end|>"\nnum_ctx                        8192\ntemperature 1'
        assert context_window(local(server, "ollama/qwen"), Settings()) == Window(8192, "the server")
        parameters = "temperature 1"
        assert context_window(local(server, "ollama/qwen"), Settings()) is None


def test_a_local_servers_word_counts_more_than_the_table(server: Loopback) -> None:
    named = ModelConfig(name="deepseek/deepseek-chat", base_url=server.url, key_variable="NO_SUCH_KEY")
    server.pages = models({"id": "deepseek-chat", "max_model_len": 4096})
    assert context_window(named, Settings()) == Window(4096, "the server")


def test_the_settings_count_most() -> None:
    asked = Settings(context_window=1000)
    window = context_window(ModelConfig(name="openai/gpt-4o-mini"), asked)
    assert window == Window(1000, "settings.context_window")
    assert with_context_window(asked, ModelConfig(name="openai/gpt-4o-mini")) == asked


@pytest.mark.parametrize(
    ("name", "tokens"),
    [
        # Read off the files of genai-prices 0.2.3.
        ("openai/gpt-4o-mini", 128_000),
        ("deepseek/deepseek-chat", 64_000),
        ("openrouter/qwen/qwen3-8b", 131_072),
        ("openai/no-such-model", None),
        ("scripted/forest", None),
    ],
)
def test_elsewhere_the_table_is_asked(name: str, tokens: int | None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    filled = with_context_window(Settings(effort="low"), ModelConfig(name=name))
    assert filled == Settings(effort="low", context_window=tokens)


def test_a_server_that_is_not_there_or_does_not_answer_is_no_failure() -> None:
    with loopback() as server:
        gone = local(server)
    assert context_window(gone, Settings()) is None


def test_a_reply_that_may_fill_the_window_alone_is_warned_of(
    server: Loopback, caplog: pytest.LogCaptureFixture
) -> None:
    server.pages = models({**PLAIN, "max_model_len": 4096})
    with_context_window(Settings(max_output_tokens=4095), local(server))
    assert not caplog.messages
    with_context_window(Settings(max_output_tokens=8192), local(server))
    assert caplog.messages == [
        "openai/qwen: settings.max_output_tokens = 8192 leaves no room in the context window of 4096 tokens "
        "(says the server); lower it for that model"
    ]
