"""What a program can do in a sandbox of any kind, and how its runs end."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import replace

import pytest

from harness.errors import SandboxLost
from harness.sandboxes.base import MIB, Limits, RunResult, Sandbox, SandboxProvider, SandboxSpec

WORK = "/mlesmith/work"
LIMITS = Limits(
    seconds=20.0,
    memory_bytes=1024 * MIB,
    disk_bytes=64 * MIB,
    tmp_bytes=64 * MIB,
    shm_bytes=64 * MIB,
    output_bytes=4_000,
)
Run = Callable[..., RunResult]


def runner(sandbox: Sandbox) -> Run:
    """Runs code as an agent's program is run; options tighten the limits of that run."""

    def run(code: str, *arguments: str, **limits: float) -> RunResult:
        program = sandbox.inside(f"{WORK}/main.py")
        sandbox.put(code.encode(), program)
        return sandbox.run_python(program, arguments, limits=replace(LIMITS, **limits) if limits else None)  # type: ignore[arg-type]

    return run


@pytest.fixture(scope="module", params=["warm", "cold"])
def shared(request: pytest.FixtureRequest, any_provider: SandboxProvider) -> Iterator[Sandbox]:
    """One sandbox for the tests that leave nothing behind."""
    spec = SandboxSpec((), WORK, LIMITS, preload=("json", "no_such_module"), warm=request.param == "warm")
    with any_provider.start(spec) as sandbox:
        yield sandbox


@pytest.fixture
def run(shared: Sandbox) -> Run:
    shared.clear()
    return runner(shared)


@pytest.fixture
def own(any_provider: SandboxProvider) -> Iterator[Sandbox]:
    """A sandbox for a test that ends it."""
    with any_provider.start(SandboxSpec((), WORK, LIMITS)) as sandbox:
        yield sandbox


@pytest.mark.parametrize(
    ("code", "exit_code", "said"),
    [
        ("", 0, ""),
        ("raise SystemExit", 0, ""),
        ("raise SystemExit(3)", 3, ""),
        ("raise SystemExit(256 + 7)", 7, ""),
        ("raise SystemExit('no')", 1, "no\n"),
        ("import os; os._exit(7)", 7, ""),
        ("1 / 0", 1, "ZeroDivisionError: division by zero\n"),
        ("raise KeyboardInterrupt", None, "KeyboardInterrupt"),
        ("(", 1, "SyntaxError: '(' was never closed\n"),
        ("import no_such_module", 1, "ModuleNotFoundError: No module named 'no_such_module'\n"),
        ("import os; os.abort()", -6, ""),
        ("import os; os.kill(os.getpid(), 9)", -9, ""),
        ("import ctypes; ctypes.string_at(0)", -11, ""),
        ("x = bytearray(4 << 30)", 1, "MemoryError\n"),
        ("f = lambda: f()\nf()", 1, "RecursionError"),
        ("import sys; sys.stdout.close(); sys.stderr.close()", 0, ""),
        ("import sys; sys.stdout = None", 0, ""),
        ("import sys; sys.stdout.buffer.write(b'\\xff\\n')", 0, "\N{REPLACEMENT CHARACTER}\n"),
        ("input()", 1, "EOFError"),
        ("import atexit; atexit.register(print, 'bye')", 0, "bye\n"),
        (
            "import threading\nthreading.Timer(0.2, print, ['bye']).start()",
            0,
            "bye\n",
        ),
        ("import os; os.write(2, b'error\\n'); os.write(1, b'output\\n')", 0, "error\noutput\n"),
        ("import os; os.execvp('sh', ['sh', '-c', 'exit 9'])", 9, ""),
    ],
)
def test_ways_a_program_ends(run: Run, code: str, exit_code: int | None, said: str) -> None:
    result = run(code)
    assert not result.timed_out and result.over is None
    if exit_code is None:
        assert not result.ok
    else:
        assert result.exit_code == exit_code, result
    assert said in result.output
    assert "inside" not in result.output
    assert run("print('still here')").output == "still here\n"


def test_a_traceback_shows_the_program_s_own_frames_and_lines(run: Run, shared: Sandbox) -> None:
    main = shared.inside(f"{WORK}/main.py")
    assert run("def f():\n    1 / 0\nf()").output == (
        "Traceback (most recent call last):\n"
        f'  File "{main}", line 3, in <module>\n    f()\n'
        f'  File "{main}", line 2, in f\n    1 / 0\n    ~~^~~\n'
        "ZeroDivisionError: division by zero\n"
    )


def test_the_program_finds_itself_as_under_plain_python(run: Run, shared: Sandbox) -> None:
    result = run(
        "import os, sys, __main__\nx = 1\n"
        "print(__name__, __file__, sys.argv, os.getcwd(), sys.path[0], __main__.x, sys.stdin.read() == '')",
        "a",
        "b c",
    )
    work = shared.inside(WORK)
    assert (
        result.output == f"__main__ {work}/main.py {[f'{work}/main.py', 'a', 'b c']} {work} {work} 1 True\n"
    )


def test_what_programs_use_works(run: Run) -> None:
    """Subprocesses, pools, threads, temporary files, locks and pipes."""
    result = run("""
import subprocess, sys, tempfile
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import Queue, shared_memory
if __name__ == '__main__':
    print(subprocess.run([sys.executable, '-c', 'print(1)'], capture_output=True, text=True).stdout.strip())
    with ProcessPoolExecutor(2) as pool:
        print(list(pool.map(abs, [-1, -2])))
    with ThreadPoolExecutor(2) as pool:
        print(list(pool.map(abs, [-3])))
    with tempfile.NamedTemporaryFile() as file:
        print(file.write(b'x'))
    memory = shared_memory.SharedMemory(create=True, size=10)
    memory.close()
    memory.unlink()
    queue = Queue()
    queue.put(4)
    print(queue.get())
""")
    assert (result.exit_code, result.output) == (0, "1\n[1, 2]\n[3]\n1\n4\n")


def test_a_command_is_run_and_its_exit_code_told(shared: Sandbox) -> None:
    result = shared.run(["sh", "-c", "echo out; echo err >&2; pwd; exit 3"])
    assert (result.exit_code, result.output) == (3, f"out\nerr\n{shared.inside(WORK)}\n")


def test_a_command_that_is_not_there_is_a_failed_command(shared: Sandbox) -> None:
    result = shared.run(["no-such-command"])
    assert not result.ok
    assert "no-such-command" in result.output or "No such file" in result.output


def test_runs_take_their_turn_with_seconds_of_their_own(run: Run) -> None:
    result = run("import time; time.sleep(0.3)")
    assert result.ok
    assert 0.3 <= result.seconds < 10


def test_a_timeout_keeps_the_output_so_far(run: Run) -> None:
    result = run("import time\nprint('so far')\ntime.sleep(60)", seconds=0.5)
    assert (result.timed_out, result.exit_code, result.output) == (True, None, "so far\n")
    assert 0.5 <= result.seconds < 10
    assert run("print('next')").output == "next\n"


def test_output_without_a_newline_is_kept_at_a_timeout_too(run: Run) -> None:
    result = run("import sys, time\nsys.stdout.write('so')\nsys.stdout.flush()\ntime.sleep(60)", seconds=0.5)
    assert (result.timed_out, result.output) == (True, "so")


def test_a_program_that_ignores_signals_is_stopped_too(run: Run) -> None:
    assert run("import signal\nsignal.signal(15, signal.SIG_IGN)\nwhile True: pass", seconds=0.5).timed_out


@pytest.mark.parametrize("child", ["sleep 60 &", "(sleep 60 &) &", "nohup sleep 60 >&2 &"])
def test_a_child_that_holds_the_output_open_does_not_delay_the_end(shared: Sandbox, child: str) -> None:
    started = time.monotonic()
    result = shared.run(["sh", "-c", f"echo started; {child}"])
    assert (result.exit_code, result.output) == (0, "started\n")
    assert time.monotonic() - started < 15


def test_a_child_that_holds_the_output_open_does_not_outlive_a_timeout(shared: Sandbox) -> None:
    limits = replace(LIMITS, seconds=0.5)
    result = shared.run(["sh", "-c", "echo so far; sleep 60 & sleep 60"], limits=limits)
    assert (result.timed_out, result.output) == (True, "so far\n")


def test_a_flood_of_output_is_bounded_and_says_so(run: Run) -> None:
    result = run("print('first')\nfor _ in range(20_000): print('x' * 50)\nprint('last')")
    assert result.ok
    assert len(result.output) < 5_000
    assert result.output.startswith("first\n")
    assert result.output.endswith("last\n")
    assert result.output_bytes == 20_000 * 51 + 11
    assert f"... {result.output_bytes - 4_000} bytes left out ..." in result.output


@pytest.mark.parametrize("size", [3_999, 4_000, 4_001, 8_001, 70_000])
def test_output_around_the_bound_is_whole_or_says_what_is_missing(run: Run, size: int) -> None:
    result = run(f"print('z' * {size - 1})")
    assert result.output_bytes == size
    kept = result.output.count("z") + result.output.endswith("\n")
    assert kept == min(size, 4_000)
    assert ("left out" in result.output) == (size > 4_000)


def test_a_run_s_own_bounds_can_only_be_tighter(run: Run) -> None:
    assert len(run("print('x' * 5_000)", output_bytes=100).output) < 200
    assert len(run("print('x' * 9_000)", output_bytes=1_000_000).output) < 5_000
    assert (
        "too many open files"
        in run("x = [open('/dev/null') for _ in range(50)]", open_files=20).output.lower()
    )


def test_state_passes_to_the_next_run_by_the_working_folder_only(run: Run) -> None:
    run("import json, os; json.leaked = os.environ['LEAK'] = 'yes'; open('kept', 'w').write('yes')")
    result = run("import json, os; print(hasattr(json, 'leaked'), 'LEAK' in os.environ, open('kept').read())")
    assert result.output == "False False yes\n"


def test_each_run_draws_other_random_numbers(run: Run) -> None:
    code = "import random, os; print(random.random(), os.urandom(4))"
    assert run(code).output != run(code).output


def test_a_sandbox_that_is_lost_says_so_and_stays_lost(own: Sandbox) -> None:
    run = runner(own)
    assert run("print('here')").ok
    own.kill()  # type: ignore[attr-defined]
    for _ in range(2):
        with pytest.raises(SandboxLost, match=r"the sandbox (ended|has been stopped)"):
            run("print('here')")
    own.stop()


def test_a_stopped_sandbox_runs_nothing_and_stops_again(own: Sandbox) -> None:
    own.stop()
    own.stop()
    with pytest.raises(SandboxLost, match="has been stopped"):
        own.run(["true"])


def test_many_runs_leave_no_descriptors_or_processes(own: Sandbox) -> None:
    count = "import os; print(len(os.listdir('/proc/self/fd')))"
    run = runner(own)
    first = run(count).output
    for _ in range(60):
        run("import os; os.fork() or os.setsid()")
    assert run(count).output == first
