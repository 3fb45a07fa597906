"""The protocol every model client speaks, and the words it uses."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Literal, Protocol

from pydantic import BaseModel, ConfigDict, Field, field_validator


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
    """One turn of the conversation.

    Attributes:
        role: ``tool`` answers the call named by ``tool_call_id``.
        text: what is said.
        tool_calls: of an assistant's turn.
        tool_call_id: of a ``tool`` turn.
        raw: an assistant's :attr:`Reply.raw`, which its client sends back as far as the provider takes it:
            reasoning items, thought signatures and ``reasoning_content`` live in it, unchanged.
    """

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


class ActionFormat(StrEnum):
    """How a model says what it does.

    ``tools``: native tool calls. ``json``: a JSON object in its text. ``schema``: the same, held to a JSON
    schema by the endpoint (structured output), for models without tool calls behind servers that can do it.
    """

    TOOLS = "tools"
    JSON = "json"
    SCHEMA = "schema"


class Settings(BaseModel):
    """What is asked of a model call; a value of ``None`` is not sent.

    Attributes:
        temperature: ``"default"`` is the provider's own, also where an agent's profile sets another.
        max_output_tokens: bound of one reply, reasoning included.
        effort: how much a reasoning model thinks, in its provider's words.
        max_input_tokens: bound of one call's input; a longer history is compacted.
        context_window: tokens of input and output that the model holds, where no table knows it.
        timeout_seconds: wall time of one call.
        action_format: how the model says what it does.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    temperature: float | Literal["default"] | None = None
    max_output_tokens: int | None = Field(default=None, ge=1)
    effort: str | None = Field(default=None, min_length=1)
    max_input_tokens: int | None = Field(default=None, ge=1)
    context_window: int | None = Field(default=None, ge=1)
    timeout_seconds: float = Field(default=600.0, gt=0, allow_inf_nan=False)
    action_format: ActionFormat = ActionFormat.TOOLS

    @field_validator("temperature", mode="before")
    @classmethod
    def _a_temperature(cls, value: Any) -> Any:
        number = isinstance(value, int | float) and not isinstance(value, bool)
        if value is None or value == "default" or (number and 0 <= value < math.inf):
            return value
        raise ValueError('write a number from 0 up, or "default" for the provider\'s own')

    @property
    def sent_temperature(self) -> float | None:
        """The temperature to send, if any."""
        return None if self.temperature == "default" else self.temperature


class Finish(StrEnum):
    """Why a reply ended."""

    STOP = "stop"
    TOOL_CALLS = "tool_calls"
    LENGTH = "length"
    """Cut off at the limit of output tokens."""
    REFUSAL = "refusal"
    """The model or the provider's filter declined; ``Reply.text`` says why, as far as it is told."""
    MALFORMED = "malformed"
    """The provider could not read the model's own tool call."""


@dataclass(frozen=True)
class Reply:
    """What a model answered.

    Attributes:
        text: what it said, without its reasoning.
        thought: its reasoning as far as the provider shows it (text or summary).
        tool_calls: the calls it asks for, in order.
        usage: normalised tokens.
        finish: why it ended.
        raw: the provider's own message, as plain JSON data, for :attr:`Message.raw`.
        usage_raw: the provider's own usage object, as plain JSON data.
        version: the model's exact version, as the endpoint names it.
    """

    text: str
    thought: str = ""
    tool_calls: tuple[ToolCall, ...] = ()
    usage: Usage = field(default_factory=Usage)
    finish: Finish = Finish.STOP
    raw: Any = None
    usage_raw: Any = None
    version: str | None = None


class Model(Protocol):
    """A candidate. One instance serves one trial at a time."""

    @property
    def name(self) -> str:
        """The name shown on boards, for example ``openai/gpt-4o-mini`` or ``scripted/forest``."""
        ...

    def complete(self, messages: Sequence[Message], tools: Sequence[Tool], settings: Settings) -> Reply:
        """Answer the conversation by one request, without retries; :mod:`harness.models.calling` retries.

        Args:
            messages: the conversation: a system turn, then user, assistant and tool turns.
            tools: what the model may do; ``settings.action_format`` says how they are offered.
            settings: what is asked of the call.

        Raises:
            Fault: the endpoint gave no reply; its kind says what follows.
        """
        ...
