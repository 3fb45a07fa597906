"""What a session says beside the task: how to answer, what earlier steps came to, and when it is enough."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from generator.agents.fencing import clipped
from generator.agents.prompts import prompt
from generator.agents.tools.base import Result
from harness.actions import Action
from harness.agents.format_errors import FormatError, FormatErrorKind
from harness.agents.turns import clean
from harness.errors import FormatErrors, Refusal
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


def end_after(errors: list[FormatError], most: int) -> None:
    """End the attempt after too many replies in a row that ask for nothing."""
    if len(errors) < most:
        return
    if all(error.kind is FormatErrorKind.REFUSAL for error in errors):
        raise Refusal(f"the model refused {len(errors)} times in a row: {errors[-1]}")
    raise FormatErrors(f"{len(errors)} replies in a row held no action: {errors[-1]}")
