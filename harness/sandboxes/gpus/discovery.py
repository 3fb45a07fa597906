"""GPUs: which there are, and which were asked for.

A device is named by its UUID wherever NVIDIA's driver can be asked, so that ``0`` and ``GPU-...`` are one
device to every job.
"""

from __future__ import annotations

import logging
import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import pynvml

from harness.errors import InputError

log = logging.getLogger(__name__)

ALL = "all"
#: An index, the index of a MIG device on its GPU, or a UUID.
_ID = re.compile(r"\d+(:\d+)?|(GPU|MIG)-[\w/-]{1,80}")


@dataclass(frozen=True)
class Gpu:
    """A device that can be leased: a whole GPU, or one MIG device of a GPU that is divided.

    Attributes:
        index: as ``nvidia-smi`` counts; ``0:1`` is the second MIG device of the first GPU.
        uuid: ``GPU-...`` or ``MIG-...``.
        name: the product, such as ``NVIDIA H200``.
        memory_bytes: the device's memory.
    """

    index: str
    uuid: str
    name: str
    memory_bytes: int


@dataclass(frozen=True)
class Discovery:
    """The devices of this machine, and why there are none."""

    gpus: tuple[Gpu, ...]
    reason: str | None = None

    def __str__(self) -> str:
        listed = ", ".join(f"{gpu.index} ({gpu.name}, {gpu.uuid})" for gpu in self.gpus)
        return listed or f"none: {self.reason}"


@runtime_checkable
class ChecksGpus(Protocol):
    """A provider that can tell before the start whether it can hand in devices."""

    def check_gpus(self, ids: Sequence[str]) -> None:
        """Raise :class:`harness.errors.SandboxUnavailable`, with the fix, when it cannot."""
        ...


def discover() -> Discovery:
    """Ask NVIDIA's driver which devices there are. Never raises: without a driver there are none."""
    try:
        pynvml.nvmlInit()
    except pynvml.NVMLError as error:
        return Discovery((), f"NVIDIA's driver does not answer ({error})")
    try:
        found = tuple(gpu for index in range(pynvml.nvmlDeviceGetCount()) for gpu in _devices(index))
    except pynvml.NVMLError as error:
        return Discovery((), f"NVIDIA's driver does not list its GPUs ({error})")
    finally:
        pynvml.nvmlShutdown()
    return Discovery(found, None if found else "NVIDIA's driver knows no GPU")


def _devices(index: int) -> Iterator[Gpu]:
    """The GPU of that index, or its MIG devices when it is divided."""
    handle = pynvml.nvmlDeviceGetHandleByIndex(index)
    try:
        divided = pynvml.nvmlDeviceGetMigMode(handle)[0] == pynvml.NVML_DEVICE_MIG_ENABLE
    except pynvml.NVMLError:  # most GPUs have no such mode
        divided = False
    if not divided:
        yield _gpu(str(index), handle)
        return
    for part in range(pynvml.nvmlDeviceGetMaxMigDeviceCount(handle)):
        try:
            inner = pynvml.nvmlDeviceGetMigDeviceHandleByIndex(handle, part)
        except pynvml.NVMLError_NotFound:
            continue
        yield _gpu(f"{index}:{part}", inner)


def _gpu(index: str, handle: Any) -> Gpu:
    memory = int(pynvml.nvmlDeviceGetMemoryInfo(handle).total)
    return Gpu(index, pynvml.nvmlDeviceGetUUID(handle), pynvml.nvmlDeviceGetName(handle), memory)


def resolve(asked: Sequence[str], found: Discovery | None = None) -> tuple[str, ...]:
    """The devices to use, by UUID, in the order asked for.

    Args:
        asked: indexes (``0``, ``0:1``), UUIDs, or ``all`` alone: those that ``CUDA_VISIBLE_DEVICES`` of this
            process names, or else all of the machine. Where no device can be discovered, names are taken as
            they are, with a warning.
        found: what :func:`discover` said; asked when left out.

    Raises:
        InputError: an unknown, malformed or repeated name; it says what there is.
    """
    found = found or discover()
    if ALL not in asked:
        return _named(asked, found, "--gpus")
    if len(asked) > 1:
        raise InputError(f"--gpus {','.join(asked)}: all stands alone")
    if not found.gpus:
        raise InputError(f"--gpus all: found {found}; name devices one by one to use them all the same")
    visible = os.environ.get("CUDA_VISIBLE_DEVICES")
    if visible is None:
        return tuple(gpu.uuid for gpu in found.gpus)
    return _named(visible.split(","), found, "CUDA_VISIBLE_DEVICES")


def _named(names: Sequence[str], found: Discovery, option: str) -> tuple[str, ...]:
    for name in names:
        if not _ID.fullmatch(name):
            raise InputError(f"{option}: {name!r} is no index (0, 0:1) and no UUID (GPU-..., MIG-...)")
    if names and not found.gpus:
        log.warning("%s: %s taken as given; found %s", option, ",".join(names), found)
    ids = tuple(_find(name, found, option) for name in names)
    for place, gpu in enumerate(ids):
        if gpu in ids[:place]:
            raise InputError(f"{option}: {names[place]} is named twice in {','.join(names)}")
    return ids


def _find(name: str, found: Discovery, option: str) -> str:
    for gpu in found.gpus:
        if name in (gpu.index, gpu.uuid):
            return gpu.uuid
    if not found.gpus:
        return name
    divided = any(gpu.index.startswith(f"{name}:") for gpu in found.gpus)
    what = "is divided by MIG; name its parts" if divided else "is not here"
    raise InputError(f"{option}: {name} {what}; there are {found}")


def names_of(ids: Sequence[str]) -> dict[str, str | None]:
    """The product name of each device; ``None`` where that cannot be discovered."""
    known = {gpu.uuid: gpu.name for gpu in discover().gpus} if ids else {}
    return {gpu: known.get(gpu) for gpu in ids}
