"""The protocol of a sandbox: what it shows, what it limits, and what a run returns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Protocol, Self

MIB = 1 << 20
GIB = 1 << 30

#: The folder inside a sandbox below which everything of ours is mounted; no host path begins with it.
ROOT = "/mlesmith"


@dataclass(frozen=True)
class Mount:
    """A host folder or file shown to the code inside at ``target`` (a path below :data:`ROOT`)."""

    source: Path
    target: str
    writable: bool = False


@dataclass(frozen=True)
class Limits:
    """Bounds on one run.

    Attributes:
        seconds: wall time; the whole process group is killed at its end.
        memory_bytes: address space of a process.
        processes: processes of the sandbox's user (not enforced for root by the ``process`` sandbox).
        file_bytes: size of any one file written.
        output_bytes: how much of stdout and stderr is kept, half from the head and half from the tail.
        threads: what numeric libraries are told to use.
    """

    seconds: float = 600.0
    memory_bytes: int = 8 * GIB
    processes: int = 256
    file_bytes: int = 2 * GIB
    output_bytes: int = MIB
    threads: int = 1


@dataclass(frozen=True)
class SandboxSpec:
    """What to build. ``preload`` names modules imported once, before any code runs."""

    mounts: tuple[Mount, ...]
    workdir: str
    limits: Limits = field(default_factory=Limits)
    environment: Mapping[str, str] = field(default_factory=dict)
    network: bool = False
    preload: tuple[str, ...] = ()


@dataclass(frozen=True)
class RunResult:
    """How one run ended.

    Attributes:
        exit_code: the process's exit code, negative for a signal; ``None`` when it timed out.
        output: stdout and stderr in the order written, bounded by ``Limits.output_bytes``.
        output_bytes: how much was written in all.
        seconds: wall time.
        timed_out: the run was killed at its time limit; ``output`` holds what it wrote until then.
    """

    exit_code: int | None
    output: str
    output_bytes: int
    seconds: float
    timed_out: bool = False

    @property
    def ok(self) -> bool:
        """Whether the code ran to its end without an error."""
        return self.exit_code == 0


class Sandbox(Protocol):
    """An open sandbox; a context manager that closes it."""

    def inside(self, target: str) -> str:
        """The path at which the code inside sees the mount ``target`` (or a path below it)."""
        ...

    def run_python(
        self, script: str, arguments: Sequence[str] = (), *, seconds: float | None = None
    ) -> RunResult:
        """Run a Python file, given by its path inside, as ``__main__`` in a fresh process.

        Raises:
            SandboxLost: the sandbox itself died; the caller opens a new one.
        """
        ...

    def run(self, command: Sequence[str], *, seconds: float | None = None) -> RunResult:
        """Run any command in a fresh process. Raises as :meth:`run_python`."""
        ...

    def close(self) -> None:
        """End everything that runs inside. Safe to call twice."""
        ...

    def __enter__(self) -> Self: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...


class SandboxProvider(Protocol):
    """Opens sandboxes of one kind."""

    @property
    def name(self) -> str:
        """``bubblewrap``, ``process`` or ``docker``."""
        ...

    @property
    def isolated(self) -> bool:
        """Whether the code inside is kept from the host's files, keys and network."""
        ...

    def check(self) -> None:
        """Raise :class:`harness.errors.SandboxUnavailable` when this kind cannot run here, with the fix."""
        ...

    def open(self, spec: SandboxSpec) -> Sandbox:
        """Build and start a sandbox."""
        ...
