"""The processes of a sandbox, as the host sees them."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Iterator
from pathlib import Path


def processes_in(namespace: str) -> set[int]:
    """The processes of a PID namespace, which is named as the link ``/proc/self/ns/pid`` names it.

    Those that this user may not look at are left out.
    """
    found = set()
    for path in Path("/proc").iterdir():
        with contextlib.suppress(OSError):
            if path.name.isdigit() and str((path / "ns" / "pid").readlink()) == namespace:
                found.add(int(path.name))
    return found


class HeldNamespace:
    """A PID namespace whose name is not given to another one as long as this is open."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.resting = processes_in(name)

    def comes_to(self, processes: set[int], seconds: float = 5.0) -> bool:
        """Whether, within a while, just these processes are in it."""
        deadline = time.monotonic() + seconds
        while processes_in(self.name) != processes:
            if time.monotonic() > deadline:
                return False
            time.sleep(0.01)
        return True


@contextlib.contextmanager
def held(namespace: str) -> Iterator[HeldNamespace]:
    """Hold a namespace, and note which processes are in it now."""
    with contextlib.ExitStack() as stack:
        found = HeldNamespace(namespace)
        for pid in found.resting:
            with contextlib.suppress(OSError):
                stack.callback(os.close, os.open(f"/proc/{pid}/ns/pid", os.O_RDONLY))
        yield found
