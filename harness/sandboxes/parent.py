"""The host's side of a warm parent: starts it, sends requests, and notices when it is gone."""

from __future__ import annotations

import contextlib
import json
import logging
import os
import select
import signal
import subprocess
import tempfile
import time
import weakref
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from harness.errors import SandboxLost
from harness.sandboxes.base import Limits, RunResult, SandboxSpec

log = logging.getLogger(__name__)

#: Sandboxes that are open now, so that an interrupted job can end them all at once.
_open: weakref.WeakSet[WarmSandbox] = weakref.WeakSet()

START_SECONDS = 120.0
GRACE_SECONDS = 15.0
_READ = 1 << 20

#: The script of the warm parent, to be shown inside the sandbox.
WARM_SCRIPT = Path(__file__).with_name("warm.py")


class WarmSandbox:
    """A sandbox whose runs are forks of one warm parent process.

    The parent starts at the first run, so that opening a sandbox that is never used costs nothing.

    Args:
        spec: what the sandbox shows and limits.
        command: builds the argument vector that starts the parent, given its JSON configuration.
        environment: the environment of the parent; nothing of the harness's own is passed on.
        inside: maps a mount target (or a path below one) to the path seen by the code.
        own_pid_namespace: whether the parent may kill every process it can see after a run.
    """

    def __init__(
        self,
        spec: SandboxSpec,
        command: Callable[[str], Sequence[str]],
        environment: Mapping[str, str],
        inside: Callable[[str], str],
        own_pid_namespace: bool,
    ) -> None:
        self._spec = spec
        self._command = command
        self._environment = dict(environment)
        self._inside = inside
        self._own_pid_namespace = own_pid_namespace
        self._process: subprocess.Popen[bytes] | None = None
        self._stderr = tempfile.TemporaryFile()  # noqa: SIM115 - lives as long as the sandbox
        self._buffer = b""
        self._requests = self._replies = -1
        # A byte of output takes up to six in JSON.
        self._longest_reply = 6 * spec.limits.output_bytes + _READ

    def inside(self, target: str) -> str:
        """The path at which the code inside sees ``target``."""
        return self._inside(target)

    def run_python(
        self, script: str, arguments: Sequence[str] = (), *, seconds: float | None = None
    ) -> RunResult:
        """Run a Python file as ``__main__`` in a fork of the warm parent."""
        return self._request("python", [script, *arguments], seconds)

    def run(self, command: Sequence[str], *, seconds: float | None = None) -> RunResult:
        """Run a command."""
        return self._request("command", list(command), seconds)

    def close(self) -> None:
        """Kill the parent and everything below it."""
        if self._process is not None:
            if self._process.poll() is None:
                _kill_group(self._process.pid)
            self._process.wait()
            os.close(self._requests)
            os.close(self._replies)
            self._process = None
        self._stderr.close()

    def kill(self) -> None:
        """End the parent from any thread; a request in flight then raises ``SandboxLost``."""
        process = self._process
        if process is not None and process.poll() is None:
            _kill_group(process.pid)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _request(self, kind: str, argv: list[str], seconds: float | None) -> RunResult:
        limits = self._spec.limits
        limit = limits.seconds if seconds is None else min(seconds, limits.seconds)
        self._start()
        request = {
            "kind": kind,
            "argv": argv,
            "cwd": self._inside(self._spec.workdir),
            "seconds": limit,
            "output_bytes": limits.output_bytes,
        }
        try:
            line = memoryview(json.dumps(request).encode() + b"\n")
            while line:
                line = line[os.write(self._requests, line) :]
        except BrokenPipeError as error:
            raise self._lost("ended before the run") from error
        reply = self._read(limit + GRACE_SECONDS)
        try:
            return _run_result(reply)
        except (KeyError, TypeError) as error:
            raise self._lost("answered in another language") from error

    def _start(self) -> None:
        if self._process is not None:
            return
        # Pipes of their own: bubblewrap's init also holds the standard streams, and code inside can open
        # them through /proc.
        requests, self._requests = os.pipe()
        self._replies, replies = os.pipe()
        config = json.dumps(
            {
                "requests": requests,
                "replies": replies,
                "preload": list(self._spec.preload),
                "rlimits": rlimits(self._spec.limits),
                "own_pid_namespace": self._own_pid_namespace,
            }
        )
        try:
            self._process = subprocess.Popen(
                list(self._command(config)),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=self._stderr,
                pass_fds=(requests, replies),
                env=self._environment,
                start_new_session=True,
            )
        except BaseException:
            os.close(self._requests)
            os.close(self._replies)
            raise
        finally:
            os.close(requests)
            os.close(replies)
        _open.add(self)
        self._read(START_SECONDS)

    def _read(self, seconds: float) -> dict[str, Any]:
        """One JSON line from the parent within ``seconds``."""
        deadline = time.monotonic() + seconds
        while b"\n" not in self._buffer:
            ready, _, _ = select.select([self._replies], [], [], max(0.0, deadline - time.monotonic()))
            if not ready:
                raise self._lost(f"gave no answer for {seconds:.0f} s")
            data = os.read(self._replies, _READ)
            if not data:
                raise self._lost("ended")
            self._buffer += data
            if len(self._buffer) > self._longest_reply:
                raise self._lost("answered without end")
        line, self._buffer = self._buffer.split(b"\n", 1)
        try:
            reply = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise self._lost("answered in another language") from error
        if not isinstance(reply, dict):
            raise self._lost("answered in another language")
        return reply

    def _lost(self, what: str) -> SandboxLost:
        self._stderr.seek(0)
        said = self._stderr.read(4096).decode("utf-8", errors="replace").strip()
        self.close()
        return SandboxLost(f"the sandbox {what}" + (f": {said}" if said else ""))


def _run_result(reply: dict[str, Any]) -> RunResult:
    """The result in a reply, with its types checked: code inside may have spoken for the parent."""
    code, output, size = reply["exit_code"], reply["output"], reply["output_bytes"]
    seconds, timed_out = reply["seconds"], reply["timed_out"]
    for value, kind in ((output, str), (size, int), (seconds, float), (timed_out, bool)):
        if not isinstance(value, kind):
            raise TypeError(value)
    if (code is None) != timed_out or not isinstance(code, int | None):
        raise TypeError(code)
    return RunResult(code, output, size, seconds, timed_out)


def kill_open_sandboxes() -> None:
    """End every open sandbox of this process."""
    for sandbox in list(_open):
        sandbox.kill()


def rlimits(limits: Limits) -> dict[str, int]:
    """Resource limits of a run, as names of the :mod:`resource` module."""
    return {
        "RLIMIT_AS": limits.memory_bytes,
        "RLIMIT_FSIZE": limits.file_bytes,
        "RLIMIT_NPROC": limits.processes,
        "RLIMIT_CORE": 0,
    }


def base_environment(spec: SandboxSpec, home: str) -> dict[str, str]:
    """The whole environment of the code inside: nothing is inherited, so no key can leak."""
    threads = str(spec.limits.threads)
    return {
        "PATH": "/usr/local/bin:/usr/bin:/bin",
        "HOME": home,
        "TMPDIR": home if home.startswith("/tmp") else "/tmp",
        "USER": "agent",
        "LOGNAME": "agent",
        "LANG": "C.UTF-8",
        "PYTHONHASHSEED": "0",
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONUNBUFFERED": "1",
        "MPLBACKEND": "Agg",
        "OMP_NUM_THREADS": threads,
        "OPENBLAS_NUM_THREADS": threads,
        "MKL_NUM_THREADS": threads,
        "LOKY_MAX_CPU_COUNT": threads,
        **_processor_workarounds(),
        **spec.environment,
    }


def _processor_workarounds() -> dict[str, str]:
    """OpenBLAS kernel choices of the host: a wrong kernel computes wrong results on some processors."""
    names = ("OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE")
    return {name: os.environ[name] for name in names if name in os.environ}


def _kill_group(pid: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(pid, signal.SIGKILL)
