"""The two-way stream between the harness and the warm parent inside a sandbox."""

from __future__ import annotations

import contextlib
import os
import select
import signal
import subprocess
import tempfile
import threading
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Protocol

#: How long the other side may take nothing of what is sent to it.
STALL_SECONDS = 60.0
_CHUNK = 1 << 20
_SAID = 4_096
_GONE_SECONDS = 10.0


class Channel(Protocol):
    """Bytes to and from the warm parent. Used by one thread, but for :meth:`kill`."""

    def send(self, data: bytes | memoryview) -> None:
        """Send all of ``data``.

        Raises:
            OSError: the other side is gone (``BrokenPipeError``, ``ConnectionError``), or takes nothing
                (``TimeoutError``).
        """
        ...

    def receive(self, seconds: float) -> bytes:
        """The next bytes, at least one; empty when the other side has closed the stream.

        Raises:
            TimeoutError: none came within ``seconds``.
        """
        ...

    def said(self) -> str:
        """What the other side wrote to its standard error, at most its first 4 KiB; for messages."""
        ...

    def kill(self) -> None:
        """End the other side and everything below it; from any thread, and more than once."""
        ...

    def close(self) -> None:
        """Kill, wait until it is gone, and free what the channel holds. Safe to call twice."""
        ...


class PipeChannel:
    """A child process and two pipes of its own.

    Not its standard streams: bubblewrap's init holds these too, and code inside can open them through /proc.

    Args:
        command: builds the argument vector, given the descriptors for requests and replies as the child
            sees them.
        environment: of the child; nothing is inherited.
        pass_fds: further descriptors that the child inherits.
    """

    def __init__(
        self,
        command: Callable[[int, int], Sequence[str]],
        environment: Mapping[str, str],
        pass_fds: Sequence[int] = (),
    ) -> None:
        self._stderr = tempfile.TemporaryFile()  # noqa: SIM115 - lives as long as the channel
        requests, self._out = os.pipe()
        self._in, replies = os.pipe()
        os.set_blocking(self._out, False)
        try:
            self._process = subprocess.Popen(
                list(command(requests, replies)),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=self._stderr,
                pass_fds=(requests, replies, *pass_fds),
                env=dict(environment),
                start_new_session=True,
            )
        except BaseException:
            os.close(self._out)
            os.close(self._in)
            self._stderr.close()
            raise
        finally:
            os.close(requests)
            os.close(replies)
        self._ending = threading.Lock()
        self._open = True

    @property
    def pid(self) -> int:
        """Of the child process, which leads a process group."""
        return self._process.pid

    def send(self, data: bytes | memoryview) -> None:
        """See :class:`Channel`."""
        left = memoryview(data)
        poll = select.poll()
        poll.register(self._out, select.POLLOUT)
        while left:
            if not poll.poll(STALL_SECONDS * 1000):
                raise TimeoutError(f"nothing was taken for {STALL_SECONDS:.0f} s")
            with contextlib.suppress(BlockingIOError):
                left = left[os.write(self._out, left) :]

    def receive(self, seconds: float) -> bytes:
        """See :class:`Channel`."""
        poll = select.poll()
        poll.register(self._in, select.POLLIN)
        if not poll.poll(max(0.0, seconds) * 1000):
            raise TimeoutError
        return os.read(self._in, _CHUNK)

    def said(self) -> str:
        """See :class:`Channel`."""
        self._stderr.seek(0)
        return self._stderr.read(_SAID).decode("utf-8", errors="replace").strip()

    def kill(self) -> None:
        """See :class:`Channel`."""
        with self._ending:
            self._kill()

    def _kill(self) -> None:
        if self._process.poll() is not None:
            return
        pid = self._process.pid
        # Children have sessions of their own, where our child's death does not reach them: bubblewrap's is
        # the parent, as another user; the parent's are runs.
        children: list[int] = []
        with contextlib.suppress(OSError):
            children = [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
        with contextlib.suppress(ProcessLookupError):
            os.killpg(pid, signal.SIGKILL)
        for child in children:
            for end in (os.killpg, os.kill):
                with contextlib.suppress(ProcessLookupError):
                    end(child, signal.SIGKILL)

    def close(self) -> None:
        """See :class:`Channel`."""
        if not self._open:
            return
        self._open = False
        with self._ending:
            self._kill()
            self._process.wait()
        os.close(self._out)
        # The end of its stream tells that the parent is gone too.
        with contextlib.suppress(TimeoutError):
            while self.receive(_GONE_SECONDS):
                pass
        os.close(self._in)
        self._stderr.close()
