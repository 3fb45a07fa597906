"""A model that gives a list of replies, one after the other, and the words to write them."""

from __future__ import annotations

import json
import time
from collections.abc import Sequence

from harness.models.base import Message, Reply, Settings, Tool, ToolCall, Usage

USAGE = Usage(input=100, output=10)


def say(action: str, **params: str) -> Reply:
    """A reply with one tool call."""
    return Reply("", tool_calls=(ToolCall("call", action, json.dumps(params)),), usage=USAGE)


def run(code: str) -> Reply:
    """A reply that executes code."""
    return say("execute_code", code=code)


SUBMIT = say("submit")
SAMPLE = "import shutil; shutil.copy('/mlesmith/public/sample_submission.csv', 'submission.csv')"


class ListModel:
    """Gives its replies in order and then submits; an exception in the list is raised."""

    def __init__(self, *replies: Reply | Exception, name: str = "listed/model", seconds: float = 0.0) -> None:
        self.name = name
        self.seen: list[list[Message]] = []
        self.tools: list[Sequence[Tool]] = []
        self._replies = [*replies]
        self._seconds = seconds

    def complete(self, messages: Sequence[Message], tools: Sequence[Tool], settings: Settings) -> Reply:
        """The next reply."""
        self.seen.append(list(messages))
        self.tools.append(tools)
        time.sleep(self._seconds)
        reply = self._replies.pop(0) if self._replies else SUBMIT
        if isinstance(reply, Exception):
            raise reply
        return reply
