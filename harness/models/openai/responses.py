"""OpenAI's own models through its Responses API, by the openai SDK.

Nothing is kept at OpenAI (``store`` is false): the whole conversation is sent each time. A reasoning model's
thoughts travel with it, encrypted, as items that go back as they came.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from pydantic import BaseModel, ConfigDict

from harness.models import actionschema
from harness.models.base import ActionFormat, Finish, Message, Reply, Settings, Tool, ToolCall
from harness.models.faults import Fault
from harness.models.openai.calls import answer, make_client, tool_name
from harness.models.openai.errors import FILTERED, Complaint, garbled, outcome_of
from harness.models.openai.usage import responses_usage
from harness.models.registry import ModelConfig
from harness.models.wire.bodies import clean
from harness.models.wire.tapes import Tape


class ResponsesModel:
    """A model behind ``/responses``.

    Args:
        config: which model, and where.
        tape: records the exchanges, or answers in the network's place.

    Raises:
        InputError: the key's variable is not set and the endpoint is not on this machine.
    """

    def __init__(self, config: ModelConfig, tape: Tape | None = None) -> None:
        self.name = config.board_name
        self._model = config.model
        self._client = make_client(config, tape)

    def complete(self, messages: Sequence[Message], tools: Sequence[Tool], settings: Settings) -> Reply:
        """Answer the conversation. See :class:`harness.models.base.Model` for the errors."""
        request: dict[str, Any] = {
            "model": self._model,
            "input": [item for message in messages for item in _to_wire(message)],
            "store": False,
            "include": ["reasoning.encrypted_content"],
        }
        # As instructions and not as an item: then the input holds turns only, and both are sent each time.
        system = [clean(message.text) for message in messages if message.role == "system"]
        if system:
            request["instructions"] = "\n\n".join(system)
        if tools and settings.action_format is ActionFormat.TOOLS:
            request["tools"] = [_tool_to_wire(tool) for tool in tools]
        if tools and settings.action_format is ActionFormat.SCHEMA:
            form = {
                "type": "json_schema",
                "name": actionschema.NAME,
                "strict": True,
                "schema": actionschema.object_schema(tools),
            }
            request["text"] = {"format": form}
        if settings.sent_temperature is not None:
            request["temperature"] = settings.sent_temperature
        if settings.max_output_tokens is not None:
            request["max_output_tokens"] = settings.max_output_tokens
        if settings.effort is not None:
            # No summary is asked for: OpenAI refuses such a request of an organisation that is not verified.
            request["reasoning"] = {"effort": settings.effort}
        return answer(self._client, "/responses", request, settings.timeout_seconds, _from_wire)


def _to_wire(message: Message) -> Iterator[dict[str, Any]]:
    """The items of one turn; the system's is sent apart."""
    if message.role == "user":
        yield {"role": "user", "content": clean(message.text)}
    elif message.role == "tool":
        output = clean(message.text)
        yield {"type": "function_call_output", "call_id": message.tool_call_id, "output": output}
    elif message.role == "assistant" and message.raw is not None:
        yield from _sent_back(message.raw)
    elif message.role == "assistant":
        if message.text:
            yield {"role": "assistant", "content": clean(message.text)}
        for call in message.tool_calls:
            yield {
                "type": "function_call",
                "call_id": call.id,
                "name": tool_name(call.name),
                "arguments": clean(call.arguments),
            }


def _sent_back(items: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """A response's items as input of the next: as they are, but for what the API refuses there.

    Refused are the ``status`` of reasoning, reasoning that nothing follows (a response that was cut off while
    the model thought ends with it), and calls of tools by odd names or without arguments.
    """
    led_to = [index for index, item in enumerate(items) if item["type"] != "reasoning"]
    for item in items[: led_to[-1] + 1 if led_to else 0]:
        if item["type"] == "reasoning":
            yield {key: value for key, value in item.items() if key != "status"}
        elif item["type"] == "function_call":
            yield item | {"name": tool_name(item["name"]), "arguments": item.get("arguments") or ""}
        else:
            yield item


def _tool_to_wire(tool: Tool) -> dict[str, Any]:
    return {
        "type": "function",
        "name": tool.name,
        "description": tool.description,
        "parameters": tool.parameters,
        "strict": True,
    }


class _Wire(BaseModel):
    """A part of a body, of which only what we read must have its form."""

    model_config = ConfigDict(extra="ignore")


class _Part(_Wire):
    type: str
    text: str | None = None
    refusal: str | None = None


class _Item(_Wire):
    type: str
    call_id: str | None = None
    name: str | None = None
    arguments: str | None = None
    content: list[_Part] | None = None
    summary: list[_Part] | None = None


class _Incomplete(_Wire):
    reason: str | None = None


class _Response(_Wire):
    status: str | None = None
    model: str | None = None
    incomplete_details: _Incomplete | None = None
    output: list[_Item]


def _from_wire(body: dict[str, Any]) -> Reply | Fault:
    usage = responses_usage(body.get("usage"))
    if body.get("error"):
        outcome = outcome_of(Complaint.read(None, body))
        if isinstance(outcome, Reply):
            return replace(outcome, usage=usage, usage_raw=body.get("usage"))
        return outcome
    response = _Response.model_validate(body)
    if response.status not in ("completed", "incomplete", None):
        return garbled(f"the response is neither completed nor incomplete, but {response.status}")
    parts = [part for item in response.output if item.type == "message" for part in item.content or ()]
    refusals = [part.refusal for part in parts if part.refusal]
    text = "".join(part.text or "" for part in parts if part.type == "output_text")
    calls: list[ToolCall] = []
    for item in response.output:
        if item.type == "function_call":
            if item.call_id is None or item.name is None:
                return garbled("a function_call without call_id or name")
            calls.append(ToolCall(item.call_id, item.name, item.arguments or ""))
    finish = _finish(response, bool(refusals), bool(calls))
    if finish is Finish.REFUSAL:
        text = "".join(refusals) or text or FILTERED
    return Reply(
        text=text,
        thought=_thought(response.output),
        tool_calls=tuple(calls),
        usage=usage,
        finish=finish,
        raw=body["output"],
        usage_raw=body.get("usage"),
        version=response.model,
    )


def _finish(response: _Response, refused: bool, calls: bool) -> Finish:
    if response.status == "incomplete":
        reason = response.incomplete_details and response.incomplete_details.reason
        return Finish.REFUSAL if reason == "content_filter" else Finish.LENGTH
    if refused:
        return Finish.REFUSAL
    return Finish.TOOL_CALLS if calls else Finish.STOP


def _thought(items: list[_Item]) -> str:
    """Reasoning as far as it is shown: in full by some servers, as a summary by OpenAI where it gives one."""
    shown = [item.content or item.summary or [] for item in items if item.type == "reasoning"]
    return "\n\n".join(part.text for parts in shown for part in parts if part.text)
