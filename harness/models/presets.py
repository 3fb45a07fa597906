"""Providers by name: where they are, which API they speak, and what they want differently."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from harness.models.base import ActionFormat


class Api(StrEnum):
    """The APIs that models are reached by."""

    SCRIPTED = "scripted"
    RESPONSES = "responses"
    CHAT = "chat"
    GOOGLE = "google"


@dataclass(frozen=True)
class Preset:
    """One provider.

    Attributes:
        api: what it speaks.
        summary: one line for people.
        base_url: its endpoint; ``None`` is the SDK's default.
        key_variable: the environment variable that holds its key; ``None`` when it wants none.
        other_key_variable: one that is read where that is not set.
        also: other APIs it can be told to be spoken to by.
        efforts: the words its ``effort`` takes; ``None`` for any, empty for none.
        max_temperature: the highest temperature it takes.
        action_formats: how its models can be asked to say what they do.
        returns_reasoning: whether earlier ``reasoning_content`` must be sent back with tool calls.
    """

    api: Api
    summary: str
    base_url: str | None = None
    key_variable: str | None = None
    other_key_variable: str | None = None
    also: tuple[Api, ...] = ()
    efforts: tuple[str, ...] | None = None
    max_temperature: float = 2.0
    action_formats: tuple[ActionFormat, ...] = tuple(ActionFormat)
    returns_reasoning: bool = False


_OPENAI_EFFORTS = ("none", "minimal", "low", "medium", "high", "xhigh", "max")

PRESETS: dict[str, Preset] = {
    "scripted": Preset(Api.SCRIPTED, "deterministic candidates without a model"),
    "openai": Preset(
        Api.RESPONSES,
        "OpenAI's models; with a base URL, any server that speaks Chat Completions",
        key_variable="OPENAI_API_KEY",
        also=(Api.CHAT,),
        efforts=_OPENAI_EFFORTS,
    ),
    "google": Preset(
        Api.GOOGLE,
        "Google's Gemini models",
        key_variable="GEMINI_API_KEY",
        other_key_variable="GOOGLE_API_KEY",
        efforts=("minimal", "low", "medium", "high", "xhigh"),
    ),
    "deepseek": Preset(
        Api.CHAT,
        "DeepSeek's models",
        "https://api.deepseek.com",
        "DEEPSEEK_API_KEY",
        efforts=("low", "high", "max"),
        action_formats=(ActionFormat.TOOLS, ActionFormat.JSON),
        returns_reasoning=True,
    ),
    "openrouter": Preset(
        Api.CHAT,
        "models of many providers",
        "https://openrouter.ai/api/v1",
        "OPENROUTER_API_KEY",
        efforts=_OPENAI_EFFORTS,
    ),
    "vllm": Preset(Api.CHAT, "a vLLM server, by default on this machine", "http://localhost:8000/v1"),
    "ollama": Preset(Api.CHAT, "an Ollama server, by default on this machine", "http://localhost:11434/v1"),
    "lmstudio": Preset(
        Api.CHAT, "an LM Studio server, by default on this machine", "http://localhost:1234/v1"
    ),
}
