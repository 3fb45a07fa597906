"""The scripted provider: a policy replayed over the conversation."""

from __future__ import annotations

import difflib
import json
from collections.abc import Sequence

from harness.errors import InputError
from harness.models.base import Message, Reply, Settings, Tool, ToolCall
from harness.models.scripted.policies import POLICIES

#: What the system prompt says when no scores are told.
_BLIND = "not told scores"


class ScriptedModel:
    """A candidate that follows a policy.

    Stateless: every call replays the policy over the observations in the messages, so the same conversation
    always gets the same reply.

    Args:
        policy: a name of :func:`policy_names`.

    Raises:
        InputError: unknown policy, with the nearest known one.
    """

    def __init__(self, policy: str) -> None:
        if policy not in POLICIES:
            near = difflib.get_close_matches(policy, POLICIES, n=1)
            hint = f"did you mean scripted/{near[0]}?" if near else f"known: {', '.join(POLICIES)}"
            raise InputError(f"unknown scripted candidate {policy!r}; {hint}")
        self.name = f"scripted/{policy}"
        self._policy = POLICIES[policy]

    def complete(self, messages: Sequence[Message], tools: Sequence[Tool], settings: Settings) -> Reply:
        """The policy's next action, as a tool call where tools are offered, else as JSON in text."""
        observations = [message.text for message in messages if message.role in ("user", "tool")][1:]
        turns = self._policy.play(_BLIND in messages[0].text)
        thought, action = next(turns)
        for observation in observations:
            try:
                thought, action = turns.send(observation)
            except StopIteration:
                break
        if tools:
            call = ToolCall(f"call_{len(observations) + 1}", action.name, json.dumps(action.params))
            return Reply(thought, (call,), finish="tool_calls")
        return Reply(f"{thought}\n\n{json.dumps({'action': action.name, 'params': action.params})}")


def policy_names() -> list[str]:
    """All policies, weakest first."""
    return list(POLICIES)


def policy_summaries() -> dict[str, str]:
    """What each policy does, in a line."""
    return {name: policy.summary for name, policy in POLICIES.items()}
