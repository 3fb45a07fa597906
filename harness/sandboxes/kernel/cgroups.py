"""Control groups: bounds on the memory, processes and processors of all processes of a bubblewrap sandbox.

Needs control groups that we may write: as root, or, in version 2, in a folder that was delegated to us. Our
groups lie in a folder ``mlesmith``: in version 1 at the top of each controller's tree, in version 2 in the
outermost folder above our own process where controllers can be handed on. Below the very top, the kernel
does not allow that in a folder with processes of its own. So in a container that starts us directly, or in
a user's scope that holds us alone, there are no controllers, and :func:`controllers` says so. We move no
other process.

Tried by the tests on Linux 6.18 with version 1 and, in a virtual machine, on Linux 6.1 with version 2: as
root, as a user with a delegated folder, and in the folders named above that give nothing.
"""

from __future__ import annotations

import contextlib
import errno
import functools
import logging
import os
import re
import secrets
import signal
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from harness.sandboxes.base import Limits
from harness.sandboxes.kernel.owners import pid_namespace, start_of

_log = logging.getLogger(__name__)

PARENT = "mlesmith"
#: Room beside ``Limits.processes`` for ours: bubblewrap's two, the warm parent and threads that it starts.
OWN_PROCESSES = 8

_WANTED = frozenset({"memory", "pids", "cpu"})
_PERIOD_US = 100_000
_REMOVE_SECONDS = 10.0
_POLL_SECONDS = 0.01
# pid namespace, pid, start of the process in clock ticks after boot, token, name
_GROUP = re.compile(r"(\d+)-(\d+)-(\d+)-[0-9a-f]+-.*")
# Written by the shell itself, 0 is the shell.
_JOIN = 'while [ "$1" != -- ]; do echo 0 > "$1" || exit 125; shift; done; shift; exec "$@"'


@dataclass(frozen=True)
class Hierarchy:
    """A tree of control groups.

    Attributes:
        version: 1 or 2.
        folder: the folder in it that holds :data:`PARENT`.
        controllers: those of ours that it has.
    """

    version: int
    folder: Path
    controllers: frozenset[str]

    def make(self, name: str) -> Path:
        """Make the group ``name``, with the controllers handed on to it.

        Raises:
            OSError: the kernel does not let us.
        """
        # Only the top of all has no type. Below it, some controllers are taken, but then no process.
        if (self.folder / "cgroup.type").exists() and _words(self.folder / "cgroup.procs"):
            raise OSError(errno.EBUSY, "the control group has processes of its own", str(self.folder))
        parent = self.folder / PARENT
        parent.mkdir(exist_ok=True)
        for folder in (self.folder, parent) if self.version == 2 else ():
            missing = self.controllers.difference(_words(folder / "cgroup.subtree_control"))
            if missing:
                _write(folder / "cgroup.subtree_control", " ".join(f"+{name}" for name in sorted(missing)))
        group = parent / name
        group.mkdir()
        return group

    def limit(self, group: Path, limits: Limits) -> None:
        """Write ``limits`` to ``group``, as far as the controllers of this hierarchy go."""
        if "memory" in self.controllers and self.version == 1:
            _write(group / "memory.limit_in_bytes", limits.memory_bytes)
            try:
                _write(group / "memory.memsw.limit_in_bytes", limits.memory_bytes)
            except FileNotFoundError:  # a kernel that does not count swap
                _write(group / "memory.swappiness", 0)
        elif "memory" in self.controllers:
            _write(group / "memory.max", limits.memory_bytes)
            with contextlib.suppress(FileNotFoundError):
                _write(group / "memory.swap.max", 0)
            # memory.oom.group stays 0: the kernel kills the process that is too large, not our warm parent.
        if "pids" in self.controllers:
            _write(group / "pids.max", limits.processes + OWN_PROCESSES)
        if "cpu" in self.controllers and self.version == 1:
            _write(group / "cpu.cfs_period_us", _PERIOD_US)
            _write(group / "cpu.cfs_quota_us", limits.cpus * _PERIOD_US)
        elif "cpu" in self.controllers:
            _write(group / "cpu.max", f"{limits.cpus * _PERIOD_US} {_PERIOD_US}")


@functools.cache
def hierarchies() -> tuple[Hierarchy, ...]:
    """The trees in which groups can be made and joined here, found by doing it. Never raises."""
    try:
        mounts = Path("/proc/self/mountinfo").read_text()
        own = Path("/proc/self/cgroup").read_text()
    except OSError:
        return ()
    usable: list[Hierarchy] = []
    for candidate in _candidates(mounts, own):
        left = candidate.controllers.difference(*(found.controllers for found in usable))
        if left and _works(hierarchy := Hierarchy(candidate.version, candidate.folder, left)):
            usable.append(hierarchy)
    return tuple(usable)


def controllers() -> frozenset[str]:
    """Which of ``memory``, ``pids`` and ``cpu`` can be limited here. Never raises."""
    return frozenset().union(*(hierarchy.controllers for hierarchy in hierarchies()))


class Cgroup:
    """A control group for one sandbox: made by :meth:`create`, joined by :meth:`enter`."""

    def __init__(self, groups: Mapping[Path, Hierarchy]) -> None:
        self._groups = dict(groups)

    @classmethod
    def create(cls, name: str, limits: Limits) -> Self | None:
        """A new group with these limits, or ``None`` where :func:`controllers` is empty.

        Args:
            name: for those who look; made unique here.
            limits: its memory, processes and processors.

        Raises:
            OSError: the kernel refused a group or a limit, though it had allowed one before.
        """
        return cls.make(hierarchies(), name, limits) if hierarchies() else None

    @classmethod
    def make(cls, within: Sequence[Hierarchy], name: str, limits: Limits) -> Self:
        """As :meth:`create`, in the hierarchies given."""
        unique = _group_name(name)
        cgroup = cls({})
        try:
            for hierarchy in within:
                group = hierarchy.make(unique)
                cgroup._groups[group] = hierarchy
                hierarchy.limit(group, limits)
        except OSError:
            cgroup.remove()
            raise
        return cgroup

    def enter(self, command: Sequence[str]) -> list[str]:
        """``command`` so wrapped that its process joins the group before it becomes the command.

        Exit code 125 means that it could not.
        """
        joins = [str(group / "cgroup.procs") for group in self._groups]
        return ["/bin/sh", "-c", _JOIN, "sh", *joins, "--", *command]

    def oom_kills(self) -> int:
        """How many processes of the group the kernel killed for memory.

        0 when that cannot be known, and after :meth:`remove`.
        """
        for group, hierarchy in self._groups.items():
            if "memory" in hierarchy.controllers:
                file = group / ("memory.oom_control" if hierarchy.version == 1 else "memory.events")
                words = _words(file)
                if "oom_kill" in words:
                    return int(words[words.index("oom_kill") + 1])
        return 0

    def remove(self) -> None:
        """End what runs in the group and remove it, in bounded time. Safe to call twice; logs a failure."""
        deadline = time.monotonic() + _REMOVE_SECONDS
        for group in self._groups:
            # Nothing can fork any more, so the killing comes to an end.
            with contextlib.suppress(OSError):
                _write(group / "pids.max", 0)
        for group in self._groups:
            if not _remove(group, deadline):
                _log.warning("the control group %s cannot be removed; processes in it do not end", group)


def find() -> list[str]:
    """Names of groups whose harness is gone.

    Groups of a harness in another container are none of them: from here nobody can tell whether it lives.
    """
    return sorted({group.name for group in _all_abandoned()})


def sweep() -> list[str]:
    """Remove what :func:`find` finds, and end what runs in it. Returns the names of what it removed."""
    abandoned = _all_abandoned()
    for group, hierarchy in abandoned.items():
        Cgroup({group: hierarchy}).remove()
    return sorted({group.name for group in abandoned if not group.exists()})


def _candidates(mounts: str, own: str) -> Iterator[Hierarchy]:
    """Where groups might be made, best first. Arguments: /proc/self/mountinfo and /proc/self/cgroup."""
    for line in mounts.splitlines():
        before, _, after = line.partition(" - ")
        kind, _, options = after.split(maxsplit=2)
        root, folder = (_unescaped(field) for field in before.split()[3:5])
        if kind == "cgroup":
            yield Hierarchy(1, folder, _WANTED.intersection(options.split(",")))
        elif kind == "cgroup2":
            found = re.search(r"^0::(/.*)$", own, re.MULTILINE)
            # A path with ".." is that of a process outside the tree that is mounted here.
            if found and ".." not in found[1] and (inner := Path(found[1])).is_relative_to(root):
                ours = folder / inner.relative_to(root)
                for place in reversed([ours, *ours.parents]):
                    if place.is_relative_to(folder):
                        yield Hierarchy(2, place, _WANTED.intersection(_words(place / "cgroup.controllers")))


def _works(hierarchy: Hierarchy) -> bool:
    """Whether a group can be made there, limited, joined and removed."""
    try:
        probe = Cgroup.make([hierarchy], "probe", Limits())
        try:
            subprocess.run(probe.enter(["true"]), capture_output=True, text=True, check=True)
        finally:
            probe.remove()
    except (OSError, subprocess.CalledProcessError) as error:
        _log.debug("no control groups in %s: %s", hierarchy.folder, getattr(error, "stderr", "") or error)
        with contextlib.suppress(OSError):
            (hierarchy.folder / PARENT).rmdir()
        return False
    return True


def _remove(group: Path, deadline: float) -> bool:
    while True:
        with contextlib.suppress(OSError):
            _kill_all(group)
        try:
            group.rmdir()
        except FileNotFoundError:
            return True
        except OSError:  # killed processes take a moment to end
            if time.monotonic() > deadline:
                return False
            time.sleep(_POLL_SECONDS)
        else:
            return True


def _kill_all(group: Path) -> None:
    if (group / "cgroup.kill").exists():  # version 2, since Linux 5.14
        _write(group / "cgroup.kill", 1)
        return
    procs = group / "cgroup.procs"
    for pid in _words(procs):
        with contextlib.suppress(ProcessLookupError):
            process = os.pidfd_open(int(pid))
            try:
                # The number may have gone to another process since we read it; the descriptor cannot.
                if pid in _words(procs):
                    signal.pidfd_send_signal(process, signal.SIGKILL)
            finally:
                os.close(process)


def _group_name(name: str) -> str:
    pid = os.getpid()
    plain = re.sub(r"[^\w.-]", "_", name, flags=re.ASCII)[:100]
    return f"{pid_namespace()}-{pid}-{start_of(pid)}-{secrets.token_hex(4)}-{plain}"


def _all_abandoned() -> dict[Path, Hierarchy]:
    return {
        group: hierarchy
        for hierarchy in hierarchies()
        for group in sorted((hierarchy.folder / PARENT).glob("*-*"))
        if group.is_dir() and _abandoned(group)
    }


def _abandoned(group: Path) -> bool:
    found = _GROUP.fullmatch(group.name)
    if not found or int(found[1]) != pid_namespace():
        return False
    return start_of(int(found[2])) != int(found[3])


def _words(file: Path) -> list[str]:
    """The words of an interface file; none when it cannot be read."""
    try:
        return file.read_text().split()
    except OSError:
        return []


def _write(file: Path, value: int | str) -> None:
    descriptor = os.open(file, os.O_WRONLY)  # an interface file is never made by us, and some cannot be read
    try:
        os.write(descriptor, str(value).encode())
    finally:
        os.close(descriptor)


def _unescaped(field: str) -> Path:
    return Path(re.sub(r"\\(\d{3})", lambda code: chr(int(code[1], 8)), field))
