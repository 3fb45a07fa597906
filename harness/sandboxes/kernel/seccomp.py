"""The system calls that code in a sandbox is refused, compiled to a filter that the warm parent installs.

Everything else is allowed, so programs need not be known in advance. The list follows those of Docker and
Flatpak: calls that no program for data needs, and through which past holes in the kernel were reached.
"""

from __future__ import annotations

import errno
import functools
import os
import socket
from typing import Any

#: Refused with EPERM, as a process without privileges is used to.
_REFUSED = (
    # Kernel keyrings are shared by all sandboxes of one user.
    *("add_key", "keyctl", "request_key"),
    # Other processes: no debugger runs inside.
    *("kcmp", "pidfd_getfd", "process_madvise", "process_vm_readv", "process_vm_writev", "ptrace"),
    *("migrate_pages", "move_pages"),
    # Large interfaces for which programs have other ways.
    *("bpf", "fanotify_init", "perf_event_open", "userfaultfd"),
    # Mounts and namespaces. A new user namespace would give the code all capabilities in it.
    *("fsconfig", "fsmount", "fsopen", "fspick", "mount", "mount_setattr", "move_mount", "open_tree"),
    *("open_tree_attr", "pivot_root", "umount", "umount2"),
    *("chroot", "setns", "unshare"),
    # Files by number, past the folders that lead to them.
    *("name_to_handle_at", "open_by_handle_at"),
    # The machine: swap, modules, clock, accounting, ports, the kernel's log.
    *("swapoff", "swapon", "kexec_file_load", "kexec_load", "reboot"),
    *("create_module", "delete_module", "finit_module", "init_module"),
    *("adjtimex", "clock_adjtime", "clock_settime", "settimeofday", "stime"),
    *("acct", "quotactl", "quotactl_fd", "ioperm", "iopl", "modify_ldt", "syslog", "vhangup"),
    # Long obsolete.
    *("lookup_dcookie", "nfsservctl", "uselib", "_sysctl", "sysfs", "ustat"),
)
#: Refused with ENOSYS, as by an older kernel, so that callers take the other way that they have.
_ABSENT = (
    # Its flags lie in memory, where a filter cannot see new namespaces. The C library falls back to clone.
    "clone3",
    *("io_uring_enter", "io_uring_register", "io_uring_setup"),
    # Queues, segments and semaphores that outlive their process, and so one run, and lie in no folder that
    # could be emptied. Python, joblib, PyTorch and OpenMP use POSIX ones, which are files in /dev/shm.
    *("mq_open", "msgget", "semget", "shmget"),
)

_NEW_NAMESPACES = (
    0x0002_0000,  # CLONE_NEWNS
    0x0200_0000,  # CLONE_NEWCGROUP
    0x0400_0000,  # CLONE_NEWUTS
    0x0800_0000,  # CLONE_NEWIPC
    0x1000_0000,  # CLONE_NEWUSER
    0x2000_0000,  # CLONE_NEWPID
    0x4000_0000,  # CLONE_NEWNET
)
#: TIOCSTI types into the terminal that started us; TIOCLINUX pastes into a console.
_TERMINAL_INPUT = (0x5412, 0x541C)
_IOPRIO_PROCESS = 1
_FAMILIES = (socket.AF_UNIX, socket.AF_INET, socket.AF_INET6, socket.AF_NETLINK)
_NETLINK_ROUTE = 0  # the C library asks it for addresses
_PERSONALITY_QUERY = 0xFFFF_FFFF
_UINT = 0xFFFF_FFFF


def available() -> bool:
    """Whether a filter can be built here; :func:`problem` says why not."""
    return not problem()


@functools.cache
def problem() -> str:
    """Why no filter can be built here, with the fix; empty when it can."""
    try:
        filter_program()
    except ImportError:
        return "the Python package pyseccomp is not installed; install it with pip"
    except (RuntimeError, OSError) as error:  # RuntimeError: the package does not find its library
        return f"libseccomp cannot be used ({error}); install the system's package libseccomp2"
    return ""


def filter_for(*, watch_memory: bool) -> bytes | None:
    """The filter of a sandbox, or ``None`` where none can be built.

    Args:
        watch_memory: the limit of memory is held by looking. Then files in memory without a name are refused:
            their pages are nobody's, and not to be seen.
    """
    return filter_program(nameless_files=not watch_memory) if available() else None


@functools.cache
def filter_program(*, nameless_files: bool = True) -> bytes:
    """The filter in the kernel's binary form.

    Args:
        nameless_files: allow ``memfd_create``; else it is absent, as in an older kernel.

    Raises:
        ImportError: pyseccomp is not installed.
        RuntimeError, OSError: libseccomp is missing or too old.
    """
    import pyseccomp as seccomp  # raises when libseccomp is missing, so not above

    rules = seccomp.SyscallFilter(seccomp.ALLOW)
    # Calls of another architecture (i386 and x32 on x86-64) have other numbers and would pass the rules.
    rules.set_attr(seccomp.Attr.ACT_BADARCH, seccomp.KILL_PROCESS)

    def refuse(name: str, *conditions: Any, number: int = errno.EPERM) -> None:
        known = seccomp.resolve_syscall(seccomp.Arch.NATIVE, name)
        if known != -1:  # -1: newer than this libseccomp; less than that: of another architecture, ignored
            rules.add_rule(seccomp.ERRNO(number), known, *conditions)

    for name in _REFUSED:
        refuse(name)
    for name in _ABSENT if nameless_files else (*_ABSENT, "memfd_create", "memfd_secret"):
        refuse(name, number=errno.ENOSYS)
    # Limits of another process; 0 is the caller itself.
    refuse("prlimit64", seccomp.Arg(0, seccomp.NE, 0))
    # Nor another process's priority: the parent's would pass on to every later run.
    for name in ("sched_setattr", "sched_setparam", "sched_setscheduler"):
        refuse(name, seccomp.Arg(0, seccomp.NE, 0))
    for name, own in (("setpriority", os.PRIO_PROCESS), ("ioprio_set", _IOPRIO_PROCESS)):
        refuse(name, seccomp.Arg(0, seccomp.NE, own))
        refuse(name, seccomp.Arg(1, seccomp.NE, 0))
    for flag in _NEW_NAMESPACES:
        refuse("clone", seccomp.Arg(0, seccomp.MASKED_EQ, flag, flag))
    for request in _TERMINAL_INPUT:
        # The kernel reads 32 bits of the register; comparing all 64 would let one more bit pass the rule.
        refuse("ioctl", seccomp.Arg(1, seccomp.MASKED_EQ, _UINT, request))
    refuse("personality", seccomp.Arg(0, seccomp.NE, _PERSONALITY_QUERY))
    for name in ("socket", "socketpair"):
        # All that is greater, and so everything with more than 32 bits; then the gaps below.
        refuse(name, seccomp.Arg(0, seccomp.GT, max(_FAMILIES)), number=errno.EAFNOSUPPORT)
        for family in set(range(max(_FAMILIES))).difference(_FAMILIES):
            refuse(name, seccomp.Arg(0, seccomp.EQ, family), number=errno.EAFNOSUPPORT)
        refuse(
            name,
            seccomp.Arg(0, seccomp.EQ, socket.AF_NETLINK),
            seccomp.Arg(2, seccomp.NE, _NETLINK_ROUTE),
            number=errno.EPROTONOSUPPORT,
        )
    with os.fdopen(os.memfd_create("seccomp"), "r+b") as file:
        rules.export_bpf(file)
        file.seek(0)
        return file.read()
