"""Counts and times the lines of one file while something runs, or weighs its memory. Loaded by ``grade.py``.

Counts and memory are exact, so they tell how work grows on any machine; times are of the processor.
"""

from __future__ import annotations

import contextlib
import signal
import sys
import time
import tracemalloc
from collections.abc import Callable, Iterator
from typing import Any

#: Once time is up, code that catches everything is stopped again and again.
_AGAIN_SECONDS = 0.05


class Stopped(BaseException):
    """Time is up."""


class Lines:
    """What each line of a file did.

    Args:
        path: the file, as code objects name it.

    Attributes:
        seen: by line, how often it began, how often it ended, the seconds of the ended ones together, and
            the longest of them. What a line calls is part of its time.
        step: the longest time between two events of the file, which is how long it cannot be stopped.
        peak: where memory is weighed, the bytes that were in use at once.
    """

    def __init__(self, path: str) -> None:
        self.seen: dict[int, list[float]] = {}
        self.step = 0.0
        self.peak = 0
        self._last = 0.0
        self._path = path

    @contextlib.contextmanager
    def followed(self, seconds: float, weighed: bool) -> Iterator[None]:
        """Look on for so much processor time, at memory instead of lines where it is ``weighed``.

        Raises:
            Stopped: it is up.
        """
        before = signal.signal(signal.SIGPROF, _stop)
        signal.setitimer(signal.ITIMER_PROF, seconds, _AGAIN_SECONDS)
        self._last = time.process_time()
        if weighed:
            tracemalloc.start()
        else:
            sys.settrace(self._enter)
        try:
            yield
        finally:
            sys.settrace(None)
            signal.setitimer(signal.ITIMER_PROF, 0)
            if weighed:
                self.peak = tracemalloc.get_traced_memory()[1]
                tracemalloc.stop()
            signal.signal(signal.SIGPROF, before)

    def _enter(self, frame: Any, event: str, argument: Any) -> Callable[..., Any] | None:
        if frame.f_code.co_filename != self._path:
            return None
        current: list[float] | None = None
        since = 0.0

        def step(frame: Any, event: str, argument: Any) -> Callable[..., Any]:
            nonlocal current, since
            now = time.process_time()
            if current is not None:
                current[1] += 1
                current[2] += now - since
                current[3] = max(current[3], now - since)
            self.step, self._last = max(self.step, now - self._last), now
            current = None
            if event == "line":
                current = self.seen.setdefault(frame.f_lineno, [0, 0, 0.0, 0.0])
                current[0] += 1
            since = now
            return step

        return step


def _stop(number: int, frame: Any) -> None:
    raise Stopped
