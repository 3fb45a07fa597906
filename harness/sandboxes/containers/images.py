"""Images for docker sandboxes: found, built from the Dockerfile in ``image/``, or imported."""

from __future__ import annotations

import io
import os
import tarfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from docker.errors import ImageNotFound

from harness.errors import InputError, SandboxUnavailable
from harness.sandboxes.containers import hostimage
from harness.sandboxes.containers.engine import ENGINE_ERRORS, Engine
from harness.sandboxes.warm.terminal import plain

GPU = "mlesmith/agent:gpu"
CPU = "mlesmith/agent:cpu"
#: A root filesystem that was imported, for an image to be built on.
BASE = "mlesmith/base:rootfs"
HOST = "mlesmith/agent:host"
#: Which image a sandbox takes when nobody says, best first.
PREFERRED = (CPU, HOST, GPU)
PREFERRED_WITH_GPUS = (GPU, CPU, HOST)

#: What the Dockerfile starts from when nobody says; for the GPU variant that stands in the Dockerfile itself.
CPU_BASE = "ubuntu:24.04"
_SANDBOXES = Path(__file__).parents[1]
#: What the Dockerfile copies, below the folder of this file.
_CONTEXT = (
    "hidden.py",
    "containers/image/requirements-cpu.txt",
    "containers/image/requirements-gpu.txt",
    "containers/image/Dockerfile",
)
_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
_KEY = "mlesmith-image.key"
_CHUNK = 1 << 20
#: Settings of this machine that a build needs to reach a package index.
_PASSED_ON = ("PIP_INDEX_URL", "PIP_TRUSTED_HOST", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY")


@dataclass(frozen=True)
class Image:
    """An image that the engine holds.

    Attributes:
        name: as it was asked for.
        id: of the content of its configuration; for the record.
        digests: as registries name it; empty for an image that was built here.
        path: its ``PATH``.
    """

    name: str
    id: str
    digests: tuple[str, ...]
    path: str


def find(engine: Engine, name: str | None = None, *, gpus: bool = False) -> Image:
    """The image of that name, or else the preferred one that there is.

    Raises:
        SandboxUnavailable: there is none, or it cannot be used; the message says the fix.
    """
    names = (name,) if name else PREFERRED_WITH_GPUS if gpus else PREFERRED
    for candidate in names:
        try:
            return _inspected(candidate, _inspect(engine, candidate))
        except ImageNotFound:
            continue
        except ENGINE_ERRORS as error:
            raise SandboxUnavailable(f"the container engine at {engine.url} fails: {error}") from error
    raise SandboxUnavailable(
        f"there is no image {' or '.join(names)}; run `mlesmith sandbox build`"
        + (", or pull or build the image that you named" if name else "")
    )


def build(
    engine: Engine,
    variant: str,
    *,
    base: str | None = None,
    name: str | None = None,
    progress: Callable[[str], None] = lambda line: None,
) -> Image:
    """Build an image from the Dockerfile. Needs a registry for the base, unless the engine holds it already.

    Args:
        engine: where to build.
        variant: ``gpu`` or ``cpu``.
        base: the image to start from: Debian's or Ubuntu's, with or without CUDA.
        name: of the result; :data:`GPU` or :data:`CPU` when left out.
        progress: called with each line that the build says.

    Raises:
        SandboxUnavailable: the build failed; the message holds its last lines.
    """
    name = name or {"gpu": GPU, "cpu": CPU}[variant]
    base = base or (CPU_BASE if variant == "cpu" else None)
    arguments = {"REQUIREMENTS": f"requirements-{variant}.txt", **({"BASE": base} if base else {})}
    arguments |= {name: os.environ[name] for name in _PASSED_ON if name in os.environ}
    last: list[str] = []
    try:
        for message in engine.api.build(
            fileobj=build_context(),
            custom_context=True,
            dockerfile="containers/image/Dockerfile",
            tag=name,
            buildargs=arguments,
            rm=True,
            forcerm=True,
            decode=True,
            timeout=None,
            # An index or a proxy may listen on this machine only, and an engine may have no other network.
            network_mode="host",
        ):
            if "error" in message:
                raise SandboxUnavailable(_failed(name, str(message["error"]), last))
            for line in plain(str(message.get("stream") or message.get("status") or "")).split("\n"):
                if said := line.strip():
                    last = [*last[-9:], said]
                    progress(said)
    except ENGINE_ERRORS as error:
        raise SandboxUnavailable(_failed(name, str(error), last)) from error
    return find(engine, name)


def import_rootfs(engine: Engine, tar: Path, name: str = BASE) -> Image:
    """Make an image of a root filesystem, for hosts without a registry.

    Args:
        engine: where to.
        tar: the filesystem, which must hold ``/bin/sh``, ``sleep`` and ``python3``; ``image/debootstrap.sh``
            makes one.
        name: of the image.

    Raises:
        InputError: ``tar`` is not there, or no tar archive.
    """
    if not tar.is_file():
        raise InputError(f"{tar}: not found; containers/image/debootstrap.sh makes a root filesystem")
    if not tarfile.is_tarfile(tar):
        raise InputError(f"{tar}: is no tar archive of a root filesystem")
    with tar.open("rb") as stream:
        return _import(engine, stream, name, [f"ENV PATH={_PATH}"])


def import_host(
    engine: Engine, name: str = HOST, *, progress: Callable[[str], None] = lambda line: None
) -> Image:
    """Make an image of this machine's own Python, without its secrets and without ours; takes seconds.

    Does nothing when there is an image of the same content already.

    Raises:
        SandboxUnavailable: this Python lies where containers do not show it.
    """
    hostimage.check()
    key = hostimage.key()
    try:
        if (_inspect(engine, name)["Config"].get("Labels") or {}).get(_KEY) == key:
            progress(f"{name} is up to date")
            return find(engine, name)
    except ImageNotFound:
        pass
    progress(f"importing this machine's Python as {name}")
    with hostimage.stream() as stream:
        return _import(engine, stream, name, [f"ENV PATH={hostimage.search_path()}", f"LABEL {_KEY}={key}"])


def _import(engine: Engine, stream: BinaryIO, name: str, changes: list[str]) -> Image:
    try:
        engine.api.import_image(
            src=iter(lambda: stream.read(_CHUNK), b""),
            stream_src=True,
            # With its tag: Podman 4 does not look at a tag beside it.
            repository=name,
            changes=[*changes, "USER 65532:65532"],
        )
    except ENGINE_ERRORS as error:
        raise SandboxUnavailable(f"the container engine did not import {name}: {error}") from error
    return find(engine, name)


def _inspect(engine: Engine, name: str) -> dict[str, Any]:
    said: dict[str, Any] = engine.api.inspect_image(name)  # type: ignore[no-untyped-call]
    return said


def _inspected(name: str, said: dict[str, Any]) -> Image:
    config = said.get("Config") or {}
    if volumes := sorted(config.get("Volumes") or {}):
        raise SandboxUnavailable(
            f"the image {name} declares the volume {volumes[0]}, which code inside could fill without bound; "
            "build it without VOLUME"
        )
    environment = dict(entry.partition("=")[::2] for entry in config.get("Env") or [])
    return Image(name, said["Id"], tuple(said.get("RepoDigests") or ()), environment.get("PATH", _PATH))


def build_context() -> io.BytesIO:
    """The files that the Dockerfile copies, as a tar archive."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as tar:
        for name in _CONTEXT:
            tar.add(_SANDBOXES / name, arcname=name)
    buffer.seek(0)
    return buffer


def _failed(name: str, why: str, last: list[str]) -> str:
    said = "".join(f"\n  {line}" for line in last)
    return (
        f"building {name} failed: {why}; without a registry, use `mlesmith sandbox build --host` or "
        f"`--rootfs TAR`{said}"
    )
