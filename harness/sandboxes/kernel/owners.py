"""Which harness something belongs to, and whether that harness still runs."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Self

_TEXT = re.compile(r"([0-9a-f-]+)/(\d+)/(\d+)/(\d+)")


class Life(StrEnum):
    """Whether an owner still runs."""

    ALIVE = "alive"
    GONE = "gone"
    UNKNOWN = "unknown"  #: on another machine, or in a container of its own


@dataclass(frozen=True)
class Owner:
    """A process, named so that no other process ever has the same name.

    Attributes:
        boot: the machine and its start, by the kernel's random id.
        pid_namespace: where ``pid`` counts.
        pid: the process.
        start: when it started, in clock ticks after the boot.
    """

    boot: str
    pid_namespace: int
    pid: int
    start: int

    @classmethod
    def me(cls) -> Self:
        """This process."""
        pid = os.getpid()
        return cls(_boot(), pid_namespace(), pid, start_of(pid) or 0)

    @classmethod
    def parse(cls, text: str) -> Self | None:
        """The owner that ``str()`` of one gave; ``None`` for anything else."""
        found = _TEXT.fullmatch(text)
        return cls(found[1], int(found[2]), int(found[3]), int(found[4])) if found else None

    def __str__(self) -> str:
        return f"{self.boot}/{self.pid_namespace}/{self.pid}/{self.start}"

    @property
    def life(self) -> Life:
        """Whether the process still runs, as far as this process can tell."""
        if self.boot != _boot() or self.pid_namespace != pid_namespace():
            return Life.UNKNOWN
        return Life.ALIVE if start_of(self.pid) == self.start else Life.GONE


def _boot() -> str:
    return Path("/proc/sys/kernel/random/boot_id").read_text().strip()


def pid_namespace() -> int:
    """The namespace in which this process counts processes."""
    return Path("/proc/self/ns/pid").stat().st_ino


def start_of(pid: int) -> int | None:
    """When a process started, in clock ticks after the boot; ``None`` when it has ended.

    Number and start together are never used again.
    """
    try:
        # The name of the program, in parentheses, may hold anything. Fields after it begin with the third.
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except (FileNotFoundError, ProcessLookupError):
        return None
    return None if fields[0] in "ZX" else int(fields[22 - 3])
