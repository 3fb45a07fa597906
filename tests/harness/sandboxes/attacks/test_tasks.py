"""Attacks by a task's own code: ``metric.py`` through the grader, and ``prepare.py``."""

from __future__ import annotations

import os
import shutil
import socket
import stat
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

import pandas as pd
import pytest

from harness.errors import SandboxLost, TaskError
from harness.sandboxes.base import MIB, Limits, SandboxProvider
from harness.tasks import preparing
from harness.tasks.grading import DRIVER, Grader, GradeResult
from harness.tasks.package import Task, load_task
from harness.tasks.preparing import Preparation, prepare_task, run_prepare
from harness.tasks.submission import Reason
from tests.conftest import PREPARE

CANARY = "canary-5c1e"
LIMITS = Limits(
    seconds=3.0, memory_bytes=512 * MIB, disk_bytes=32 * MIB, tmp_bytes=32 * MIB, shm_bytes=32 * MIB
)
#: Misbehaves when the first prediction is right, and else scores 0.5.
METRIC = """
import glob, os, socket, sys, time
from mledojo.metrics.base import CompetitionMetrics, InvalidSubmissionError

said = []
def attempt(function):
    try:
        said.append(f'DONE {function()!r}')
    except OSError as error:
        said.append(type(error).__name__)
def attack(y_true, y_pred):
%s
class M(CompetitionMetrics):
    def evaluate(self, y_true, y_pred):
        if y_true['species'][0] == y_pred['species'][0]:
            attack(y_true, y_pred)
            raise InvalidSubmissionError(' | '.join(said) or 'nothing')
        return 0.5
"""


#: What some of the attacks of a prepare.py are made of.
HIDING = """
import ctypes
def fill(folder, size=30 << 20, number=4):
    handles = []
    for at in range(number):
        handles.append(os.open(f'{folder}/fill{at}', os.O_CREAT | os.O_WRONLY))
        os.posix_fallocate(handles[-1], 0, size)
    return handles
def nest(name, times):
    os.chdir(public)
    for _ in range(times):
        os.mkdir(name)
        os.chdir(name)
def forbid():
    ctypes.CDLL(None).prctl(4, 0)
"""
#: More output than 96 MiB or 200 files, and the limit that it is over.
OVER = (
    ("fill(public)", "disk"),
    ("fill(public, 1, 300)", "files"),
    ("(public / 'a').mkdir()\nfill(public / 'a')\nos.chmod(public / 'a', 0o300)", "disk"),
    ("(public / 'a').mkdir()\nfill(public / 'a', 1, 300)\nos.chmod(public / 'a', 0)", "files"),
    ("nest('d' * 250, 18)\nfill('.')", "files"),
    ("nest('d', 1500)\nfill('.')", "files"),
)
#: As above, in files that have no name and are gone with the process.
OVER_UNTIL_THE_END = (
    ("keep = fill(public)\nfor path in public.glob('fill*'): path.unlink()", "disk"),
    ("forbid()\nkeep = fill(public, 90 << 20, 13)\nfor path in public.glob('fill*'): path.unlink()", "disk"),
)


@pytest.fixture(scope="module", params=["bubblewrap", "docker"])
def provider(request: pytest.FixtureRequest) -> SandboxProvider:
    name = "docker_sandbox" if request.param == "docker" else "sandbox"
    found: SandboxProvider = request.getfixturevalue(name)
    return found


@dataclass
class Bench:
    """A grader whose metric.py is rewritten in place; each grading reads it afresh."""

    grader: Grader
    attacking: Path
    honest: Path

    def attack(self, code: str) -> GradeResult:
        """Grade the submission at which the metric runs ``code``."""
        body = "\n".join("    " + line for line in code.strip().splitlines())
        self.grader.task.metric_path.write_text(METRIC % body)
        return self.grader.grade(self.attacking)

    def goes_on(self) -> bool:
        """Whether an honest submission is graded as it should be."""
        return self.grader.grade(self.honest).raw_score == 0.5


@pytest.fixture(scope="module")
def bench(
    _prepared_iris: Path, provider: SandboxProvider, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Bench]:
    folder = tmp_path_factory.mktemp("bench")
    task = load_task(Path(shutil.copytree(_prepared_iris, folder / "iris")))
    answers = pd.read_csv(task.answer_path, dtype=str)
    answers.to_csv(folder / "attacking.csv", index=False)
    answers.loc[0, "species"] = "virginica" if answers["species"][0] != "virginica" else "setosa"
    answers.to_csv(folder / "honest.csv", index=False)
    with Grader(task, provider, LIMITS) as grader:
        yield Bench(grader, folder / "attacking.csv", folder / "honest.csv")


class TestMetric:
    def test_it_sees_its_scripts_the_answers_and_the_submission_and_nothing_else(self, bench: Bench) -> None:
        grade = bench.attack("""
for path, folders, names in os.walk('/mlesmith'):
    if '/inside' not in path and '__pycache__' not in path:
        said.extend(f'{path}/{name}' for name in names)
""")
        assert set(grade.message.split(" | ")) == {
            "/mlesmith/exchange/answers.csv",
            "/mlesmith/exchange/submission.csv",
            "/mlesmith/exchange/request.json",
            *(f"/mlesmith/grader/{path.name}" for path in DRIVER.iterdir() if path.is_file()),
            "/mlesmith/task/metric.py",
        }

    @pytest.mark.parametrize(
        "attack",
        [
            "for path in {secrets}: attempt(lambda: open(path).read())",
            "attempt(lambda: socket.create_connection(('127.0.0.1', {port}), timeout=1).recv(100))",
            "for path in {ours}: attempt(lambda: open(path, 'a').write('x'))",
        ],
        ids=["read host files", "reach the host", "write to the grader"],
    )
    def test_it_gets_nowhere(self, bench: Bench, tmp_path: Path, attack: str) -> None:
        task = bench.grader.task
        (tmp_path / "secret.txt").write_text(CANARY)
        board = task.private / "private_leaderboard.csv"
        board.write_text(CANARY)
        secrets = [
            str(path) for path in (tmp_path / "secret.txt", board, task.raw / "iris.csv", "/etc/shadow")
        ]
        ours = [
            "/mlesmith/grader/grade.py",
            "/mlesmith/task/metric.py",
            "/mlesmith/inside/warm.py",
            os.__file__,
        ]
        with socket.create_server(("127.0.0.1", 0)) as server:
            grade = bench.attack(attack.format(secrets=secrets, ours=ours, port=server.getsockname()[1]))
        assert grade.reason is Reason.METRIC_REJECTED, grade
        assert "Error" in grade.message and "DONE" not in grade.message and CANARY not in grade.message
        assert bench.goes_on()

    @pytest.mark.parametrize(
        ("attack", "reason"),
        [
            ("while True: pass", Reason.METRIC_TIMEOUT),
            ("os._exit(0)", Reason.METRIC_FAILED),
            ("os.kill(os.getpid(), 9)", Reason.METRIC_FAILED),
            ("x = [bytearray(64 << 20) for _ in range(40)]", Reason.METRIC_FAILED),
            ("while True: os.write(1, b'x' * 65536)", Reason.METRIC_TIMEOUT),
            ("os.symlink('/etc/passwd', 'result.json')", Reason.METRIC_FAILED),
            ("os.symlink('/dev/zero', 'result.json'); os._exit(0)", Reason.METRIC_FAILED),
            ("os.mkfifo('result.json'); os._exit(0)", Reason.METRIC_FAILED),
            ("open('result.json', 'wb').truncate(20 << 20); os._exit(0)", Reason.METRIC_FAILED),
            ("open('result.json', 'w').write('[' * 100000); os._exit(0)", Reason.METRIC_FAILED),
        ],
    )
    def test_a_bad_end_is_a_defect_of_the_task_and_the_next_grading_works(
        self, bench: Bench, attack: str, reason: Reason
    ) -> None:
        grade = bench.attack(attack)
        assert grade.task_defect and grade.reason is reason, grade
        assert bench.goes_on()

    def test_nothing_of_one_grading_is_found_in_the_next(self, bench: Bench) -> None:
        code = """
import builtins, pandas
places = ['/tmp', '/dev/shm', '/mlesmith/exchange', '/var/tmp', '/run/lock', os.path.expanduser('~')]
for folder in places:
    said.extend(path for path in glob.glob(f'{folder}/**', recursive=True) if 'left' in path)
said.append(str(hasattr(builtins, 'left') or hasattr(pandas, 'left')))
for folder in places:
    attempt(lambda: y_pred.to_csv(f'{folder}/left.csv') and None) if os.path.isdir(folder) else None
builtins.left = pandas.left = y_pred
if os.fork() == 0:
    os.setsid()
    time.sleep(30)
"""
        first, second = bench.attack(code).message, bench.attack(code).message
        assert first == second
        assert "left" not in first and "True" not in first

    def test_a_grader_whose_parent_is_killed_starts_another(self, bench: Bench) -> None:
        with suppress(SandboxLost):
            bench.attack("for pid in (os.getppid(), -1): os.kill(pid, 9)\ntime.sleep(1)")
        assert bench.goes_on()


class TestPrepare:
    @pytest.fixture
    def prepare(self, iris: Task, provider: SandboxProvider, tmp_path: Path) -> Callable[[str], Preparation]:
        """Runs a prepare.py that misbehaves after it has done its work; ``out`` is where it writes."""

        def prepare(attack: str) -> Preparation:
            body = "\n".join("    " + line for line in attack.strip().splitlines())
            iris.prepare_path.write_text(
                f"import os, socket, stat, time\n{PREPARE}\n    out = public.parent\n{body}\n"
            )
            return run_prepare(iris, tmp_path / "out", provider, seconds=30)

        return prepare

    @pytest.mark.parametrize(
        "attack",
        [
            "os.symlink('/etc/passwd', public / 'extra.csv')",
            "os.unlink(public / 'test.csv'); os.symlink('/etc/passwd', public / 'test.csv')",
            "os.symlink('/etc', public / 'folder')",
            "public.rename(out / 'old'); os.symlink('/etc', public)",
            "private.rename(out / 'old'); os.symlink(public, private)",
            "os.symlink('nowhere', public / 'extra')",
            "os.mkfifo(public / 'pipe')",
            "socket.socket(socket.AF_UNIX).bind(str(public / 'socket'))",
        ],
    )
    def test_a_link_or_special_file_is_refused_and_never_followed(
        self, prepare: Callable[[str], Preparation], attack: str
    ) -> None:
        before = Path("/etc/passwd").stat()
        report = prepare(attack)
        assert not report.ok
        assert "a link or a special file" in report.message
        assert Path("/etc/passwd").stat() == before

    @pytest.mark.parametrize(
        "attack",
        [
            "os.mknod(public / 'disk', stat.S_IFBLK | 0o666, os.makedev(8, 0))",
            "os.link('/etc/passwd', public / 'passwd')",
            "(raw / 'iris.csv').write_text('changed')",
            "(raw / 'new').write_text('x')",
            "os.link(raw / 'iris.csv', public / 'iris.csv')",
            "open('/mlesmith/task/prepare.py', 'a')",
            "open('/mlesmith/run_prepare.py', 'a')",
            "os.listdir('/mlesmith/private')",
            "socket.create_connection(('127.0.0.1', 22), timeout=1)",
            "os.chown(public, 0, 0)",
            "open('/mlesmith/new', 'w')",
        ],
    )
    def test_what_is_forbidden_fails(self, prepare: Callable[[str], Preparation], attack: str) -> None:
        report = prepare(attack)
        assert not report.ok
        assert "Error" in report.message, report

    def test_permissions_become_those_of_data(
        self, prepare: Callable[[str], Preparation], tmp_path: Path
    ) -> None:
        report = prepare(
            "(public / 'deep').mkdir()\n(public / 'deep' / 'x').write_text('x')\n"
            "os.chmod(public / 'train.csv', 0o6777)\nos.chmod(public / 'deep' / 'x', 0)\n"
            "os.chmod(public / 'deep', 0)\nos.chmod(private, 0)"
        )
        assert report.ok, report
        for path in (tmp_path / "out").rglob("*"):
            state = path.stat()
            assert stat.S_IMODE(state.st_mode) == (0o755 if path.is_dir() else 0o644)
            assert state.st_uid == os.getuid()

    def test_a_daemon_does_not_write_on(self, prepare: Callable[[str], Preparation], tmp_path: Path) -> None:
        report = prepare("""
if os.fork() == 0:
    os.setsid()
    while True:
        with open(public / 'beat', 'a') as file:
            file.write('.')
        time.sleep(0.01)
while not (public / 'beat').exists():
    time.sleep(0.01)
""")
        assert report.ok, report
        size = (tmp_path / "out" / "public" / "beat").stat().st_size
        time.sleep(0.2)
        assert (tmp_path / "out" / "public" / "beat").stat().st_size == size

    @pytest.mark.parametrize(
        ("attack", "over"),
        [*OVER, *((f"{attack}\ntime.sleep(20)", over) for attack, over in (*OVER, *OVER_UNTIL_THE_END))],
    )
    def test_output_over_its_limits_is_found_wherever_it_hides(
        self,
        prepare: Callable[[str], Preparation],
        monkeypatch: pytest.MonkeyPatch,
        tmp_path: Path,
        attack: str,
        over: str,
    ) -> None:
        monkeypatch.setattr(preparing, "_LIMITS", replace(preparing._LIMITS, disk_bytes=96 * MIB, files=200))
        report = prepare(f"{HIDING}\n{attack}")
        assert report.message == f"prepare.py went over its limit of {over}", report
        assert report.seconds < 15
        assert not [path for path in (tmp_path / "out").rglob("*") if path.is_file()]

    def test_names_made_to_hurt_do_not_reach_the_terminal(
        self, prepare: Callable[[str], Preparation]
    ) -> None:
        report = prepare("os.symlink('x', public / '\\x1b]0;owned\\x07')")
        assert not report.ok
        assert report.message.isprintable()

    def test_folders_in_folders_end_in_a_refusal(
        self, iris: Task, provider: SandboxProvider, tmp_path: Path
    ) -> None:
        before = {path: path.read_bytes() for path in iris.root.rglob("*") if path.is_file()}
        iris.prepare_path.write_text(
            f"import os\n{PREPARE}\n    os.chdir(public)\n    for _ in range(1500):\n"
            "        os.mkdir('d')\n        os.chdir('d')\n"
        )
        before[iris.prepare_path] = iris.prepare_path.read_bytes()
        with pytest.raises(TaskError, match=r"prepare\.py"):
            prepare_task(iris, provider)
        after = {path: path.read_bytes() for path in iris.root.rglob("*") if path.is_file()}
        assert after == before
        assert sorted(path.name for path in iris.root.iterdir()) == sorted(
            {path.relative_to(iris.root).parts[0] for path in before}
        )
