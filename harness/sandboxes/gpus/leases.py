"""Leases of GPUs: devices that no two trials of this machine share.

A lease is held by the kernel: the name of a Unix socket in the abstract namespace, which a second trial,
another job and another user find taken, and which is free again when its process dies, however it dies. There
is no file to clean up, and none to be replaced by a link.
"""

from __future__ import annotations

import errno
import logging
import os
import random
import socket
import struct
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from threading import Event, Lock

from harness.errors import Cancelled, InputError

log = logging.getLogger(__name__)

_WAIT_SECONDS = (0.1, 0.4)


def cuda_environment(ids: Sequence[str]) -> dict[str, str]:
    """The variables that let CUDA see these devices and no others, in this order."""
    return {"CUDA_DEVICE_ORDER": "PCI_BUS_ID", "CUDA_VISIBLE_DEVICES": ",".join(ids)}


class GpuPool:
    """Leases of some devices, a fixed number for each trial. Shared by threads.

    Args:
        ids: the devices, as :func:`resolve` gives them.
        per_trial: how many a trial gets; 0 without devices.

    Raises:
        InputError: a trial would need more than there are.
    """

    def __init__(self, ids: Sequence[str], per_trial: int) -> None:
        if per_trial > len(ids):
            raise InputError(
                f"--gpus-per-trial {per_trial}: there are {len(ids)} to lease ({', '.join(ids) or 'none'}); "
                "name more with --gpus, or ask for fewer"
            )
        self.ids = tuple(ids)
        self.per_trial = per_trial
        self._turn = Lock()

    @property
    def trials(self) -> int:
        """How many trials can hold their devices at once."""
        return len(self.ids) // self.per_trial if self.per_trial else 0

    @contextmanager
    def lease(self, cancelled: Event) -> Iterator[tuple[str, ...]]:
        """Devices that are nobody else's on this machine until the block ends; waits for them.

        Raises:
            Cancelled: ``cancelled`` was set while waiting.
        """
        held = self._wait(cancelled)
        try:
            yield tuple(held)
        finally:
            for lock in held.values():
                lock.close()

    def _wait(self, cancelled: Event) -> dict[str, socket.socket]:
        held = self._try()
        if held is None:
            self._tell()
        while held is None:
            # Not evenly, so that two jobs that take devices from each other fall out of step.
            if cancelled.wait(random.uniform(*_WAIT_SECONDS)):
                raise Cancelled("the job was interrupted while a trial waited for GPUs")
            held = self._try()
        return held

    def _try(self) -> dict[str, socket.socket] | None:
        """Take as many as a trial needs, or none."""
        held: dict[str, socket.socket] = {}
        with self._turn:
            for gpu in self.ids:
                if len(held) < self.per_trial and (lock := _lock(gpu)):
                    held[gpu] = lock
            if len(held) == self.per_trial:
                return held
            for lock in held.values():
                lock.close()
            return None

    def _tell(self) -> None:
        holders = {gpu: _holder(gpu) for gpu in self.ids}
        foreign = any(pid != os.getpid() for pid in holders.values() if pid is not None)
        told = ", ".join(f"{gpu} is held by process {pid or '?'}" for gpu, pid in holders.items())
        log.log(logging.WARNING if foreign else logging.INFO, "waiting for a free GPU: %s", told)


def _address(gpu: str) -> str:
    return f"\0mle-smith/gpu/{gpu}"


def _lock(gpu: str) -> socket.socket | None:
    """Hold a device until the socket is closed; ``None`` when another holds it."""
    lock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        lock.bind(_address(gpu))
        lock.listen()  # so that those who wait can ask whose it is
    except OSError as error:
        lock.close()
        if error.errno != errno.EADDRINUSE:
            raise
        return None
    return lock


def _holder(gpu: str) -> int | None:
    """The process that holds a device, as the kernel says; ``None`` when none does or it cannot be asked."""
    credentials = struct.Struct("3i")
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as asking:
        asking.setblocking(False)
        try:
            asking.connect(_address(gpu))
        except OSError:
            return None
        pid, _, _ = credentials.unpack(
            asking.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, credentials.size)
        )
    return int(pid) or None
