"""A trial's event log as steps to show: what the agent thought, did and saw."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

LONGEST = 20_000
"""Characters of any one text on a page; the rest stays in the trial's folder."""
_KNOWN = ("prompt", "reply", "action", "observation", "format_error", "end")


@dataclass
class StepView:
    """One step; what the log does not say is empty or ``None``."""

    number: int
    thought: str = ""
    action: str = ""
    code: str = ""
    params: dict[str, str] = field(default_factory=dict)
    reply: str = ""
    observation: str = ""
    error: str = ""
    ok: bool | None = None
    valid: bool | None = None
    reason_code: str = ""
    score: float | None = None
    feedback_score: float | None = None
    seconds: float | None = None
    model_seconds: float | None = None
    tokens: int | None = None
    budget_left: str = ""


@dataclass(frozen=True)
class TrajectoryView:
    """A whole log.

    Attributes:
        prompt: what the agent was told first.
        steps: in their order.
        others: events of kinds that this version does not know, as (kind, JSON).
        end: why the trial ended.
        notes: what could not be read.
    """

    prompt: str
    steps: tuple[StepView, ...]
    others: tuple[tuple[str, str], ...]
    end: str
    notes: tuple[str, ...]


def read_trajectory(path: Path) -> TrajectoryView:
    """Read ``trajectory.jsonl`` as far as it can be read: a missing log or a torn line becomes a note."""
    try:
        lines = path.read_text(encoding="utf-8", errors="replace").split("\n")
    except OSError as error:
        return TrajectoryView("", (), (), "", (f"the log {path.name} cannot be read: {error.strerror}",))
    prompt = end = ""
    steps: dict[int, StepView] = {}
    others: list[tuple[str, str]] = []
    torn = 0
    for line in filter(None, lines):
        try:
            event = json.loads(line)
        except ValueError:
            event = None
        if not isinstance(event, dict):
            torn += 1
            continue
        kind, number = event.get("event"), event.get("step")
        if kind == "prompt":
            prompt = _text(event.get("text"))
        elif kind == "end":
            end = _text(event.get("reason"))
        elif kind in _KNOWN and isinstance(number, int):
            _add(steps.setdefault(number, StepView(number)), str(kind), event)
        elif kind is not None:
            others.append((_text(kind), _text(json.dumps(event, ensure_ascii=False, indent=2))))
    notes = (f"{torn} lines of the log could not be read",) if torn else ()
    return TrajectoryView(prompt, tuple(steps[n] for n in sorted(steps)), tuple(others), end, notes)


def _add(step: StepView, kind: str, event: Mapping[str, Any]) -> None:
    if kind == "reply":
        calls = event.get("tool_calls") or []
        step.reply = "\n".join(
            filter(None, [_text(event.get("text")), _text(json.dumps(calls, indent=2)) if calls else ""])
        )
        step.model_seconds = _number(event.get("seconds"))
        usage = event.get("usage")
        if isinstance(usage, dict):
            step.tokens = int(_number(usage.get("input")) or 0) + int(_number(usage.get("output")) or 0)
    elif kind == "action":
        step.thought, step.action = _text(event.get("thought")), _text(event.get("action"))
        params = event.get("params")
        if isinstance(params, dict):
            step.code = _text(params.get("code"))
            step.params = {_text(k): _text(v) for k, v in params.items() if k != "code"}
    elif kind == "format_error":
        step.action, step.error, step.ok = "format_error", _text(event.get("text")), False
    elif kind == "observation":
        step.observation = _text(event.get("text"))
        step.ok, step.valid = _flag(event.get("ok")), _flag(event.get("valid"))
        step.reason_code, step.budget_left = _text(event.get("reason_code")), _text(event.get("budget_left"))
        step.score, step.feedback_score = _number(event.get("score")), _number(event.get("feedback_score"))
        step.seconds = _number(event.get("seconds"))


def _text(value: Any) -> str:
    """Bounded text of anything."""
    text = "" if value is None else value if isinstance(value, str) else str(value)
    if len(text) <= LONGEST:
        return text
    return (
        f"{text[: LONGEST // 2]}\n... {len(text) - LONGEST} characters left out ...\n{text[-LONGEST // 2 :]}"
    )


def _number(value: Any) -> float | None:
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None


def _flag(value: Any) -> bool | None:
    return value if isinstance(value, bool) else None
