"""The warm parent: imports heavy modules once and forks for every run.

Run by ``python -c`` with one JSON configuration as its argument, since the sandbox shows this folder alone
and not our packages. It reads requests from one descriptor and answers on another; both are named in the
configuration. A request is one JSON line, followed by raw bytes for ``put``; an answer is one JSON line,
followed by raw bytes for ``get``:

    {"do": "run", "kind": "python" | "command", "argv", "cwd", "seconds", "output_bytes", "rlimits"}
      -> {"exit_code": int | null, "timed_out": bool, "over": str | null, "output": str, "output_bytes": int,
          "seconds": float}
    {"do": "put", "path", "size"} -> {}
    {"do": "get", "path", "max_bytes"} -> {"size": int}
    {"do": "remove", "path"} -> {}
    {"do": "clear"} -> {}
    anything that cannot be done -> {"refused": str, "message": str}

Every run is a forked child in a session of its own, so that no Python state passes from one run to the next
and a timeout can kill the whole group.
"""

from __future__ import annotations

import base64
import importlib
import json
import os
import select
import signal
import sys
import time
from typing import Any, BinaryIO

from . import confine, files
from .output import CHUNK, BoundedOutput
from .run import become
from .watch import INTERVAL, Watch

_SETTLE_SECONDS = 10.0


def main() -> None:
    """Serve requests until their stream closes."""
    config = json.loads(sys.argv[1])
    if config["user"] is not None:
        confine.become_user(config["user"])
    # Else the code of a run could open our streams through /proc and answer in our name.
    confine.set_dumpable(False)
    # As PID 1 we get no signal without a handler, and Python has one for this.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    requests, replies = _streams(config)
    confine.close_descriptors(but=(requests.fileno(), replies.fileno()))
    if config["filter"] is not None:
        confine.install_filter(base64.b64decode(config["filter"]))
    for name in config["preload"]:
        try:
            importlib.import_module(name)
        except ImportError:
            continue  # a lean interpreter still serves runs that do not need the module
    parent = Parent(config, requests, replies)
    parent.answer({"ready": True})
    while line := requests.readline():
        parent.serve(json.loads(line))


def _streams(config: dict[str, Any]) -> tuple[BinaryIO, BinaryIO]:
    """The two streams, on descriptors that no run can mistake for its standard ones."""
    requests, replies = os.dup(config["requests"]), os.dup(config["replies"])
    null = os.open(os.devnull, os.O_RDWR)
    for fd in (config["requests"], config["replies"]):
        if fd > 2:
            os.close(fd)
        else:
            os.dup2(null, fd)
    os.close(null)
    return os.fdopen(requests, "rb"), os.fdopen(replies, "wb")


class Parent:
    """Serves one request after the other."""

    def __init__(self, config: dict[str, Any], requests: BinaryIO, replies: BinaryIO) -> None:
        self._config = config
        self._requests = requests
        self._replies = replies
        # The init of the sandbox, and in a container what keeps it alive.
        self._keepers = frozenset(_processes())
        # This Python may lie below /tmp.
        self._kept = {folder: frozenset(os.listdir(folder)) for folder in config["wipe"]}
        self._processors = os.sched_getaffinity(0)

    def answer(self, document: dict[str, Any]) -> None:
        """Send one answer."""
        self._replies.write(json.dumps(document).encode() + b"\n")
        self._replies.flush()

    def serve(self, request: dict[str, Any]) -> None:
        """Do what a request asks for, and answer it."""
        try:
            if request["do"] == "run":
                self.answer(self._run(request))
            elif request["do"] == "put":
                files.put(request["path"], request["size"], self._requests)
                self.answer({})
            elif request["do"] == "get":
                self._get(request)
            elif request["do"] == "remove":
                files.remove(request["path"])
                self.answer({})
            elif request["do"] == "clear":
                for folder in self._config["scratch"]:
                    files.empty(folder)
                self.answer({})
        except files.Refused as error:
            self.answer({"refused": error.reason, "message": str(error)})
        except ValueError as error:  # a path that no file can have
            self.answer({"refused": "missing", "message": str(error)})

    def _get(self, request: dict[str, Any]) -> None:
        stream, size = files.open_regular(request["path"], request["max_bytes"])
        with stream:
            self.answer({"size": size})
            left = size
            while left and (data := stream.read(min(left, CHUNK))):
                left -= len(data)
                self._replies.write(data)
            self._replies.write(bytes(left))
            self._replies.flush()

    def _run(self, request: dict[str, Any]) -> dict[str, Any]:
        started = time.monotonic()
        private = (self._requests.fileno(), self._replies.fileno())
        if self._config["relay"]:
            self._relay(private)
        reader, writer = os.pipe()
        os.sched_setaffinity(0, self._processors)  # an earlier run may have changed it
        child = os.fork()
        if child == 0:
            os.close(reader)
            for fd in private:
                os.close(fd)
            confine.set_dumpable(True)
            become(request, writer)
        os.close(writer)
        output = BoundedOutput(request["output_bytes"])
        watch = Watch(**self._config["watch"])
        status, over = self._wait(child, reader, output, started + request["seconds"], watch)
        survivors = self._kill_survivors(child)
        if status is None:
            os.waitpid(child, 0)
        output.drain(reader)
        os.close(reader)
        seconds = time.monotonic() - started
        self._settle(child if survivors else None)
        if over is None and (over := watch.over_folders()):
            status = None
        if over in ("disk", "files"):
            # Nobody outside should have to handle it.
            for folder in watch.folders:
                files.empty(folder)
        for folder, kept in self._kept.items():
            files.empty(folder, but=kept)
        for folder in self._config["scratch"]:
            files.reopen(folder)
        if self._config["own_namespaces"]:
            files.remove_ipc()
        return {
            "exit_code": None if status is None else os.waitstatus_to_exitcode(status),
            "timed_out": status is None and over is None,
            "over": over,
            "output": output.text(),
            "output_bytes": output.total,
            "seconds": seconds,
        }

    def _relay(self, private: tuple[int, int]) -> None:
        """Start the process through which a run reaches the proxy outside; it ends with the run."""
        from . import relay  # slow to import, and seldom needed

        listener = relay.listen(relay.PORT)
        if os.fork():
            listener.close()
            return
        for fd in private:
            os.close(fd)
        relay.serve(listener, self._config["relay"])

    def _wait(
        self, child: int, reader: int, output: BoundedOutput, deadline: float, watch: Watch
    ) -> tuple[int | None, str | None]:
        """Collect output until the child itself ends; a grandchild that holds the pipe does not delay that.

        Returns its status, ``None`` when it must be killed, and the limit it went over. A harness that has
        died closes the requests; then the run ends at once, as if it had timed out.
        """
        looked = 0.0
        requests = self._requests.fileno()
        pidfd = os.pidfd_open(child)
        try:
            poll = select.poll()
            poll.register(reader, select.POLLIN)
            poll.register(pidfd, select.POLLIN)
            poll.register(requests, select.POLLHUP)
            while True:
                now = time.monotonic()
                if now >= deadline:
                    return None, None
                if now >= looked + INTERVAL:
                    looked = now
                    _reap(but=child)
                    over = watch.over()
                    if over is not None:
                        return None, over
                for fd, _ in poll.poll(min(deadline - now, INTERVAL) * 1000):
                    if fd == pidfd:
                        return os.waitpid(child, 0)[1], None
                    if fd == requests:
                        return None, None
                    data = os.read(reader, CHUNK)
                    if data:
                        output.add(data)
                    else:
                        poll.unregister(reader)
        finally:
            os.close(pidfd)

    def _kill_survivors(self, child: int) -> bool:
        """The child's group, and in a PID namespace of our own everything but us and its init.

        Returns whether the group had anything left to kill.
        """
        survivors = True
        try:
            os.killpg(child, signal.SIGKILL)
        except ProcessLookupError:
            survivors = False
        if self._alone():
            try:
                os.kill(-1, signal.SIGKILL)
            except (ProcessLookupError, PermissionError):
                pass
        return survivors

    def _alone(self) -> bool:
        """Whether -1 means this sandbox and not the whole machine: our parent is its init, or outside."""
        return bool(self._config["own_namespaces"]) and os.getppid() in (0, 1)

    def _settle(self, group: int | None) -> None:
        """Wait until what was killed is gone, so that its memory and its files are free for the next run.

        In a PID namespace of our own that is everything; elsewhere it is the run's process ``group``.
        """
        alone = self._alone()
        deadline = time.monotonic() + _SETTLE_SECONDS
        while time.monotonic() < deadline:
            _reap()
            if alone:
                if not any(_group(name) is not None for name in set(_processes()) - self._keepers):
                    return
                os.kill(-1, signal.SIGKILL)
            elif group is None or not any(_group(name) == group for name in _processes()):
                return
            time.sleep(0.002)


def _reap(but: int = 0) -> None:
    """Collect children that have ended; as PID 1, everything that lost its parent is one."""
    try:
        while (ended := os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)) and ended.si_pid != but:
            os.waitpid(ended.si_pid, 0)
    except ChildProcessError:
        return


def _processes() -> list[str]:
    return [name for name in os.listdir("/proc") if name.isdigit()]


def _group(process: str) -> int | None:
    """The process group of a process that lives, ``None`` of one that has ended, reaped or not."""
    try:
        with open(f"/proc/{process}/stat", "rb") as stream:
            state, _, group = stream.read().rpartition(b")")[2].split()[:3]
    except OSError:
        return None
    return None if state in (b"Z", b"X") else int(group)
