"""One container of a docker sandbox: what the engine is asked for, and what its refusals mean.

The container's first process only waits, as a user of its own. The warm parent is a second process, which the
engine starts as the user of the code inside; requests and replies travel over its standard streams. So code
inside can neither signal the first process nor reach those streams.
"""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from docker.errors import APIError, ImageNotFound
from docker.types import DeviceRequest, LogConfig, Ulimit
from docker.types import Mount as Bind

from harness.errors import SandboxLost, SandboxUnavailable
from harness.sandboxes.base import Mount, SandboxSpec
from harness.sandboxes.containers.engine import ENGINE_ERRORS, Engine
from harness.sandboxes.containers.execution import ExecChannel, remove_container
from harness.sandboxes.containers.images import Image
from harness.sandboxes.containers.sweep import container_labels, deadline_of
from harness.sandboxes.kernel import cgroups, seccomp, users
from harness.sandboxes.network.egress import Egress, proxy_environment
from harness.sandboxes.warm.channel import Channel
from harness.sandboxes.warm.launch import (
    EGRESS_TARGET,
    INSIDE,
    INSIDE_TARGET,
    base_environment,
    parent_command,
)

log = logging.getLogger(__name__)

PYTHON = "python3"
#: The user of the process that keeps a container open. It is not that of the code inside, nor root.
_KEEPER = users.SANDBOX_USER + 1
#: Engines' own lists leave out what newer kernels let everybody write to, such as /proc/pressure.
_MASKED = (
    "/proc/acpi",
    "/proc/asound",
    "/proc/interrupts",
    "/proc/kcore",
    "/proc/keys",
    "/proc/latency_stats",
    "/proc/pressure",
    "/proc/sched_debug",
    "/proc/scsi",
    "/proc/timer_list",
    "/proc/timer_stats",
    "/sys/devices/virtual/powercap",
    "/sys/firmware",
    "/sys/kernel",
)
_READ_ONLY = ("/proc/bus", "/proc/fs", "/proc/irq", "/proc/sys", "/proc/sysrq-trigger")
#: Emptied after each run; the last one holds POSIX message queues.
_WIPED = ("/tmp", "/dev/shm", "/dev/mqueue")
_OOM_SCORE = 500
_MANY_PROCESSES = 16_384
_NO_DRIVER = "could not select device driver"


class Container:
    """From its creation to its removal.

    Args:
        engine: where it runs.
        image: what it is made from.
        spec: what it shows and limits.
        egress: the proxy to allowed hosts, whose socket is shown inside.
    """

    def __init__(self, engine: Engine, image: Image, spec: SandboxSpec, egress: Egress | None = None) -> None:
        self._engine = engine
        self._image = image
        self._spec = spec
        self._egress = egress
        self._id: str | None = None
        self._memory: cgroups.Cgroup | None = None

    def create(self) -> str:
        """Create it; gives its id.

        Raises:
            SandboxUnavailable: the engine cannot give what the spec asks for.
            SandboxLost: it was not created for another reason.
        """
        api = self._engine.api
        try:
            container: str = api.create_container(**self._configuration())["Id"]
            self._id = container
            if self._spec.gpus:
                self._check_devices(api.inspect_container(container)["HostConfig"].get("DeviceRequests"))
        except ENGINE_ERRORS as error:
            raise self._explained(error) from error
        return container

    def start(self) -> str:
        """Create and start it; as :meth:`create`."""
        container = self.create()
        try:
            self._engine.api.start(container)
        except ENGINE_ERRORS as error:
            raise self._explained(error) from error
        return container

    def connect(self, *, watch_memory: bool) -> Channel:
        """Start it, and the warm parent in it."""
        spec = self._spec
        try:
            container = self.start()
            self._memory = _memory_group(self._engine.api.inspect_container(container)["State"]["Pid"])
            environment = base_environment(spec, home="/tmp", path=self._image.path)
            if self._egress is not None:
                environment |= proxy_environment(spec.allow_hosts)
            return ExecChannel(
                self._engine,
                container,
                parent_command(
                    spec,
                    0,
                    1,
                    python=PYTHON,
                    filter_program=seccomp.filter_for(watch_memory=watch_memory),
                    watch_memory=watch_memory,
                    wipe=_WIPED,
                ),
                environment=environment,
                user=_user(self._engine),
                workdir="/",  # runs change to theirs; the parent must not stand among files of the code
            )
        except ENGINE_ERRORS as error:
            self.remove()
            raise self._explained(error) from error
        except BaseException:
            self.remove()
            raise

    def oom_kills(self) -> int:
        """How many of its processes the kernel killed for memory; 0 when that cannot be seen from here."""
        return self._memory.oom_kills() if self._memory else 0

    def remove(self) -> None:
        """End it and remove it."""
        if self._id is not None:
            remove_container(self._engine, self._id)
            self._id = None

    def _check_devices(self, requests: list[dict[str, Any]] | None) -> None:
        asked = [id for request in requests or [] for id in request.get("DeviceIDs") or []]
        if asked != list(self._spec.gpus):
            raise SandboxUnavailable(
                f"{self._engine.name} {self._engine.version.get('Version')} ignores the request for the GPUs "
                f"{', '.join(self._spec.gpus)}; use Docker with the NVIDIA Container Toolkit, or "
                "--sandbox bubblewrap"
            )

    def _explained(self, error: Exception) -> Exception:
        """What an engine's refusal means to whoever asked for the sandbox."""
        said = str(error.explanation or error) if isinstance(error, APIError) else str(error)
        gpus = ", ".join(self._spec.gpus)
        if _NO_DRIVER in said:
            return SandboxUnavailable(
                f"the container engine cannot hand in GPUs ({gpus}): it has no NVIDIA runtime. Install "
                "NVIDIA's driver and the NVIDIA Container Toolkit, run `nvidia-ctk runtime configure "
                "--runtime=docker`, and restart the engine; or run without --gpus"
            )
        if gpus and ("nvidia" in said.lower() or "device" in said.lower()):
            return SandboxUnavailable(f"the container engine does not hand in the GPUs {gpus}: {said}")
        if isinstance(error, ImageNotFound):
            return SandboxUnavailable(f"the image {self._image.name} is gone; run `mlesmith sandbox build`")
        if "container-init binary not found" in said:
            return SandboxUnavailable(
                f"the container engine lacks an init ({said}); install the package catatonit"
            )
        if "bind source path does not exist" in said:
            return SandboxUnavailable(
                f"the container engine does not see this machine's folders ({said}); it must run on this "
                "machine"
            )
        return SandboxLost(f"the container did not start: {said}")

    def _configuration(self) -> dict[str, Any]:
        spec = self._spec
        deadline = deadline_of(spec)
        return {
            "image": self._image.id,
            "entrypoint": ["sleep", str(max(1, int(deadline - time.time())))],
            "command": [],
            "user": f"{_KEEPER}:{_KEEPER}",
            "hostname": "sandbox",
            "working_dir": "/",
            "environment": _gpu_environment(spec.gpus),
            "labels": container_labels(spec, deadline),
            "healthcheck": {"test": ["NONE"]},
            "host_config": self._host_config(),
        }

    def _host_config(self) -> dict[str, Any]:
        spec, limits = self._spec, self._spec.limits
        memory = {"/tmp": spec.in_memory(limits.tmp_bytes)}
        if spec.scratch and spec.workdir != "/tmp":
            memory[spec.workdir] = spec.in_memory(limits.disk_bytes)
        tmpfs = {path: _tmpfs(size, limits.files, self._engine) for path, size in memory.items()}
        security = ["no-new-privileges"]
        if self._engine.name == "Podman":
            # It has options of its own for masks, and makes this folder writable in read-only containers.
            security.append(f"mask={':'.join(_MASKED)}")
            tmpfs["/var/tmp"] = "ro,nosuid,nodev,mode=555,size=4096"
        mounts = [Mount(INSIDE, INSIDE_TARGET), *spec.mounts]
        if self._egress is not None:
            mounts.append(Mount(self._egress.socket, EGRESS_TARGET))
        config: dict[str, Any] = self._engine.api.create_host_config(
            read_only=True,
            mounts=[_bind(mount) for mount in mounts],
            tmpfs=tmpfs,
            shm_size=spec.in_memory(limits.shm_bytes),
            network_mode="none",
            ipc_mode="private",
            cgroupns="private",
            cap_drop=["ALL"],
            security_opt=security,
            init=True,
            auto_remove=True,
            oom_score_adj=_OOM_SCORE,
            log_config=LogConfig(type="none"),
            mem_limit=limits.memory_bytes,
            memswap_limit=limits.memory_bytes,
            # The engine refuses more than the machine has.
            nano_cpus=min(limits.cpus, int(self._engine.info["NCPU"])) * 1_000_000_000,
            pids_limit=limits.processes + cgroups.OWN_PROCESSES,
            ulimits=_ulimits(limits.open_files, self._engine),
            device_requests=[
                # Never a number of devices: the engine would hand the first ones to every sandbox.
                DeviceRequest(device_ids=list(spec.gpus), capabilities=[["gpu"]])
            ]
            if spec.gpus
            else None,
        )
        return {**config, "MaskedPaths": list(_MASKED), "ReadonlyPaths": list(_READ_ONLY)}


def _user(engine: Engine) -> str:
    """The user of the code inside, as the container knows it.

    An ordinary user's sandboxes run as that user, who owns the writable mounts. Where the engine maps users,
    no user inside but root could be that user, so there they run as nobody in particular.
    """
    if users.is_root() or engine.maps_users:
        return f"{users.SANDBOX_USER}:{users.SANDBOX_USER}"
    return f"{os.geteuid()}:{os.getegid()}"


def _gpu_environment(ids: Sequence[str]) -> dict[str, str]:
    """What NVIDIA's runtime goes by, said in any case: CUDA images ask for all devices."""
    return {
        "NVIDIA_VISIBLE_DEVICES": ",".join(ids) or "void",
        "NVIDIA_DRIVER_CAPABILITIES": "compute,utility",
    }


def _tmpfs(size: int, files: int, engine: Engine) -> str:
    options = f"rw,exec,nosuid,nodev,mode=1777,size={size}"
    # A run is stopped at the limit of files, as in any sandbox. What it makes until then is bounded too,
    # where the engine can say so; Podman cannot.
    return options if engine.name == "Podman" else f"{options},nr_inodes={2 * files}"


def _ulimits(open_files: int, engine: Engine) -> list[Ulimit]:
    values = {"nofile": open_files, "core": 0}
    if engine.name == "Podman":
        # Left out, Podman asks for more than a root without CAP_SYS_RESOURCE may. It is no bound of ours:
        # users inside are users of the host, whose sandboxes are counted together.
        values["nproc"] = _MANY_PROCESSES
    return [Ulimit(name=name, soft=value, hard=value) for name, value in values.items()]


def _bind(mount: Mount) -> Bind:
    bind = Bind(
        mount.target,
        str(mount.source.resolve()),
        type="bind",
        read_only=not mount.writable,
        propagation="rprivate",
    )
    # File systems mounted below the source would stay writable in older engines.
    bind["BindOptions"]["NonRecursive"] = True
    return bind


def _memory_group(pid: int) -> cgroups.Cgroup | None:
    """The control group for memory of the container with this first process, where we can see it."""
    try:
        lines = Path(f"/proc/{pid}/cgroup").read_text().splitlines()
    except OSError:
        return None
    for _, controllers, path in (line.split(":", 2) for line in lines):
        version = 2 if not controllers else 1
        folder = Path("/sys/fs/cgroup", controllers, path.lstrip("/"))
        if (folder / ("memory.events" if version == 2 else "memory.oom_control")).exists():
            return cgroups.Cgroup({folder: cgroups.Hierarchy(version, folder, frozenset({"memory"}))})
    return None
