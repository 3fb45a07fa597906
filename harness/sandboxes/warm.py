"""The warm parent: runs inside a sandbox, imports heavy modules once, and forks for every run.

A standalone script (standard library only): the sandbox shows this one file, not our packages. It reads one
JSON request per line from one pipe and answers one JSON line on another; the configuration names both:

    {"kind": "python" | "command", "argv": [...], "cwd": ..., "seconds": ..., "output_bytes": ...}
    {"exit_code": int | null, "timed_out": bool, "output": str, "output_bytes": int, "seconds": float}

Every run is a forked child in a session of its own, so that no Python state passes from one run to the next
and a timeout can kill the whole group.
"""

from __future__ import annotations

import atexit
import builtins
import ctypes
import importlib
import json
import os
import resource
import select
import signal
import sys
import time
import traceback
import types
from typing import Any, NoReturn, TextIO

_CHUNK = 65_536
_PR_SET_DUMPABLE = 4


def main() -> None:
    """Serve requests until their pipe closes. The first argument is the JSON configuration."""
    config = json.loads(sys.argv[1])
    # Else the code of a run could open our pipes through /proc and answer in our name.
    _set_dumpable(False)
    requests = os.fdopen(config["requests"], "r", encoding="utf-8")
    replies = os.fdopen(config["replies"], "w", encoding="utf-8")
    for fd in (config["requests"], config["replies"]):
        os.set_inheritable(fd, False)
    for name in config["preload"]:
        try:
            importlib.import_module(name)
        except ImportError:
            continue  # a lean interpreter still serves runs that do not need the module
    _answer(replies, {"ready": True})
    while True:
        line = requests.readline()
        if not line:
            return
        _answer(replies, _serve(json.loads(line), config, (requests.fileno(), replies.fileno())))


def _set_dumpable(value: bool) -> None:
    ctypes.CDLL(None).prctl(_PR_SET_DUMPABLE, int(value), 0, 0, 0)


def _answer(stream: TextIO, document: dict[str, Any]) -> None:
    stream.write(json.dumps(document) + "\n")
    stream.flush()


def _serve(request: dict[str, Any], config: dict[str, Any], private_fds: tuple[int, int]) -> dict[str, Any]:
    started = time.monotonic()
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reader)
        for fd in private_fds:
            os.close(fd)
        _become(request, config, writer)
    os.close(writer)
    output = _BoundedOutput(request["output_bytes"])
    deadline = started + request["seconds"]
    status = _wait(child, reader, private_fds[0], output, deadline)
    timed_out = status is None
    _kill_survivors(child, config["own_pid_namespace"])
    if timed_out:
        os.waitpid(child, 0)
    output.drain(reader)
    os.close(reader)
    return {
        "exit_code": None if status is None else os.waitstatus_to_exitcode(status),
        "timed_out": timed_out,
        "output": output.text(),
        "output_bytes": output.total,
        "seconds": time.monotonic() - started,
    }


def _wait(child: int, reader: int, requests: int, output: _BoundedOutput, deadline: float) -> int | None:
    """Collect output until the child itself ends; a grandchild holding the pipe open does not delay that.

    A harness that has died closes ``requests``; then the run ends at once, as if it had timed out.
    """
    pidfd = os.pidfd_open(child)
    try:
        poll = select.poll()
        poll.register(reader, select.POLLIN)
        poll.register(pidfd, select.POLLIN)
        poll.register(requests, select.POLLHUP)
        while True:
            left = deadline - time.monotonic()
            if left <= 0:
                return None
            for fd, _ in poll.poll(left * 1000):
                if fd == pidfd:
                    return os.waitpid(child, 0)[1]
                if fd == requests:
                    return None
                data = os.read(reader, _CHUNK)
                if data:
                    output.add(data)
                else:
                    poll.unregister(reader)
    finally:
        os.close(pidfd)


def _kill_survivors(child: int, own_pid_namespace: bool) -> None:
    """Leave nothing running: the child's group, and in a PID namespace of our own everything but us."""
    try:
        os.killpg(child, signal.SIGKILL)
    except ProcessLookupError:
        pass
    # Only as a child of the namespace's own init is -1 limited to the namespace.
    if own_pid_namespace and os.getppid() == 1:
        try:
            os.kill(-1, signal.SIGKILL)
        except ProcessLookupError:
            pass


class _BoundedOutput:
    """Keeps the head and the tail of a stream, and counts what it left out."""

    def __init__(self, limit: int) -> None:
        self.half = max(limit // 2, 1)
        self.head = bytearray()
        self.tail = bytearray()
        self.total = 0

    def add(self, data: bytes) -> None:
        self.total += len(data)
        room = self.half - len(self.head)
        self.head += data[:room]
        self.tail += data[room:] if room > 0 else data
        if len(self.tail) > 2 * self.half:
            del self.tail[: -self.half]

    def drain(self, reader: int) -> None:
        os.set_blocking(reader, False)
        drained = 0
        # Bounded: a survivor that keeps writing must not keep us reading.
        while drained < 16 * _CHUNK:
            try:
                data = os.read(reader, _CHUNK)
            except BlockingIOError:
                return
            if not data:
                return
            drained += len(data)
            self.add(data)

    def text(self) -> str:
        tail = bytes(self.tail[-self.half :])
        left_out = self.total - len(self.head) - len(tail)
        note = f"\n... {left_out} bytes left out ...\n".encode() if left_out else b""
        return (bytes(self.head) + note + tail).decode("utf-8", errors="replace")


def _become(request: dict[str, Any], config: dict[str, Any], writer: int) -> NoReturn:
    """Turn this forked child into the run; never returns."""
    code = 1
    try:
        os.setsid()
        if "numpy" in sys.modules:
            # A fork would repeat its siblings' draws; a process of its own would not.
            sys.modules["numpy"].random.seed()
        _set_dumpable(True)
        os.dup2(writer, 1)
        os.dup2(writer, 2)
        os.close(writer)
        for limit, value in config["rlimits"].items():
            resource.setrlimit(getattr(resource, limit), (value, value))
        os.chdir(request["cwd"])
        sys.stdout = os.fdopen(1, "w", encoding="utf-8", errors="replace", buffering=1, closefd=False)
        sys.stderr = os.fdopen(2, "w", encoding="utf-8", errors="replace", buffering=1, closefd=False)
        if request["kind"] == "command":
            os.execvp(request["argv"][0], request["argv"])
        code = _run_script(request["argv"])
        atexit._run_exitfuncs()
    except SystemExit as error:
        code = _exit_code(error)
    except BaseException:
        traceback.print_exc()
    finally:
        for stream in (sys.stdout, sys.stderr):
            try:
                stream.flush()
            except (OSError, ValueError):
                pass
        os._exit(code)


def _run_script(argv: list[str]) -> int:
    """Run a file as ``__main__`` as the interpreter would, with only its own frames in a traceback."""
    path = argv[0]
    module = types.ModuleType("__main__")
    module.__file__ = path
    module.__builtins__ = builtins  # type: ignore[attr-defined]
    sys.modules["__main__"] = module
    sys.argv = list(argv)
    sys.path[0] = os.path.dirname(path)
    try:
        with open(path, "rb") as stream:
            code = compile(stream.read(), path, "exec")
        exec(code, module.__dict__)
    except SystemExit as error:
        return _exit_code(error)
    except BaseException as error:
        frames = error.__traceback__
        own = __file__
        while frames is not None and frames.tb_frame.f_code.co_filename == own:
            frames = frames.tb_next
        traceback.print_exception(type(error), error, frames)
        return 1
    return 0


def _exit_code(error: SystemExit) -> int:
    if error.code is None:
        return 0
    if isinstance(error.code, int):
        return error.code & 0xFF
    print(error.code, file=sys.stderr)
    return 1


if __name__ == "__main__":
    main()
