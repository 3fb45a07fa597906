"""The protocol of a sandbox: what it shows, what it limits, what a run returns, and what it cannot hold."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Protocol, Self

if TYPE_CHECKING:
    from harness.sandboxes.network.egress import Connection

MIB = 1 << 20
GIB = 1 << 30

#: The folder inside a sandbox below which everything of ours is mounted; no host path begins with it.
ROOT = "/mlesmith"


@dataclass(frozen=True)
class Mount:
    """A host folder or file shown to the code inside at ``target`` (a path below :data:`ROOT`).

    A writable mount is lent to the user of the sandbox while that runs. Use it for output that is too large
    for the working folder, which lives in memory.
    """

    source: Path
    target: str
    writable: bool = False


@dataclass(frozen=True)
class Limits:
    """Bounds on a sandbox, all its processes together, unless said otherwise.

    Attributes:
        seconds: wall time of one run; every process of the run is killed at its end.
        memory_bytes: memory, with the files in the working folder, ``/tmp`` and ``/dev/shm``.
        disk_bytes: bytes in the working folder, or in the writable mounts where these hold it.
        files: files and folders in the same place.
        tmp_bytes: bytes in ``/tmp``.
        shm_bytes: bytes in ``/dev/shm``.
        processes: processes and threads.
        open_files: file descriptors of one process.
        cpus: processors; numeric libraries are told to start as many threads.
        output_bytes: how much of a run's stdout and stderr is kept, half from the head and half from the
            tail.
    """

    seconds: float = 600.0
    memory_bytes: int = 8 * GIB
    disk_bytes: int = 4 * GIB
    files: int = 200_000
    tmp_bytes: int = GIB
    shm_bytes: int = GIB
    processes: int = 256
    open_files: int = 4_096
    cpus: int = 1
    output_bytes: int = MIB


@dataclass(frozen=True)
class SandboxSpec:
    """What to build.

    Attributes:
        mounts: what the code inside sees of the host.
        workdir: where runs start. A path at or below a writable mount, or else a folder of its own that lives
            in the sandbox's memory and ends with it; see :meth:`Sandbox.put` and :meth:`Sandbox.get`.
        limits: bounds.
        environment: variables beside the fixed ones; nothing of the harness's own environment is passed on.
        allow_hosts: the hosts that HTTP and HTTPS may reach, through a proxy of ours: ``example.org``,
            ``*.example.org``, ``example.org:8443``, or ``*`` for any public host. Empty: no network at all.
        gpus: the devices leased for this sandbox, by index, UUID or MIG name.
        preload: modules imported once, before any code runs; ignored when not ``warm``.
        warm: fork runs from one process with the preloaded modules, instead of starting Python anew.
        labels: job, trial and attempt, or role and task, for those who look for what a sandbox belongs to;
            ``deadline``, in seconds since 1970, ends a container.
    """

    mounts: tuple[Mount, ...]
    workdir: str
    limits: Limits = field(default_factory=Limits)
    environment: Mapping[str, str] = field(default_factory=dict)
    allow_hosts: tuple[str, ...] = ()
    gpus: tuple[str, ...] = ()
    preload: tuple[str, ...] = ()
    warm: bool = True
    labels: Mapping[str, str] = field(default_factory=dict)

    @property
    def scratch(self) -> bool:
        """Whether the working folder lives in the sandbox's memory."""
        return not any(
            mount.writable and (self.workdir + "/").startswith(mount.target + "/") for mount in self.mounts
        )

    def in_memory(self, size: int) -> int:
        """The bytes that a folder in memory gets: ``size``, or its share where all would fill the memory.

        Full folders leave a quarter of the memory, so that programs which meet them get an error and live.
        """
        limits = self.limits
        asked = limits.tmp_bytes + limits.shm_bytes + (limits.disk_bytes if self.scratch else 0)
        room = limits.memory_bytes * 3 // 4
        return size if asked <= room else size * room // asked


@dataclass(frozen=True)
class RunResult:
    """How one run ended.

    Attributes:
        exit_code: the process's exit code, negative for a signal; ``None`` when we stopped it.
        output: stdout and stderr in the order written, bounded by ``Limits.output_bytes``, as a plain
            terminal would show them: without escape sequences and other control characters.
        output_bytes: how much was written in all.
        seconds: wall time.
        timed_out: the run was stopped at its time limit; ``output`` holds what it wrote until then.
        over: the limit, ``memory``, ``disk`` or ``files``, for which we stopped it; ``None`` when we did not.
    """

    exit_code: int | None
    output: str
    output_bytes: int
    seconds: float
    timed_out: bool = False
    over: str | None = None

    @property
    def ok(self) -> bool:
        """Whether the code ran to its end without an error."""
        return self.exit_code == 0


class Refusal(StrEnum):
    """Why a file was not handed out."""

    MISSING = "missing"
    NOT_A_FILE = "not a regular file"
    TOO_LARGE = "too large"
    UNREADABLE = "unreadable"


class FileRefused(Exception):
    """A file inside was not handed out. ``str()`` names it and says why."""

    def __init__(self, reason: Refusal, message: str) -> None:
        super().__init__(message)
        self.reason = reason


class Hold(StrEnum):
    """How firmly a limit holds."""

    KERNEL = "kernel"  #: the kernel refuses what goes beyond it
    WATCHED = "watched"  #: we look several times a second, and stop the run
    PROCESS = "per process"  #: each process is limited, not all together
    NONE = "not at all"


@dataclass(frozen=True)
class Capabilities:
    """What a kind of sandbox can do on this machine.

    Attributes:
        isolated: files, keys, processes and the network of the host are out of reach.
        gpus: leased devices can be handed in.
        allow_hosts: the network can be opened for named hosts alone.
        system_calls: system calls that a program does not need are refused.
        memory, processes, disk, cpus: how firmly these limits hold.
    """

    isolated: bool
    gpus: bool
    allow_hosts: bool
    system_calls: bool
    memory: Hold
    processes: Hold
    disk: Hold
    cpus: Hold

    def gaps(self) -> tuple[str, ...]:
        """One phrase for each limit that is not held for all processes together; said at the start."""
        limits = {"memory": self.memory, "processes": self.processes, "disk": self.disk, "cpus": self.cpus}
        gaps = [f"{name}: {hold}" for name, hold in limits.items() if hold in (Hold.PROCESS, Hold.NONE)]
        if not self.system_calls:
            gaps.append("system calls: not filtered")
        return tuple(gaps)


class Sandbox(Protocol):
    """A started sandbox; a context manager that stops it."""

    @property
    def connections(self) -> tuple[Connection, ...]:
        """The hosts that code inside has asked for so far, also after :meth:`stop`."""
        ...

    def inside(self, target: str) -> str:
        """The path at which the code inside sees the mount or working folder ``target``, or a path below."""
        ...

    def run_python(
        self, script: str, arguments: Sequence[str] = (), *, limits: Limits | None = None
    ) -> RunResult:
        """Run a Python file, given by its path inside, as ``__main__`` in a fresh process.

        When it returns, nothing that it started runs any more, and ``/tmp`` and ``/dev/shm`` are empty.

        Args:
            script: path inside.
            arguments: its ``sys.argv[1:]``.
            limits: tighter ones for this run: its seconds, output, processes and open files, and the memory
                of each of its processes; the rest of a sandbox's limits cannot change.

        Raises:
            SandboxLost: the sandbox itself died; the caller starts a new one.
        """
        ...

    def run(self, command: Sequence[str], *, limits: Limits | None = None) -> RunResult:
        """Run any command in a fresh process. As :meth:`run_python`."""
        ...

    def put(self, source: bytes | Path, path: str) -> None:
        """Write a file inside, with the folders above it; an older file at ``path`` is replaced.

        Raises:
            FileRefused: ``path`` cannot be written, for example since the working folder is full.
            SandboxLost: as :meth:`run_python`.
        """
        ...

    def get(self, path: str, target: Path, *, max_bytes: int) -> None:
        """Copy a regular file out of the sandbox to ``target`` on the host; never follows a link.

        Raises:
            FileRefused: there is none, or it is larger than ``max_bytes``; nothing is written then.
            SandboxLost: as :meth:`run_python`.
        """
        ...

    def remove(self, path: str) -> None:
        """Remove a file, a link or a tree inside; that there is none is no error."""
        ...

    def clear(self) -> None:
        """Empty a working folder that lives in the sandbox's memory."""
        ...

    def stop(self) -> None:
        """End everything that runs inside. Safe to call twice."""
        ...

    def __enter__(self) -> Self: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...


class SandboxProvider(Protocol):
    """Starts sandboxes of one kind."""

    @property
    def name(self) -> str:
        """``bubblewrap``, ``docker`` or ``process``."""
        ...

    @property
    def capabilities(self) -> Capabilities:
        """What it can do and hold on this machine."""
        ...

    def check(self) -> None:
        """Raise :class:`harness.errors.SandboxUnavailable` when this kind cannot run here, with the fix."""
        ...

    def sweep(self) -> tuple[str, ...]:
        """Remove what harnesses that have ended left behind; never what a living one uses.

        Returns:
            Names of what was removed.
        """
        ...

    def describe(self) -> dict[str, Any]:
        """What it is made of, for a job's lock: versions, the image and its digest, what it cannot hold."""
        ...

    def start(self, spec: SandboxSpec) -> Sandbox:
        """Build and start a sandbox. Its processes may start with the first run only.

        Raises:
            SandboxUnavailable: ``spec`` asks for what this kind cannot give, such as a GPU.
            SandboxLost: it did not start.
        """
        ...
