"""How a warm parent is started: its command line, its configuration and its environment."""

from __future__ import annotations

import base64
import json
import os
from collections.abc import Callable
from pathlib import Path

from harness.sandboxes.base import ROOT, SandboxSpec

#: The folder with the scripts of the warm parent, and where a sandbox shows it, read-only.
INSIDE = Path(__file__).with_name("inside")
INSIDE_TARGET = f"{ROOT}/inside"
_START = (
    # The empty entry of the path would let a late import take a file of the code inside.
    "import sys; sys.path[0] = sys.argv.pop(1); from inside.warm import main; "
    "sys.path[0] = '/nowhere'; main()"
)
#: Where a sandbox shows the socket of the proxy to allowed hosts.
EGRESS_TARGET = f"{ROOT}/egress.sock"


def parent_command(
    spec: SandboxSpec,
    requests: int,
    replies: int,
    *,
    python: str,
    folder: str = INSIDE_TARGET,
    user: int | None = None,
    filter_program: bytes | None = None,
    inside: Callable[[str], str] = lambda path: path,
    own_namespaces: bool = True,
    watch_memory: bool = False,
    wipe: tuple[str, ...] = ("/tmp", "/dev/shm"),
) -> list[str]:
    """The argument vector of a warm parent.

    Args:
        spec: what the sandbox shows and limits.
        requests: the descriptor on which the parent reads requests.
        replies: the descriptor on which it answers.
        python: the interpreter inside.
        folder: where the sandbox shows :data:`INSIDE`.
        user: the user and group to become before anything else; ``None`` to stay.
        filter_program: the system calls to refuse, see :mod:`harness.sandboxes.kernel.seccomp`.
        inside: maps mount targets to what the parent sees.
        own_namespaces: it lives in PID and IPC namespaces of its own, in which it may end and remove
            everything.
        watch_memory: the parent must look after the limit of memory, as the kernel does not.
        wipe: folders that it empties after each run.
    """
    limits = spec.limits
    scratch = [inside(spec.workdir)] if spec.scratch else []
    config = {
        "requests": requests,
        "replies": replies,
        "user": user,
        "filter": base64.b64encode(filter_program).decode() if filter_program else None,
        "preload": list(spec.preload) if spec.warm else [],
        "own_namespaces": own_namespaces,
        "scratch": scratch,
        "wipe": list(wipe),
        "relay": EGRESS_TARGET if spec.allow_hosts else None,
        "watch": {
            "memory": limits.memory_bytes if watch_memory else None,
            # Only where they are file systems of their own do these tell of this sandbox alone.
            "scratch": [*scratch, *wipe] if own_namespaces else [],
            "folders": [inside(mount.target) for mount in spec.mounts if mount.writable]
            + ([] if own_namespaces else scratch),
            "disk": limits.disk_bytes,
            "files": limits.files,
        },
    }
    return [python, "-s", "-c", _START, str(Path(folder).parent), json.dumps(config)]


def base_environment(spec: SandboxSpec, home: str, path: str) -> dict[str, str]:
    """The whole environment of the code inside: nothing is inherited, so no key can leak."""
    cpus = str(spec.limits.cpus)
    return {
        "PATH": path,
        "HOME": home,
        "TMPDIR": home,
        "USER": "agent",
        "LOGNAME": "agent",
        "LANG": "C.UTF-8",
        "PYTHONHASHSEED": "0",
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONUNBUFFERED": "1",
        "MPLBACKEND": "Agg",
        "OMP_NUM_THREADS": cpus,
        "OPENBLAS_NUM_THREADS": cpus,
        "MKL_NUM_THREADS": cpus,
        "LOKY_MAX_CPU_COUNT": cpus,
        **_processor_workarounds(),
        **spec.environment,
    }


def _processor_workarounds() -> dict[str, str]:
    """OpenBLAS kernel choices of the host: a wrong kernel computes wrong results on some processors."""
    names = ("OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE")
    return {name: os.environ[name] for name in names if name in os.environ}
