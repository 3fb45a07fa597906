"""One sandbox for several trials of trusted code: emptied and handed on instead of stopped.

Starting a sandbox costs more than a small program does in it, nearly all of it for the modules it imports.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from threading import Lock
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from harness.errors import SandboxLost
from harness.sandboxes.base import Capabilities, Limits, RunResult, Sandbox, SandboxProvider, SandboxSpec

if TYPE_CHECKING:
    from harness.sandboxes.network.egress import Connection


class Reusing:
    """A provider that keeps what was stopped, emptied, for whoever next asks for the same.

    Between two users it guarantees what a sandbox guarantees between two runs: no process, and nothing in the
    working folder, ``/tmp`` and ``/dev/shm``. The process that forks the runs stays, so this is for code that
    ships with this project; other code gets a sandbox of its own. So does who asks for a network, devices or
    a container, which are bound to one trial by more than that.

    Args:
        provider: starts the sandboxes.
        keep: how many to keep at most while nobody uses them; the longest unused is stopped first.
    """

    def __init__(self, provider: SandboxProvider, keep: int) -> None:
        self._provider = provider
        self._keep = keep
        self._lock = Lock()
        self._idle: list[tuple[SandboxSpec, Sandbox]] = []

    @property
    def name(self) -> str:
        """See :class:`harness.sandboxes.base.SandboxProvider`."""
        return self._provider.name

    @property
    def capabilities(self) -> Capabilities:
        """See :class:`harness.sandboxes.base.SandboxProvider`."""
        return self._provider.capabilities

    def check(self) -> None:
        """See :class:`harness.sandboxes.base.SandboxProvider`."""
        self._provider.check()

    def describe(self) -> dict[str, Any]:
        """See :class:`harness.sandboxes.base.SandboxProvider`."""
        return self._provider.describe()

    def sweep(self) -> tuple[str, ...]:
        """See :class:`harness.sandboxes.base.SandboxProvider`."""
        return self._provider.sweep()

    def start(self, spec: SandboxSpec) -> Sandbox:
        """One that is kept, else a new one. The labels of a kept one are those of its first user."""
        if spec.allow_hosts or spec.gpus or not spec.scratch or self.name == "docker":
            return self._provider.start(spec)
        wanted = replace(spec, labels={})
        with self._lock:
            for number, (known, sandbox) in enumerate(self._idle):
                if known == wanted:
                    del self._idle[number]
                    return _Lent(self, wanted, sandbox)
        return _Lent(self, wanted, self._provider.start(spec))

    def take_back(self, spec: SandboxSpec, sandbox: Sandbox) -> None:
        """Keep a sandbox, emptied."""
        try:
            sandbox.clear()
        except SandboxLost:
            sandbox.stop()
            return
        with self._lock:
            self._idle.append((spec, sandbox))
            surplus = [self._idle.pop(0) for _ in range(len(self._idle) - self._keep)]
        for _, other in surplus:
            other.stop()

    def close(self) -> None:
        """Stop what is kept."""
        with self._lock:
            kept, self._idle = self._idle, []
        for _, sandbox in kept:
            sandbox.stop()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


class _Lent:
    """A sandbox that goes back when it is stopped."""

    def __init__(self, owner: Reusing, spec: SandboxSpec, sandbox: Sandbox) -> None:
        self._owner = owner
        self._spec = spec
        self._lent: Sandbox | None = sandbox

    @property
    def _sandbox(self) -> Sandbox:
        if self._lent is None:
            raise SandboxLost("the sandbox has been stopped")
        return self._lent

    @property
    def connections(self) -> tuple[Connection, ...]:
        return ()  # one with a network is never lent

    def inside(self, target: str) -> str:
        return self._sandbox.inside(target)

    def run_python(
        self, script: str, arguments: Sequence[str] = (), *, limits: Limits | None = None
    ) -> RunResult:
        return self._sandbox.run_python(script, arguments, limits=limits)

    def run(self, command: Sequence[str], *, limits: Limits | None = None) -> RunResult:
        return self._sandbox.run(command, limits=limits)

    def put(self, source: bytes | Path, path: str) -> None:
        self._sandbox.put(source, path)

    def get(self, path: str, target: Path, *, max_bytes: int) -> None:
        self._sandbox.get(path, target, max_bytes=max_bytes)

    def remove(self, path: str) -> None:
        self._sandbox.remove(path)

    def clear(self) -> None:
        self._sandbox.clear()

    def stop(self) -> None:
        lent, self._lent = self._lent, None
        if lent is not None:
            self._owner.take_back(self._spec, lent)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()
