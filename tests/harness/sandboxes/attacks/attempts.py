"""Given to every attack, inside: what was planted for it, and a way to report what it tried."""

from __future__ import annotations

import ctypes
import errno
import json
import os
import sys
from collections.abc import Callable, Iterator
from typing import Any

HOST: dict[str, Any] = json.loads(sys.argv[1])
LIBC = ctypes.CDLL(None, use_errno=True)


def attempt(name: object, function: Callable[[], object]) -> None:
    """Call a function and print how that ended."""
    try:
        said = f"DONE {function()!r:.300}"
    except OSError as error:
        said = errno.errorcode.get(error.errno or 0, type(error).__name__)
    print(f"{name} -> {said}", flush=True)


def read(path: object) -> bytes:
    """The first bytes of a file."""
    with open(str(path), "rb") as stream:
        return stream.read(200)


def write(path: object, data: bytes = b"attacked") -> int:
    """Append to a file."""
    with open(str(path), "ab") as stream:
        return stream.write(data)


def syscall(number: int, *arguments: Any) -> int:
    """A system call by its number on x86-64."""
    return check(LIBC.syscall(number, *arguments))


def check(result: int) -> int:
    """Raise the C library's error when a call gave -1."""
    if result == -1:
        raise OSError(ctypes.get_errno(), "")
    return result


def others() -> Iterator[int]:
    """All other processes that can be seen; the parent among them."""
    for name in sorted(os.listdir("/proc")):
        if name.isdigit() and int(name) != os.getpid():
            yield int(name)
