"""The bubblewrap sandbox: Linux namespaces without a daemon, for root and for ordinary users.

New user, mount, PID, network, IPC, UTS and cgroup namespaces; an empty root with a read-only view of the
system's libraries and of this Python installation; ``/tmp``, ``/dev/shm`` and the working folder in memory,
bounded; no capabilities, no further user namespaces, a filter of system calls; no environment of ours.
"""

from __future__ import annotations

import contextlib
import functools
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from harness.errors import SandboxLost, SandboxUnavailable
from harness.sandboxes import exposure
from harness.sandboxes.base import Capabilities, Hold, Mount, Sandbox, SandboxSpec
from harness.sandboxes.gpus.devices import device_files
from harness.sandboxes.gpus.leases import cuda_environment
from harness.sandboxes.hidden import hidden_folders
from harness.sandboxes.kernel import cgroups, leftovers, seccomp, users
from harness.sandboxes.kernel.cgroups import Cgroup
from harness.sandboxes.network.egress import Egress, proxy_environment
from harness.sandboxes.warm.channel import Channel, PipeChannel
from harness.sandboxes.warm.launch import (
    EGRESS_TARGET,
    INSIDE,
    INSIDE_TARGET,
    base_environment,
    parent_command,
)
from harness.sandboxes.warm.parent import WarmSandbox

_PATH = "/usr/local/bin:/usr/bin:/bin"
_SYSTEM_FILES = (
    "/etc/ld.so.cache",
    "/etc/ld.so.conf",
    "/etc/ld.so.conf.d",
    "/etc/alternatives",
    "/etc/localtime",
    "/etc/ssl/certs",
    "/etc/ca-certificates",
)
_OLDEST = (0, 8)
#: The user that an ordinary user's sandbox shows to the code inside.
_SHOWN_USER = "1000"


class Bubblewrap:
    """Starts bubblewrap sandboxes."""

    name = "bubblewrap"

    @functools.cached_property
    def capabilities(self) -> Capabilities:
        """See :class:`harness.sandboxes.base.SandboxProvider`."""
        controllers = cgroups.controllers()
        return Capabilities(
            isolated=True,
            gpus=True,
            allow_hosts=True,
            system_calls=seccomp.available(),
            memory=Hold.KERNEL if "memory" in controllers else Hold.WATCHED,
            processes=Hold.KERNEL,
            disk=Hold.KERNEL,
            cpus=Hold.KERNEL if "cpu" in controllers else Hold.NONE,
        )

    def check(self) -> None:
        """Raise unless a sandbox can really be started here."""
        if shutil.which("bwrap") is None:
            raise SandboxUnavailable(
                "bubblewrap is not installed (no `bwrap` on PATH); install the package bubblewrap, "
                "or choose --sandbox docker"
            )
        if _version() < _OLDEST:
            found = ".".join(map(str, _version()))
            raise SandboxUnavailable(f"bubblewrap {found} is too old; 0.8 or newer is needed")
        for folder in (INSIDE, *exposure.python_folders()):
            users.check_readable(folder, others=users.is_root())
        spec = SandboxSpec((), "/tmp")
        with _namespaces() as (options, descriptors):
            probe = subprocess.run(
                ["bwrap", *options, *_arguments(spec, {}), "--", "true"],
                capture_output=True,
                text=True,
                check=False,
                pass_fds=descriptors,
            )
        if probe.returncode != 0:
            raise SandboxUnavailable(
                f"bubblewrap cannot start here ({probe.stderr.strip()}); allow unprivileged user namespaces, "
                "or choose --sandbox docker"
            )

    def check_gpus(self, ids: Sequence[str]) -> None:
        """Raise unless the files of these devices are there."""
        device_files(ids)

    def check_paths(self, paths: Iterable[Path]) -> None:
        """Raise unless these are out of what every sandbox shows."""
        exposure.check_not_shown(paths)

    def sweep(self) -> tuple[str, ...]:
        """Its control groups and temporary folders; all else of it dies with a harness."""
        return (*cgroups.sweep(), *leftovers.sweep())

    def describe(self) -> dict[str, Any]:
        """See :class:`harness.sandboxes.base.SandboxProvider`."""
        return {
            "name": self.name,
            "bubblewrap": ".".join(map(str, _version())),
            "gaps": list(self.capabilities.gaps()),
        }

    def start(self, spec: SandboxSpec) -> Sandbox:
        """Build a sandbox; its processes start with the first request."""
        self.check_paths(mount.source for mount in spec.mounts)
        for mount in spec.mounts:
            if not mount.writable:
                users.check_readable(mount.source, others=users.is_root())
        with contextlib.ExitStack() as stack:
            stack.enter_context(users.lent(spec.mounts))
            egress = stack.enter_context(Egress(spec.allow_hosts)) if spec.allow_hosts else None
            return _Bubble(spec, egress, stack.pop_all()).sandbox()


class _Bubble:
    """One sandbox's parts on the host."""

    def __init__(self, spec: SandboxSpec, egress: Egress | None, borrowed: contextlib.ExitStack) -> None:
        self._spec = spec
        self._egress = egress
        self._borrowed = borrowed
        self._cgroup: Cgroup | None = None

    def sandbox(self) -> Sandbox:
        return WarmSandbox(
            self._spec,
            self._connect,
            python=sys.executable,
            nproc=True,
            out_of_memory=lambda: self._cgroup.oom_kills() if self._cgroup else 0,
            egress=self._egress,
            on_stop=self._free,
        )

    def _connect(self) -> Channel:
        try:
            return self._start()
        except OSError as error:
            raise SandboxLost(f"bubblewrap did not start: {error}") from error

    def _start(self) -> Channel:
        spec = self._spec
        environment = base_environment(spec, home="/tmp", path=_PATH)
        mounts = [Mount(INSIDE, INSIDE_TARGET), *spec.mounts]
        if self._egress is not None:
            mounts.append(Mount(self._egress.socket, EGRESS_TARGET))
            environment |= proxy_environment(spec.allow_hosts)
        environment |= cuda_environment(spec.gpus)
        self._cgroup = Cgroup.create(spec.labels.get("trial", "sandbox"), spec.limits)
        arguments = list(_arguments(spec, environment, mounts))
        watch_memory = "memory" not in cgroups.controllers()
        with _namespaces() as (options, descriptors):

            def command(requests: int, replies: int) -> Sequence[str]:
                parent = parent_command(
                    spec,
                    requests,
                    replies,
                    python=sys.executable,
                    user=users.SANDBOX_USER if users.is_root() else None,
                    filter_program=seccomp.filter_for(watch_memory=watch_memory),
                    watch_memory=watch_memory,
                )
                sandbox = ["bwrap", *options, *arguments, "--", *parent]
                return self._cgroup.enter(sandbox) if self._cgroup else sandbox

            return PipeChannel(command, {"PATH": _PATH}, descriptors)

    def _free(self) -> None:
        if self._cgroup is not None:
            self._cgroup.remove()
        self._borrowed.close()


@contextlib.contextmanager
def _namespaces() -> Iterator[tuple[list[str], list[int]]]:
    """Options that make the sandbox's namespaces and its user, and descriptors they need."""
    options = ["--unshare-ipc", "--unshare-pid", "--unshare-net", "--unshare-uts", "--unshare-cgroup-try"]
    options += ["--die-with-parent", "--new-session", "--cap-drop", "ALL", "--clearenv"]
    # The warm parent is PID 1: no signal from inside ends or stops it, and bubblewrap's own command line,
    # with the host's paths, is not to be seen.
    options += ["--hostname", "sandbox", "--as-pid-1"]
    if not users.is_root():
        user = ["--uid", _SHOWN_USER, "--gid", _SHOWN_USER]
        yield [*options, "--unshare-user", "--disable-userns", *user], []
        return
    namespace = users.user_namespace()
    try:
        # The warm parent needs these until it has become the sandbox's user, and then has none.
        capabilities = ["--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID"]
        yield [*options, "--userns", str(namespace), *capabilities], [namespace]
    finally:
        os.close(namespace)


def _arguments(spec: SandboxSpec, environment: dict[str, str], mounts: Sequence[Mount] = ()) -> Iterator[str]:
    limits = spec.limits
    for name, value in environment.items():
        yield from ("--setenv", name, value)
    yield from ("--proc", "/proc", "--dev", "/dev")
    yield from _memory("/tmp", spec.in_memory(limits.tmp_bytes))
    yield from _memory("/dev/shm", spec.in_memory(limits.shm_bytes))
    yield from _system()
    yield from _folders(Path("/etc/ssl"))
    for path in _SYSTEM_FILES:
        yield from ("--ro-bind-try", path, path)
    yield from _interpreter()
    for device in device_files(spec.gpus):
        yield from ("--dev-bind", str(device), str(device))
    for mount in mounts:
        yield from _folders(Path(mount.target).parent)
        yield from ("--bind" if mount.writable else "--ro-bind", str(mount.source.resolve()), mount.target)
    if spec.scratch and spec.workdir != "/tmp":
        yield from _folders(Path(spec.workdir).parent)
        yield from _memory(spec.workdir, spec.in_memory(limits.disk_bytes))
    # Files of the kernel that are open to everybody; what remains are a process's own.
    for path in ("/proc/sys", "/proc/pressure"):
        yield from ("--ro-bind-try", path, path)
    yield from ("--chdir", "/", "--remount-ro", "/dev", "--remount-ro", "/")


def _memory(path: str, size: int) -> tuple[str, ...]:
    """A file system in memory, which the sandbox's user may write to whoever mounts it."""
    return ("--perms", "1777", "--size", str(size), "--tmpfs", path)


def _folders(path: Path) -> Iterator[str]:
    """A folder and those above it, open to the sandbox's user; bubblewrap by itself keeps them to root."""
    for folder in reversed([folder for folder in (path, *path.parents) if folder != Path("/")]):
        yield from ("--perms", "0755", "--dir", str(folder))


def _system() -> Iterator[str]:
    """The system's programs and libraries, with merged-usr links kept as links."""
    yield from ("--ro-bind", "/usr", "/usr")
    for name in ("bin", "sbin", "lib", "lib32", "lib64", "libx32"):
        path = Path("/") / name
        if path.is_symlink():
            yield from ("--symlink", str(path.readlink()), str(path))
        elif path.is_dir():
            yield from ("--ro-bind", str(path), str(path))


def _interpreter() -> Iterator[str]:
    """This Python and its packages, without our own packages and without data bundled in libraries."""
    for prefix in exposure.python_folders():
        yield from _folders(prefix.parent)
        yield from ("--ro-bind", str(prefix), str(prefix))
    for folder in hidden_folders():
        yield from ("--tmpfs", str(folder))
    # Only now: one may lie in another.
    for folder in hidden_folders():
        yield from ("--remount-ro", str(folder))


@functools.cache
def _version() -> tuple[int, ...]:
    said = subprocess.run(["bwrap", "--version"], capture_output=True, text=True, check=False).stdout
    return tuple(int(part) for part in re.findall(r"\d+", said)[:2])
