"""Sandboxes that die while a program runs in them: the program cannot do it, so we do."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from harness.sandboxes.warm.parent import kill_started_sandboxes

#: Outlives any test.
LONG = "import time\ntime.sleep(600)"


@contextmanager
def dying_sandboxes(*, again: bool = False) -> Iterator[None]:
    """All sandboxes that are started die after a second; with ``again``, so do those that replace them."""
    over = threading.Event()

    def kill() -> None:
        while not over.wait(1.0):
            kill_started_sandboxes()
            if not again:
                return

    killer = threading.Thread(target=kill)
    killer.start()
    try:
        yield
    finally:
        over.set()
        killer.join()
