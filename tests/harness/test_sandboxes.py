"""What code inside a sandbox can and cannot do, under a real bubblewrap."""

from __future__ import annotations

import http.server
import logging
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from harness.errors import InputError, SandboxLost, SandboxUnavailable
from harness.sandboxes.base import GIB, MIB, Limits, Mount, RunResult, SandboxProvider, SandboxSpec
from harness.sandboxes.choose import choose_sandbox
from harness.sandboxes.parent import WarmSandbox
from harness.sandboxes.process import Process
from harness.tasks.package import Task

CANARY = "canary-7f3a"
Run = Callable[..., RunResult]


def spec_of(task: Task, work: Path, limits: Limits | None = None) -> SandboxSpec:
    work.mkdir(exist_ok=True)
    return SandboxSpec(
        (Mount(task.public, "/mlesmith/public"), Mount(work, "/mlesmith/work", writable=True)),
        "/mlesmith/work",
        limits or Limits(seconds=20.0, memory_bytes=GIB, output_bytes=4_000),
    )


@pytest.fixture
def work(tmp_path: Path) -> Path:
    return tmp_path / "job" / "work"


@pytest.fixture
def inside(
    iris: Task, work: Path, sandbox: SandboxProvider, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Run]:
    """Runs code as an agent's program is run, with a key in the harness's own environment."""
    monkeypatch.setenv("OPENAI_API_KEY", CANARY)
    work.parent.mkdir()
    with sandbox.open(spec_of(iris, work)) as opened:

        def run(code: str, seconds: float | None = None) -> RunResult:
            (work / "main.py").write_text(code)
            return opened.run_python("/mlesmith/work/main.py", seconds=seconds)

        yield run


def test_answers_home_keys_and_other_trials_cannot_be_read(inside: Run, iris: Task, work: Path) -> None:
    other = work.parent.parent / "other" / "work"
    other.mkdir(parents=True)
    (other / "secret.txt").write_text(CANARY)
    paths = [
        iris.answer_path,
        iris.private,
        iris.root / "task.toml",
        "../private/test_answer.csv",
        "../../iris/private/test_answer.csv",
        "/mlesmith/private/test_answer.csv",
        f"/proc/1/root{iris.answer_path}",
        f"/proc/self/root{iris.answer_path}",
        f"/proc/1/cwd/{iris.answer_path}",
        Path.home(),
        Path.home() / ".bashrc",
        "/home",
        "/etc/passwd",
        "/etc/shadow",
        "/var",
        other / "secret.txt",
        work.parent.parent,
        Path(__file__),
        Path(__file__).parents[2] / "pyproject.toml",
        "/proc/2/environ",
        "/proc/2/mem",
    ]
    run = inside(f"""
import os
for path in {[str(path) for path in paths]!r}:
    try:
        print('OPEN', path, os.listdir(path) if os.path.isdir(path) else open(path, 'rb').read(200))
    except OSError as error:
        pass
print('environment', sorted(os.environ))
for pid in filter(str.isdigit, os.listdir('/proc')):
    try:
        print(pid, open(f'/proc/{{pid}}/environ').read())
    except OSError:
        pass
""")
    assert run.ok, run.output
    # Where the interpreter lies below the home folder, the way to it is there, and nothing else.
    prefixes = [sys.prefix, sys.base_prefix]
    opened = [line.split()[1] for line in run.output.splitlines() if line.startswith("OPEN")]
    assert not [path for path in opened if not any(prefix.startswith(path) for prefix in prefixes)], (
        run.output
    )
    assert CANARY not in run.output
    assert "KEY" not in run.output
    assert ".bashrc" not in run.output


def test_the_network_is_not_there(inside: Run) -> None:
    server = http.server.HTTPServer(("127.0.0.1", 0), http.server.SimpleHTTPRequestHandler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    url = f"http://127.0.0.1:{server.server_port}/"
    code = f"import urllib.request; print(urllib.request.urlopen({url!r}, timeout=3).status)"
    try:
        assert (
            subprocess.run([sys.executable, "-c", code], capture_output=True, check=False).stdout == b"200\n"
        )
        run = inside(code)
    finally:
        server.shutdown()
    assert not run.ok
    assert "Connection refused" in run.output


def test_only_the_working_folder_and_tmp_can_be_written(inside: Run, work: Path, iris: Task) -> None:
    before = (iris.public / "train.csv").read_bytes()
    run = inside(f"""
import os, shutil
for path in ['/mlesmith/public/train.csv', '/mlesmith/public/new', '/mlesmith/new', '/usr/new', '/new',
             {str(Path(sys.prefix) / "new")!r}, os.__file__, '/mlesmith/warm.py']:
    try:
        open(path, 'a').write('x')
        print('WROTE', path)
    except OSError:
        pass
open('/mlesmith/work/kept', 'w').write('yes')
open('/tmp/lost', 'w').write('yes')
""")
    assert run.ok and "WROTE" not in run.output, run.output
    assert (work / "kept").read_text() == "yes"
    assert not Path("/tmp/lost").exists()
    assert (iris.public / "train.csv").read_bytes() == before


def test_our_packages_and_data_bundled_in_libraries_are_not_there(inside: Run) -> None:
    run = inside("""
import importlib, glob, os, sys
for name in ('harness', 'generator', 'stats', 'leaderboards', 'reports', 'mlesmith', 'tests'):
    try:
        module = importlib.import_module(name)
        print('IMPORTED', name, os.listdir(list(module.__path__)[0]))
    except ImportError:
        pass
site = os.path.dirname(os.path.dirname(__import__('sklearn').__file__))
for place in ('sklearn/datasets/data', 'sklearn/datasets/tests', 'statsmodels/datasets', 'pingouin/datasets'):
    print('DATA', glob.glob(f'{site}/{place}/**/*.*', recursive=True)[:3])
from sklearn.datasets import load_iris
load_iris()
""")
    assert "IMPORTED" not in run.output
    assert run.output.count("DATA []") == 4, run.output
    assert "FileNotFoundError" in run.output.splitlines()[-1]


def test_nothing_survives_a_run_and_no_state_passes_to_the_next(inside: Run, work: Path) -> None:
    started = time.monotonic()
    run = inside("""
import os, sys, time
import json
json.leaked = True
os.environ['LEAK'] = '1'
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        while True:
            open('/mlesmith/work/beat', 'a').write('.')
            time.sleep(0.02)
    os._exit(0)
while not os.path.exists('/mlesmith/work/beat'):
    time.sleep(0.01)
print('ended')
""")
    assert (run.exit_code, run.output) == (0, "ended\n")
    # The daemon holds the output pipe open; that must not delay the end of the run.
    assert time.monotonic() - started < 10
    size = (work / "beat").stat().st_size
    run = inside(
        "import json, os, time; time.sleep(0.3); print(hasattr(json, 'leaked'), 'LEAK' in os.environ)"
    )
    assert run.output == "False False\n"
    assert (work / "beat").stat().st_size == size


def test_a_timeout_keeps_the_output_so_far(inside: Run) -> None:
    run = inside("import time\nprint('so far')\ntime.sleep(60)", seconds=0.5)
    assert (run.timed_out, run.exit_code, run.output) == (True, None, "so far\n")
    assert 0.5 <= run.seconds < 5
    assert inside("print('next')").output == "next\n"


def test_a_program_that_ignores_signals_is_stopped_too(inside: Run) -> None:
    run = inside("import signal\nsignal.signal(15, signal.SIG_IGN)\nwhile True: pass", seconds=0.5)
    assert run.timed_out


def test_a_flood_of_output_is_bounded_and_says_so(inside: Run) -> None:
    run = inside("print('first')\nfor _ in range(200_000): print('x' * 50)\nprint('last')")
    assert run.ok
    assert len(run.output) < 5_000
    assert run.output.startswith("first\n")
    assert run.output.endswith("last\n")
    left_out = run.output_bytes - 4_000
    assert f"... {left_out} bytes left out ..." in run.output
    assert run.output_bytes == 200_000 * 51 + 11


@pytest.mark.parametrize(
    ("code", "exit_code", "said"),
    [
        ("", 0, ""),
        ("raise SystemExit", 0, ""),
        ("raise SystemExit(3)", 3, ""),
        ("raise SystemExit('no')", 1, "no"),
        ("import os; os._exit(7)", 7, ""),
        ("1 / 0", 1, "ZeroDivisionError"),
        ("import os; os.abort()", -6, ""),
        ("import os; os.kill(os.getpid(), 9)", -9, ""),
        ("import ctypes; ctypes.string_at(0)", -11, ""),
        ("x = bytearray(4 << 30)", 1, "MemoryError"),
        ("f = lambda: f()\nf()", 1, "RecursionError"),
        ("open('big', 'wb').truncate(8 << 30)", None, ""),
        ("import sys; sys.stdout.close(); sys.stderr.close()", 0, ""),
        (
            "print(b'\\xff'.decode('latin-1')); import sys; sys.stdout.buffer.write(b'\\xff\\n')",
            0,
            "\N{REPLACEMENT CHARACTER}",
        ),
        ("input()", 1, "EOFError"),
        ("import atexit; atexit.register(print, 'bye')", 0, "bye"),
    ],
)
def test_ways_a_program_ends(inside: Run, code: str, exit_code: int | None, said: str) -> None:
    run = inside(code)
    assert not run.timed_out
    if exit_code is None:
        assert run.exit_code != 0
    else:
        assert run.exit_code == exit_code, run.output
    assert said in run.output
    assert "warm.py" not in run.output
    assert inside("print('still here')").output == "still here\n"


def test_a_traceback_shows_the_program_s_own_frames(inside: Run) -> None:
    assert inside("def f():\n    1 / 0\nf()").output == (
        "Traceback (most recent call last):\n"
        '  File "/mlesmith/work/main.py", line 3, in <module>\n    f()\n'
        '  File "/mlesmith/work/main.py", line 2, in f\n    1 / 0\n    ~~^~~\n'
        "ZeroDivisionError: division by zero\n"
    )


def test_killing_the_parent_inside_loses_the_sandbox_and_nothing_else(inside: Run) -> None:
    with pytest.raises(SandboxLost, match="the sandbox ended"):
        inside("import os, time; os.kill(os.getppid(), 9); time.sleep(9)")


def test_code_cannot_answer_in_the_parent_s_name(inside: Run) -> None:
    """The parent's pipes are reachable through /proc unless it forbids that."""
    run = inside("""
import os
forged = b'{"exit_code": 0, "output": "forged", "output_bytes": 6, "seconds": 0.0, "timed_out": false}\\n'
for pid in filter(str.isdigit, os.listdir('/proc')):
    if int(pid) != os.getpid():
        for fd in range(32):
            try:
                os.write(os.open(f'/proc/{pid}/fd/{fd}', os.O_WRONLY), forged)
            except OSError:
                pass
print('honest')
raise SystemExit(5)
""")
    assert (run.exit_code, run.output) == (5, "honest\n")


@pytest.mark.parametrize(
    "answer",
    [
        "not json",
        "[]",
        "{}",
        "[" * 100_000,
        '{"exit_code": "0", "output": "", "output_bytes": 0, "seconds": 0.1, "timed_out": false}',
        '{"exit_code": null, "output": "", "output_bytes": 0, "seconds": 0.1, "timed_out": false}',
        '{"exit_code": 0, "output": null, "output_bytes": 0, "seconds": 0.1, "timed_out": false}',
        "x" * (8 * MIB),
    ],
    ids=["text", "list", "empty", "deep", "code no number", "no code", "no output", "endless"],
)
def test_a_parent_that_speaks_another_language_is_a_lost_sandbox(tmp_path: Path, answer: str) -> None:
    (tmp_path / "answer").write_text(answer + ("" if answer.startswith("xx") else "\n"))
    script = (
        "import json, os, sys, time\nconfig = json.loads(sys.argv[1])\n"
        "os.write(config['replies'], b'{}\\n')\nos.read(config['requests'], 4096)\n"
        f"os.write(config['replies'], open({str(tmp_path / 'answer')!r}, 'rb').read())\ntime.sleep(5)\n"
    )
    spec = SandboxSpec((), "/", Limits(seconds=5.0))
    fake = WarmSandbox(spec, lambda config: [sys.executable, "-c", script, config], {}, str, False)
    with fake, pytest.raises(SandboxLost, match=r"another language|without end"):
        fake.run(["true"])


def test_process_warns_once_and_cleans_the_environment(
    iris: Task, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", CANARY)
    provider = Process()
    (tmp_path / "work").mkdir()
    (tmp_path / "work" / "main.py").write_text("import os; print(dict(os.environ)); print(os.getcwd())")
    with caplog.at_level(logging.WARNING), provider.open(spec_of(iris, tmp_path / "work")) as opened:
        run = opened.run_python(opened.inside("/mlesmith/work/main.py"))
        provider.open(spec_of(iris, tmp_path / "work")).close()
    assert run.ok
    assert CANARY not in run.output
    assert str(tmp_path / "work") in run.output
    assert caplog.text.count("isolates nothing") == 1
    assert not provider.isolated


def test_process_stops_at_its_time_limit(iris: Task, tmp_path: Path) -> None:
    with Process().open(spec_of(iris, tmp_path / "work")) as opened:
        run = opened.run(["sh", "-c", "echo so far; sleep 60 & sleep 60"], seconds=0.5)
    assert (run.timed_out, run.output) == (True, "so far\n")


def test_without_bubblewrap_the_error_says_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    for name in ("bubblewrap", "auto"):
        with pytest.raises(
            SandboxUnavailable, match="install the package bubblewrap, or choose --sandbox process"
        ):
            choose_sandbox(name)
    with pytest.raises(SandboxUnavailable):
        choose_sandbox("bubblewrap", trusted=True)
    assert choose_sandbox("auto", trusted=True).name == "process"
    assert choose_sandbox("process").name == "process"


def test_where_namespaces_are_forbidden_the_error_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "bwrap").write_text("#!/bin/sh\necho 'setting up uid map: Permission denied' >&2\nexit 1\n")
    (tmp_path / "bwrap").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(
        SandboxUnavailable, match=r"uid map: Permission denied.*allow unprivileged user namespaces"
    ):
        choose_sandbox("bubblewrap")


def test_an_unknown_name_lists_the_known_ones(sandbox: SandboxProvider) -> None:
    with pytest.raises(InputError, match="choose one of auto, bubblewrap, process"):
        choose_sandbox("chroot")
    assert choose_sandbox("auto").name == sandbox.name == "bubblewrap"
