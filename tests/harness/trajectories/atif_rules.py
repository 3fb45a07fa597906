"""The published rules of ATIF 1.7 (Harbor's RFC 0001) that a single-agent, text-only document must keep."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import Any

#: Of each object: required fields and optional ones, with their types. No other field is allowed.
_TEXT, _COUNT, _MONEY, _OBJECT, _LIST = (str,), (int,), (int, float), (dict,), (list,)
OBJECTS: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "trajectory": (
        {"schema_version": _TEXT, "agent": _OBJECT, "steps": _LIST},
        {"session_id": _TEXT, "trajectory_id": _TEXT, "notes": _TEXT, "final_metrics": _OBJECT,
         "extra": _OBJECT},
    ),
    "agent": (
        {"name": _TEXT, "version": _TEXT},
        {"model_name": _TEXT, "tool_definitions": _LIST, "extra": _OBJECT},
    ),
    "step": (
        {"step_id": _COUNT, "source": _TEXT, "message": _TEXT},
        {"timestamp": _TEXT, "model_name": _TEXT, "reasoning_effort": (str, int, float),
         "reasoning_content": _TEXT, "tool_calls": _LIST, "observation": _OBJECT, "metrics": _OBJECT,
         "llm_call_count": _COUNT, "extra": _OBJECT},
    ),
    "tool_call": ({"tool_call_id": _TEXT, "function_name": _TEXT, "arguments": _OBJECT}, {"extra": _OBJECT}),
    "observation": ({"results": _LIST}, {}),
    "result": ({}, {"source_call_id": _TEXT, "content": _TEXT, "extra": _OBJECT}),
    "metrics": (
        {},
        {"prompt_tokens": _COUNT, "completion_tokens": _COUNT, "cached_tokens": _COUNT, "cost_usd": _MONEY,
         "extra": _OBJECT},
    ),
    "final_metrics": (
        {},
        {"total_prompt_tokens": _COUNT, "total_completion_tokens": _COUNT, "total_cached_tokens": _COUNT,
         "total_cost_usd": _MONEY, "total_steps": _COUNT, "extra": _OBJECT},
    ),
}  # fmt: skip
AGENT_ONLY = {"model_name", "reasoning_effort", "reasoning_content", "tool_calls", "metrics"}


def violations(document: dict[str, Any]) -> list[str]:
    """What in a document breaks a rule."""
    return list(_document(document))


def _shape(kind: str, value: Any, where: str) -> Iterator[str]:
    if not isinstance(value, dict):
        yield f"{where}: not an object"
        return
    required, optional = OBJECTS[kind]
    yield from (f"{where}.{name}: missing" for name in sorted(required.keys() - value.keys()))
    for name, found in value.items():
        wanted = required.get(name) or optional.get(name)
        if wanted is None:
            yield f"{where}.{name}: no field of the format"
        elif not isinstance(found, wanted) or isinstance(found, bool):
            yield f"{where}.{name}: {type(found).__name__}"


def _document(document: dict[str, Any]) -> Iterator[str]:
    yield from _shape("trajectory", document, "trajectory")
    if document.get("schema_version") != "ATIF-v1.7":
        yield f"schema_version: {document.get('schema_version')}"
    yield from _shape("agent", document.get("agent"), "agent")
    steps = document.get("steps") or []
    if not steps:
        yield "steps: empty"
    names = [call.get("tool_call_id") for step in steps for call in step.get("tool_calls", [])]
    yield from (
        f"tool_call_id {name}: not unique" for name in sorted({n for n in names if names.count(n) > 1})
    )
    for number, step in enumerate(steps, start=1):
        yield from _step(number, step)
    if "final_metrics" in document:
        yield from _shape("final_metrics", document["final_metrics"], "final_metrics")
        if document["final_metrics"].get("total_steps", len(steps)) != len(steps):
            yield "final_metrics.total_steps: not the number of steps"


def _step(number: int, step: dict[str, Any]) -> Iterator[str]:
    where = f"steps[{number}]"
    yield from _shape("step", step, where)
    if step.get("step_id") != number:
        yield f"{where}.step_id: not sequential from 1"
    if step.get("source") not in ("system", "user", "agent"):
        yield f"{where}.source: {step.get('source')}"
    if step.get("source") != "agent":
        yield from (f"{where}.{name}: of agent steps only" for name in sorted(AGENT_ONLY & step.keys()))
    if "timestamp" in step:
        try:
            datetime.fromisoformat(step["timestamp"])
        except ValueError:
            yield f"{where}.timestamp: not ISO 8601"
    calls = step.get("tool_calls", [])
    for call in calls:
        yield from _shape("tool_call", call, f"{where}.tool_call")
    if "metrics" in step:
        yield from _shape("metrics", step["metrics"], f"{where}.metrics")
    if "observation" in step:
        yield from _shape("observation", step["observation"], f"{where}.observation")
    for result in step.get("observation", {}).get("results", []):
        yield from _shape("result", result, f"{where}.result")
        refers = result.get("source_call_id")
        if refers is not None and refers not in [call.get("tool_call_id") for call in calls]:
            yield f"{where}.result: source_call_id {refers} is no call of this step"
