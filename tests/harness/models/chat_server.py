"""A server that speaks Chat Completions and is as strict as the strictest that do."""

from __future__ import annotations

import itertools
import json
from collections.abc import Sequence
from typing import Any

from tests.harness.models.loopback import Asked, Loopback, Said
from tests.harness.models.strict import (
    check_schema,
    check_tool_name,
    judge,
    only,
    require,
    said_error,
)

_IDS = itertools.count(1)

_REQUEST_KEYS = {
    "model", "messages", "tools", "tool_choice", "parallel_tool_calls", "temperature", "top_p", "max_tokens",
    "max_completion_tokens", "reasoning_effort", "response_format", "seed", "stop",
}  # fmt: skip


def completion(
    text: str | list[dict[str, Any]] | None = "Hi.",
    *,
    calls: Sequence[dict[str, Any]] = (),
    finish: str | None = None,
    tokens: dict[str, Any] | None = None,
    **message: Any,
) -> dict[str, Any]:
    """The body of a success, as OpenAI words it.

    Args:
        text: what the model says, whole or in parts.
        calls: its tool calls, made by :func:`call`.
        finish: the finish reason; by default the one that fits.
        tokens: the usage, by default :func:`usage`.
        message: further fields of the message, such as ``reasoning_content`` or ``refusal``.
    """
    said: dict[str, Any] = {
        "role": "assistant",
        "content": text,
        "refusal": None,
        "annotations": [],
    } | message
    if calls:
        said["tool_calls"] = [*calls]
    reason = finish or ("tool_calls" if calls else "stop")
    return {
        "id": f"chatcmpl-{next(_IDS):029d}",
        "object": "chat.completion",
        "created": 1764460800,
        "model": "small-2026-11-01",
        "choices": [{"index": 0, "message": said, "logprobs": None, "finish_reason": reason}],
        "usage": usage() if tokens is None else tokens,
        "service_tier": "default",
        "system_fingerprint": None,
    }


def call(name: str, arguments: dict[str, Any] | str, id: str | None = None) -> dict[str, Any]:
    """One tool call; arguments that are a string are the model's own text, however broken."""
    text = arguments if isinstance(arguments, str) else json.dumps(arguments)
    function = {"name": name, "arguments": text}
    return {"id": id or f"call_{next(_IDS):024d}", "type": "function", "function": function}


def usage(input: int = 12, output: int = 3, *, cached: int = 0, reasoning: int = 0) -> dict[str, Any]:
    """A usage object with its details."""
    return {
        "prompt_tokens": input,
        "completion_tokens": output,
        "total_tokens": input + output,
        "prompt_tokens_details": {"cached_tokens": cached, "audio_tokens": 0},
        "completion_tokens_details": {"reasoning_tokens": reasoning, "audio_tokens": 0},
    }


def error(
    status: int,
    message: str,
    *,
    code: str | int | None = None,
    type: str = "invalid_request_error",
    param: str | None = None,
    **headers: str,
) -> Said:
    """An error as OpenAI words it; underscores in the names of headers are hyphens on the wire."""
    return said_error(status, message, code=code, type=type, param=param, headers=headers)


class ChatServer(Loopback):
    """Answers ``/v1/chat/completions`` with what is queued, and refuses what any server would refuse.

    Refused are: fields and roles it does not know, tool calls without exactly one result each right after
    them, results without a call, contents of the wrong kind, and earlier tool calls whose arguments are no
    JSON object in a string (as vLLM and llama.cpp do, which read them again).

    Args:
        reasoning: as DeepSeek does while it thinks: every assistant's turn must bring back the
            ``reasoning_content`` that it came with. Without it, ``reasoning_content`` is an unknown field.
        details: as OpenRouter does: ``reasoning_details`` is a known field, and comes back unchanged.
        key: what must stand in the ``authorization`` header, if anything.
    """

    def __init__(self, *, reasoning: bool = False, details: bool = False, key: str | None = None) -> None:
        super().__init__(self._judge)
        self._reasoning = reasoning
        self._details = details
        self._key = key
        self._issued: dict[str, dict[str, Any]] = {}

    def queue(self, *answers: Any) -> None:
        """Add answers: bodies of successes, or :class:`Said`; tool calls in them are remembered."""
        super().queue(*answers)
        for answer in answers:
            body = answer.body if isinstance(answer, Said) else answer
            for choice in body.get("choices") or [] if isinstance(body, dict) else []:
                message = choice.get("message") if isinstance(choice, dict) else None
                for asked in (message or {}).get("tool_calls") or []:
                    self._issued[asked.get("id") or ""] = message or {}

    def _judge(self, asked: Asked) -> Said | None:
        return judge(asked, "/v1/chat/completions", self._key, self._check_request)

    def _check_request(self, body: dict[str, Any]) -> None:
        only(body, _REQUEST_KEYS)
        require(isinstance(body.get("model"), str), "you must provide a model parameter", "model")
        require(bool(body.get("messages")), "Invalid 'messages': empty array", "messages")
        require(
            not {"max_tokens", "max_completion_tokens"} <= set(body),
            "Setting 'max_tokens' and 'max_completion_tokens' at the same time is not supported.",
            "max_tokens",
        )
        for index, tool in enumerate(body.get("tools", ())):
            where = f"tools[{index}]"
            only(tool, {"type", "function"}, where)
            only(tool["function"], {"name", "description", "parameters", "strict"}, f"{where}.function")
            check_tool_name(tool["function"]["name"], f"{where}.function.name")
        if (form := body.get("response_format")) is not None:
            only(form, {"type", "json_schema"}, "response_format")
            only(form["json_schema"], {"name", "schema", "strict"}, "response_format.json_schema")
            check_schema(form["json_schema"]["schema"], "response_format.json_schema.schema")
        self._check_messages(body["messages"])

    def _check_messages(self, messages: list[dict[str, Any]]) -> None:
        open_calls: list[str] = []
        for index, message in enumerate(messages):
            where = f"messages[{index}]"
            role = message.get("role")
            if role == "tool":
                only(message, {"role", "content", "tool_call_id"}, where)
                require(
                    message.get("tool_call_id") in open_calls,
                    "messages with role 'tool' must be a response to a preceeding message with 'tool_calls'.",
                    f"{where}.role",
                )
                open_calls.remove(message["tool_call_id"])
                require(isinstance(message.get("content"), str), "expected a string", f"{where}.content")
                continue
            self._check_answered(open_calls, where)
            if role == "assistant":
                open_calls = self._check_assistant(message, where)
                continue
            require(role in ("system", "developer", "user"), f"Invalid value: {role!r}", f"{where}.role")
            only(message, {"role", "content", "name"}, where)
            require(isinstance(message.get("content"), str), "expected a string", f"{where}.content")
        self._check_answered(open_calls, "messages")

    @staticmethod
    def _check_answered(open_calls: list[str], where: str) -> None:
        require(
            not open_calls,
            "An assistant message with 'tool_calls' must be followed by tool messages responding to each "
            f"'tool_call_id'. The following tool_call_ids did not have response messages: {open_calls}",
            where,
        )

    def _check_assistant(self, message: dict[str, Any], where: str) -> list[str]:
        extra = {"reasoning_content"} if self._reasoning else set()
        extra |= {"reasoning", "reasoning_details"} if self._details else set()
        only(message, {"role", "content", "tool_calls", "name"} | extra, where)
        calls = message.get("tool_calls")
        require(calls is None or bool(calls), "empty array", f"{where}.tool_calls")
        fits = isinstance(message.get("content"), str) or (message.get("content") is None and bool(calls))
        require(fits, "expected a string, got null", f"{where}.content")
        for index, asked in enumerate(calls or ()):
            at = f"{where}.tool_calls[{index}]"
            only(asked, {"id", "type", "function"}, at)
            require(isinstance(asked.get("id"), str) and bool(asked["id"]), "expected a string", f"{at}.id")
            require(asked.get("type") == "function", "expected 'function'", f"{at}.type")
            only(asked["function"], {"name", "arguments"}, f"{at}.function")
            check_tool_name(asked["function"]["name"], f"{at}.function.name")
            self._check_arguments(asked["function"].get("arguments"), f"{at}.function.arguments")
        self._check_reasoning(message, calls or (), where)
        return [asked["id"] for asked in calls or ()]

    @staticmethod
    def _check_arguments(arguments: Any, where: str) -> None:
        require(isinstance(arguments, str), "expected a string", where)
        try:
            known = isinstance(json.loads(arguments), dict)
        except ValueError:
            known = False
        require(known, "arguments must be a valid JSON object", where)

    def _check_reasoning(self, message: dict[str, Any], calls: Sequence[dict[str, Any]], where: str) -> None:
        issued = next((self._issued[asked["id"]] for asked in calls if asked["id"] in self._issued), None)
        if self._reasoning:
            back = message.get("reasoning_content")
            fits = isinstance(back, str) if issued is None else back == issued.get("reasoning_content", "")
            require(
                fits, "The `reasoning_content` in the thinking mode must be passed back to the API.", None
            )
        if self._details and issued is not None:
            back = message.get("reasoning_details")
            fits = back == issued.get("reasoning_details")
            require(fits, "reasoning_details were changed", f"{where}.reasoning_details")
