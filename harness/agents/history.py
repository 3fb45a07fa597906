"""The conversation of a trial, and how it is kept within the model's window.

A step is never cut: the oldest leave whole, with what belongs to them alone (reasoning items, thought
signatures), and what they came to is told in the first user turn. So roles always alternate as every provider
wants it.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from harness.models.base import Message, Settings, Usage

_KEPT_SHARE = 0.5
"""Share of the window that is filled after a compaction, so that caches stay useful for some steps."""
_LAST_SHARE = 0.9
"""Share of the window that the last step may fill: without it the model does not know what it just did."""
_PROGRAM_SHARE, _LINES_SHARE = 0.2, 0.1
"""Shares of the window that the best program and the list of dropped steps may take."""
_LONGEST_PROGRAM, _LONGEST_LINES = 20_000, 8_000


@dataclass(frozen=True)
class Best:
    """A program whose submission was valid.

    Attributes:
        step: its number.
        program: what was executed.
        score: what the agent was told, if it was told.
    """

    step: int
    program: str
    score: float | None


@dataclass
class Exchange:
    """One reply and its answers, which stay or leave together.

    Attributes:
        reply: the assistant's turn.
        answers: a result for every tool call, or one user turn.
        steps: numbers of the steps it took.
        lines: what each of them came to, in a line.
    """

    reply: Message
    answers: list[Message] = field(default_factory=list)
    steps: list[int] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)

    @property
    def messages(self) -> list[Message]:
        """Its turns, in order."""
        return [self.reply, *self.answers]


@dataclass(frozen=True)
class Compaction:
    """What left the conversation.

    Attributes:
        dropped: numbers of the steps.
        text: the new first user turn.
    """

    dropped: tuple[int, ...]
    text: str


class History:
    """The conversation: the system turn, the task, and the exchanges that are kept.

    How many tokens it has is never guessed: the last call's usage tells what was sent then, and the tokens
    per character of this very conversation tell the rest.

    Args:
        system: the system turn.
        task: the first user turn.
        window: input tokens that a call may have; ``None`` is unknown, until a call is refused as too long.
        recent: exchanges that a compaction keeps at most.
        summarise: words the dropped steps, from their lines and the best program, if it was dropped.
    """

    def __init__(
        self,
        system: str,
        task: str,
        window: int | None,
        recent: int,
        summarise: Callable[[Sequence[str], Best | None], str],
    ) -> None:
        self._system = Message("system", system)
        self._task = task
        self._first = Message("user", task)
        self._window = window
        self._recent = recent
        self._summarise = summarise
        self._exchanges: list[Exchange] = []
        self._dropped: list[str] = []
        self._dropped_steps: set[int] = set()
        self._best: Best | None = None
        self._tokens = 0
        """Of the last call's input and output, after what was compacted since has left."""
        self._told = 0
        """Characters of what came after that call."""
        self._rate = 0.0
        """Tokens per character; 0 before the first call that tells its usage."""
        self._overflowed: int | None = None
        """Characters of the smallest conversation that was refused as too long."""

    @property
    def messages(self) -> list[Message]:
        """The conversation as it is sent."""
        return [self._system, self._first, *(m for exchange in self._exchanges for m in exchange.messages)]

    @property
    def expected_input(self) -> int:
        """Tokens of the next call's input; 0 while nothing is known."""
        return round(self._tokens + self._rate * self._told) if self._rate else 0

    def replied(self, reply: Message, usage: Usage) -> None:
        """Add the assistant's turn; the usage is that of the call that gave it."""
        characters = size(self.messages)
        if usage.input:
            self._rate = usage.input / characters
            # Where the provider gets its own message back, its reasoning may count again.
            self._tokens = usage.input + usage.output - (0 if reply.raw is not None else usage.reasoning)
            self._told = 0
        else:
            self._told += size([reply])
        self._exchanges.append(Exchange(reply))

    def answered(self, step: int, line: str, answer: Message, best: Best | None = None) -> None:
        """Add what came back for a step of the last reply.

        Args:
            step: its number.
            line: what it came to, for a summary.
            answer: the turn.
            best: its program, if it is the best so far.
        """
        exchange = self._exchanges[-1]
        exchange.steps.append(step)
        exchange.lines.append(line)
        exchange.answers.append(answer)
        self._told += size([answer])
        self._best = best or self._best

    def fit(self) -> Compaction | None:
        """Drop the oldest steps if the next call would not fit the window."""
        characters = self.expected_input / self._rate if self._rate else size(self.messages)
        limits: list[float] = []
        if self._window is not None and self._rate:
            limits.append(self._window / self._rate)
        if self._overflowed is not None:
            limits.append(self._overflowed - 1)
        if not limits or characters <= min(limits):
            return None
        return self._compact(min(limits))

    def halve(self) -> Compaction | None:
        """Drop the oldest steps of a conversation that was refused as too long; ``None`` if none is left."""
        refused = size(self.messages)
        self._overflowed = min(refused, self._overflowed or refused)
        return self._compact(refused)

    def _compact(self, window: float) -> Compaction | None:
        """Leave the recent exchanges that fill a share of the window, given in characters."""
        kept = self._exchanges[-self._recent :]
        while kept and self._size_with(kept, window) > window * _KEPT_SHARE:
            kept = kept[1:]
        last = self._exchanges[-1:]
        if not kept and self._size_with(last, window) <= window * _LAST_SHARE:
            kept = last
        gone = self._exchanges[: len(self._exchanges) - len(kept)]
        if not gone:
            return None
        self._first = Message("user", self._text_without(kept, window))
        self._dropped += [line for exchange in gone for line in exchange.lines]
        self._dropped_steps.update(number for exchange in gone for number in exchange.steps)
        self._exchanges = kept
        self._tokens, self._told = 0, size(self.messages)
        return Compaction(tuple(number for exchange in gone for number in exchange.steps), self._first.text)

    def _size_with(self, kept: list[Exchange], window: float) -> int:
        first = Message("user", self._text_without(kept, window))
        return size([self._system, first, *(m for exchange in kept for m in exchange.messages)])

    def _text_without(self, kept: list[Exchange], window: float) -> str:
        """The first user turn when only some exchanges are left."""
        gone = self._exchanges[: len(self._exchanges) - len(kept)]
        lines = [*self._dropped, *(line for exchange in gone for line in exchange.lines)]
        steps = self._dropped_steps.union(*(exchange.steps for exchange in gone))
        best = self._best if self._best and self._best.step in steps else None
        if best:
            room = round(min(_LONGEST_PROGRAM, window * _PROGRAM_SHARE))
            best = Best(best.step, _shortened(best.program, room), best.score)
        room = round(min(_LONGEST_LINES, window * _LINES_SHARE))
        return f"{self._task}\n\n{self._summarise(list(_last(lines, room)), best)}"


def window_of(settings: Settings) -> int | None:
    """Input tokens that a call may have by its settings; ``None`` if they do not say.

    A reply needs room beside the input: as much as it may have, else an eighth of the window.
    """
    bounds = [] if settings.max_input_tokens is None else [settings.max_input_tokens]
    if settings.context_window is not None:
        reply = settings.max_output_tokens or settings.context_window // 8
        bounds.append(max(1, settings.context_window - reply))
    return min(bounds, default=None)


def size(messages: Sequence[Message]) -> int:
    """Characters of turns, their tool calls included."""
    return sum(
        len(message.text) + sum(len(call.name) + len(call.arguments) for call in message.tool_calls)
        for message in messages
    )


def fingerprint(messages: Sequence[Message]) -> str:
    """Identity of a conversation: SHA-256 over the canonical JSON of what its turns say."""
    turns = [
        {
            "role": message.role,
            "text": message.text,
            "tool_calls": [
                {"id": call.id, "name": call.name, "arguments": call.arguments} for call in message.tool_calls
            ],
            "tool_call_id": message.tool_call_id,
        }
        for message in messages
    ]
    canonical = json.dumps(turns, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(canonical.encode()).hexdigest()


def _shortened(program: str, room: int) -> str:
    """A program that fits; one that was cut says so, since it does not run as it stands."""
    if len(program) <= room:
        return program
    head = room // 2
    left_out = len(program) - 2 * head
    return f"{program[:head]}\n# ... {left_out} characters left out ...\n{program[len(program) - head :]}"


def _last(lines: Sequence[str], room: int) -> Iterator[str]:
    """The last lines that fit, after a note of how many do not."""
    first, used = len(lines), 0
    while first and used + len(lines[first - 1]) < room:
        first -= 1
        used += len(lines[first]) + 1
    if first:
        yield f"({first} earlier steps are left out)"
    yield from lines[first:]
