"""The container engine: Docker, or Podman behind its Docker-compatible socket."""

from __future__ import annotations

import contextlib
import os
import socket
import threading
from functools import cached_property
from pathlib import Path
from typing import Any

import docker
from docker.errors import DockerException
from requests.exceptions import RequestException

from harness.errors import SandboxUnavailable

#: The first API with device requests, those of Docker 19.03.
MINIMUM_API = (1, 40)
#: For one call to the engine; creating a container on a busy machine takes seconds.
CALL_SECONDS = 120
#: For the first answer, which tells whether there is an engine at all.
ANSWER_SECONDS = 10

#: What calls to an engine raise.
ENGINE_ERRORS = (DockerException, RequestException, OSError)

_FIX = (
    "install and start Docker (the package docker.io) or Podman (the package podman, then "
    "`systemctl start podman.socket`), or set DOCKER_HOST to the engine's socket"
)


class Engine:
    """One engine, found by its address.

    Args:
        url: as in ``DOCKER_HOST``, such as ``unix:///var/run/docker.sock``. The engine must run on this
            machine, since folders of this machine are mounted.
    """

    def __init__(self, url: str) -> None:
        self.url = url
        self._local = threading.local()

    @property
    def client(self) -> docker.DockerClient:
        """This thread's client; the SDK's clients are not to be shared between threads."""
        client: docker.DockerClient | None = getattr(self._local, "client", None)
        if client is None:
            client = docker.from_env(
                timeout=CALL_SECONDS, environment={**os.environ, "DOCKER_HOST": self.url}
            )
            self._local.client = client
        return client

    @property
    def api(self) -> docker.APIClient:
        """This thread's client for calls that the SDK's objects do not offer."""
        return self.client.api

    def check(self) -> None:
        """Raise :class:`SandboxUnavailable` unless the engine answers and is new enough."""
        if self.url.startswith("unix://"):
            _check_socket(self.url)
        try:
            said = str(self.version["ApiVersion"])
        except ENGINE_ERRORS as error:
            raise SandboxUnavailable(
                f"the container engine at {self.url} does not answer ({error}); restart it"
            ) from error
        if tuple(int(part) for part in said.split(".")[:2]) < MINIMUM_API:
            least = ".".join(map(str, MINIMUM_API))
            raise SandboxUnavailable(
                f"the container engine at {self.url} speaks API {said}, and {least} is needed; "
                "install Docker 19.03 or newer, or Podman 4 or newer"
            )

    def _connected(self, seconds: int) -> docker.DockerClient:
        """A client that waits so long for each answer; asks the engine for its version."""
        return docker.from_env(timeout=seconds, environment={**os.environ, "DOCKER_HOST": self.url})

    @cached_property
    def version(self) -> dict[str, Any]:
        """What the engine says about its version; asked first, so it must answer soon."""
        with contextlib.closing(self._connected(ANSWER_SECONDS)) as client:
            said: dict[str, Any] = client.version()
        return said

    @cached_property
    def info(self) -> dict[str, Any]:
        """What the engine says about itself: drivers, limits it can enforce, security options."""
        said: dict[str, Any] = self.api.info()
        return said

    @property
    def name(self) -> str:
        """``Docker`` or ``Podman``."""
        parts = [part.get("Name", "") for part in self.version.get("Components") or []]
        return "Podman" if any("Podman" in part for part in parts) else "Docker"

    @property
    def rootless(self) -> bool:
        """Whether it runs as an ordinary user."""
        options = self.info.get("SecurityOptions") or []
        return bool(self.info.get("Rootless")) or any("rootless" in option for option in options)

    @property
    def maps_users(self) -> bool:
        """Whether users inside are others outside: in a rootless engine, and in one with ``userns-remap``."""
        options = self.info.get("SecurityOptions") or []
        return self.rootless or any(option.split(",")[0] == "name=userns" for option in options)

    @property
    def filters_system_calls(self) -> bool:
        """Whether containers get a seccomp profile when none is asked for."""
        options = [option for option in self.info.get("SecurityOptions") or [] if "seccomp" in option]
        return any("unconfined" not in option for option in options)

    def enforces(self, limit: str) -> bool:
        """Whether the engine can hold a limit: ``MemoryLimit``, ``PidsLimit`` or ``CpuCfsQuota``."""
        # Podman 4 says yes even then, and leaves the limit out.
        helpless = self.rootless and str(self.info.get("CgroupVersion")) == "1"
        return bool(self.info.get(limit)) and not helpless


def find_engine() -> Engine:
    """The engine at ``DOCKER_HOST``, else the first that answers at a usual place.

    Raises:
        SandboxUnavailable: there is none that can be used; the message says why, and the fix.
    """
    if url := os.environ.get("DOCKER_HOST"):
        engine = Engine(url)
        engine.check()
        return engine
    refusals: list[SandboxUnavailable] = []
    for path in _usual_sockets():
        engine = Engine(f"unix://{path}")
        try:
            if path.is_socket():
                engine.check()
                return engine
        except PermissionError:
            continue  # another user's folder
        except SandboxUnavailable as error:
            refusals.append(error)
    if refusals:
        raise refusals[0]
    places = ", ".join(map(str, _usual_sockets()))
    raise SandboxUnavailable(f"there is no container engine (no socket at {places}); {_FIX}")


def _usual_sockets() -> list[Path]:
    sockets = [Path("/var/run/docker.sock")]
    if runtime := os.environ.get("XDG_RUNTIME_DIR"):
        sockets += [Path(runtime) / "docker.sock", Path(runtime) / "podman" / "podman.sock"]
    return [*sockets, Path("/run/podman/podman.sock")]


def _check_socket(url: str) -> None:
    """Say what is wrong with a socket better than an HTTP library does."""
    path = url.removeprefix("unix://")
    with socket.socket(socket.AF_UNIX) as probe:
        probe.settimeout(ANSWER_SECONDS)
        try:
            probe.connect(path)
        except FileNotFoundError as error:
            raise SandboxUnavailable(f"there is no container engine at {url}; {_FIX}") from error
        except PermissionError as error:
            raise SandboxUnavailable(
                f"this user may not use the container engine at {url}; add the user to the socket's group "
                "(`sudo usermod -aG docker $USER`, then log in again), or use rootless Docker or Podman"
            ) from error
        except OSError as error:
            raise SandboxUnavailable(
                f"no container engine answers at {url} ({error.strerror or error}); start it, for example "
                "with `systemctl start docker`"
            ) from error
