"""What the warm parent gives up before any code runs: rights, descriptors and system calls."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Iterable

_PR_SET_DUMPABLE, _PR_SET_NO_NEW_PRIVS, _PR_SET_SECCOMP = 4, 38, 22
_SECCOMP_MODE_FILTER = 2
_CAPABILITY_VERSION_3 = 0x2008_0522
_INSTRUCTION_BYTES = 8


class _Program(ctypes.Structure):
    """The kernel's ``struct sock_fprog``."""

    _fields_ = (("length", ctypes.c_ushort), ("instructions", ctypes.c_char_p))


def become_user(user: int) -> None:
    """Change from root to ``user``, and keep no capability of any kind that can be given up."""
    os.setgroups([])
    os.setresgid(user, user, user)
    os.setresuid(user, user, user)
    header = (ctypes.c_uint32 * 2)(_CAPABILITY_VERSION_3, 0)
    none = (ctypes.c_uint32 * 6)()
    if ctypes.CDLL(None).capset(header, none) != 0:
        raise OSError("capabilities cannot be given up")


def set_dumpable(value: bool) -> None:
    """Whether others of the same user may look into this process."""
    _prctl(_PR_SET_DUMPABLE, int(value))


def close_descriptors(but: Iterable[int]) -> None:
    """Close everything that was handed down beside the standard streams and ``but``."""
    first = 3
    for kept in sorted(but):
        os.closerange(first, kept)
        first = kept + 1
    os.closerange(first, os.sysconf("SC_OPEN_MAX"))


def install_filter(program: bytes) -> None:
    """Refuse system calls, here and in every process to come, beside what is refused already.

    Args:
        program: a filter in the kernel's form, see :mod:`harness.sandboxes.kernel.seccomp`.
    """
    _prctl(_PR_SET_NO_NEW_PRIVS, 1)
    filled = _Program(len(program) // _INSTRUCTION_BYTES, program)
    _prctl(_PR_SET_SECCOMP, _SECCOMP_MODE_FILTER, ctypes.byref(filled))


def _prctl(*arguments: object) -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    padded = [
        ctypes.c_ulong(argument) if isinstance(argument, int) else argument
        for argument in (*arguments, 0, 0, 0, 0)[:5]
    ]
    if libc.prctl(*padded) != 0:
        raise OSError(ctypes.get_errno(), f"prctl {arguments[0]} failed")
