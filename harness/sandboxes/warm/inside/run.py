"""What a forked child does to become a run."""

from __future__ import annotations

import atexit
import builtins
import os
import resource
import sys
import threading
import traceback
import types
from typing import Any, NoReturn

_HERE = os.path.dirname(__file__)


def become(request: dict[str, Any], writer: int) -> NoReturn:
    """Turn this forked child into the run that ``request`` describes; never returns."""
    code = 1
    try:
        os.setsid()
        _volunteer()
        _forget_ourselves()
        if "numpy" in sys.modules:
            # A fork would repeat its siblings' draws; a process of its own would not.
            sys.modules["numpy"].random.seed()
        os.dup2(writer, 1)
        os.dup2(writer, 2)
        os.close(writer)
        for name, value in request["rlimits"].items():
            _limit(getattr(resource, name), value)
        os.chdir(request["cwd"])
        sys.stdout = os.fdopen(1, "w", encoding="utf-8", errors="replace", buffering=1, closefd=False)
        sys.stderr = os.fdopen(2, "w", encoding="utf-8", errors="replace", buffering=1, closefd=False)
        if request["kind"] == "command":
            os.execvp(request["argv"][0], request["argv"])
        code = _run_script(request["argv"])
        threading._shutdown()  # type: ignore[attr-defined]  # waits for the program's threads, as at any exit
        atexit._run_exitfuncs()
    except SystemExit as error:
        code = _exit_code(error)
    except BaseException as error:
        _print_error(error)
    finally:
        for stream in (sys.stdout, sys.stderr):
            try:
                stream.flush()
            except (AttributeError, OSError, ValueError):
                pass
        os._exit(code)


def _limit(kind: int, value: int) -> None:
    """Set a limit, or keep a lower one that the machine has set."""
    hard = resource.getrlimit(kind)[1]
    value = value if hard == resource.RLIM_INFINITY else min(value, hard)
    resource.setrlimit(kind, (value, value))


def _volunteer() -> None:
    """When memory runs out, this process goes, and not the parent that has more."""
    try:
        with open("/proc/self/oom_score_adj", "w") as stream:
            stream.write("1000")
    except OSError:
        return


def _forget_ourselves() -> None:
    """The program's own modules may have our modules' names."""
    package = __name__.partition(".")[0]
    for name in [name for name in sys.modules if name.partition(".")[0] == package]:
        del sys.modules[name]


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
        _print_error(error)
        return 1
    return 0


def _print_error(error: BaseException) -> None:
    frames = error.__traceback__
    while frames is not None and frames.tb_frame.f_code.co_filename.startswith(_HERE):
        frames = frames.tb_next
    traceback.print_exception(type(error), error, frames)


def _exit_code(error: SystemExit) -> int:
    if error.code is None:
        return 0
    if isinstance(error.code, int):
        return error.code & 0xFF
    print(error.code, file=sys.stderr)
    return 1
