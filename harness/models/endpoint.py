"""The room at a model's endpoint, shared by all trials of a job that call it.

How many calls go out at a time is found by additive increase and multiplicative decrease, as in TCP: a rate
limit takes a fifth of the room away, a full round of successes while the room was full adds one place.
"""

from __future__ import annotations

import itertools
import threading
import time
from collections import deque
from collections.abc import Callable

from harness.errors import EndpointClosed
from harness.models.faults import FAULTS, Fault, FaultKind

#: Calls at a time before anything is known of the endpoint, and at most.
START, MOST = 10, 256
SHRINK = 0.8
#: Trials in a row that may end with a provider error, without one successful call in between.
TRIALS_IN_A_ROW = 3
#: How often those who wait look whether they still should, in seconds.
LOOK_SECONDS = 0.2


class Endpoint:
    """Who may call now, who waits, and whether calling makes any sense. Safe to use from many threads.

    Args:
        name: the model's board name.
        key_variable: the environment variable of its key, for messages.
        start: calls at a time in the beginning.
        told: told in a few words when it slows down, recovers or closes; nothing when all is well again.
            It is called while the endpoint is locked.
    """

    def __init__(
        self,
        name: str,
        *,
        key_variable: str | None = None,
        start: int = START,
        told: Callable[[str], None] = lambda text: None,
    ) -> None:
        self.name = name
        self._key_variable = key_variable or "its environment variable"
        self._told = told
        self._changed = threading.Condition()
        self._start = self._places = start
        self._running = 0
        self._line: deque[int] = deque()
        self._numbers = itertools.count()
        self._held_until = 0.0
        # A call that began before the last decrease says nothing about the room after it.
        self._episode = 0
        self._successes = 0
        self._failed_trials = 0
        self._closed: str | None = None

    @property
    def places(self) -> int:
        """Calls that may go out at a time."""
        return self._places

    @property
    def closed(self) -> str | None:
        """Why nobody can use it any more, and what to do about it; ``None`` while it is open."""
        return self._closed

    def enter(self, check: Callable[[], None]) -> int:
        """Wait, first come first served, for a place; every call that enters must :meth:`leave`.

        Args:
            check: raises when there is no time left to wait.

        Returns:
            The episode that the call belongs to, for :meth:`failed`.

        Raises:
            EndpointClosed: it is closed, or was while waiting.
        """
        with self._changed:
            number = next(self._numbers)
            self._line.append(number)
            try:
                while True:
                    if self._closed is not None:
                        raise EndpointClosed(self._closed)
                    check()
                    held = self._held_until - time.monotonic()
                    if held <= 0 and self._line[0] == number and self._running < self._places:
                        self._running += 1
                        return self._episode
                    self._changed.wait(min(LOOK_SECONDS, held) if held > 0 else LOOK_SECONDS)
            finally:
                self._line.remove(number)
                self._changed.notify_all()

    def leave(self) -> None:
        """Give the place back."""
        with self._changed:
            self._running -= 1
            self._changed.notify_all()

    def succeeded(self) -> None:
        """A call, still in its place, was answered."""
        with self._changed:
            self._failed_trials = 0
            if self._running < self._places or self._places >= MOST:
                return  # more room would not have helped
            self._successes += 1
            if self._successes >= self._places:
                self._successes = 0
                self._places += 1
                self._changed.notify_all()
                if self._episode:
                    slow = self._places < self._start
                    self._told(f"{self._places} calls at a time" if slow else "")

    def failed(self, fault: Fault, episode: int, hold: float = 0.0) -> None:
        """A call got no reply.

        Args:
            fault: what it got instead.
            episode: what :meth:`enter` gave; a burst of faults shrinks the room once.
            hold: seconds for which nobody is to call, as the endpoint asked.
        """
        with self._changed:
            if fault.policy.closes:
                fix = FAULTS[fault.kind].fix.format(key_variable=self._key_variable)
                self._close(f"{str(fault).rstrip('.')}; {fix}")
                return
            if fault.kind in (FaultKind.RATE_LIMIT, FaultKind.OVERLOADED):
                self._successes = 0
                self._held_until = max(self._held_until, time.monotonic() + hold)
            if fault.policy.slows and episode == self._episode:
                self._episode += 1
                self._places = max(1, int(self._places * SHRINK))
                self._told(f"rate limited, {self._places} calls at a time")

    def trial_failed(self, reason: str) -> None:
        """A trial ended with a provider error; several in a row, without one answer, close the endpoint."""
        with self._changed:
            self._failed_trials += 1
            if self._failed_trials >= TRIALS_IN_A_ROW:
                self._close(
                    f"{self._failed_trials} trials in a row ended without one answer, the last with: "
                    f"{reason}; try it by `mlesmith models check {self.name}`"
                )

    def _close(self, reason: str) -> None:
        if self._closed is None:
            self._closed = reason
            self._told("closed")
            self._changed.notify_all()
