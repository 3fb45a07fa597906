"""Files that pass in and out, and folders that are emptied. Nothing else runs meanwhile."""

from __future__ import annotations

import contextlib
import ctypes
import os
import shutil
import stat
from collections.abc import Callable, Collection
from pathlib import Path
from typing import BinaryIO

_CHUNK = 1 << 20
_IPC_RMID = 0


class Refused(Exception):
    """A file cannot be written or handed out."""

    def __init__(self, reason: str, message: str) -> None:
        super().__init__(message)
        self.reason = reason


def put(path: str, size: int, stream: BinaryIO) -> None:
    """Write the next ``size`` bytes of ``stream`` to ``path``, in place of what is there.

    Raises:
        Refused: it cannot be written; the bytes have been read all the same.
    """
    left = size
    part = f"{path}.part"
    try:
        try:
            os.makedirs(os.path.dirname(path), exist_ok=True)
            remove(path)
            remove(part)
            with open(part, "xb") as target:
                while left:
                    data = stream.read(min(left, _CHUNK))
                    if not data:
                        raise EOFError
                    left -= len(data)
                    target.write(data)
            os.replace(part, path)
        except OSError as error:
            with contextlib.suppress(OSError):
                os.unlink(part)
            raise Refused("unreadable", f"{path} cannot be written: {error.strerror}") from None
    finally:
        while left:
            data = stream.read(min(left, _CHUNK))
            if not data:
                break
            left -= len(data)


def open_regular(path: str, max_bytes: int) -> tuple[BinaryIO, int]:
    """A regular file and its size; a link, a pipe or a device is looked at, never followed or waited for.

    Raises:
        Refused: there is none, or it is too large.
    """
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except (FileNotFoundError, NotADirectoryError):
        raise Refused("missing", f"{os.path.basename(path)} is not there") from None
    except OSError as error:
        if isinstance(error, PermissionError) and not _is_something_else(path):
            raise Refused("unreadable", f"{os.path.basename(path)} cannot be read") from None
        raise Refused("not a regular file", f"{os.path.basename(path)} is not a regular file") from None
    state = os.fstat(handle)
    if not stat.S_ISREG(state.st_mode):
        os.close(handle)
        raise Refused("not a regular file", f"{os.path.basename(path)} is not a regular file")
    if state.st_size > max_bytes:
        os.close(handle)
        raise Refused(
            "too large", f"{os.path.basename(path)} has {state.st_size} bytes; at most {max_bytes} are read"
        )
    return os.fdopen(handle, "rb"), state.st_size


def _is_something_else(path: str) -> bool:
    try:
        return not stat.S_ISREG(os.lstat(path).st_mode)
    except OSError:
        return False


def empty(folder: str, but: Collection[str] = ()) -> None:
    """Remove everything in a folder, whatever permissions it was left with, but for some names."""
    reopen(folder)
    try:
        names = os.listdir(folder)
    except OSError:
        return
    for name in names:
        if name not in but:
            remove(os.path.join(folder, name))


def reopen(folder: str) -> None:
    """Undo what a program did to the permissions of a folder, where it could."""
    with contextlib.suppress(OSError):
        os.chmod(folder, 0o1777)


def remove(path: str) -> None:
    """Remove a file, a link or a tree; what cannot be removed stays."""
    try:
        os.unlink(path)
    except IsADirectoryError:
        with contextlib.suppress(RecursionError):
            shutil.rmtree(path, onerror=_open_up)
        if os.path.lexists(path):
            # Nested deeper than Python can follow, or than a path can name.
            for command in (["chmod", "-R", "u+rwX", path], ["rm", "-rf", path]):
                os.spawnvp(os.P_WAIT, command[0], command)
    except OSError:
        return


def _open_up(function: Callable[..., object], path: str, _: object) -> None:
    with contextlib.suppress(OSError):
        os.chmod(os.path.dirname(path), 0o700)
        os.chmod(path, 0o700)
    with contextlib.suppress(OSError):
        if function in (os.unlink, os.rmdir):
            function(path)
        else:
            shutil.rmtree(path, ignore_errors=True)


def remove_ipc() -> None:
    """Remove System V shared memory, queues and semaphores, which outlive the processes that made them."""
    libc = ctypes.CDLL(None)
    removers: dict[str, Callable[[int], int]] = {
        "shm": lambda number: int(libc.shmctl(number, _IPC_RMID, None)),
        "msg": lambda number: int(libc.msgctl(number, _IPC_RMID, None)),
        "sem": lambda number: int(libc.semctl(number, 0, _IPC_RMID)),
    }
    for kind, remover in removers.items():
        try:
            lines = Path("/proc/sysvipc", kind).read_text().splitlines()[1:]
        except OSError:
            continue
        for line in lines:
            remover(int(line.split()[1]))
