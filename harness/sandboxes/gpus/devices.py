"""The device files of leased GPUs, for a sandbox that shows single files."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from harness.errors import SandboxUnavailable

#: What every program that uses a GPU opens beside the device itself.
_COMMON = ("/dev/nvidiactl", "/dev/nvidia-uvm")
_TOOLS = Path("/dev/nvidia-uvm-tools")


def device_files(ids: Sequence[str]) -> tuple[Path, ...]:
    """The files under ``/dev`` through which a program reaches these GPUs and no others.

    Args:
        ids: indexes or UUIDs of whole GPUs; empty for none.

    Raises:
        SandboxUnavailable: a MIG device, whose files depend on the machine's configuration, or no driver.
    """
    if not ids:
        return ()
    import pynvml  # not needed, and perhaps not there, without GPUs

    for name in ids:
        if name.startswith("MIG-") or ":" in name:
            raise SandboxUnavailable(
                f"bubblewrap cannot hand in the MIG device {name}; choose --sandbox docker, or a whole GPU"
            )
    try:
        pynvml.nvmlInit()
        try:
            handles = [
                pynvml.nvmlDeviceGetHandleByIndex(int(name))
                if name.isdigit()
                else pynvml.nvmlDeviceGetHandleByUUID(name)
                for name in ids
            ]
            minors = [pynvml.nvmlDeviceGetMinorNumber(handle) for handle in handles]
        finally:
            pynvml.nvmlShutdown()
    except pynvml.NVMLError as error:
        raise SandboxUnavailable(
            f"GPU {', '.join(ids)}: NVIDIA's driver does not answer ({error})"
        ) from error
    files = [*(Path(f"/dev/nvidia{minor}") for minor in minors), *map(Path, _COMMON)]
    if missing := [str(path) for path in files if not path.exists()]:
        raise SandboxUnavailable(
            f"GPU {', '.join(ids)}: no {', '.join(missing)}; `nvidia-modprobe -c0 -u` makes these files"
        )
    return tuple(path for path in (*files, _TOOLS) if path.exists())
