"""What a job will run on: its sandbox, devices and open hosts, all checked before anything runs."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness.errors import InputError
from harness.sandboxes.base import SandboxProvider
from harness.sandboxes.bubblewrap import Bubblewrap
from harness.sandboxes.choose import choose_sandbox
from harness.sandboxes.gpus.discovery import ChecksGpus, resolve
from harness.sandboxes.gpus.leases import GpuPool
from harness.sandboxes.network.hosts import check_hosts
from harness.sandboxes.settings import SandboxConfig
from harness.tasks.package import Task
from harness.tasksets.catalogue import ships_with_us

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Ground:
    """Where the trials of a job will run.

    Attributes:
        config: what was asked for.
        provider: starts the sandboxes.
        pool: the devices to lease.
        workers: trials at a time.
        hosts: for each task (``<set>/<task>``), the hosts that agent code may reach.
    """

    config: SandboxConfig
    provider: SandboxProvider
    pool: GpuPool
    workers: int
    hosts: dict[str, tuple[str, ...]]

    def to_document(self) -> dict[str, Any]:
        """For people and scripts who look before they run."""
        return {
            "kind": self.provider.name,
            "made_of": self.provider.describe(),
            "gpus": list(self.pool.ids),
            "gpus_per_trial": self.pool.per_trial,
            "workers": self.workers,
            "limits": self.config.model_dump(
                mode="json", include={"memory_gb", "disk_gb", "shm_gb", "processes", "cpus", "files"}
            ),
            "warm": self.config.warm,
            "allow_hosts": {task: list(hosts) for task, hosts in self.hosts.items()},
        }

    def lines(self) -> Iterator[str]:
        """The same in a few lines."""
        config, pool = self.config, self.pool
        made_of = self.provider.describe()
        image = f", image {made_of['image']}" if made_of.get("image") else ""
        yield f"sandbox {self.provider.name}{image}; trials at a time: {self.workers}"
        yield (
            f"limits memory {config.memory_gb:g} GiB, disk {config.disk_gb:g} GiB, "
            f"processes {config.processes}, cpus {config.cpus}"
            + ("" if config.warm else "; a new interpreter for every program")
        )
        if pool.ids:
            yield f"gpus {', '.join(pool.ids)}; for each trial: {pool.per_trial}"
        for hosts in sorted(set(self.hosts.values())):
            tasks = [task for task, open_to in self.hosts.items() if open_to == hosts]
            whose = "" if len(tasks) == len(self.hosts) else f" ({', '.join(tasks)})"
            yield f"network {', '.join(hosts) or 'none'}{whose}"


def look(config: SandboxConfig, tasks: Sequence[Task], *, scripted: bool, workers: int, out: Path) -> Ground:
    """Choose and check the sandbox, find the devices, and say once what this machine cannot hold.

    Args:
        config: what the job asks for.
        tasks: its tasks.
        scripted: all agent code comes from scripted candidates, which ship with this project.
        workers: trials at a time; 0 is one for each lease, or without GPUs one for each processor.
        out: the job's folder.

    Raises:
        InputError: something of it cannot be had here; the message says how to mend that.
    """
    trusted = scripted and all(ships_with_us(task.root) for task in tasks)
    provider = choose_sandbox(config, trusted=trusted)
    if isinstance(provider, Bubblewrap):
        provider.check_paths([out, *(path for task in tasks for path in (task.root, task.private))])
    if gaps := provider.capabilities.gaps():
        log.warning("the sandbox %s cannot hold here: %s", provider.name, "; ".join(gaps))
    hosts = {
        f"{task.spec.set}/{task.id}": check_hosts((*task.spec.sandbox.allow_hosts, *config.allow_hosts))
        for task in tasks
    }
    if any(hosts.values()) and not provider.capabilities.allow_hosts:
        raise InputError(
            f"the sandbox {provider.name} cannot open the network for named hosts; "
            "choose --sandbox bubblewrap or docker, or leave out --allow-host"
        )
    pool = _pool(config, provider)
    return Ground(config, provider, pool, workers or pool.trials or os.cpu_count() or 1, hosts)


def _pool(config: SandboxConfig, provider: SandboxProvider) -> GpuPool:
    if not config.gpus:
        return GpuPool((), 0)
    if not provider.capabilities.gpus:
        raise InputError(
            f"the sandbox {provider.name} cannot hand in GPUs; choose --sandbox docker, or leave out --gpus"
        )
    pool = GpuPool(resolve(config.gpus), config.gpus_per_trial)
    if isinstance(provider, ChecksGpus):
        provider.check_gpus(pool.ids)
    return pool
