"""Limits that no kernel mechanism holds for us: looked at several times a second."""

from __future__ import annotations

import os
import time

INTERVAL = 0.1
_PAGE = os.sysconf("SC_PAGE_SIZE")
_SPARE = 512 << 20
_SPARE_SOCKETS = 64
#: Twice the usual net.core.wmem_default: what a socket takes before its writer waits.
_SOCKET_BUFFER = 2 * 212_992


class Watch:
    """Tells for which limit a run must be stopped.

    Args:
        memory: bytes for all processes and the ``scratch`` folders together; ``None`` when the kernel holds
            that limit.
        scratch: folders that are file systems of their own, whose bytes the kernel bounds.
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
        self._next_walk = 0.0

    def over(self) -> str | None:
        """``memory``, ``disk`` or ``files``, or ``None`` while all is well."""
        used = 0
        for folder in self.scratch:
            state = os.statvfs(folder)
            used += (state.f_blocks - state.f_bfree) * state.f_frsize
            if state.f_files - state.f_ffree > self.files:
                return "files"
        if self.memory is not None:
            used += socket_buffers()
            if resident() + used > self.memory and shared_out() + used > self.memory:
                return "memory"
            if machine_is_short():
                return "memory"
        started = time.monotonic()
        if not self.folders or started < self._next_walk:
            return None
        over = self.over_folders()
        now = time.monotonic()
        # A large tree takes long to walk; at most a tenth of the time goes into it.
        self._next_walk = now + max(0.5, 10 * (now - started))
        return over

    def over_folders(self) -> str | None:
        """As :meth:`over`, for ``folders`` alone."""
        used = files = 0
        try:
            for folder in self.folders:
                for path, folders, names in os.walk(folder):
                    files += len(folders) + len(names)
                    if files > self.files:
                        return "files"
                    for name in names:
                        try:
                            used += os.lstat(os.path.join(path, name)).st_blocks * 512
                        except OSError:
                            continue
        except RecursionError:
            return "files"
        return "disk" if used > self.disk else None


def socket_buffers() -> int:
    """What the buffers of this sandbox's Unix sockets may hold, but for a few that anyone may have."""
    with open("/proc/net/unix", "rb") as stream:
        return max(0, sum(1 for _ in stream) - _SPARE_SOCKETS) * _SOCKET_BUFFER


def machine_is_short() -> bool:
    """Whether the machine is nearly out of memory: buffers of other sockets are charged to nobody."""
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
