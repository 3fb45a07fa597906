"""A conversation as the contents of generateContent, in the JSON of Google's REST API.

It is built as JSON rather than as the SDK's types because a replayed turn must go back as it came: the types
forbid fields they do not know, and write thought signatures in another alphabet of base64 than Google's.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from harness.models.base import Message, ToolCall
from harness.models.faults import Fault, FaultKind
from harness.models.wire.bodies import clean, read_json

#: Google's word for the signature of a function call that the model itself did not make
#: (https://ai.google.dev/gemini-api/docs/thought-signatures#faqs); without one, Gemini 3 refuses the call.
UNSIGNED = "skip_thought_signature_validator"


def system_text(messages: Sequence[Message]) -> str | None:
    """The text of the system turns, if there are any."""
    return "\n\n".join(clean(message.text) for message in messages if message.role == "system") or None


def to_contents(messages: Sequence[Message]) -> list[dict[str, Any]]:
    """The turns of a conversation, without the system's.

    Turns of one role in a row become one, as do the answers to parallel calls, and a turn that says nothing
    is left out: the API takes none without parts.

    Raises:
        Fault: a tool turn answers no call of the assistant's turn before it.
    """
    contents: list[dict[str, Any]] = []
    asked: dict[str, dict[str, Any]] = {}
    for message in messages:
        if message.role == "system":
            continue
        if message.role == "assistant":
            parts = _assistant_parts(message)
            wanted = [part["functionCall"] for part in parts if "functionCall" in part]
            asked = {call.id: each for call, each in zip(message.tool_calls, wanted, strict=False)}
        elif message.role == "tool":
            parts = [_answer_part(message, asked)]
        else:
            parts = _text_parts(message.text)
        role = "model" if message.role == "assistant" else "user"
        if contents and contents[-1]["role"] == role:
            contents[-1]["parts"] += parts
        elif parts:
            contents.append({"role": role, "parts": parts})
    return contents


def _assistant_parts(message: Message) -> list[dict[str, Any]]:
    if message.raw is not None:
        return list(message.raw.get("parts", ()))
    parts = _text_parts(message.text) + [_call_part(call) for call in message.tool_calls]
    for part in parts:
        if "functionCall" in part:
            # Of parallel calls, only the first is signed.
            part["thoughtSignature"] = UNSIGNED
            break
    return parts


def _text_parts(text: str) -> list[dict[str, Any]]:
    return [{"text": clean(text)}] if text else []


def _call_part(call: ToolCall) -> dict[str, Any]:
    try:
        args = read_json(clean(call.arguments or "{}").encode())
    except ValueError:
        args = None
    if not isinstance(args, dict):
        args = {"arguments": clean(call.arguments)}  # the API takes objects only
    return {"functionCall": {"id": call.id, "name": call.name, "args": args}}


def _answer_part(message: Message, asked: dict[str, dict[str, Any]]) -> dict[str, Any]:
    call = asked.get(message.tool_call_id or "")
    if call is None:
        raise Fault(FaultKind.REQUEST, f"the tool turn {message.tool_call_id!r} answers no call before it")
    given = {"id": call["id"]} if "id" in call else {}
    response = {**given, "name": call.get("name", ""), "response": {"output": clean(message.text)}}
    return {"functionResponse": response}
