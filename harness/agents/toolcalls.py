"""Reading a tool call: its name and its arguments."""

from __future__ import annotations

import re
from typing import Any

from harness.actions import Action
from harness.agents.format_errors import FormatError, FormatErrorKind
from harness.agents.lenient import Broken, read_object
from harness.models.base import Finish, ToolCall

LONGEST = 1_000_000
"""Characters of one reply or one call's arguments that are looked at; no program needs as many."""

_LONGEST_NAME = 200


def action_of_call(call: ToolCall, finish: Finish) -> Action | FormatError:
    """What a tool call asks for, or why that cannot be told; one that was cut off is never completed."""
    cut = finish is Finish.LENGTH
    if cut and not call.arguments.strip():
        return FormatError(FormatErrorKind.CUT_OFF)
    try:
        return Action(action_name(call.name), read_arguments(call.arguments, may_end=not cut))
    except FormatError as error:
        if cut and error.kind is FormatErrorKind.BROKEN_ARGUMENTS:
            return FormatError(FormatErrorKind.CUT_OFF)
        return error


def read_arguments(written: str, *, may_end: bool) -> dict[str, Any]:
    """The parameters of a call, from JSON text.

    Raises:
        FormatError: too long, or no JSON object.
    """
    if len(written) > LONGEST:
        raise FormatError(FormatErrorKind.TOO_LONG, f"{len(written):,} characters")
    text = re.sub(r"\A\s*(?:```\w*\s*)?", "", written)
    if text in ("", "null"):
        return {}
    try:
        if text.startswith('"'):
            # Some servers encode the arguments twice.
            text = str(read_object(f'{{"twice": {text}}}')[0]["twice"])
        value, end = read_object(text, may_end=may_end)
        if rest := text[end:].strip("}` \r\n\t"):
            raise Broken("something follows the object", text, text.index(rest, end))
    except Broken as error:
        raise FormatError(FormatErrorKind.BROKEN_ARGUMENTS, str(error)) from error
    return value


def action_name(name: str) -> str:
    """A name that can be written to a record, whatever a model put into it."""
    return name.encode("utf-8", "backslashreplace").decode()[:_LONGEST_NAME]
