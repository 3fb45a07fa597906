"""Finding the action that is written in a text: MLE-Dojo's JSON, or a tool call as text."""

from __future__ import annotations

import functools
import re
from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Any

from harness.actions import Action
from harness.agents.format_errors import FormatError, FormatErrorKind
from harness.agents.lenient import Broken, read_object
from harness.agents.toolcalls import action_name, read_arguments

_TRIES = 100  # objects that cannot be read, of a reply that must not keep us busy
_Q = r"[\"'“”‘’]?"
_MARK = re.compile(
    r"\{(?=\s*+(?:\"[^\"\n]{0,80}\"|'[^'\n]{0,80}'|“[^”\n]{0,80}”|‘[^’\n]{0,80}’|[A-Za-z_]\w{0,80})\s*+:)"
    r"|<(?P<close>/?)(?:think|thinking|thought|reasoning)>"
    r"|<function=(?P<function>[\w.-]{1,200})>",
    re.IGNORECASE,
)
_PARAMETER = re.compile(r"<parameter=([\w.-]{1,200})>")


@dataclass(frozen=True)
class Written:
    """An action in a text, where it stands, and the thought that is written into it."""

    start: int
    end: int
    action: Action
    thought: str = ""


def written_action(text: str, names: Collection[str], *, may_end: bool) -> Written:
    """The one action of a text; the same written twice is one.

    Args:
        text: what the model wrote.
        names: of the actions that there are.
        may_end: the text is complete, so brackets still open at its end count as closed.

    Raises:
        FormatError: there is none, one that cannot be read, or there are two that differ.
    """
    actions = _Scanner(text, _meant(frozenset(names)), may_end=may_end).actions()
    known = [item for item in actions if item.action.name in names]
    # An object of the data, or an example, may look like an action of no known name.
    actions = known or actions
    if not actions:
        raise FormatError(FormatErrorKind.NO_ACTION)
    if any(item.action != actions[0].action for item in actions):
        names = ", ".join(item.action.name for item in actions[:5])
        raise FormatError(FormatErrorKind.SEVERAL_ACTIONS, names)
    return actions[0]


@functools.cache
def _meant(names: frozenset[str]) -> re.Pattern[str]:
    """What is in an object that is meant as an action, though it cannot be read to its end."""
    known = "|".join(map(re.escape, sorted(names)))
    return re.compile(
        rf"(?:action|name){_Q}\s*+:\s*+{_Q}(?:{known})\b"
        rf"|\A\{{\s*+{_Q}(?:params|arguments|parameters){_Q}\s*+:"
    )


@dataclass
class _Part:
    """What stands in one part of a text: in its thinking, or outside of it."""

    found: list[Written] = field(default_factory=list)
    errors: list[FormatError] = field(default_factory=list)

    def clear(self) -> None:
        self.found.clear()
        self.errors.clear()


class _Scanner:
    """Walks over a text once and finds the actions outside of its thinking.

    Args:
        text: what the model wrote.
        meant: finds what is meant as an action in an object that cannot be read.
        may_end: the text is complete, so brackets still open at its end count as closed.
    """

    def __init__(self, text: str, meant: re.Pattern[str], *, may_end: bool) -> None:
        self._text = text
        self._meant = meant
        self._may_end = may_end

    def actions(self) -> list[Written]:
        """All actions, in order.

        Raises:
            FormatError: an action was meant that cannot be read.
        """
        said, thought = _Part(), _Part()
        part, position, tries = said, 0, _TRIES
        while tries and (mark := _MARK.search(self._text, position)):
            position = mark.end()
            if mark[0].startswith("<") and not mark["function"]:
                if mark["close"]:
                    # Also where the prompt ended with the opening tag, so that the reply has only this one.
                    part.clear()
                part = said if mark["close"] else thought
                continue
            try:
                found = self._tagged(mark) if mark["function"] else self._object(mark.start())
            except (Broken, FormatError) as error:
                tries -= 1
                if isinstance(error, FormatError):
                    part.errors.append(error)
                continue
            position = found.end
            if found.action.name:
                part.found.append(found)
        # Thinking that never closes holds the action of some models, but not that of a reply that was cut.
        if part is thought and self._may_end and not (said.found or said.errors):
            said = thought
        if said.errors:
            raise said.errors[0]
        return said.found

    def _object(self, start: int) -> Written:
        """The object at a position; its action has no name where it is no action.

        Raises:
            Broken: it is no object.
            FormatError: it was meant as an action.
        """
        try:
            value, end = read_object(self._text, start, may_end=self._may_end)
        except Broken as error:
            # What follows may be a piece of the program, and must not be taken for an action.
            if self._meant.search(self._text[start : error.position]):
                raise FormatError(FormatErrorKind.BROKEN_ARGUMENTS, str(error)) from error
            raise
        return Written(start, end, _action(value) or Action(""), str(value.get("thought") or ""))

    def _tagged(self, mark: re.Match[str]) -> Written:
        """A call as ``<function=name><parameter=key>value</parameter></function>``.

        Raises:
            FormatError: a part of it does not end.
        """
        end = self._text.find("</function>", mark.end())
        body = self._text[mark.end() : max(end, mark.end())]
        if end == -1 or "<function=" in body:
            raise FormatError(FormatErrorKind.BROKEN_ARGUMENTS, f"{mark[0]} is not closed")
        _, *parts = _PARAMETER.split(body)
        params = dict[str, Any]()
        for key, part in zip(parts[::2], parts[1::2], strict=True):
            value = part.rstrip()
            if not value.endswith("</parameter>"):
                raise FormatError(FormatErrorKind.BROKEN_ARGUMENTS, f"<parameter={key}> is not closed")
            params[key] = value.removesuffix("</parameter>").removeprefix("\n").removesuffix("\n")
        return Written(mark.start(), end + len("</function>"), Action(action_name(mark["function"]), params))


def _action(value: dict[str, Any]) -> Action | None:
    """The action that an object is, if it is one.

    Raises:
        FormatError: it is one that cannot be carried out.
    """
    if isinstance(value.get("function"), dict):
        value = value["function"]
    if isinstance(value.get("action"), str):
        name, params = value["action"], value.get("params", {})
        extra = sorted(set(value) - {"action", "params", "thought"})
    elif isinstance(value.get("name"), str) and ("arguments" in value or "parameters" in value):
        name, params = value["name"], value.get("arguments", value.get("parameters"))
        extra = []
    else:
        return None
    if extra:
        detail = f"unknown keys {extra[:5]}; parameters belong into 'params'"
        raise FormatError(FormatErrorKind.BROKEN_ARGUMENTS, detail)
    if isinstance(params, str) and "{" in params:
        params = read_arguments(params, may_end=True)
    if params is not None and not isinstance(params, dict):
        raise FormatError(FormatErrorKind.BROKEN_ARGUMENTS, "'params' must be an object")
    return Action(action_name(name), params or {})
