"""A server that speaks OpenAI's Responses API, keeps nothing, and refuses what OpenAI refuses."""

from __future__ import annotations

import itertools
import json
from typing import Any

from tests.harness.models.loopback import Asked, Loopback, Said
from tests.harness.models.strict import (
    Refused,
    check_schema,
    check_tool_name,
    judge,
    only,
    require,
    said_error,
)

_IDS = itertools.count(1)

_REQUEST_KEYS = {
    "model", "input", "instructions", "tools", "tool_choice", "parallel_tool_calls", "temperature", "top_p",
    "max_output_tokens", "reasoning", "text", "include", "store",
}  # fmt: skip
_ENCRYPTED = "reasoning.encrypted_content"


def response(
    *output: dict[str, Any],
    status: str = "completed",
    reason: str | None = None,
    error: dict[str, Any] | None = None,
    tokens: dict[str, Any] | None = None,
) -> dict[str, Any]:
    """The body of a response.

    Args:
        output: its items, made by :func:`reasoning`, :func:`message`, :func:`refusal` and :func:`call`.
        status: ``completed``, ``incomplete`` or ``failed``.
        reason: why it is incomplete.
        error: why it failed: ``code`` and ``message``.
        tokens: the usage, by default :func:`usage`.
    """
    return {
        "id": f"resp_{next(_IDS):048x}",
        "object": "response",
        "created_at": 1764460800,
        "status": status,
        "error": error,
        "incomplete_details": None if reason is None else {"reason": reason},
        "model": "large-2026-11-01",
        "output": [*output],
        "parallel_tool_calls": True,
        "previous_response_id": None,
        "store": False,
        "usage": usage() if tokens is None else tokens,
    }


def reasoning(summary: str | None = None, *, status: str | None = None) -> dict[str, Any]:
    """A reasoning item; its thoughts are encrypted, its summary is there if one is given."""
    number = next(_IDS)
    item: dict[str, Any] = {
        "id": f"rs_{number:048x}",
        "type": "reasoning",
        "summary": [] if summary is None else [{"type": "summary_text", "text": summary}],
        "encrypted_content": f"gAAAAAB{number:057x}",
    }
    return item if status is None else item | {"status": status}


def message(text: str, *, status: str = "completed") -> dict[str, Any]:
    """What the model says."""
    part = {"type": "output_text", "text": text, "annotations": [], "logprobs": []}
    return _message(part, status)


def refusal(text: str) -> dict[str, Any]:
    """What the model says when it declines."""
    return _message({"type": "refusal", "refusal": text}, "completed")


def call(name: str, arguments: dict[str, Any] | str, *, status: str = "completed") -> dict[str, Any]:
    """A tool call; arguments that are a string are the model's own text, however broken."""
    number = next(_IDS)
    return {
        "id": f"fc_{number:048x}",
        "type": "function_call",
        "status": status,
        "call_id": f"call_{number:024d}",
        "name": name,
        "arguments": arguments if isinstance(arguments, str) else json.dumps(arguments),
    }


def usage(
    input: int = 20, output: int = 5, *, cached: int = 0, written: int = 0, reasoning: int = 0
) -> dict[str, Any]:
    """A usage object with its details."""
    return {
        "input_tokens": input,
        "input_tokens_details": {"cached_tokens": cached, "cache_write_tokens": written},
        "output_tokens": output,
        "output_tokens_details": {"reasoning_tokens": reasoning},
        "total_tokens": input + output,
    }


def error(
    status: int,
    message: str,
    *,
    code: str | None = None,
    type: str = "invalid_request_error",
    param: str | None = None,
    **headers: str,
) -> Said:
    """An error as OpenAI words it; underscores in the names of headers are hyphens on the wire."""
    return said_error(status, message, code=code, type=type, param=param, headers=headers)


class ResponsesServer(Loopback):
    """Answers ``/v1/responses`` with what is queued, and refuses what OpenAI would refuse.

    Refused are: requests that would be stored or do not ask for encrypted reasoning, unknown fields and
    items, items of earlier responses that were changed, reasoning that is left out, moved or has nothing
    after it, and tool calls without exactly one result each.

    Args:
        key: what must stand in the ``authorization`` header, if anything.
    """

    def __init__(self, *, key: str | None = None) -> None:
        super().__init__(self._judge)
        self._key = key
        self._issued: dict[str, dict[str, Any]] = {}
        self._thought_before: dict[str, str] = {}

    def queue(self, *answers: Any) -> None:
        """Add answers: bodies of successes, or :class:`Said`; the items in them are remembered."""
        super().queue(*answers)
        for answer in answers:
            body = answer.body if isinstance(answer, Said) else answer
            thought = None
            for item in body.get("output") or [] if isinstance(body, dict) else []:
                self._issued[item["id"]] = item
                if thought is not None:
                    self._thought_before[item["id"]] = thought
                thought = item["id"] if item["type"] == "reasoning" else None

    def _judge(self, asked: Asked) -> Said | None:
        return judge(asked, "/v1/responses", self._key, self._check_request)

    def _check_request(self, body: dict[str, Any]) -> None:
        only(body, _REQUEST_KEYS)
        require(isinstance(body.get("model"), str), "Missing required parameter: 'model'.", "model")
        require(body.get("store") is False, "this server keeps nothing, so it must be false", "store")
        require(_ENCRYPTED in body.get("include", ()), f"must have {_ENCRYPTED}", "include")
        require(body.get("max_output_tokens", 16) >= 16, "below the minimum of 16", "max_output_tokens")
        only(body.get("reasoning", {}), {"effort", "summary"}, "reasoning")
        for index, tool in enumerate(body.get("tools", ())):
            where = f"tools[{index}]"
            only(tool, {"type", "name", "description", "parameters", "strict"}, where)
            check_tool_name(tool["name"], f"{where}.name")
            if tool["strict"]:
                check_schema(tool["parameters"], f"{where}.parameters")
        if (form := body.get("text", {}).get("format")) is not None:
            only(form, {"type", "name", "schema", "strict"}, "text.format")
            fits = form["schema"].get("type") == "object"
            require(fits, "schema must be a JSON Schema of 'type: \"object\"'", "text.format.schema")
            check_schema(form["schema"], "text.format.schema")
        require(bool(body.get("input")), "empty array", "input")
        self._check_items(body["input"])

    def _check_items(self, items: list[dict[str, Any]]) -> None:
        open_calls: set[str] = set()
        before: dict[str, Any] = {}
        for index, item in enumerate(items):
            where = f"input[{index}]"
            kind = item.get("type", "message")
            if kind == "function_call_output":
                only(item, {"type", "call_id", "output"}, where)
                call_id = item.get("call_id")
                if call_id not in open_calls:
                    raise Refused(
                        f"No tool call found for function call output with call_id {call_id}.", "input"
                    )
                open_calls.remove(call_id)
                require(isinstance(item.get("output"), str), "expected a string", f"{where}.output")
            elif kind == "function_call":
                only(item, {"type", "id", "call_id", "name", "arguments", "status"}, where)
                check_tool_name(item.get("name"), f"{where}.name")
                require(isinstance(item.get("arguments"), str), "expected a string", f"{where}.arguments")
                open_calls.add(item["call_id"])
            elif kind == "reasoning":
                only(item, {"type", "id", "summary", "content", "encrypted_content"}, where)
            else:
                require(kind == "message", f"Invalid value: {kind!r}", f"{where}.type")
                only(item, {"type", "id", "role", "content", "status", "phase"}, where)
                known = ("user", "system", "developer", "assistant")
                require(item.get("role") in known, f"Invalid value: {item.get('role')!r}", f"{where}.role")
            self._check_thought(before, item)
            self._check_unchanged(item)
            before = item
        self._check_thought(before, {})
        if open_calls:
            raise Refused(f"No tool output found for function call {min(open_calls)}.", "input")

    def _check_thought(self, before: dict[str, Any], item: dict[str, Any]) -> None:
        """Reasoning stands right before the item that it led to."""
        id = self._id(item)
        wanted = self._thought_before.get(id)
        if before.get("type") == "reasoning" and before.get("id") != wanted:
            raise Refused(
                f"Item '{before.get('id')}' of type 'reasoning' was provided without its required "
                "following item.",
                "input",
            )
        if wanted is not None and before.get("id") != wanted:
            raise Refused(
                f"Item '{id}' of type '{item['type']}' was provided without its required 'reasoning' "
                f"item: '{wanted}'.",
                "input",
            )

    def _check_unchanged(self, item: dict[str, Any]) -> None:
        if "id" not in item:
            return
        issued = self._issued.get(item["id"])
        if issued is None:
            raise Refused(
                f"Item with id '{item['id']}' not found. Items are not persisted when `store` is set to "
                "false. Try again with `store` set to true, or remove this item from your input.",
                "input",
            )
        # Calls are not signed, and of these some cannot come back as they were.
        free = {"status"} | ({"name", "arguments"} if issued["type"] == "function_call" else set())
        changed = [key for key in issued if key not in free and item.get(key) != issued[key]]
        if changed:
            raise Refused(f"The {changed[0]} of item '{item['id']}' could not be verified.", "input")

    def _id(self, item: dict[str, Any]) -> str:
        """The id that an item came with, also where a client left it out of a tool call."""
        call_id = item.get("call_id") if item.get("type") == "function_call" else None
        known = [id for id, issued in self._issued.items() if call_id and issued.get("call_id") == call_id]
        return str(item.get("id") or next(iter(known), ""))


def _message(part: dict[str, Any], status: str) -> dict[str, Any]:
    number = next(_IDS)
    return {
        "id": f"msg_{number:048x}",
        "type": "message",
        "status": status,
        "role": "assistant",
        "content": [part],
    }
