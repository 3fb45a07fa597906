"""The process sandbox: a plain child process with a clean environment and resource limits.

It keeps nothing from the code inside: same user, same files, same network. For trusted code only.
"""

from __future__ import annotations

import logging
import sys
from pathlib import PurePosixPath

from harness.sandboxes.base import Sandbox, SandboxSpec
from harness.sandboxes.parent import WARM_SCRIPT, WarmSandbox, base_environment

log = logging.getLogger(__name__)

WARNING = (
    "The `process` sandbox isolates nothing: code run in it can read every file of this user, "
    "the answers of the tasks among them, and use the network. Use it for trusted code only."
)


class Process:
    """Opens process sandboxes."""

    name = "process"
    isolated = False

    def __init__(self) -> None:
        self._warned = False

    def check(self) -> None:
        """Nothing to check: a process can always be started."""

    def open(self, spec: SandboxSpec) -> Sandbox:
        """Build a sandbox; warns loudly the first time."""
        if not self._warned:
            log.warning(WARNING)
            self._warned = True
        by_target = {mount.target: str(mount.source.resolve()) for mount in spec.mounts}

        def inside(target: str) -> str:
            path = PurePosixPath(target)
            for parent in (path, *path.parents):
                if str(parent) in by_target:
                    return str(PurePosixPath(by_target[str(parent)]) / path.relative_to(parent))
            return target

        return WarmSandbox(
            spec,
            command=lambda config: [sys.executable, "-s", str(WARM_SCRIPT), config],
            environment=base_environment(spec, home=inside(spec.workdir)),
            inside=inside,
            own_pid_namespace=False,
        )
