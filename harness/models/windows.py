"""How many tokens a model holds: as its settings say, as its own server says, or as the price table lists."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from harness.errors import InputError
from harness.models.base import Settings
from harness.models.presets import Api
from harness.models.pricing import listed_context_window
from harness.models.registry import ModelConfig

if TYPE_CHECKING:
    import httpx2

log = logging.getLogger(__name__)

_PATIENCE = 3.0
"""Seconds for one question to a server; its answer is a help, and nothing waits for it."""


@dataclass(frozen=True)
class Window:
    """A context window.

    Attributes:
        tokens: of input and output together.
        source: who says so, for people.
    """

    tokens: int
    source: str


def context_window(config: ModelConfig, settings: Settings, *, ask_any: bool = False) -> Window | None:
    """The context window of a model; ``None`` when nobody knows it.

    A server on this machine is asked, as it may hold the model with another window than its maker's.

    Args:
        config: which model.
        settings: the resolved settings of its calls; their ``context_window`` comes first.
        ask_any: ask endpoints elsewhere too. Nothing is generated, so it costs nothing.
    """
    if settings.context_window is not None:
        return Window(settings.context_window, "settings.context_window")
    if config.preset.api is Api.SCRIPTED:
        return None
    if (config.is_local or ask_any) and (served := _served(config)) is not None:
        return served
    listed = listed_context_window(config.priced_as)
    return None if listed is None else Window(listed, "genai-prices' table")


def with_context_window(settings: Settings, config: ModelConfig) -> Settings:
    """Settings that say how many tokens the model holds, where that can be known; for the start of a job.

    Args:
        settings: the resolved settings of a model's calls.
        config: which model.
    """
    window = context_window(config, settings)
    if window is None:
        return settings
    if (wrong := crowded(settings, window)) is not None:
        log.warning("%s: %s", config.board_name, wrong)
    return settings.model_copy(update={"context_window": window.tokens})


def crowded(settings: Settings, window: Window) -> str | None:
    """What is wrong when a reply alone may fill the window, with the fix."""
    bound = settings.max_output_tokens
    if bound is None or bound < window.tokens:
        return None
    return (
        f"settings.max_output_tokens = {bound} leaves no room in the context window of "
        f"{window.tokens} tokens (says {window.source}); lower it for that model"
    )


def _served(config: ModelConfig) -> Window | None:
    """What the endpoint says of itself. Whatever goes wrong, it has not said anything."""
    import httpx2

    from harness.models.wire.client import open_client

    url = config.endpoint_url
    if url is None or config.spoken_api is Api.GOOGLE:
        return None
    try:
        key = config.key()
    except InputError:
        key = None
    headers = {"authorization": f"Bearer {key}"} if key else {}
    with open_client(url, key) as client:
        client.timeout, client.headers = httpx2.Timeout(_PATIENCE), httpx2.Headers(headers)
        for told in _TELLERS if config.is_local else _TELLERS[:1]:
            try:
                tokens = next((n for n in told(client, url.rstrip("/"), config.model) if _is_count(n)), None)
            except (httpx2.HTTPError, ValueError, LookupError, TypeError, AttributeError) as error:
                log.debug("%s does not tell its context window: %s", url, type(error).__name__)
                continue
            if tokens is not None:
                return Window(tokens, "the server")
    return None


def _model_list(client: httpx2.Client, url: str, model: str) -> Iterator[Any]:
    """The list of models, as vLLM, OpenRouter and llama.cpp extend it."""
    for entry in client.get(f"{url}/models").raise_for_status().json()["data"]:
        if entry["id"] == model:
            yield entry.get("max_model_len")
            yield entry.get("context_length")
            yield (entry.get("meta") or {}).get("n_ctx")


def _llama_cpp(client: httpx2.Client, url: str, model: str) -> Iterator[Any]:
    """What one slot of a llama.cpp server holds; it serves one model, whatever it is called."""
    props = client.get(f"{_root(url)}/props").raise_for_status().json()
    yield props["default_generation_settings"]["n_ctx"]


def _lm_studio(client: httpx2.Client, url: str, model: str) -> Iterator[Any]:
    """LM Studio's own list: what the model was loaded with, else the most it can be loaded with."""
    entry = client.get(f"{_root(url)}/api/v0/models/{model}").raise_for_status().json()
    yield entry.get("loaded_context_length")
    yield entry.get("max_context_length")


def _ollama(client: httpx2.Client, url: str, model: str) -> Iterator[Any]:
    """What Ollama has the model loaded with, or will load it with.

    The model's own maximum is not asked for: Ollama silently cuts off what is beyond the window it loaded.
    """
    for entry in client.get(f"{_root(url)}/api/ps").raise_for_status().json()["models"]:
        if model in (entry["name"], entry["name"].removesuffix(":latest")):
            yield entry.get("context_length")
    shown = client.post(f"{_root(url)}/api/show", json={"model": model}).raise_for_status().json()
    found = re.search(r"^num_ctx\s+(\d+)$", shown.get("parameters", ""), re.MULTILINE)
    yield int(found[1]) if found else None


_TELLERS: tuple[Callable[[httpx2.Client, str, str], Iterator[Any]], ...] = (
    _model_list,
    _llama_cpp,
    _lm_studio,
    _ollama,
)


def _root(url: str) -> str:
    """Where a server's own API begins, beside the one of OpenAI's kind."""
    return url.removesuffix("/v1")


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value > 0
