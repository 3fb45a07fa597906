"""Reading an action from a model's reply, tolerantly.

The grammar is MLE-Dojo's, ``{"action": name, "params": {...}}``. Prose around it, any code fence, ``<think>``
blocks, raw newlines inside strings and code that itself contains fences are all accepted. Nothing raises but
:class:`FormatError`, whose message tells the model what was wrong.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from harness.actions import Action
from harness.models.base import Reply, ToolCall

_THINK = re.compile(r"<think(?:ing)?>.*?(?:</think(?:ing)?>|\Z)", re.DOTALL | re.IGNORECASE)
_LONGEST_NAME = 200
_TRIES = 10_000
_DECODER = json.JSONDecoder(strict=False)
GRAMMAR = '{"action": "<name>", "params": {"<parameter>": "<value>"}}'


class FormatError(Exception):
    """A reply that holds no action; the message is the observation."""


def read_action(reply: Reply) -> tuple[str, Action]:
    """The thought and the action of a reply: its tool call if it has one, else JSON in its text.

    Raises:
        FormatError: with what to do better.
    """
    if reply.tool_calls:
        if len(reply.tool_calls) > 1:
            raise FormatError("Call one tool at a time; nothing was done.")
        return reply.text.strip(), _from_tool_call(reply.tool_calls[0])
    return read_text_action(reply.text)


def read_text_action(text: str) -> tuple[str, Action]:
    """The thought (the prose around) and the action written as JSON in a text.

    Raises:
        FormatError: no object with an ``action``, or more than one.
    """
    visible = _THINK.sub("", text)
    found = [(start, end, value) for start, end, value in _objects(visible) if "action" in value]
    if not found and visible != text:
        # Some models never close their thinking, or act inside it.
        visible = text
        found = [(start, end, value) for start, end, value in _objects(text) if "action" in value]
    if not found:
        raise FormatError(f"No action was found. Answer with one JSON object: {GRAMMAR}")
    if len(found) > 1:
        raise FormatError("More than one action was found; nothing was done. Answer with exactly one.")
    start, end, value = found[0]
    thought = re.sub(r"```\w*\s*$", "", visible[:start]).strip() or visible[end:].strip("`\n ")
    return thought, _checked(value)


def _objects(text: str) -> Iterator[tuple[int, int, dict[str, Any]]]:
    """All outermost JSON objects of a text, with their positions."""
    position = text.find("{")
    tries = _TRIES  # a reply of nothing but braces must not keep us busy
    while position != -1 and tries:
        try:
            value, end = _DECODER.raw_decode(text, position)
        except (ValueError, RecursionError):
            tries -= 1
            position = text.find("{", position + 1)
            continue
        if isinstance(value, dict):
            yield position, end, value
        position = text.find("{", end)


def _checked(value: dict[str, Any]) -> Action:
    name, params = value["action"], value.get("params", {})
    extra = sorted(set(value) - {"action", "params", "thought"})
    if not isinstance(name, str):
        raise FormatError(f"'action' must be a string. Answer with one JSON object: {GRAMMAR}")
    if params is None:
        params = {}
    if not isinstance(params, dict):
        raise FormatError(f"'params' must be an object. Answer with one JSON object: {GRAMMAR}")
    if extra:
        raise FormatError(f"Unknown keys {extra}; parameters belong into 'params': {GRAMMAR}")
    return Action(_recordable(name), params)


def _from_tool_call(call: ToolCall) -> Action:
    try:
        params = _DECODER.decode(call.arguments or "{}")
    except (ValueError, RecursionError) as error:
        raise FormatError(f"The arguments of {call.name} are not valid JSON: {error}") from error
    if not isinstance(params, dict):
        raise FormatError(f"The arguments of {call.name} must be a JSON object.")
    return Action(_recordable(call.name), params)


def _recordable(name: str) -> str:
    """A name that can be written to a record, whatever a model put into it."""
    return name.encode("utf-8", "backslashreplace").decode()[:_LONGEST_NAME]
