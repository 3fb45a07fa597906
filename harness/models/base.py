"""The protocol every model client speaks, and the words it uses."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from pydantic import BaseModel, ConfigDict, Field


class Usage(BaseModel):
    """Tokens of one or many model calls, normalised over providers.

    ``input`` counts all prompt tokens, cached ones included; ``cache_read`` and ``cache_write`` are parts
    of it. ``output`` counts all generated tokens; ``reasoning`` is a part of it.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    input: int = 0
    cache_read: int = 0
    cache_write: int = 0
    output: int = 0
    reasoning: int = 0

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            input=self.input + other.input,
            cache_read=self.cache_read + other.cache_read,
            cache_write=self.cache_write + other.cache_write,
            output=self.output + other.output,
            reasoning=self.reasoning + other.reasoning,
        )


@dataclass(frozen=True)
class ToolCall:
    """A call the model asks for; ``arguments`` is the JSON text exactly as the model wrote it."""

    id: str
    name: str
    arguments: str


@dataclass(frozen=True)
class Message:
    """One turn of the conversation. ``raw`` keeps what the provider must get back unchanged."""

    role: Literal["system", "user", "assistant", "tool"]
    text: str
    tool_calls: tuple[ToolCall, ...] = ()
    tool_call_id: str | None = None
    raw: Any = None


@dataclass(frozen=True)
class Tool:
    """A tool offered to the model: its name, what it does, and the JSON schema of its arguments."""

    name: str
    description: str
    parameters: dict[str, Any]


class Settings(BaseModel):
    """What is asked of a model call; a value of ``None`` is not sent."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    temperature: float | None = Field(default=None, ge=0, allow_inf_nan=False)
    max_output_tokens: int | None = Field(default=None, ge=1)
    effort: str | None = None
    timeout_seconds: float = Field(default=600.0, gt=0, allow_inf_nan=False)
    native_tools: bool = True


@dataclass(frozen=True)
class Reply:
    """What a model answered. ``raw`` is the provider's own message object as plain JSON data."""

    text: str
    tool_calls: tuple[ToolCall, ...] = ()
    usage: Usage = field(default_factory=Usage)
    finish: str = "stop"
    raw: Any = None


class Model(Protocol):
    """A candidate. One instance serves one trial at a time."""

    @property
    def name(self) -> str:
        """The name shown on boards, for example ``openai/gpt-4o-mini`` or ``scripted/forest``."""
        ...

    def complete(self, messages: Sequence[Message], tools: Sequence[Tool], settings: Settings) -> Reply:
        """Answer the conversation.

        Raises:
            ProviderError: the endpoint failed for good.
            ContextOverflow: the conversation is too long for the model.
            Refusal: the provider declined to answer.
        """
        ...
