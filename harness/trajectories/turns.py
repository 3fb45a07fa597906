"""A trajectory's events as turns: a model call, what the reply asked for, and what came back."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from harness.trajectories.events import (
    ActionEvent,
    CompactionEvent,
    Event,
    FaultEvent,
    FormatErrorEvent,
    ObservationEvent,
    ReplyEvent,
)


@dataclass
class Act:
    """One thing that a reply asked for and its answer; a format error has no action.

    Attributes:
        answer: ``None`` when the trial ended first.
    """

    step: int
    action: ActionEvent | None = None
    answer: ObservationEvent | FormatErrorEvent | None = None

    @property
    def call_id(self) -> str | None:
        """The tool call it belongs to."""
        return next((event.call_id for event in (self.action, self.answer) if event), None)

    @property
    def observation(self) -> ObservationEvent | None:
        """The answer, if it is an observation."""
        return self.answer if isinstance(self.answer, ObservationEvent) else None

    @property
    def error(self) -> FormatErrorEvent | None:
        """The answer, if it is a format error."""
        return self.answer if isinstance(self.answer, FormatErrorEvent) else None


@dataclass
class Turn:
    """One model call and what followed from it.

    Attributes:
        step: number of its first step.
        before: in their order, the calls that failed before it, and what left the conversation.
        reply: ``None`` when no call succeeded.
        acts: in the reply's order.
    """

    step: int
    before: list[FaultEvent | CompactionEvent] = field(default_factory=list)
    reply: ReplyEvent | None = None
    acts: list[Act] = field(default_factory=list)

    @property
    def faults(self) -> list[FaultEvent]:
        """Calls that failed before it."""
        return [event for event in self.before if isinstance(event, FaultEvent)]

    @property
    def compactions(self) -> list[CompactionEvent]:
        """What left the conversation before it."""
        return [event for event in self.before if isinstance(event, CompactionEvent)]

    @property
    def steps(self) -> range:
        """The numbers of its steps."""
        return range(self.step, max([self.step, *(act.step for act in self.acts)]) + 1)


def turns_of(events: Iterable[Event]) -> list[Turn]:
    """The turns of a trial, in their order."""
    turns: list[Turn] = []

    def current(step: int, opens: bool) -> Turn:
        """The turn of an event; what belongs to a new call opens one, once the last has its reply."""
        if not turns or (opens and turns[-1].reply is not None):
            turns.append(Turn(step))
        return turns[-1]

    for event in events:
        if isinstance(event, FaultEvent | CompactionEvent):
            current(event.step, opens=True).before.append(event)
        elif isinstance(event, ReplyEvent):
            turn = current(event.step, opens=True)
            turn.reply, turn.step = event, event.step
        elif isinstance(event, ActionEvent):
            current(event.step, opens=False).acts.append(Act(event.step, action=event))
        elif isinstance(event, ObservationEvent | FormatErrorEvent):
            _answer(current(event.step, opens=False), event)
    return turns


def _answer(turn: Turn, event: ObservationEvent | FormatErrorEvent) -> None:
    """Give an answer to the act that it belongs to, or to a new one."""
    for act in turn.acts:
        if act.answer is None and act.step == event.step and act.call_id == event.call_id:
            act.answer = event
            return
    turn.acts.append(Act(event.step, answer=event))
