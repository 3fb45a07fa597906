"""The graders of a job: trials of a task share one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from threading import Lock

from harness.sandboxes.base import SandboxProvider
from harness.tasks.grading import Grader
from harness.tasks.package import Task


@dataclass
class _Shared:
    """The grader of one task: how many trials still need it, and itself while it is open."""

    left: int
    grader: Grader | None = None
    lock: Lock = field(default_factory=Lock)


class Graders:
    """One grader per task, opened by the first trial that needs it and closed after the last.

    Args:
        provider: opens the graders' sandboxes.
        tasks: the task of every trial that will :meth:`lease` its grader or :meth:`forgo` it.
    """

    def __init__(self, provider: SandboxProvider, tasks: Iterable[Task]) -> None:
        self._provider = provider
        self._shared = {root: _Shared(n) for root, n in Counter(task.root for task in tasks).items()}

    @contextmanager
    def lease(self, task: Task) -> Iterator[Grader]:
        """The task's grader, for one trial. Trials of other tasks never wait for it."""
        shared = self._shared[task.root]
        with shared.lock:
            if shared.grader is None:
                shared.grader = Grader(task, self._provider)
            grader = shared.grader
        try:
            yield grader
        finally:
            self.forgo(task)

    def forgo(self, task: Task) -> None:
        """A trial of the task needs its grader no more, or never did."""
        shared = self._shared[task.root]
        with shared.lock:
            shared.left -= 1
            grader = shared.grader if shared.left == 0 else None
            if grader is not None:
                shared.grader = None
        if grader is not None:
            grader.close()

    def close(self) -> None:
        """Close what is still open."""
        for shared in self._shared.values():
            if shared.grader is not None:
                shared.grader.close()
                shared.grader = None
