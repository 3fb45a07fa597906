"""What a session tells a model beside its task: how to answer, and what earlier steps came to."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from generator.agents.fencing import clipped
from generator.agents.prompts import prompt
from generator.agents.tools.base import Result
from harness.actions import Action
from harness.agents.format_errors import FormatError
from harness.agents.turns import clean
from harness.models.base import ActionFormat, Tool

_LINE, _FORM = 200, 12_000


def answering(action_format: ActionFormat, tools: Sequence[Tool]) -> str:
    """How to answer, and, where the endpoint does not show the tools itself, which there are."""
    if action_format is ActionFormat.TOOLS:
        return prompt("answer_tools")
    told = [f"- {tool.name}: {tool.description} params: {_form(tool.parameters)}" for tool in tools]
    return prompt(f"answer_{action_format}").format(tools="\n".join(told))


def _form(schema: dict[str, Any]) -> str:
    return clipped(json.dumps(schema, ensure_ascii=False), _FORM)


def summary_line(step: int, wish: Action | FormatError, result: Result) -> str:
    """What a step came to, for the summary of a conversation that became too long."""
    if isinstance(wish, FormatError):
        return f"{step}. no action: {wish.kind}"
    said = wish.params.get("path") or wish.params.get("command") or ""
    outcome = "ok" if result.ok else f"error: {' '.join(result.text.split())}"
    return clean(f"{step}. {wish.name} {str(said)[:_LINE]}: {outcome[:_LINE]}")
