"""A tool of an agent, and a kit of them: calls that are wrong come back with what is right."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from generator.agents.forms import FINISH
from harness.actions import Action
from harness.models.base import Tool


@dataclass(frozen=True)
class Result:
    """What a tool gave.

    Attributes:
        ok: it did what was asked.
        text: the answer, bounded; marked as data where it is not our own words.
    """

    ok: bool
    text: str


@dataclass(frozen=True)
class AgentTool:
    """One tool.

    Attributes:
        tool: as it is offered to a model.
        use: does it; takes the tool's parameters by name.
        defaults: of parameters that may be left out.
    """

    tool: Tool
    use: Callable[..., Result]
    defaults: dict[str, Any] = field(default_factory=dict)


class Kit:
    """The tools of an agent."""

    def __init__(self, tools: Sequence[AgentTool]) -> None:
        self._tools = {each.tool.name: each for each in tools}

    @property
    def offered(self) -> tuple[Tool, ...]:
        """As they are offered to a model."""
        return tuple(each.tool for each in self._tools.values())

    def use(self, action: Action) -> Result:
        """Do what a model asks for."""
        found = self._tools.get(action.name)
        if found is None:
            known = ", ".join([*self._tools, FINISH])
            return Result(False, f"there is no tool {action.name!r}; there are {known}")
        try:
            return found.use(**_arguments(found, action.params))
        except Wrong as wrong:
            return Result(False, f"{action.name}: {wrong}")


class Wrong(Exception):
    """Parameters that a tool does not take; the message says what it takes."""


def tool(name: str, description: str, use: Callable[..., Result], **parameters: dict[str, Any]) -> AgentTool:
    """A tool whose parameters are texts or whole numbers.

    Args:
        name: its name.
        description: what it does, for a model.
        use: does it.
        parameters: their schemas; one with a ``default`` may be left out.
    """
    properties = {
        key: {field: value for field, value in form.items() if field != "default"}
        for key, form in parameters.items()
    }
    schema = {
        "type": "object",
        "properties": properties,
        "required": list(parameters),
        "additionalProperties": False,
    }
    defaults = {key: form["default"] for key, form in parameters.items() if "default" in form}
    return AgentTool(Tool(name, description, schema), use, defaults)


def text_parameter(description: str, **more: Any) -> dict[str, Any]:
    """The schema of a parameter that is a text."""
    return {"type": "string", "description": description, **more}


def number_parameter(description: str, **more: Any) -> dict[str, Any]:
    """The schema of a parameter that is a whole number."""
    return {"type": "integer", "description": description, **more}


def _arguments(tool: AgentTool, params: dict[str, Any]) -> dict[str, str | int]:
    forms = tool.tool.parameters["properties"]
    if unknown := sorted(set(params) - set(forms)):
        raise Wrong(f"unknown parameter {unknown[0]!r}; it takes {', '.join(forms) or 'none'}")
    given = {name: _value(name, forms[name], value) for name, value in params.items() if value is not None}
    given = tool.defaults | given
    if missing := [name for name in forms if name not in given]:
        raise Wrong(f"parameter {missing[0]!r} is missing: {forms[missing[0]]['description']}")
    return given


def _value(name: str, form: dict[str, Any], value: Any) -> str | int:
    if form["type"] == "integer":
        try:
            return int(value)
        except (TypeError, ValueError, OverflowError):
            raise Wrong(f"{name} must be a whole number") from None
    if not isinstance(value, str):
        raise Wrong(f"{name} must be a text")
    return value
