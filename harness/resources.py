"""What a trial had to work with, as it is recorded beside its result."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


class _Record(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class LeasedGpu(_Record):
    """A device that was the trial's own; the name is ``None`` where it could not be discovered."""

    id: str
    name: str | None = None


class Contact(_Record):
    """A host that agent code asked for, how often, and whether it was let through."""

    host: str
    port: int
    allowed: bool
    count: int


class Resources(_Record):
    """The sandbox of a trial.

    Attributes:
        image: the image of the container, where it was one.
        image_digest: its identity.
        gpus: the leased devices.
        allow_hosts: the hosts that could be reached.
        memory_gb: memory, in GiB.
        disk_gb: files in the working folder, in GiB.
        processes: processes and threads.
        cpus: processors.
        warm: whether programs were forks of one process with the usual modules imported.
        gaps: the limits that this sandbox could not hold on its machine.
        egress: the hosts that were asked for.
    """

    image: str | None = None
    image_digest: str | None = None
    gpus: tuple[LeasedGpu, ...] = ()
    allow_hosts: tuple[str, ...] = ()
    memory_gb: float
    disk_gb: float
    processes: int
    cpus: int
    warm: bool
    gaps: tuple[str, ...] = ()
    egress: tuple[Contact, ...] = ()
