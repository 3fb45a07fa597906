"""The host's side of a warm parent: starts it, sends requests, and notices when it is gone."""

from __future__ import annotations

import contextlib
import json
import logging
import os
import tempfile
import threading
import time
import weakref
from collections.abc import Callable, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, BinaryIO, Self

from harness.errors import SandboxLost
from harness.sandboxes.base import FileRefused, Limits, Refusal, RunResult, SandboxSpec
from harness.sandboxes.network.egress import Connection, Egress
from harness.sandboxes.warm.channel import Channel
from harness.sandboxes.warm.terminal import plain

log = logging.getLogger(__name__)

#: Sandboxes that are started now, so that an interrupted job can end them all at once.
_started: weakref.WeakSet[WarmSandbox] = weakref.WeakSet()
_started_lock = threading.Lock()

START_SECONDS = 120.0
GRACE_SECONDS = 30.0
_LINE = 1 << 20


def _same(path: str) -> str:
    return path


class WarmSandbox:
    """A sandbox whose runs are forks of one warm parent process.

    The parent starts at the first run, so that a sandbox that is never used costs nothing.

    Args:
        spec: what the sandbox shows and limits.
        connect: starts the parent and gives the channel to it.
        python: the interpreter inside, for runs that are not warm.
        inside: maps a mount target, the working folder or a path below one to the path seen by the code.
        nproc: whether each run gets a limit of its user's processes.
        out_of_memory: how often the kernel has killed a process of this sandbox for its memory.
        egress: the proxy to allowed hosts, for :attr:`connections`.
        on_stop: frees what belongs to the sandbox, after its processes have ended.
    """

    def __init__(
        self,
        spec: SandboxSpec,
        connect: Callable[[], Channel],
        *,
        python: str,
        inside: Callable[[str], str] = _same,
        nproc: bool = False,
        out_of_memory: Callable[[], int] = lambda: 0,
        egress: Egress | None = None,
        on_stop: Callable[[], None] = lambda: None,
    ) -> None:
        self._spec = spec
        self._connect = connect
        self._python = python
        self._inside = inside
        self._nproc = nproc
        self._out_of_memory = out_of_memory
        self._egress = egress
        self._on_stop = on_stop
        self._channel: Channel | None = None
        self._buffer = bytearray()
        self._stopped = False

    def inside(self, target: str) -> str:
        """See :class:`harness.sandboxes.base.Sandbox`."""
        return self._inside(target)

    @property
    def connections(self) -> tuple[Connection, ...]:
        """The hosts that code inside has asked for so far."""
        return self._egress.connections if self._egress else ()

    def run_python(
        self, script: str, arguments: Sequence[str] = (), *, limits: Limits | None = None
    ) -> RunResult:
        """Run a Python file as ``__main__``: in a fork of the warm parent, or in a new interpreter."""
        if self._spec.warm:
            return self._run("python", [script, *arguments], limits)
        return self._run("command", [self._python, "-s", script, *arguments], limits)

    def run(self, command: Sequence[str], *, limits: Limits | None = None) -> RunResult:
        """See :class:`harness.sandboxes.base.Sandbox`."""
        return self._run("command", list(command), limits)

    def put(self, source: bytes | Path, path: str) -> None:
        """See :class:`harness.sandboxes.base.Sandbox`."""
        data = source if isinstance(source, bytes) else source.read_bytes()
        self._ask({"do": "put", "path": path, "size": len(data)}, GRACE_SECONDS + len(data) / _LINE, data)

    def get(self, path: str, target: Path, *, max_bytes: int) -> None:
        """See :class:`harness.sandboxes.base.Sandbox`."""
        target.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
        part = Path(name)
        try:
            with os.fdopen(handle, "wb") as stream:
                self._receive_file(path, stream, max_bytes)
            part.chmod(0o644)
            part.replace(target)
        finally:
            part.unlink(missing_ok=True)

    def _receive_file(self, path: str, stream: BinaryIO, max_bytes: int) -> None:
        answer = self._ask({"do": "get", "path": path, "max_bytes": max_bytes}, GRACE_SECONDS)
        size = answer.get("size")
        if not isinstance(size, int) or not 0 <= size <= max_bytes:
            raise self._lost("answered in another language")
        deadline = time.monotonic() + GRACE_SECONDS + size / _LINE
        try:
            while size:
                data = self._take(size, deadline)
                stream.write(data)
                size -= len(data)
        except BaseException:
            self.stop()  # what has not been read would pass for the parent's next answer
            raise

    def remove(self, path: str) -> None:
        """See :class:`harness.sandboxes.base.Sandbox`."""
        if self._channel is not None:
            self._ask({"do": "remove", "path": path}, GRACE_SECONDS)

    def clear(self) -> None:
        """See :class:`harness.sandboxes.base.Sandbox`."""
        if self._channel is not None:
            self._ask({"do": "clear"}, GRACE_SECONDS)

    def stop(self) -> None:
        """See :class:`harness.sandboxes.base.Sandbox`."""
        if self._stopped:
            return
        self._stopped = True
        try:
            if self._channel is not None:
                self._channel.close()
        finally:
            self._on_stop()

    def kill(self) -> None:
        """End the parent from any thread; a request in flight then raises ``SandboxLost``."""
        channel = self._channel
        if channel is not None and not self._stopped:
            channel.kill()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def _run(self, kind: str, argv: list[str], limits: Limits | None) -> RunResult:
        outer = self._spec.limits
        limits = limits or outer
        seconds = min(limits.seconds, outer.seconds)
        killed = self._out_of_memory()
        answer = self._ask(
            {
                "do": "run",
                "kind": kind,
                "argv": argv,
                "cwd": self._inside(self._spec.workdir),
                "seconds": seconds,
                "output_bytes": min(limits.output_bytes, outer.output_bytes),
                "rlimits": _rlimits(limits, outer, self._nproc),
            },
            seconds + GRACE_SECONDS,
        )
        try:
            result = _run_result(answer)
        except (KeyError, TypeError) as error:
            raise self._lost("answered in another language") from error
        if not result.ok and result.over is None and self._out_of_memory() > killed:
            return RunResult(None, result.output, result.output_bytes, result.seconds, False, "memory")
        return result

    def _ask(self, request: dict[str, Any], seconds: float, data: bytes = b"") -> dict[str, Any]:
        """Send a request and wait for its answer.

        Raises:
            FileRefused: the parent refused.
            SandboxLost: it is gone, or does not answer as agreed.
        """
        channel = self._start()
        try:
            channel.send(json.dumps(request).encode() + b"\n")
            channel.send(data)
        except OSError as error:
            raise self._lost("ended") from error
        answer = self._read(seconds)
        if "refused" in answer:
            try:
                raise FileRefused(Refusal(answer["refused"]), str(answer["message"]))
            except (KeyError, ValueError) as error:
                raise self._lost("answered in another language") from error
        return answer

    def _start(self) -> Channel:
        if self._stopped:
            raise SandboxLost("the sandbox has been stopped")
        if self._channel is None:
            try:
                self._channel = self._connect()
            except BaseException:
                self.stop()
                raise
            with _started_lock:
                _started.add(self)
            self._read(START_SECONDS)
        return self._channel

    def _read(self, seconds: float) -> dict[str, Any]:
        """One JSON line from the parent within ``seconds``."""
        deadline = time.monotonic() + seconds
        # A byte of output takes up to six in JSON.
        longest = 6 * self._spec.limits.output_bytes + _LINE
        while b"\n" not in self._buffer:
            self._receive(deadline)
            if len(self._buffer) > longest:
                raise self._lost("answered without end")
        line, _, rest = self._buffer.partition(b"\n")
        self._buffer = rest
        try:
            answer = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise self._lost("answered in another language") from error
        if not isinstance(answer, dict):
            raise self._lost("answered in another language")
        return answer

    def _take(self, size: int, deadline: float) -> bytes:
        """At least one and at most ``size`` raw bytes."""
        if not self._buffer:
            self._receive(deadline)
        data = bytes(self._buffer[:size])
        del self._buffer[:size]
        return data

    def _receive(self, deadline: float) -> None:
        assert self._channel is not None
        try:
            data = self._channel.receive(deadline - time.monotonic())
        except TimeoutError as error:
            raise self._lost("gave no answer") from error
        except OSError as error:
            raise self._lost("ended") from error
        if not data:
            raise self._lost("ended")
        self._buffer += data

    def _lost(self, what: str) -> SandboxLost:
        said = ""
        if self._channel is not None:
            with contextlib.suppress(OSError, ValueError):
                said = plain(self._channel.said())
        self.stop()
        return SandboxLost(f"the sandbox {what}" + (f": {said}" if said else ""))


def _run_result(answer: dict[str, Any]) -> RunResult:
    """The result in an answer, with its types checked: code inside may have spoken for the parent."""
    code, output, size = answer["exit_code"], answer["output"], answer["output_bytes"]
    seconds, timed_out, over = answer["seconds"], answer["timed_out"], answer["over"]
    for value, kind in ((output, str), (size, int), (seconds, float), (timed_out, bool)):
        if not isinstance(value, kind):
            raise TypeError(value)
    if over not in (None, "memory", "disk", "files") or not isinstance(code, int | None):
        raise TypeError(over)
    if (code is None) != (timed_out or over is not None):
        raise TypeError(code)
    return RunResult(code, plain(output), size, seconds, timed_out, over)


def kill_started_sandboxes() -> None:
    """End every started sandbox of this process."""
    with _started_lock:
        started = list(_started)
    for sandbox in started:
        sandbox.kill()


def _rlimits(limits: Limits, outer: Limits, nproc: bool) -> dict[str, int]:
    """Limits of each process of a run, as names of the :mod:`resource` module.

    Memory is limited by what a process may write to, not by its address space, of which CUDA reserves more
    than any machine has.
    """
    chosen = {
        "RLIMIT_DATA": min(limits.memory_bytes, outer.memory_bytes),
        "RLIMIT_FSIZE": outer.disk_bytes,
        "RLIMIT_NOFILE": min(limits.open_files, outer.open_files),
        "RLIMIT_CORE": 0,
    }
    if nproc:
        chosen["RLIMIT_NPROC"] = min(limits.processes, outer.processes)
    return chosen
