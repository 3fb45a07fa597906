"""What a job asks of its sandboxes: the table ``[sandbox]`` of JOB.toml, and the options of the command."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, field_validator, model_validator

from harness.errors import InputError
from harness.sandboxes.base import GIB, Limits
from harness.sandboxes.network.hosts import check_hosts


def _listed(value: Any) -> Any:
    """``"all"`` and ``"0,1"`` are lists too, and an index may be a number."""
    if isinstance(value, str):
        return value.split(",")
    if isinstance(value, list | tuple):
        return [str(item) if isinstance(item, int) and not isinstance(item, bool) else item for item in value]
    return value


_Size = Annotated[float, Field(gt=0, allow_inf_nan=False)]
_Ids = Annotated[tuple[str, ...], BeforeValidator(_listed)]


class SandboxConfig(BaseModel):
    """The sandboxes of agent code: of which kind they are, their limits, and what they may reach.

    Attributes:
        kind: ``auto``, ``bubblewrap``, ``docker`` or ``process``.
        image: the image of docker's containers; the project's own when left out.
        memory_gb: memory, in GiB as all sizes, with the files in the working folder.
        disk_gb: files in the working folder.
        shm_gb: files in ``/dev/shm``.
        processes: processes and threads.
        cpus: processors.
        files: files and folders in the working folder.
        gpus: devices to lease to trials, by index, UUID or MIG name, or ``all``.
        gpus_per_trial: how many each trial gets: 1 unless said otherwise, 0 without ``gpus``.
        allow_hosts: hosts that agent code may reach, beside those of its task; none by default.
        warm: run programs as forks of one process with the usual modules imported.
        trust: run code that does not ship with this project also where nothing isolates it.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    kind: str = "auto"
    image: str | None = Field(None, min_length=1)
    memory_gb: _Size = 8.0
    disk_gb: _Size = 4.0
    shm_gb: _Size = 1.0
    processes: int = Field(256, ge=1)
    cpus: int = Field(1, ge=1)
    files: int = Field(200_000, ge=1)
    gpus: _Ids = ()
    gpus_per_trial: int = Field(0, ge=0)
    allow_hosts: tuple[str, ...] = ()
    warm: bool = True
    trust: bool = False

    @model_validator(mode="before")
    @classmethod
    def _one_gpu_each(cls, data: Any) -> Any:
        if isinstance(data, dict) and "gpus_per_trial" not in data and data.get("gpus") not in (None, [], ()):
            return {**data, "gpus_per_trial": 1}
        return data

    @field_validator("allow_hosts")
    @classmethod
    def _known_forms(cls, hosts: tuple[str, ...]) -> tuple[str, ...]:
        try:
            return check_hosts(hosts)
        except InputError as error:
            raise ValueError(str(error)) from error

    @model_validator(mode="after")
    def _fits_together(self) -> SandboxConfig:
        if self.image is not None and self.kind != "docker":
            raise ValueError(
                "image is for docker; say --sandbox docker as well (kind = 'docker'), or leave out image"
            )
        if bool(self.gpus) != bool(self.gpus_per_trial):
            raise ValueError(
                "gpus and gpus_per_trial go together; name the devices in gpus, or leave out both"
            )
        return self

    def limits(self, seconds: float) -> Limits:
        """The bounds of a sandbox whose runs may take ``seconds`` each."""
        return Limits(
            seconds=seconds,
            memory_bytes=int(self.memory_gb * GIB),
            disk_bytes=int(self.disk_gb * GIB),
            files=self.files,
            shm_bytes=int(self.shm_gb * GIB),
            processes=self.processes,
            cpus=self.cpus,
        )
