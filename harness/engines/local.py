"""The local engine: a pool of worker threads on this machine.

Threads suffice, because the work of a trial happens in the model's endpoint and in sandboxed processes.
Execution is at-least-once: a trial that was interrupted is simply run again.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from typing import TypeVar

from harness.sandboxes.warm.parent import kill_started_sandboxes

T = TypeVar("T")


class LocalEngine:
    """Runs items in order, at most ``workers`` at a time."""

    def __init__(self, workers: int) -> None:
        self.workers = workers
        self.cancelled = threading.Event()

    def run(self, items: Iterable[T], work: Callable[[T], None]) -> None:
        """Run ``work`` on every item.

        On an interrupt (or an error of ``work`` itself) nothing new is started, the started sandboxes are
        ended so that running items stop soon, and the interrupt is raised again.
        """
        with ThreadPoolExecutor(self.workers, thread_name_prefix="trial") as pool:
            pending: set[Future[None]] = {pool.submit(self._guarded, work, item) for item in items}
            try:
                while pending:
                    done, pending = wait(pending, timeout=0.5, return_when=FIRST_COMPLETED)
                    for future in done:
                        future.result()
            except BaseException:
                self.cancelled.set()
                for future in pending:
                    future.cancel()
                # Again and again: one may just be starting, or be started anew by a grader.
                while pending:
                    kill_started_sandboxes()
                    _, pending = wait(pending, timeout=0.5)
                raise

    def _guarded(self, work: Callable[[T], None], item: T) -> None:
        if not self.cancelled.is_set():
            work(item)
