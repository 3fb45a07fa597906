"""How the tests of clients go on with a conversation."""

from __future__ import annotations

from harness.models.base import Message, Reply

HELLO = [Message("system", "Be brief."), Message("user", "Hello")]


def turn(reply: Reply) -> Message:
    """The assistant's turn, as the agent keeps it."""
    return Message("assistant", reply.text, reply.tool_calls, raw=reply.raw)


def results(reply: Reply) -> list[Message]:
    """A result for each of its tool calls."""
    return [Message("tool", f"did {call.name}", tool_call_id=call.id) for call in reply.tool_calls]
