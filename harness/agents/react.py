"""The ReAct agent: think, act, observe, until the budget ends or the model submits."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, field_validator

from harness.actions import TOOLS, Action, Observation
from harness.agents.format_errors import FormatError, FormatErrorKind
from harness.agents.history import Compaction, History, fingerprint, window_of
from harness.agents.parsing import Ask, read_actions
from harness.agents.prompting import NEWEST, prompt_versions, prompts_hash, render
from harness.agents.turns import best_of, kept_turn, summary_line
from harness.agents.wording import first_turns, format_error_text
from harness.budget import BudgetMeter
from harness.environment import Environment
from harness.errors import ContextOverflow, FormatErrors, Refusal
from harness.models.base import Message, Settings, Usage
from harness.models.calling import Answer, Caller

NAME = "react"

_HALVINGS = 3
"""How often a conversation that is refused as too long is made shorter for one call."""

Record = Callable[[str, dict[str, Any]], None]


class AgentConfig(BaseModel):
    """How the agent works.

    Attributes:
        max_format_errors: unreadable replies in a row that end the trial.
        recent_steps: replies, with what came back for them, that stay when the conversation becomes too long.
        prompts: version of the prompts, a folder in ``harness/agents/prompts``.
        settings: what is asked of every model call, but for what a model's own settings say.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    max_format_errors: int = Field(default=3, ge=1)
    recent_steps: int = Field(default=8, ge=1)
    prompts: str = NEWEST
    settings: Settings = Settings()

    @field_validator("prompts")
    @classmethod
    def _known(cls, version: str) -> str:
        if version not in prompt_versions():
            raise ValueError(f"unknown version {version!r}; there is {', '.join(prompt_versions())}")
        return version


@dataclass(frozen=True)
class Step:
    """One thing that a reply asked for, and what came back.

    Attributes:
        number: counted from 1.
        action: ``None`` where nothing could be read.
        observation: ``None`` without an action, and when the trial ended before there was one.
        usage: tokens of the reply; of several steps of one reply, the first has them.
        model_seconds: wall time of the reply, likewise.
    """

    number: int
    action: Action | None
    observation: Observation | None
    usage: Usage
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
    settings = caller.settings
    system, task = first_turns(environment, meter, settings.action_format, config.prompts)
    offered, sha256 = [vars(tool) for tool in TOOLS], prompts_hash(config.prompts)
    record("prompt", {"system": system, "user": task, "sha256": sha256, "tools": offered})
    history = History(
        system,
        task,
        window_of(settings),
        config.recent_steps,
        lambda lines, best: render("summary", version=config.prompts, lines=lines, best=best),
    )
    unreadable: list[FormatError] = []  # what was wrong with the last replies, one after the other
    while True:
        meter.check()
        answer = _ask(caller, history, meter.steps + 1, record)
        reply = answer.reply
        reading = read_actions(reply)
        turn = kept_turn(reply, reading)
        record("reply", _reply_event(meter.steps + 1, answer, turn, history.messages))
        history.replied(turn, reply.usage)
        wrong = [ask.wish for ask in reading.asks if isinstance(ask.wish, FormatError)]
        unreadable = [*unreadable, wrong[0]] if len(wrong) == len(reading.asks) else []
        took = reply.usage, answer.seconds
        for ask in reading.asks:
            meter.spend_step()
            number, call_id = meter.steps, ask.call.id if ask.call else None
            action, observation, best = None, None, None
            try:
                if isinstance(ask.wish, FormatError):
                    text = format_error_text(ask.wish, meter, settings, reply, config.prompts)
                    fields = {"step": number, "kind": ask.wish.kind, "text": text, "call_id": call_id}
                    record("format_error", fields)
                    line = f"{number}. no action: {ask.wish.kind}"
                else:
                    action = ask.wish
                    record("action", _action_event(number, reading.thought, action, call_id))
                    observation = environment.step(action, number)
                    text = render("observation", version=config.prompts, observation=observation)
                    record("observation", _observation_event(number, observation, text, call_id))
                    line = summary_line(number, action, observation)
                    best = best_of(number, action, observation)
            finally:
                on_step(Step(number, action, observation, *took))
            history.answered(number, line, _result(ask, text), best)
            took = Usage(), 0.0
            if ask is not reading.asks[-1]:
                meter.check_action()
        _end_after(unreadable, config.max_format_errors)


def _ask(caller: Caller, history: History, step: int, record: Record) -> Answer:
    """The model's answer; what is too long for it is compacted before the call, or once it was refused."""

    def compacted(compaction: Compaction | None) -> bool:
        if compaction:
            record("compaction", {"step": step, "dropped": compaction.dropped, "text": compaction.text})
        return compaction is not None

    compacted(history.fit())
    calls, waited, halvings = caller.calls, caller.meter.waited(), 0
    while True:
        expected = history.expected_input
        try:
            answer = caller.complete(history.messages, TOOLS, expected_input=expected, step=step)
        except ContextOverflow:
            if halvings == _HALVINGS or not compacted(history.halve()):
                raise
            halvings += 1
        else:
            # With the calls that were refused.
            return replace(answer, attempts=caller.calls - calls, waited=caller.meter.waited() - waited)


def _result(ask: Ask, text: str) -> Message:
    """What came back, as the provider wants it: the result of a tool call, else a user's turn."""
    return Message("user", text) if ask.call is None else Message("tool", text, tool_call_id=ask.call.id)


def _end_after(errors: list[FormatError], most: int) -> None:
    """End the trial after too many replies in a row that could not be carried out."""
    if len(errors) < most:
        return
    if all(error.kind is FormatErrorKind.REFUSAL for error in errors):
        raise Refusal(f"the model refused {len(errors)} times in a row: {errors[-1]}")
    raise FormatErrors(f"{len(errors)} replies in a row held no action: {errors[-1]}")


def _reply_event(step: int, answer: Answer, turn: Message, sent: list[Message]) -> dict[str, Any]:
    reply = answer.reply
    calls, kept = ([vars(call) for call in calls] for calls in (reply.tool_calls, turn.tool_calls))
    return {
        "step": step,
        "thought": reply.thought,
        "text": reply.text,
        "tool_calls": calls,
        "kept": None if (turn.text, kept) == (reply.text, calls) else {"text": turn.text, "tool_calls": kept},
        "finish": reply.finish,
        "usage": reply.usage.model_dump(),
        "usage_raw": reply.usage_raw,
        "version": reply.version,
        "seconds": round(answer.seconds, 3),
        "waited": round(answer.waited, 3),
        "attempts": answer.attempts,
        "messages": len(sent),
        "prompt_sha256": fingerprint(sent),
    }


def _action_event(step: int, thought: str, action: Action, call_id: str | None) -> dict[str, Any]:
    return {
        "step": step,
        "thought": thought,
        "action": action.name,
        "params": action.params,
        "call_id": call_id,
    }


def _observation_event(step: int, observation: Observation, text: str, call_id: str | None) -> dict[str, Any]:
    scores = observation.scores
    return {
        "step": step,
        "ok": observation.ok,
        "text": text,
        "valid": None if scores is None else scores.grade.valid,
        "reason_code": None if scores is None else str(scores.grade.reason),
        "score": None if scores is None else scores.counted,
        "feedback_score": None if scores is None else scores.shown,
        "seconds": round(observation.seconds, 3),
        "budget_left": observation.budget_left,
        "call_id": call_id,
    }
