"""The unprivileged user of a sandbox, whoever runs the harness.

An ordinary user's sandboxes run as that user. Root's must not: the kernel exempts root from limits, and
root's files would be the sandbox's own. They run as :data:`SANDBOX_USER`, which owns nothing on the host.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import stat
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path

from harness.errors import SandboxUnavailable
from harness.sandboxes.base import Mount

#: What container images commonly give to a user without rights; no account of a distribution has it.
SANDBOX_USER = 65_532
_MAPS = f"0 0 1\n{SANDBOX_USER} {SANDBOX_USER} 1\n"
# The helper keeps the namespace alive until we hold it. Nothing inside may make further namespaces.
_HELPER = "echo; read _ && echo 0 > /proc/sys/user/max_user_namespaces && echo; read _"


def is_root() -> bool:
    """Whether the harness runs as root."""
    return os.geteuid() == 0


def sandbox_user() -> int:
    """The user id, on the host, of code in a sandbox; its group has the same number for root's sandboxes."""
    return SANDBOX_USER if is_root() else os.geteuid()


def user_namespace() -> int:
    """A descriptor of a new user namespace that knows root and the sandbox's user only. For root.

    Root's own number is needed to mount what only root may read; the code inside is never that user.

    Raises:
        SandboxUnavailable: this root may not make one, as in a container without the right to.
    """
    if shutil.which("unshare") is None:
        raise SandboxUnavailable("root's sandboxes need the program `unshare`; install util-linux")
    with subprocess.Popen(
        ["unshare", "--user", "--keep-caps", "sh", "-c", _HELPER],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as helper:
        assert helper.stdin and helper.stdout and helper.stderr
        try:
            if not helper.stdout.readline():
                raise SandboxUnavailable(
                    f"root cannot make a user namespace here ({helper.stderr.read().strip()}); "
                    "run as an ordinary user, or allow user namespaces (sysctl user.max_user_namespaces)"
                )
            try:
                for name in ("uid_map", "gid_map"):
                    Path(f"/proc/{helper.pid}/{name}").write_text(_MAPS)
            except OSError as error:
                raise SandboxUnavailable(
                    f"this root may not map user {SANDBOX_USER} into a namespace ({error.strerror}); "
                    "run as an ordinary user, or outside of the container"
                ) from error
            helper.stdin.write("\n")
            helper.stdin.flush()
            if not helper.stdout.readline():
                raise SandboxUnavailable(
                    "root cannot forbid further user namespaces inside its sandboxes "
                    f"({helper.stderr.read().strip()}); run as an ordinary user"
                )
            return os.open(f"/proc/{helper.pid}/ns/user", os.O_RDONLY)
        finally:
            helper.kill()


def check_readable(path: Path, *, others: bool) -> None:
    """Raise unless the sandbox's user can read a mount's source.

    Args:
        path: a file or folder.
        others: whether that user is neither the file's owner nor in its group.

    Raises:
        SandboxUnavailable: it is missing, or closed to others; names the path and the fix.
    """
    try:
        mode = path.stat().st_mode
    except OSError as error:
        raise SandboxUnavailable(f"{path}: cannot be shown in a sandbox: {error.strerror}") from error
    needed = (stat.S_IROTH | stat.S_IXOTH) if stat.S_ISDIR(mode) else stat.S_IROTH
    if others and mode & needed != needed:
        raise SandboxUnavailable(
            f"{path}: the sandbox runs as an unprivileged user, which may not read it; chmod -R a+rX {path}"
        )


@contextlib.contextmanager
def lent(mounts: Sequence[Mount]) -> Iterator[None]:
    """The writable mounts belong to the sandbox's user; afterwards they, and all in them, are root's again.

    An ordinary user's sandboxes run as that user, so nothing changes hands. Links are never followed.
    """
    folders = [mount.source for mount in mounts if mount.writable and is_root()]
    try:
        for folder in folders:
            _give(folder, SANDBOX_USER)
        yield
    finally:
        for folder in folders:
            _give(folder, 0)


def _give(folder: Path, user: int) -> None:
    os.chown(folder, user, user, follow_symlinks=False)
    for _, folders, names, handle in os.fwalk(folder, follow_symlinks=False):
        for name in (*folders, *names):
            os.chown(name, user, user, dir_fd=handle, follow_symlinks=False)
