"""A model that plays a script: a strict server of Chat Completions that answers by what it was told."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from generator.agents.prompts import prompt
from tests.harness.models.chat_server import ChatServer, call, completion, usage
from tests.harness.models.loopback import Asked, Said

_ROLES = {prompt(name)[:60]: name for name in ("brainstormer", "designer", "refactor", "helper")}


@dataclass(frozen=True)
class Move:
    """A tool call; or, with text alone, a reply in words."""

    name: str = ""
    params: dict[str, Any] | str = field(default_factory=dict)
    text: str = "I go on."


@dataclass(frozen=True)
class Turn:
    """Where a conversation is.

    Attributes:
        agent: who is asked.
        session: which attempt of that agent, from 0.
        number: which reply of it, from 0.
        told: what came back last; of the first turn, the task.
    """

    agent: str
    session: int
    number: int
    told: str


Script = Callable[[Turn], Move | Said]


def moves(*given: Move) -> Script:
    """The moves in order, the last one for ever; each attempt begins anew."""
    return lambda turn: given[min(turn.number, len(given) - 1)]


class Player(ChatServer):
    """Answers each agent by its script.

    Args:
        scripts: by agent.
    """

    def __init__(self, **scripts: Script) -> None:
        super().__init__()
        self._scripts = scripts
        self._sessions = dict.fromkeys(scripts, -1)
        self._strict = self.judge
        self.judge = self._played
        self.turns: list[Turn] = []

    def _played(self, asked: Asked) -> Said | None:
        refused = self._strict(asked) if self._strict else None
        if refused is not None:
            return refused
        messages = asked.body["messages"]
        agent = next(name for start, name in _ROLES.items() if messages[0]["content"].startswith(start))
        number = sum(message["role"] == "assistant" for message in messages)
        self._sessions[agent] += number == 0
        turn = Turn(agent, self._sessions[agent], number, str(messages[-1]["content"]))
        self.turns.append(turn)
        move = self._scripts[agent](turn)
        if isinstance(move, Said):
            return move
        calls = [call(move.name, move.params)] if move.name else []
        size = len(json.dumps(messages)) // 4
        return Said(completion(move.text, calls=calls, tokens=usage(size, 50)))

    def told(self, agent: str) -> list[str]:
        """What that agent was told, turn by turn."""
        return [turn.told for turn in self.turns if turn.agent == agent]


class TextPlayer(Player):
    """The same for models without tool calls: the moves are written as JSON."""

    def _played(self, asked: Asked) -> Said | None:
        said = super()._played(asked)
        message = said.body["choices"][0]["message"] if said and said.status == 200 else {}
        for each in message.pop("tool_calls", ()):
            params = json.loads(each["function"]["arguments"])
            action = {"thought": "", "action": each["function"]["name"], "params": params}
            said.body["choices"][0]["finish_reason"] = "stop"  # type: ignore[union-attr]
            message["content"] = json.dumps(action)
        return said


@contextmanager
def playing(player: Player) -> Iterator[Player]:
    """The running server."""
    with player:
        yield player


def in_turn(*scripts: Script) -> Script:
    """One script for each attempt, the last one for all later ones."""
    return lambda turn: scripts[min(turn.session, len(scripts) - 1)](turn)
