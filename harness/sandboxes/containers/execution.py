"""A process in a container, started by the engine, and the stream to it."""

from __future__ import annotations

import contextlib
import logging
import select
import socket
import time
from collections.abc import Mapping, Sequence
from typing import Any

from docker.errors import APIError, NotFound

from harness.sandboxes.containers.engine import ENGINE_ERRORS, Engine

log = logging.getLogger(__name__)

_CHUNK = 1 << 20
_SAID = 4_096
_HEADER = 8
_STDOUT = 1
_STALL_SECONDS = 60.0
_REMOVE_SECONDS = 20.0
# The engine's answer and the process's first bytes must not come together: what the HTTP library reads beyond
# the answer's head is lost. So the process waits for a line of ours.
_WAIT = 'read -r _ && exec "$@"'


class ExecChannel:
    """A :class:`harness.sandboxes.warm.channel.Channel` to a process that the engine starts in a container.

    Closing it removes the container.

    Args:
        engine: the engine.
        container: the id of a running container.
        command: the argument vector; the image must have ``/bin/sh``.
        environment: variables beside those of the container.
        user: ``uid:gid``.
        workdir: where the process starts.

    Raises:
        DockerException, OSError: the engine did not start it.
    """

    def __init__(
        self,
        engine: Engine,
        container: str,
        command: Sequence[str],
        *,
        environment: Mapping[str, str],
        user: str,
        workdir: str,
    ) -> None:
        self._engine = engine
        self._container = container
        self._said = bytearray()
        self._frames = _Frames()
        self._open = True
        created = engine.api.exec_create(
            container,
            ["/bin/sh", "-c", _WAIT, "sh", *command],
            stdin=True,
            environment=dict(environment),
            user=user,
            workdir=workdir,
        )
        self._exec = created["Id"]
        # The SDK gives a reader around the socket, which we must hold to keep the socket open.
        reader: Any = engine.api.exec_start(self._exec, socket=True)
        self._reader = reader
        self._socket: socket.socket = getattr(reader, "_sock", reader)
        self._socket.setblocking(False)
        self.send(b"\n")

    def send(self, data: bytes | memoryview) -> None:
        """See :class:`harness.sandboxes.warm.channel.Channel`."""
        left = memoryview(data)
        poll = select.poll()
        poll.register(self._socket, select.POLLOUT)
        while left:
            if not poll.poll(_STALL_SECONDS * 1000):
                raise TimeoutError(f"the container engine took no data for {_STALL_SECONDS:.0f} s")
            with contextlib.suppress(BlockingIOError):
                left = left[self._socket.send(left[:_CHUNK]) :]

    def receive(self, seconds: float) -> bytes:
        """See :class:`harness.sandboxes.warm.channel.Channel`."""
        deadline = time.monotonic() + seconds
        poll = select.poll()
        poll.register(self._socket, select.POLLIN)
        while True:
            if not poll.poll(max(0.0, deadline - time.monotonic()) * 1000):
                raise TimeoutError
            try:
                data = self._socket.recv(_CHUNK)
            except BlockingIOError:
                continue
            if not data:
                return b""
            output, errors = self._frames.feed(data)
            self._said += errors[: _SAID - len(self._said)]
            if output:
                return output

    def said(self) -> str:
        """See :class:`harness.sandboxes.warm.channel.Channel`."""
        return self._said.decode("utf-8", errors="replace").strip()

    def kill(self) -> None:
        """See :class:`harness.sandboxes.warm.channel.Channel`."""
        try:
            self._engine.api.kill(self._container)
        except APIError:
            pass  # it runs no more
        except ENGINE_ERRORS as error:
            log.warning("the container %s was not killed: %s", self._container[:12], error)

    def close(self) -> None:
        """See :class:`harness.sandboxes.warm.channel.Channel`."""
        if not self._open:
            return
        self._open = False
        self._reader.close()
        self._socket.close()
        remove_container(self._engine, self._container)


class _Frames:
    """Takes the engine's frames apart: a header with the stream's number and a length, then as many bytes."""

    def __init__(self) -> None:
        self._header = bytearray()
        self._stream = 0
        self._left = 0

    def feed(self, data: bytes) -> tuple[bytes, bytes]:
        """The bytes of standard output and of standard error in ``data``, cut anywhere."""
        streams = (bytearray(), bytearray())
        view = memoryview(data)
        while view:
            if self._left:
                part, view = view[: self._left], view[self._left :]
                self._left -= len(part)
                streams[self._stream != _STDOUT].extend(part)
                continue
            missing = _HEADER - len(self._header)
            self._header += view[:missing]
            view = view[missing:]
            if len(self._header) == _HEADER:
                self._stream, self._left = self._header[0], int.from_bytes(self._header[4:], "big")
                self._header.clear()
        return bytes(streams[0]), bytes(streams[1])


def remove_container(engine: Engine, container: str) -> bool:
    """End and remove a container, and wait until it is gone. Says in the log when that fails.

    Returns:
        Whether it is gone.
    """
    deadline = time.monotonic() + _REMOVE_SECONDS
    problem = "it is still being removed"
    while time.monotonic() < deadline:
        try:
            engine.api.remove_container(container, force=True, v=True)
        except NotFound:
            return True
        except APIError as error:
            problem = str(error)  # such as: its removal is already in progress
            time.sleep(0.05)
        except ENGINE_ERRORS as error:
            problem = str(error)
            break
    log.warning(
        "the container %s was not removed (%s); later, run `mlesmith sandbox sweep`", container[:12], problem
    )
    return False
