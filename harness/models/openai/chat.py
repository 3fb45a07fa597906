"""Any endpoint that speaks OpenAI's Chat Completions, through the openai SDK."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from typing import Any

from pydantic import BaseModel, ConfigDict, Field
from pydantic_core import from_json

from harness.models import actionschema
from harness.models.addresses import hosts_openai_models
from harness.models.base import ActionFormat, Finish, Message, Reply, Settings, Tool, ToolCall
from harness.models.faults import Fault, FaultKind
from harness.models.openai.calls import answer, make_client, tool_name
from harness.models.openai.errors import FILTERED, Complaint, outcome_of
from harness.models.openai.usage import chat_usage
from harness.models.registry import ModelConfig
from harness.models.wire.bodies import clean
from harness.models.wire.tapes import Tape

#: What goes back of an assistant's message, beside ``reasoning_content``. The rest, such as ``refusal`` or
#: ``annotations``, is refused as input by some, and ``reasoning`` would repeat the details to OpenRouter.
_SENT_BACK = ("content", "tool_calls", "reasoning_details")


class ChatModel:
    """A model behind ``/chat/completions``.

    Args:
        config: which model, and where.
        tape: records the exchanges, or answers in the network's place.

    Raises:
        InputError: the key's variable is not set and the endpoint is not on this machine.
    """

    def __init__(self, config: ModelConfig, tape: Tape | None = None) -> None:
        self.name = config.board_name
        self._model = config.model
        self._preset = config.preset
        self._like_openai = hosts_openai_models(config.endpoint_url)
        self._client = make_client(config, tape)

    def complete(self, messages: Sequence[Message], tools: Sequence[Tool], settings: Settings) -> Reply:
        """Answer the conversation. See :class:`harness.models.base.Model` for the errors."""
        request: dict[str, Any] = {
            "model": self._model,
            "messages": [self._to_wire(message) for message in messages],
        }
        if tools and settings.action_format is ActionFormat.TOOLS:
            request["tools"] = [_tool_to_wire(tool) for tool in tools]
        if tools and settings.action_format is ActionFormat.SCHEMA:
            schema_of = actionschema.object_schema if self._like_openai else actionschema.action_schema
            form = {"name": actionschema.NAME, "strict": True, "schema": schema_of(tools)}
            request["response_format"] = {"type": "json_schema", "json_schema": form}
        if settings.sent_temperature is not None:
            request["temperature"] = settings.sent_temperature
        if settings.max_output_tokens is not None:
            # Reasoning models refuse the older word; other servers may know no other, and ignore the new one.
            bound = "max_completion_tokens" if self._like_openai else "max_tokens"
            request[bound] = settings.max_output_tokens
        if settings.effort is not None:
            request["reasoning_effort"] = settings.effort
        return answer(self._client, "/chat/completions", request, settings.timeout_seconds, _from_wire)

    def _to_wire(self, message: Message) -> dict[str, Any]:
        if message.role == "tool":
            return {"role": "tool", "tool_call_id": message.tool_call_id, "content": clean(message.text)}
        if message.role != "assistant":
            return {"role": message.role, "content": clean(message.text)}
        raw = message.raw
        if raw is None:
            raw = {"content": clean(message.text)}
            if message.tool_calls:
                raw["tool_calls"] = [_call_to_wire(call) for call in message.tool_calls]
        wire = {"role": "assistant"} | {key: raw[key] for key in _SENT_BACK if raw.get(key) not in (None, [])}
        if "tool_calls" in wire:
            read = {call.id: call for call in message.tool_calls}
            wire["tool_calls"] = [_acceptable(call, read.get(call["id"])) for call in wire["tool_calls"]]
        wire.setdefault("content", None if "tool_calls" in wire else "")
        if self._preset.returns_reasoning:
            # A turn of our own wording has none, but the field is missed there too.
            wire["reasoning_content"] = raw.get("reasoning_content") or ""
        return wire


class _Wire(BaseModel):
    """A part of a body, of which only what we read must have its form."""

    model_config = ConfigDict(extra="ignore", coerce_numbers_to_str=True)


class _Function(_Wire):
    name: str
    arguments: str | dict[str, Any] | None = None


class _Call(_Wire):
    id: str | None = None
    function: _Function


class _Message(_Wire):
    content: str | list[dict[str, Any]] | None = None
    refusal: str | None = None
    reasoning_content: str | None = None
    reasoning: str | None = None
    tool_calls: list[_Call] | None = None


class _Choice(_Wire):
    message: _Message
    finish_reason: str | None = None
    error: dict[str, Any] | None = None


class _Completion(_Wire):
    id: str | None = None
    model: str | None = None
    choices: list[_Choice] = Field(min_length=1)


def _from_wire(body: dict[str, Any]) -> Reply | Fault:
    if body.get("error"):
        return outcome_of(Complaint.read(None, body))
    completion = _Completion.model_validate(body)
    choice = completion.choices[0]
    finish = choice.finish_reason or ""
    if choice.error:
        return outcome_of(Complaint.read(None, choice.error))
    if finish in ("error", "network_error", "insufficient_system_resource"):
        # OpenRouter and DeepSeek: the model's server failed while it answered.
        return Fault(FaultKind.OVERLOADED, f"the endpoint gave up while it answered: {finish}")
    message = choice.message
    raw = dict(body["choices"][0]["message"])
    calls = tuple(_read_calls(completion, message.tool_calls or []))
    if calls:
        given = zip(raw["tool_calls"], calls, strict=True)
        raw["tool_calls"] = [asked | _call_to_wire(call, asked) for asked, call in given]
    text, ended = _text(message.content), _finish(finish, message, calls)
    if ended is Finish.REFUSAL:
        text = message.refusal or text or FILTERED
    return Reply(
        text=text,
        thought=message.reasoning_content or message.reasoning or "",
        tool_calls=calls,
        usage=chat_usage(body.get("usage")),
        finish=ended,
        raw=raw,
        usage_raw=body.get("usage"),
        version=completion.model,
    )


def _finish(reason: str, message: _Message, calls: tuple[ToolCall, ...]) -> Finish:
    if message.refusal or reason.startswith(("content_filter", "safety", "sensitive")):
        return Finish.REFUSAL
    if reason == "length":
        return Finish.LENGTH
    if "malformed" in reason.lower():
        return Finish.MALFORMED
    return Finish.TOOL_CALLS if calls else Finish.STOP


def _read_calls(completion: _Completion, asked: list[_Call]) -> list[ToolCall]:
    """The tool calls, each with an id of its own: some servers give none, or one to all."""
    calls: list[ToolCall] = []
    for number, call in enumerate(asked):
        arguments = call.function.arguments
        text = arguments if isinstance(arguments, str) else json.dumps(arguments or {}, ensure_ascii=False)
        id = call.id
        if not id or any(id == other.id for other in calls):
            # The same answer gives the same id, so that a replayed trial sends what the recorded one sent.
            seed = json.dumps([completion.id, number, call.function.name, text])
            id = f"call_{hashlib.sha256(seed.encode()).hexdigest()[:24]}"
        calls.append(ToolCall(id, call.function.name, text))
    return calls


def _text(content: str | list[dict[str, Any]] | None) -> str:
    if isinstance(content, list):
        return "".join(str(part.get("text") or "") for part in content if part.get("type") == "text")
    return content or ""


def _call_to_wire(call: ToolCall, asked: dict[str, Any] | None = None) -> dict[str, Any]:
    function = (asked or {}).get("function", {}) | {"name": call.name, "arguments": call.arguments}
    return {"id": call.id, "type": "function", "function": function}


def _acceptable(call: dict[str, Any], read: ToolCall | None) -> dict[str, Any]:
    """A call as it can be sent back, for one that is refused would end every conversation it stands in.

    OpenAI refuses names with odd characters; vLLM and llama.cpp read the arguments again, and refuse broken
    ones. What was wrong stands in the call's result.

    Args:
        call: as it came.
        read: as the conversation has it, where broken arguments may have been mended.
    """
    if read is not None:
        call = call | _call_to_wire(read, call)
    function = call["function"]
    try:
        fits = isinstance(from_json(function["arguments"], allow_inf_nan=False), dict)
    except ValueError:
        fits = False
    sent = {"name": tool_name(function["name"]), "arguments": function["arguments"] if fits else "{}"}
    return call | {"function": function | sent}


def _tool_to_wire(tool: Tool) -> dict[str, Any]:
    function = {"name": tool.name, "description": tool.description, "parameters": tool.parameters}
    return {"type": "function", "function": function}
