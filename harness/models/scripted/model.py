"""A candidate that follows a policy instead of calling a model."""

from __future__ import annotations

import difflib
import itertools
import json
from collections.abc import Sequence

from harness.errors import InputError
from harness.models.base import ActionFormat, Finish, Message, Reply, Settings, Tool, ToolCall
from harness.models.scripted.policies import POLICIES, SUMMARIES, Turn, oracle, submit
from harness.models.scripted.reading import read_answer
from harness.tasks.package import Task
from harness.tasks.submission import read_answer_key

ORACLE = "oracle"
"""The policy that is shown the answers. It is no candidate: boards leave it out."""


def policy_names() -> list[str]:
    """Names of the ladder's policies, weakest first; the oracle is not one of them."""
    return list(POLICIES)


def policy_summaries() -> dict[str, str]:
    """What each policy does, in a line, by name; the oracle comes last."""
    return SUMMARIES


class ScriptedModel:
    """A deterministic candidate, ``scripted/<policy>``, at no cost.

    It keeps no state: every call replays the policy over the observations that the conversation holds, so the
    same messages always get the same reply.

    Args:
        policy: one of :func:`policy_names`, or ``oracle``.
        task: what it will work on; only the oracle looks at it.

    Raises:
        InputError: there is no such policy, or the oracle has no task, or one without answers.
    """

    def __init__(self, policy: str, task: Task | None = None) -> None:
        if policy not in SUMMARIES:
            close = difflib.get_close_matches(policy, SUMMARIES, n=1)
            hint = f"did you mean scripted/{close[0]}? " if close else ""
            raise InputError(f"unknown scripted candidate {policy!r}; {hint}known: {', '.join(SUMMARIES)}")
        self.name = f"scripted/{policy}"
        self._policy = oracle(_answers(task)) if policy == ORACLE else POLICIES[policy]

    def complete(self, messages: Sequence[Message], tools: Sequence[Tool], settings: Settings) -> Reply:
        """The policy's next turn: a tool call when tools are offered, else prose and one JSON object."""
        observations = _observations(messages)
        turn = self._replay(observations)
        if tools and settings.action_format is ActionFormat.TOOLS:
            call = ToolCall(f"call_{len(observations) + 1}", turn.action.name, json.dumps(turn.action.params))
            return Reply(turn.thought, tool_calls=(call,), finish=Finish.TOOL_CALLS)
        written = json.dumps({"action": turn.action.name, "params": turn.action.params})
        return Reply(f"{turn.thought}\n\n```json\n{written}\n```")

    def _replay(self, observations: Sequence[str]) -> Turn:
        policy = self._policy()
        turn = next(policy)
        for text in observations:
            try:
                turn = policy.send(read_answer(text))
            except StopIteration:
                return submit("There is nothing left to do.")
        return turn


def _answers(task: Task | None) -> str:
    """The answers of a task as a submission."""
    if task is None:
        raise InputError(f"scripted/{ORACLE} hands in the answers of a task, so it works in trials only")
    key = read_answer_key(task)
    if missing := [column for column in key.columns if column not in key.answers]:
        raise InputError(
            f"{task.answer_path}: no column {', '.join(missing)}, which a submission has; "
            f"scripted/{ORACLE} cannot tell what to hand in"
        )
    return key.answers[list(key.columns)].to_csv(index=False, lineterminator="\n")


def _observations(messages: Sequence[Message]) -> list[str]:
    """What came back for each of the policy's turns: the messages right after its own."""
    pairs = itertools.pairwise(messages)
    return [after.text for own, after in pairs if own.role == "assistant" and after.role != "assistant"]
