"""The bubblewrap sandbox: Linux namespaces without a daemon or root.

New user, mount, PID, network, IPC and UTS namespaces; an empty root with a read-only view of the system's
libraries and of this Python installation; a private ``/tmp``; no capabilities; no environment of ours.
"""

from __future__ import annotations

import functools
import re
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Iterator
from pathlib import Path

from harness.errors import SandboxUnavailable
from harness.sandboxes.base import Sandbox, SandboxSpec
from harness.sandboxes.parent import WARM_SCRIPT, WarmSandbox, base_environment

_WARM = "/mlesmith/warm.py"
_TMP_BYTES = 1 << 30
_SYSTEM_FILES = (
    "/etc/ld.so.cache",
    "/etc/ld.so.conf",
    "/etc/ld.so.conf.d",
    "/etc/alternatives",
    "/etc/localtime",
)
_NETWORK_FILES = ("/etc/resolv.conf", "/etc/hosts", "/etc/nsswitch.conf", "/etc/ssl", "/etc/ca-certificates")
_OUR_PACKAGES = ("harness", "generator", "stats", "leaderboards", "reports", "mlesmith")
#: Data that ships inside libraries; tasks are made from such data, so an agent could look answers up.
_BUNDLED_DATA = (
    "sklearn/datasets/data",
    "sklearn/datasets/images",
    "sklearn/datasets/tests",
    "statsmodels/datasets",
    "statsmodels/**/tests",
    "pingouin/datasets",
)


class Bubblewrap:
    """Opens bubblewrap sandboxes."""

    name = "bubblewrap"
    isolated = True

    def check(self) -> None:
        """Raise unless a sandbox can really be started here."""
        if shutil.which("bwrap") is None:
            raise SandboxUnavailable(
                "bubblewrap is not installed (no `bwrap` on PATH); install the package bubblewrap, "
                "or choose --sandbox process to run trusted code without isolation"
            )
        probe = subprocess.run(
            ["bwrap", "--unshare-all", "--ro-bind", "/", "/", "true"],
            capture_output=True,
            text=True,
            check=False,
        )
        if probe.returncode != 0:
            raise SandboxUnavailable(
                f"bubblewrap cannot start here ({probe.stderr.strip()}); allow unprivileged user namespaces, "
                "or choose --sandbox process to run trusted code without isolation"
            )

    def open(self, spec: SandboxSpec) -> Sandbox:
        """Build a sandbox; its processes start with the first run."""
        environment = base_environment(spec, home="/tmp")
        arguments = list(_arguments(spec, environment))
        return WarmSandbox(
            spec,
            command=lambda config: ["bwrap", *arguments, "--", sys.executable, "-s", _WARM, config],
            environment={"PATH": environment["PATH"]},
            inside=lambda target: target,
            own_pid_namespace=True,
        )


def _arguments(spec: SandboxSpec, environment: dict[str, str]) -> Iterator[str]:
    yield from ("--unshare-all", "--die-with-parent", "--new-session", "--cap-drop", "ALL")
    yield from ("--uid", "1000", "--gid", "1000", "--hostname", "sandbox", "--clearenv")
    if spec.network:
        yield "--share-net"
    for name, value in environment.items():
        yield from ("--setenv", name, value)
    yield from ("--proc", "/proc", "--dev", "/dev")
    if _version() >= (0, 7):
        yield from ("--size", str(_TMP_BYTES))
    yield from ("--tmpfs", "/tmp")
    yield from _system()
    for path in (*_SYSTEM_FILES, *(_NETWORK_FILES if spec.network else ())):
        yield from ("--ro-bind-try", path, path)
    yield from _interpreter()
    yield from ("--ro-bind", str(WARM_SCRIPT), _WARM)
    for mount in spec.mounts:
        yield from ("--bind" if mount.writable else "--ro-bind", str(mount.source.resolve()), mount.target)
    yield from ("--chdir", spec.workdir, "--remount-ro", "/")


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
    shown: list[Path] = []
    executable = Path(sys.executable)
    for prefix in (Path(sys.base_prefix).resolve(), executable.resolve().parent.parent, Path(sys.prefix)):
        if prefix not in shown and not prefix.is_relative_to("/usr"):
            shown.append(prefix)
            yield from ("--ro-bind", str(prefix), str(prefix))
    for folder in _hidden():
        yield from ("--tmpfs", str(folder))


@functools.cache
def _hidden() -> tuple[Path, ...]:
    """Folders among this Python's packages that the code inside must find empty."""
    sites = sorted({Path(sysconfig.get_path(kind)) for kind in ("purelib", "platlib")})
    found = [path for site in sites for name in (*_OUR_PACKAGES, *_BUNDLED_DATA) for path in site.glob(name)]
    return tuple(path for path in found if path.is_dir())


@functools.cache
def _version() -> tuple[int, ...]:
    said = subprocess.run(["bwrap", "--version"], capture_output=True, text=True, check=False).stdout
    return tuple(int(part) for part in re.findall(r"\d+", said)[:2])
