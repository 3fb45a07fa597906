"""The JSON schema of one action, for endpoints that hold a model's text to a schema.

Kept to what OpenAI's strict mode, vLLM and llama.cpp's grammars all take: objects with all their properties
required and no others, strings, enumerations and ``anyOf``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from harness.models.base import Tool

#: The name a schema goes by in requests.
NAME = "action"


def action_schema(tools: Sequence[Tool]) -> dict[str, Any]:
    """The schema of ``{"thought": ..., "action": <name>, "params": {...}}``: one branch for each tool.

    A tool's name and its parameters stand in one branch, so none can be mixed with those of another.
    """
    return {"anyOf": [_action([tool.name], tool.parameters) for tool in tools]}


def object_schema(tools: Sequence[Tool]) -> dict[str, Any]:
    """The same as one object, as OpenAI's own API wants it: there, only parts can have several forms.

    A name can then stand with the parameters of another tool; each form of parameters is there once, since
    the API wants the branches to differ in their first property.
    """
    forms: list[dict[str, Any]] = []
    for tool in tools:
        if tool.parameters not in forms:
            forms.append(tool.parameters)
    return _action([tool.name for tool in tools], {"anyOf": forms})


def _action(names: Sequence[str], params: dict[str, Any]) -> dict[str, Any]:
    properties = {
        "thought": {"type": "string"},
        "action": {"type": "string", "enum": [*names]},
        "params": params,
    }
    return {
        "type": "object",
        "properties": properties,
        "required": [*properties],
        "additionalProperties": False,
    }
