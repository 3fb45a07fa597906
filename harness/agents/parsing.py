"""Reading what a reply asks for, tolerantly: tool calls, or JSON in prose.

The grammar in text is MLE-Dojo's, ``{"action": name, "params": {...}}``; the forms in which models write tool
calls as text are read too. Prose around it, any code fence, thinking and code that itself contains fences are
accepted. No reply makes :func:`read_actions` raise.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from harness.actions import TOOLS, Action
from harness.agents.format_errors import FormatError, FormatErrorKind
from harness.agents.toolcalls import LONGEST, action_of_call
from harness.agents.written import written_action
from harness.models.base import Finish, Reply, Tool, ToolCall

_FRAME = re.compile(
    r"```[\w+-]*\s*\Z|\A\s*```|~~~\w*\s*\Z|\A\s*~~~|</?(?:think|thinking|thought|reasoning|tool_call)>"
    r"|<\|?/?tool_calls?(?:_begin|_end)?\|?>",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Ask:
    """One thing that a reply asks for.

    Attributes:
        wish: the action, or why there is none.
        call: the tool call it was read from.
    """

    wish: Action | FormatError
    call: ToolCall | None = None


@dataclass(frozen=True)
class Reading:
    """What was read from a reply.

    Attributes:
        thought: the model's reasoning as far as it is told, and the prose around the action.
        asks: at least one; several only for several tool calls.
    """

    thought: str
    asks: tuple[Ask, ...]


def read_actions(reply: Reply, tools: Sequence[Tool] = TOOLS) -> Reading:
    """What a reply asks for: its tool calls if it has any, else the one action in its text.

    Args:
        reply: what the model answered.
        tools: what it could ask for.
    """
    if reply.finish is not Finish.REFUSAL and reply.tool_calls:
        asks = tuple(Ask(action_of_call(call, reply.finish), call) for call in reply.tool_calls)
        return Reading(_joined(reply.thought, reply.text), asks)
    try:
        prose, action = _from_reply(reply, {tool.name for tool in tools})
    except FormatError as error:
        return Reading(_joined(reply.thought, reply.text), (Ask(error),))
    return Reading(_joined(reply.thought, prose), (Ask(action),))


def _joined(*parts: str) -> str:
    return "\n\n".join(part.strip() for part in parts if part.strip())


def _from_reply(reply: Reply, names: Collection[str]) -> tuple[str, Action]:
    """The prose and the action of a reply without tool calls.

    Raises:
        FormatError: there is not exactly one action.
    """
    if reply.finish is Finish.REFUSAL:
        raise FormatError(FormatErrorKind.REFUSAL, reply.text.strip()[:500])
    text, cut = reply.text, reply.finish is Finish.LENGTH
    if len(text) > LONGEST:
        raise FormatError(FormatErrorKind.TOO_LONG, f"{len(text):,} characters")
    try:
        found = written_action(text, names, may_end=not cut)
    except FormatError as error:
        if error.kind in (FormatErrorKind.NO_ACTION, FormatErrorKind.BROKEN_ARGUMENTS):
            if cut:
                raise FormatError(FormatErrorKind.CUT_OFF) from error
            if reply.finish is Finish.MALFORMED:
                raise FormatError(FormatErrorKind.MALFORMED, text.strip()[:500]) from error
            if not text.strip():
                raise FormatError(FormatErrorKind.EMPTY) from error
        raise
    before, after = text[: found.start], text[found.end :]
    return _joined(_FRAME.sub("", before), found.thought, _FRAME.sub("", after)), found.action
