"""The conversation as the model saw it, rebuilt from the event log alone."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from harness.agents.history import fingerprint
from harness.errors import InputError
from harness.models.base import Message, ToolCall
from harness.trajectories.events import PromptEvent, ReplyEvent
from harness.trajectories.reading import Log
from harness.trajectories.turns import Act, Turn, turns_of


@dataclass(frozen=True)
class Exchange:
    """One model call.

    Attributes:
        turn: the turn it belongs to.
        sent: the conversation that was sent.
        answer: the model's own turn as it stays in the conversation; ``None`` when no call succeeded.
    """

    turn: Turn
    sent: tuple[Message, ...]
    answer: Message | None

    @property
    def is_as_sent(self) -> bool | None:
        """Whether the rebuilt conversation is the one that was sent; ``None`` where the log does not tell."""
        logged = self.turn.reply.prompt_sha256 if self.turn.reply else None
        return None if logged is None else logged == fingerprint(self.sent)


def exchanges(log: Log) -> Iterator[Exchange]:
    """Every model call of a trial with the conversation that was sent, compactions included.

    ``Message.raw`` is not rebuilt: what providers want back unchanged is not in the log.

    Raises:
        InputError: the log does not say how the conversation began.
    """
    turns = turns_of(log.events)
    prompt = log.first(PromptEvent)
    if prompt is None:
        if turns:
            raise InputError("the trajectory has no prompt event, so its conversation cannot be rebuilt")
        return
    system, first = Message("system", prompt.system), Message("user", prompt.user)
    kept: list[tuple[Turn, list[Message]]] = []
    for turn in turns:
        for compaction in turn.compactions:
            first = Message("user", compaction.text)
            kept = [(old, said) for old, said in kept if not set(old.steps) & set(compaction.dropped)]
        sent = (system, first, *(message for _, said in kept for message in said))
        answer = _assistant(turn.reply) if turn.reply else None
        yield Exchange(turn, sent, answer)
        if answer:
            kept.append((turn, [answer, *_answers(answer, turn.acts)]))


def exchange_at(log: Log, step: int) -> Exchange:
    """The model call that asked for a step.

    Raises:
        InputError: the trial has no such step.
    """
    found = list(exchanges(log))
    for exchange in found:
        if step in exchange.turn.steps:
            return exchange
    last = max((exchange.turn.steps[-1] for exchange in found), default=0)
    raise InputError(f"step {step} is not in the trajectory; its steps are 1 to {last}")


def _assistant(reply: ReplyEvent) -> Message:
    said = reply.kept or reply
    calls = tuple(ToolCall(call.id, call.name, call.arguments) for call in said.tool_calls)
    return Message("assistant", said.text, calls)


def _answers(reply: Message, acts: Sequence[Act]) -> Iterator[Message]:
    """The turns that answer a reply: one for every tool call, else one of the user.

    An answer that names no call answers all calls that have none of their own.
    """
    said = [act.answer for act in acts if act.answer]
    if not reply.tool_calls:
        yield from (Message("user", answer.text) for answer in said)
        return
    own = {answer.call_id for answer in said if answer.call_id is not None}
    open_calls = [call.id for call in reply.tool_calls if call.id not in own]
    for answer in said:
        for call_id in [answer.call_id] if answer.call_id is not None else open_calls:
            yield Message("tool", answer.text, tool_call_id=call_id)
