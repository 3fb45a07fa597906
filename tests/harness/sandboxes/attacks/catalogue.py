"""What an attack is, and how each one must end.

An attack is a Python program that is given to a sandbox. It reports what it tried through :mod:`attempts`,
which lies beside it: ``HOST`` tells it what has been planted for it on the host (see :mod:`host`), and
``attempt(name, function)`` prints one line, with the name of the error or ``DONE`` and the result.

Of every attack it is also checked that no planted secret was printed, that nothing planted was changed or
reached, that the sandbox still answers or is known to be lost, that its neighbour works on, and that no
process of it is left on the host.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Kind(StrEnum):
    """What an attack is after."""

    READ = "read answers, keys, host files and other trials"
    NETWORK = "reach out by the network or a socket"
    EXHAUST = "use up memory, processes, disk or time"
    PARENT = "kill, stop, read or impersonate the parent"
    SURVIVE = "run on after the end"
    PERSIST = "leave something for the next execution"
    PRIVILEGE = "gain privileges in the kernel"
    FILE = "hand out a file that is none"
    OUTPUT = "write to the terminal of whoever reads the output"


#: What the system says of a path that is not shown, or closed.
HIDDEN = ("ENOENT", "ENOTDIR", "EACCES")
#: Of a file system that is shown read-only, or belongs to another user.
READ_ONLY = ("EROFS", "EACCES", "EPERM", "ENOENT", "ENOTDIR")
#: Of an operation that needs privileges, or that the filter of system calls hides.
FORBIDDEN = ("EPERM", "EACCES", "ENOSYS", "EROFS", "ENOENT")


@dataclass(frozen=True)
class Attack:
    """One attack.

    Attributes:
        name: what it does, in a few words; unique within its kind.
        kind: what it is after.
        code: the program.
        denied: every attempt of the program must end in one of these errors, and there must be one.
        ends: how the run may end: ``exit N`` or ``killed N``, ``timeout``, ``over memory``, ``over disk``,
            ``over files`` or ``lost``, when the attack ends its own sandbox.
        says: a regular expression found in the output.
        then: a second, honest program, run afterwards in the same sandbox ...
        finds: ... and all that it must print.
        fetch: a file in the working folder that is then asked for ...
        gives: ... and how that may end: a refusal, or ``content``.
        control: the same program, run on the host, does get at what it is after. Shows that it is an attack.
        seconds: the time limit of the run.
    """

    name: str
    kind: Kind
    code: str
    denied: tuple[str, ...] = ()
    ends: tuple[str, ...] = ("exit 0",)
    says: str = ""
    then: str = "print('still here')"
    finds: str = "still here\n"
    fetch: str = ""
    gives: tuple[str, ...] = ()
    control: bool = False
    seconds: float = 10.0

    def __str__(self) -> str:
        return f"{self.kind.name.lower()}: {self.name}"
