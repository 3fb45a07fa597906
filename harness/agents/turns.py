"""What stays of a reply and its steps in the conversation."""

from __future__ import annotations

import json
import re

from harness.actions import Action, Observation
from harness.agents.format_errors import FormatError
from harness.agents.history import Best
from harness.agents.parsing import Reading
from harness.models.base import Finish, Message, Reply, ToolCall

_KEPT_TEXT = 20_000
"""Characters of a reply that could not be read, or of arguments, that are worth sending back."""
_SAID = 160
"""Characters of an observation in a summary."""
_TELLING = re.compile(
    r"^(?:Score: |Invalid submission|Valid submission|No submission|[\w.]*(?:Error|Exception)\b).*$",
    re.MULTILINE,
)
_UNSAID = "(no reply)"


def kept_turn(reply: Reply, reading: Reading) -> Message:
    """The assistant's turn as it is sent back: what every provider takes.

    A turn without text and calls is refused by most of them, arguments that are no JSON by many, and a lone
    surrogate cannot be sent. ``raw`` is kept for what is in it alone; clients send calls back in strict JSON.
    """
    if reply.tool_calls and reply.finish is not Finish.REFUSAL:
        calls = tuple(
            ToolCall(ask.call.id, clean(ask.call.name), _strict(ask.call, ask.wish))
            for ask in reading.asks
            if ask.call
        )
        return Message("assistant", clean(reply.text), calls, raw=reply.raw)
    text = reply.text
    if len(text) > _KEPT_TEXT and any(isinstance(ask.wish, FormatError) for ask in reading.asks):
        text = f"{text[:_KEPT_TEXT]}\n... {len(text) - _KEPT_TEXT} characters left out ..."
    text = clean(text) if text.strip() else _UNSAID
    return Message("assistant", text, raw=reply.raw if text == reply.text and not reply.tool_calls else None)


def _strict(call: ToolCall, wish: Action | FormatError) -> str:
    """A call's arguments in strict JSON: as written where they are, else as they were read."""
    if isinstance(wish, FormatError):
        return "{}"
    try:
        if isinstance(json.loads(call.arguments), dict):
            return clean(call.arguments)
    except (ValueError, RecursionError):
        pass
    return json.dumps(wish.params)


def clean(text: str) -> str:
    """A text that can be sent: lone surrogates are written out."""
    return text.encode("utf-8", "backslashreplace").decode()


def summary_line(number: int, action: Action, observation: Observation) -> str:
    """What a step came to, in a line that tells no more than the agent was told."""
    what = action.name
    if isinstance(said := action.params.get("info_type"), str):
        what += f" {clean(said[:_SAID])}"
    outcome = "ok" if observation.ok else "error"
    told = _TELLING.findall(observation.text)
    if not told and not observation.ok:
        told = observation.text.splitlines()[:1]
    return f"{number}. {what}: {outcome}" + (f"; {' '.join(told[-2:])[: 2 * _SAID]}" if told else "")


def best_of(number: int, action: Action, observation: Observation) -> Best | None:
    """The step's program, if the agent was told that none is better so far, or is told no scores at all."""
    scores, code = observation.scores, action.params.get("code")
    if scores is None or not scores.grade.valid or not isinstance(code, str):
        return None
    if scores.shown != scores.best_shown:
        return None
    return Best(number, code, scores.shown)
