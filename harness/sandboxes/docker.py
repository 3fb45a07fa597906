"""The docker sandbox: a container for each sandbox, through Docker or Podman."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Sequence
from typing import Any

from harness.errors import SandboxUnavailable
from harness.sandboxes.base import Capabilities, Hold, Mount, Sandbox, SandboxSpec
from harness.sandboxes.containers import images
from harness.sandboxes.containers.container import PYTHON, Container
from harness.sandboxes.containers.engine import Engine, find_engine
from harness.sandboxes.containers.sweep import find_orphans, remove_orphans
from harness.sandboxes.kernel import leftovers, seccomp, users
from harness.sandboxes.network.egress import Egress
from harness.sandboxes.warm.parent import WarmSandbox


class Docker:
    """Starts docker sandboxes.

    Args:
        image: the image's name; when left out, what :func:`harness.sandboxes.containers.images.find` prefers.
        engine: the engine; found when left out.
    """

    name = "docker"

    def __init__(self, image: str | None = None, engine: Engine | None = None) -> None:
        self._image = image
        self._given = engine
        self._checked_gpus: set[tuple[str, ...]] = set()

    @functools.cached_property
    def engine(self) -> Engine:
        """The engine.

        Raises:
            SandboxUnavailable: there is none.
        """
        if self._given is None:
            return find_engine()
        self._given.check()
        return self._given

    @functools.cached_property
    def capabilities(self) -> Capabilities:
        """See :class:`harness.sandboxes.base.SandboxProvider`."""
        engine = self.engine
        return Capabilities(
            isolated=True,
            gpus=True,
            allow_hosts=True,
            system_calls=engine.filters_system_calls or seccomp.available(),
            memory=Hold.KERNEL if engine.enforces("MemoryLimit") else Hold.WATCHED,
            processes=Hold.KERNEL if engine.enforces("PidsLimit") else Hold.NONE,
            disk=Hold.KERNEL,
            cpus=Hold.KERNEL if engine.enforces("CpuCfsQuota") else Hold.NONE,
        )

    def check(self) -> None:
        """Raise unless there is an engine that answers, and an image."""
        images.find(self.engine, self._image)

    def check_gpus(self, ids: Sequence[str]) -> None:
        """Start and end a container with these devices.

        Args:
            ids: by index, UUID or MIG name.

        Raises:
            SandboxUnavailable: the engine cannot hand them in; the message says which part is missing.
        """
        spec = SandboxSpec((), "/tmp", gpus=tuple(ids))
        container = Container(self.engine, images.find(self.engine, self._image, gpus=True), spec)
        try:
            container.start()
        finally:
            container.remove()
        self._checked_gpus.add(tuple(ids))

    def sweep(self) -> tuple[str, ...]:
        """See :class:`harness.sandboxes.base.SandboxProvider`."""
        removed = remove_orphans(self.engine, find_orphans(self.engine))
        return (*(orphan.container[:12] for orphan in removed), *leftovers.sweep())

    def describe(self) -> dict[str, Any]:
        """See :class:`harness.sandboxes.base.SandboxProvider`."""
        engine = self.engine
        image = images.find(engine, self._image)
        return {
            "name": self.name,
            "engine": engine.name,
            "version": engine.version.get("Version"),
            "api": engine.version.get("ApiVersion"),
            "storage": engine.info.get("Driver"),
            "rootless": engine.rootless,
            "image": image.name,
            "image_id": image.id,
            "image_digests": list(image.digests),
            "gaps": list(self.capabilities.gaps()),
        }

    def start(self, spec: SandboxSpec) -> Sandbox:
        """Build a sandbox; its container starts with the first request."""
        image = images.find(self.engine, self._image, gpus=bool(spec.gpus))
        if spec.gpus and spec.gpus not in self._checked_gpus:
            self.check_gpus(spec.gpus)
        for mount in spec.mounts:
            _check_mount(mount, self.engine)
        watch_memory = self.capabilities.memory is not Hold.KERNEL
        with contextlib.ExitStack() as stack:
            stack.enter_context(users.lent(spec.mounts))
            egress = stack.enter_context(Egress(spec.allow_hosts)) if spec.allow_hosts else None
            container = Container(self.engine, image, spec, egress)
            return WarmSandbox(
                spec,
                lambda: container.connect(watch_memory=watch_memory),
                python=PYTHON,
                # Users inside are users of the host here, so a limit by user would join all sandboxes.
                nproc=False,
                out_of_memory=container.oom_kills,
                egress=egress,
                on_stop=stack.pop_all().close,
            )


def _check_mount(mount: Mount, engine: Engine) -> None:
    if engine.maps_users and mount.writable:
        raise SandboxUnavailable(
            f"{mount.source}: an engine that maps users (rootless, or with userns-remap) cannot lend a "
            "folder to the user of a sandbox; choose --sandbox bubblewrap, or an engine that does not"
        )
    if not mount.writable:
        users.check_readable(mount.source, others=users.is_root() or engine.maps_users)
