"""One model call as a trial needs it: retried, bounded, and with its waiting booked apart."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass

from harness.models.base import Message, Model, Reply, Settings, Tool
from harness.models.faults import Fault


@dataclass(frozen=True)
class Answer:
    """A reply and what it took.

    Attributes:
        reply: what the model answered.
        seconds: wall time of the call that succeeded.
        waited: wall time of everything else: waiting for room at the endpoint, failed calls, backing off.
        attempts: calls made, the one that succeeded included.
    """

    reply: Reply
    seconds: float
    waited: float = 0.0
    attempts: int = 1


@dataclass
class Caller:
    """Calls one model for one trial."""

    model: Model
    settings: Settings

    def complete(
        self, messages: Sequence[Message], tools: Sequence[Tool], *, expected_input: int = 0
    ) -> Answer:
        """Answer the conversation.

        Args:
            messages: the conversation.
            tools: what the model may do.
            expected_input: tokens the call's input will have at least, as far as earlier usage tells; 0 if
                nothing is known.

        Raises:
            TrialEnd: the endpoint failed for good, or a limit was reached before or while waiting for it.
        """
        started = time.monotonic()
        try:
            reply = self.model.complete(messages, tools, self.settings)
        except Fault as fault:
            raise fault.policy.end(str(fault)) from fault
        return Answer(reply, time.monotonic() - started)
