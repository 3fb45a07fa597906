"""Limits that no kernel mechanism holds for us: looked at several times a second."""

from __future__ import annotations

import contextlib
import os
import stat
import time
from collections.abc import Callable, Iterator
from typing import TypeVar

_T = TypeVar("_T")

INTERVAL = 0.1
_PAGE = os.sysconf("SC_PAGE_SIZE")
_SPARE = 512 << 20
_SPARE_SOCKETS = 64
#: Twice the usual net.core.wmem_default: what a socket takes before its writer waits.
_SOCKET_BUFFER = 2 * 212_992
#: What a socket takes with empty queues.
_SOCKET = 4096
#: Folders in folders; a deeper tree can be neither counted nor removed in good time.
_DEPTH = 100
#: How long the folders are looked at without a break, in seconds. The rest of the parent's work waits.
_SLICE = 0.25
#: What others may write to the same disk before we say that it was the run.
_OTHERS_DISK = 1 << 30


class Watch:
    """Tells for which limit a run must be stopped. Made when the run starts.

    A file that is in the folders or open counts with the disk blocks that it has, once. Other ways to keep
    a file that has no name, and programs that forbid us to look at their files, are held to the limit by
    what the disk has lost since the start, with a gibibyte to spare for others who write to it.

    Args:
        memory: bytes for all processes, sockets and the ``scratch`` folders together; ``None`` when the
            kernel holds that limit.
        scratch: folders that are file systems of their own, whose bytes the kernel bounds. A sandbox that
            has any has its own processes too: without, ``/proc`` is the machine's, and open files that were
            removed are not counted.
        folders: writable folders that are parts of a larger file system.
        disk: bytes in ``folders``.
        files: files and folders in each of ``scratch``, and in ``folders`` together.
    """

    def __init__(
        self, memory: int | None, scratch: list[str], folders: list[str], disk: int, files: int
    ) -> None:
        self.memory = memory
        self.scratch = scratch
        self.folders = folders
        self.disk = disk
        self.files = files
        self._sockets = 0
        self._next_sockets = self._next_look = 0.0
        self._look: Iterator[str | None] | None = None
        # By device, since folders may share one.
        self._free = {os.stat(folder).st_dev: (folder, _free(folder)) for folder in folders if scratch}

    def over(self) -> str | None:
        """``memory``, ``disk`` or ``files``, or ``None`` while all is well.

        The folders are looked at for at most a tenth of the time, a slice at a time, so that a large tree
        stops neither the run nor its deadline. A program that moves its files while a look goes on may
        evade it, and is found by :meth:`over_folders`.
        """
        used = 0
        for folder in self.scratch:
            state = os.statvfs(folder)
            used += (state.f_blocks - state.f_bfree) * state.f_frsize
            if state.f_files - state.f_ffree > self.files:
                return "files"
        if self.memory is not None and self._over_memory(used):
            return "memory"
        started = time.monotonic()
        if not self.folders or started < self._next_look:
            return None
        over = self._look_on(until=started + _SLICE)
        now = time.monotonic()
        self._next_look = now + max(0.5, 10 * (now - started))
        return over

    def over_folders(self) -> str | None:
        """``disk`` or ``files`` by what is in ``folders``, after the run."""
        return next(filter(None, self._count(set(), 0)), None)

    def _over_memory(self, used: int) -> bool:
        assert self.memory is not None
        now = time.monotonic()
        if now >= self._next_sockets:
            self._sockets = socket_buffers()
            # The kernel walks tables as large as the machine for this.
            self._next_sockets = now + 10 * (time.monotonic() - now)
        used += self._sockets
        # When the machine runs short, those go who use much; one that uses little did not do it.
        bound = self.memory // 4 if machine_is_short() else self.memory
        return resident() + used > bound and shared_out() + used > bound

    def _look_on(self, until: float) -> str | None:
        """Go on with the look that was begun, or begin another."""
        self._look = self._look or self._processes_and_folders()
        for over in self._look:
            if over is not None or time.monotonic() > until:
                return over
        self._look = None
        return None

    def _processes_and_folders(self) -> Iterator[str | None]:
        """After each file, the limit that is passed by then, or ``None``."""
        # First the processes: a file that was removed does not come back, so that none is missed twice.
        seen: set[tuple[int, int]] = set()
        used = 0
        for found in _open_files(self.folders) if self.scratch else ():
            if found is None:
                yield "disk" if self._lost() > self.disk + _OTHERS_DISK else None
                continue
            key = (found.st_dev, found.st_ino)
            if found.st_nlink == 0 and found.st_dev in self._free and key not in seen:
                seen.add(key)
                used += found.st_blocks * 512
            yield "disk" if used > self.disk else None
        yield from self._count(seen, used)

    def _count(self, seen: set[tuple[int, int]], used: int) -> Iterator[str | None]:
        """As :meth:`_processes_and_folders`, for the folders alone; ``used`` bytes are those of ``seen``."""
        files = 0
        for found in _entries(self.folders):
            files += 1
            if found is None or files > self.files:
                yield "files"
                continue
            key = (found.st_dev, found.st_ino)
            if key not in seen:
                used += found.st_blocks * 512
            if found.st_nlink > 1 and not stat.S_ISDIR(found.st_mode):
                seen.add(key)
            yield "disk" if used > self.disk else None

    def _lost(self) -> int:
        """By how many bytes the disks of the folders are fuller than at the start."""
        return sum(free - _free(folder) for folder, free in self._free.values())


def _free(folder: str) -> int:
    state = os.statvfs(folder)
    return state.f_bfree * state.f_frsize


def _entries(folders: list[str]) -> Iterator[os.stat_result | None]:
    """All files and folders in some folders, ``None`` for what cannot be looked into."""
    waiting: list[tuple[str, ...]] = [(folder,) for folder in folders]
    while waiting:
        way = waiting.pop()
        try:
            with _reach(os.scandir, way[-1], way) as entries:
                for entry in entries:
                    try:
                        state = _reach(os.lstat, entry.path, way)
                    except FileNotFoundError:
                        continue
                    yield state
                    if stat.S_ISDIR(state.st_mode):
                        waiting.append((*way, entry.path))
                        if len(way) > _DEPTH:
                            yield None
        except (FileNotFoundError, NotADirectoryError):
            continue
        except OSError:
            yield None


def _reach(look: Callable[[str], _T], path: str, way: tuple[str, ...]) -> _T:
    """Look at something; folders on the way that their owner, who is our user, has closed are opened."""
    try:
        return look(path)
    except PermissionError:
        for folder in way:
            with contextlib.suppress(OSError):
                mode = os.lstat(folder).st_mode
                if stat.S_ISDIR(mode) and mode & 0o500 != 0o500:
                    os.chmod(folder, stat.S_IMODE(mode) | 0o500)
        return look(path)


def _open_files(folders: list[str]) -> Iterator[os.stat_result | None]:
    """The files that other processes have open; ``None`` for each place where some may be hidden from us."""
    roots = [os.fsencode(folder) + b"/" for folder in folders]
    for process in _processes():
        with contextlib.suppress(OSError), open(f"/proc/{process}/maps", "rb") as stream:
            # A file that is mapped but no longer open; we may not ask how large it is.
            if any(line.endswith(b" (deleted)\n") and any(root in line for root in roots) for line in stream):
                yield None
        try:
            # A thread may have files of its own, and outlive the first one.
            tasks = os.listdir(f"/proc/{process}/task")
        except OSError:
            continue
        for task in tasks:
            yield from _open_in(f"/proc/{process}/task/{task}")


def _open_in(task: str) -> Iterator[os.stat_result | None]:
    try:
        names = os.listdir(f"{task}/fd")
    except PermissionError:
        if _is_ours(task):
            yield None
        return
    except OSError:
        return
    for name in names:
        try:
            state = os.stat(f"{task}/fd/{name}")
            # Files on their way through a socket are open in no process.
            hides = stat.S_ISSOCK(state.st_mode) and _carries_files(f"{task}/fdinfo/{name}")
        except OSError:
            continue
        yield None if hides else state


def _is_ours(task: str) -> bool:
    """Whether a task that we may not look at runs as our user; a container's own processes do not."""
    try:
        with open(f"{task}/status", "rb") as stream:
            fields = dict(line.split(b":", 1) for line in stream)
    except OSError:
        return False
    return int(fields[b"Uid"].split()[0]) == os.getuid() and fields[b"State"].split()[0] not in (b"Z", b"X")


def _carries_files(info: str) -> bool:
    with open(info, "rb") as stream:
        return any(line.startswith(b"scm_fds:") and int(line.split()[1]) > 0 for line in stream)


def socket_buffers() -> int:
    """What the sockets of this sandbox may hold, but for a few Unix sockets that anyone may have."""
    with open("/proc/net/unix", "rb") as stream:
        total = max(0, sum(1 for _ in stream) - _SPARE_SOCKETS) * _SOCKET_BUFFER
    for name in _tables_in_use():
        with open(f"/proc/net/{name}", "rb") as stream:
            next(stream)
            for line in stream:
                sending, _, receiving = line.split()[4].partition(b":")
                total += _SOCKET + int(sending, 16) + int(receiving, 16)
    return total


def _tables_in_use() -> list[str]:
    """Which of ``tcp``, ``tcp6``, ``udp`` and ``udp6`` have sockets; most sandboxes have none."""
    found = []
    for name in ("sockstat", "sockstat6"):
        # Without IPv6 there is no second one.
        with contextlib.suppress(FileNotFoundError), open(f"/proc/net/{name}", "rb") as stream:
            found += [line.split() for line in stream]
    kinds = (b"TCP:", b"UDP:", b"TCP6:", b"UDP6:")
    return [words[0][:-1].decode().lower() for words in found if words[0] in kinds and words[2] != b"0"]


def machine_is_short() -> bool:
    """Whether the machine is nearly out of memory, whoever uses it."""
    with open("/proc/meminfo", "rb") as stream:
        lines = dict(line.split(b":", 1) for line in stream)
    total, available = (int(lines[name].split()[0]) << 10 for name in (b"MemTotal", b"MemAvailable"))
    return available < min(_SPARE, total // 25)


def _processes() -> list[str]:
    own = str(os.getpid())
    return [name for name in os.listdir("/proc") if name.isdigit() and name not in (own, "1")]


def resident() -> int:
    """Resident bytes of all other processes; pages that several share count for each."""
    total = 0
    for name in _processes():
        try:
            with open(f"/proc/{name}/statm", "rb") as stream:
                total += int(stream.read().split()[1]) * _PAGE
        except (OSError, IndexError, ValueError):
            continue
    return total


def shared_out() -> int:
    """As :func:`resident`, with shared pages counted once; slower."""
    total = 0
    for name in _processes():
        try:
            with open(f"/proc/{name}/smaps_rollup", "rb") as stream:
                total += next(int(line.split()[1]) << 10 for line in stream if line.startswith(b"Pss:"))
        except StopIteration:
            continue
        except OSError:
            # A program may forbid us to look; then it is charged in full.
            try:
                with open(f"/proc/{name}/statm", "rb") as stream:
                    total += int(stream.read().split()[1]) * _PAGE
            except (OSError, IndexError, ValueError):
                continue
    return total
