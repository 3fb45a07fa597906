"""The ReAct agent: think, act, observe, until the budget ends or the model submits."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from harness.actions import TOOLS, Action, Observation
from harness.agents.parsing import FormatError, read_action
from harness.agents.prompting import render
from harness.budget import BudgetMeter
from harness.environment import Environment
from harness.errors import FormatErrors
from harness.models.base import ActionFormat, Message, Reply, Settings
from harness.models.calling import Caller
from harness.records import Feedback

NAME = "react"

_FEEDBACK = {
    Feedback.TEST: "After each execute_code you are told the score on the test rows.",
    Feedback.SPLIT: "After each execute_code you are told the score on a part of the test rows; "
    "the rest decides your result.",
    Feedback.NONE: "You are not told scores; validate on the training data.",
}

Record = Callable[[str, dict[str, Any]], None]


class AgentConfig(BaseModel):
    """How the agent works.

    Attributes:
        max_format_errors: unreadable replies in a row that end the trial.
        settings: what is asked of every model call, but for what a model's own settings say.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    max_format_errors: int = Field(3, ge=1)
    settings: Settings = Settings()


@dataclass(frozen=True)
class Step:
    """One turn of the loop: the reply, what was read from it, and what came back."""

    number: int
    reply: Reply
    thought: str
    action: Action | None
    observation: Observation | None
    model_seconds: float


def run_agent(
    caller: Caller,
    environment: Environment,
    meter: BudgetMeter,
    config: AgentConfig,
    record: Record,
    on_step: Callable[[Step], None],
) -> None:
    """Run until something ends the trial; every end is an exception of :mod:`harness.errors`.

    Args:
        caller: the candidate, with the settings of its calls.
        environment: where it acts.
        meter: the budget, checked before every model call and every action.
        config: how the loop works.
        record: writes one event ``(kind, fields)`` to the trajectory.
        on_step: told of every step, also of one that an end interrupts.

    Raises:
        TrialEnd: always, with the reason.
    """
    native = caller.settings.action_format is ActionFormat.TOOLS
    system = render(
        "system",
        steps=meter.budget.steps,
        tools=TOOLS,
        execution_seconds=f"{meter.budget.execution_seconds:.0f}",
        feedback=_FEEDBACK[environment.feedback],
        native_tools=native,
    )
    messages = [Message("system", system), Message("user", "Begin.")]
    record("prompt", {"text": system})
    errors_in_a_row = 0
    while True:
        meter.check()
        answer = caller.complete(messages, TOOLS)
        reply, model_seconds = answer.reply, answer.seconds
        meter.spend_step()
        number = meter.steps
        record("reply", _reply_event(number, reply, model_seconds))
        messages.append(Message("assistant", reply.text, reply.tool_calls, raw=reply.raw))
        try:
            thought, action = read_action(reply)
        except FormatError as error:
            errors_in_a_row += 1
            record("format_error", {"step": number, "text": str(error)})
            on_step(Step(number, reply, "", None, None, model_seconds))
            if errors_in_a_row >= config.max_format_errors:
                raise FormatErrors(f"{errors_in_a_row} replies in a row held no action: {error}") from error
            messages.extend(_answer(reply, f"error: {error}\n\n[left: {meter.describe()}]"))
            continue
        errors_in_a_row = 0
        record("action", {"step": number, "thought": thought, "action": action.name, "params": action.params})
        observation = None
        try:
            observation = environment.step(action, number)
            record("observation", _observation_event(number, observation))
        finally:
            on_step(Step(number, reply, thought, action, observation, model_seconds))
        messages.extend(_answer(reply, render("observation", observation=observation)))


def _answer(reply: Reply, text: str) -> list[Message]:
    """The observation as the provider wants it: one result for every tool call, else a user turn."""
    if not reply.tool_calls:
        return [Message("user", text)]
    return [Message("tool", text, tool_call_id=call.id) for call in reply.tool_calls]


def _reply_event(number: int, reply: Reply, seconds: float) -> dict[str, Any]:
    return {
        "step": number,
        "text": reply.text,
        "tool_calls": [
            {"id": call.id, "name": call.name, "arguments": call.arguments} for call in reply.tool_calls
        ],
        "finish": reply.finish,
        "usage": reply.usage.model_dump(),
        "seconds": round(seconds, 3),
    }


def _observation_event(number: int, observation: Observation) -> dict[str, Any]:
    scores = observation.scores
    return {
        "step": number,
        "ok": observation.ok,
        "text": observation.text,
        "valid": None if scores is None else scores.grade.valid,
        "reason_code": None if scores is None else str(scores.grade.reason),
        "score": None if scores is None else scores.counted,
        "feedback_score": None if scores is None else scores.shown,
        "seconds": round(observation.seconds, 3),
        "budget_left": observation.budget_left,
    }
