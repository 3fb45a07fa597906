"""Trials in the Agent Trajectory Interchange Format of Harbor (its RFC 0001), version 1.7.

The prompt is a ``system`` and a ``user`` step, every reply of the model an ``agent`` step with what it
called, what came back and what it cost; a compaction is a ``system`` step, and so is a call that never got
a reply. Whatever the format has no word for, scores above all, lies under ``extra``.
"""

from __future__ import annotations

import json
import math
from collections import defaultdict
from collections.abc import Iterator
from importlib.metadata import version
from typing import Any

from harness.errors import InputError
from harness.models.base import Usage
from harness.models.pricing import FREE_PROVIDERS, PriceTable
from harness.records import TrialResult
from harness.trajectories.events import (
    FormatErrorEvent,
    LoggedCall,
    ObservationEvent,
    PromptEvent,
    ReplyEvent,
)
from harness.trajectories.trials import RecordedTrial, call_cost, encodable, tool_definitions
from harness.trajectories.turns import Act, Turn, turns_of

ATIF_VERSION = "ATIF-v1.7"
_NOTES = (
    "Exported by MLE-Smith. An action written as text has a tool call of our making, named step-<number>. "
    "extra.score is the raw score on the rows that count; the model was told extra.feedback_score. A missing "
    "cost_usd means that the price is unknown."
)


def to_atif(trial: RecordedTrial, prices: PriceTable | None = None) -> dict[str, Any]:
    """A finished trial as an ATIF document, of plain JSON data.

    Args:
        trial: the trial.
        prices: what calls cost; the published table when left out.

    Raises:
        InputError: the trial is not finished, or its log has no prompt.
    """
    record, prompt = trial.record, trial.log.first(PromptEvent)
    if record is None:
        raise InputError(f"{trial.paths.root}: the trial is not finished (no result.json); run its job again")
    if prompt is None:
        raise InputError(f"{trial.paths.trajectory}: no prompt event: the trial ended before it began")
    steps: list[dict[str, Any]] = [
        {"source": "system", "timestamp": prompt.time, "message": prompt.system},
        {"source": "user", "timestamp": prompt.time, "message": prompt.user},
    ]
    names = _Names()
    for turn in turns_of(trial.log.events):
        steps += _steps(turn, trial, record, prices or PriceTable(), names)
    steps = [_without_nothing({"step_id": number, **step}) for number, step in enumerate(steps, start=1)]
    document = _without_nothing(
        {
            "schema_version": ATIF_VERSION,
            "session_id": trial.id,
            "trajectory_id": trial.id,
            "agent": {
                "name": record.agent,
                "version": version("mle-smith"),
                "model_name": record.model,
                "tool_definitions": tool_definitions(trial.log),
                "extra": {"spec_hash": record.spec_hash, "settings": trial.start.settings},
            },
            "steps": steps,
            "notes": _NOTES,
            "final_metrics": _final_metrics(record, steps),
            "extra": {"result": record.model_dump(mode="json", exclude={"steps"})},
        }
    )
    exported: dict[str, Any] = encodable(document)
    return exported


class _Names:
    """Gives tool calls names that no other call of the trial has."""

    def __init__(self) -> None:
        self._taken: set[str] = set()

    def fresh(self, wanted: str, step: int) -> str:
        """The name wanted, or one made of it and the step."""
        name, number = wanted or f"step-{step}", 1
        while name in self._taken:
            name = f"{wanted or 'call'}-{step}" + (f"-{number}" if number > 1 else "")
            number += 1
        self._taken.add(name)
        return name


def _steps(
    turn: Turn, trial: RecordedTrial, record: TrialResult, prices: PriceTable, names: _Names
) -> Iterator[dict[str, Any]]:
    faults = [fault.model_dump(mode="json", exclude={"event"}) for fault in turn.faults]
    for compaction in turn.compactions:
        yield {
            "source": "system",
            "timestamp": compaction.time,
            "message": compaction.text,
            "extra": {"kind": "compaction", "dropped_steps": list(compaction.dropped)},
        }
    reply = turn.reply
    if reply is None:
        if faults:
            last = turn.faults[-1]
            message = f"The model's endpoint gave no reply ({last.kind}): {last.message}"
            extra = {"kind": "fault", "faults": faults}
            yield {"source": "system", "timestamp": last.time, "message": message, "extra": extra}
        return
    calls, results = _calls(turn, reply, names)
    free = record.model.split("/")[0] in FREE_PROVIDERS
    yield {
        "source": "agent",
        "timestamp": reply.time,
        "model_name": reply.version,
        "reasoning_effort": trial.start.settings.get("effort"),
        "message": reply.text,
        "reasoning_content": reply.thought or None,
        "tool_calls": calls or None,
        "observation": {"results": results} if results else None,
        "metrics": _metrics(reply.usage, call_cost(record, reply.usage, prices)),
        # A scripted candidate calls no model; what the format wants of a call of none is that we do not say.
        "llm_call_count": None if free else 1,
        "extra": {
            "steps": list(turn.steps),
            "finish": str(reply.finish),
            "seconds": reply.seconds,
            "waited": reply.waited,
            "attempts": reply.attempts,
            **({"faults": faults} if faults else {}),
        },
    }


def _calls(turn: Turn, reply: ReplyEvent, names: _Names) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """The tool calls of a reply and what came back; a result refers to its call."""
    calls = []
    called: dict[str, list[str]] = defaultdict(list)
    for call in reply.tool_calls:
        name = names.fresh(call.id, turn.step)
        called[call.id].append(name)
        calls.append({"tool_call_id": name, "function_name": call.name, **_arguments(call)})
    results = []
    for act in turn.acts:
        # Logs of schema 1 do not name the one call of a reply.
        of_call = called[act.call_id] if act.call_id is not None else next(iter(called.values()), [])
        # Calls to which the model gave the same id are answered in their order.
        refers = of_call.pop(0) if len(of_call) > 1 else next(iter(of_call), None)
        if act.action and refers is None:
            refers = names.fresh(f"step-{act.step}", act.step)
            action = {"function_name": act.action.action, "arguments": act.action.params}
            calls.append({"tool_call_id": refers, **action})
        if act.answer:
            results.append(_without_nothing(_result(act, act.answer, refers)))
    return calls, results


def _result(act: Act, answer: ObservationEvent | FormatErrorEvent, refers: str | None) -> dict[str, Any]:
    if isinstance(answer, FormatErrorEvent):
        extra: dict[str, Any] = {"step": act.step, "ok": False, "format_error": answer.kind}
    else:
        extra = answer.model_dump(mode="json", exclude={"event", "time", "text", "call_id"})
    return {"source_call_id": refers, "content": answer.text, "extra": extra}


def _arguments(call: LoggedCall) -> dict[str, Any]:
    """The arguments as an object; what cannot be read as one is kept as it was written."""
    try:
        arguments = json.loads(call.arguments or "{}", strict=False, parse_constant=str)
    except (ValueError, RecursionError):
        arguments = None
    if isinstance(arguments, dict):
        return {"arguments": arguments}
    return {"arguments": {}, "extra": {"arguments_as_written": call.arguments}}


def _metrics(usage: Usage, cost: float | None) -> dict[str, Any]:
    return _without_nothing(
        {
            "prompt_tokens": usage.input,
            "completion_tokens": usage.output,
            "cached_tokens": usage.cache_read,
            "cost_usd": cost,
            "extra": {"reasoning_tokens": usage.reasoning, "cache_write_tokens": usage.cache_write},
        }
    )


def _final_metrics(record: TrialResult, steps: list[dict[str, Any]]) -> dict[str, Any]:
    costs = [step["metrics"].get("cost_usd") for step in steps if "metrics" in step]
    known = [cost for cost in costs if cost is not None]
    return _without_nothing(
        {
            "total_prompt_tokens": record.usage.input,
            "total_completion_tokens": record.usage.output,
            "total_cached_tokens": record.usage.cache_read,
            # One unknown price leaves the sum unknown.
            "total_cost_usd": math.fsum(known) if len(known) == len(costs) else None,
            "total_steps": len(steps),
            "extra": {
                "reasoning_tokens": record.usage.reasoning,
                "cache_write_tokens": record.usage.cache_write,
                "budget_steps_used": len(record.steps),
            },
        }
    )


def _without_nothing(fields: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if value is not None}
