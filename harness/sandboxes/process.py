"""The process sandbox: a plain child process with a clean environment and resource limits.

It keeps nothing from the code inside: same user, same files, same network. For trusted code only.
"""

from __future__ import annotations

import logging
import shutil
import sys
import tempfile
from pathlib import Path, PurePosixPath
from typing import Any

from harness.errors import SandboxUnavailable
from harness.sandboxes.base import Capabilities, Hold, Sandbox, SandboxSpec
from harness.sandboxes.gpus.leases import cuda_environment
from harness.sandboxes.kernel import leftovers
from harness.sandboxes.warm.channel import PipeChannel
from harness.sandboxes.warm.launch import INSIDE, base_environment, parent_command
from harness.sandboxes.warm.parent import WarmSandbox

log = logging.getLogger(__name__)

WARNING = (
    "The `process` sandbox isolates nothing: code run in it can read every file of this user, "
    "the answers of the tasks among them, and use the network. Use it for trusted code only."
)


class Process:
    """Starts process sandboxes."""

    name = "process"
    capabilities = Capabilities(
        isolated=False,
        gpus=True,
        allow_hosts=False,
        system_calls=False,
        memory=Hold.PROCESS,
        processes=Hold.NONE,
        disk=Hold.WATCHED,
        cpus=Hold.NONE,
    )

    def __init__(self) -> None:
        self._warned = False

    def check(self) -> None:
        """Nothing to check: a process can always be started."""

    def sweep(self) -> tuple[str, ...]:
        """Its working folders."""
        return tuple(leftovers.sweep())

    def describe(self) -> dict[str, Any]:
        """See :class:`harness.sandboxes.base.SandboxProvider`."""
        return {"name": self.name, "gaps": list(self.capabilities.gaps())}

    def start(self, spec: SandboxSpec) -> Sandbox:
        """Build a sandbox; warns loudly the first time."""
        if spec.allow_hosts:
            raise SandboxUnavailable(
                "the process sandbox cannot keep code to named hosts; choose --sandbox bubblewrap or docker"
            )
        if not self._warned:
            log.warning(WARNING)
            self._warned = True
        by_target = {mount.target: str(mount.source.resolve()) for mount in spec.mounts}
        work = Path(tempfile.mkdtemp(prefix=leftovers.prefix("work"))) if spec.scratch else None
        if work is not None:
            by_target[spec.workdir] = str(work)

        def inside(target: str) -> str:
            path = PurePosixPath(target)
            for parent in (path, *path.parents):
                if str(parent) in by_target:
                    return str(PurePosixPath(by_target[str(parent)]) / path.relative_to(parent))
            return target

        environment = base_environment(spec, home=inside(spec.workdir), path="/usr/local/bin:/usr/bin:/bin")
        # Set in any case: without it, a program would take whatever devices there are.
        environment |= cuda_environment(spec.gpus)

        def command(requests: int, replies: int) -> list[str]:
            return parent_command(
                spec,
                requests,
                replies,
                python=sys.executable,
                folder=str(INSIDE),
                inside=inside,
                own_namespaces=False,
                wipe=(),
            )

        return WarmSandbox(
            spec,
            lambda: PipeChannel(command, environment),
            python=sys.executable,
            inside=inside,
            on_stop=lambda: shutil.rmtree(work, ignore_errors=True) if work else None,
        )
