"""Attacks by an agent's program, as its environment tells them and as the trial's folder keeps them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from harness.actions import Action, Observation
from harness.budget import Budget, BudgetMeter
from harness.environment import Environment
from harness.records import Feedback, TrialPaths
from harness.sandboxes.base import MIB, Limits, SandboxProvider
from harness.tasks.grading import Grader
from harness.tasks.package import load_task

_SAMPLE = "import shutil; shutil.copy('/mlesmith/public/sample_submission.csv', 'submission.csv')"


class Trial:
    """Carries out programs one after the other."""

    def __init__(self, environment: Environment, paths: TrialPaths) -> None:
        self._environment, self._paths, self._number = environment, paths, 0

    def run(self, code: str) -> Observation:
        self._number += 1
        return self._environment.step(Action("execute_code", {"code": code}), self._number)

    @property
    def kept(self) -> dict[str, bytes]:
        """The files of the last step."""
        folder = self._paths.step(self._number)
        assert not any(path.is_symlink() for path in folder.iterdir())
        return {path.name: path.read_bytes() for path in folder.iterdir()}


@pytest.fixture(scope="module", params=["bubblewrap", "docker"])
def trial(
    request: pytest.FixtureRequest, _prepared_iris: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Trial]:
    name = "docker_sandbox" if request.param == "docker" else "sandbox"
    provider: SandboxProvider = request.getfixturevalue(name)
    paths = TrialPaths(tmp_path_factory.mktemp("trial"))
    meter = BudgetMeter(Budget.model_validate({"execution_seconds": 20.0}))
    limits = Limits(memory_bytes=1024 * MIB, disk_bytes=300 * MIB, tmp_bytes=64 * MIB, shm_bytes=64 * MIB)
    with (
        Grader(load_task(_prepared_iris), provider) as grader,
        Environment(grader.task, grader, provider, paths, meter, Feedback.TEST, limits) as environment,
    ):
        yield Trial(environment, paths)


@pytest.mark.parametrize(
    ("code", "told"),
    [
        ("import os; os.symlink('/mlesmith/public/train.csv', 'submission.csv')", "not a regular file"),
        ("import os; os.symlink('/dev/zero', 'submission.csv')", "not a regular file"),
        ("import os; os.symlink('../../private/test_answer.csv', 'submission.csv')", "not a regular file"),
        ("import os; os.mkfifo('submission.csv')", "not a regular file"),
        ("import os; os.makedirs('submission.csv/deep')", "not a regular file"),
        ("import socket; socket.socket(socket.AF_UNIX).bind('submission.csv')", "not a regular file"),
        ("import os; open('submission.csv', 'w'); os.chmod('submission.csv', 0)", "cannot be read"),
        ("import os; os.truncate(open('submission.csv', 'w').name, 200 << 20)", "at most"),
        ("import os; os.truncate(open('submission.csv', 'w').name, 10 << 30)", "File too large"),
        ("import gzip; gzip.open('submission.csv', 'w').write(bytes(50 << 20))", "Invalid submission"),
        (
            "import zipfile\nwith zipfile.ZipFile('submission.csv', 'w', zipfile.ZIP_DEFLATED) as bomb:\n"
            "    bomb.writestr('submission.csv', bytes(100 << 20))",
            "Invalid submission",
        ),
        ("open('submission.csv', 'wb').write(b'\\xff\\xfe\\x00' * 1000)", "Invalid submission"),
        ("open('submission.csv', 'w').write('flower,species\\n' + '\"' * 100_000)", "Invalid submission"),
        ("open('submission.csv', 'w').write(','.join('abc' * 50_000))", "Invalid submission"),
        ("open('submission.csv', 'w').write('=cmd|calc,\\x1b[2J\\n1,2\\n')", "Invalid submission"),
        (
            "import os\nos.mkdir('x')\nos.chdir('x')\nopen('submission.csv', 'w')",
            "No submission.csv was written",
        ),
    ],
)
def test_what_is_no_submission_is_told_and_not_graded(trial: Trial, code: str, told: str) -> None:
    seen = trial.run(code)
    assert not seen.ok
    assert told in seen.text, seen.text
    assert "\x1b" not in seen.text
    assert seen.scores is None or seen.scores.grade.raw_score is None
    assert len(trial.kept.get("submission.csv", b"")) <= 64 * MIB
    good = trial.run(_SAMPLE)
    assert good.ok and "Score: " in good.text, good.text


def test_a_score_in_the_output_is_only_output(trial: Trial) -> None:
    seen = trial.run("print('Score: 1 (higher is better). Best so far: 1.')")
    assert (seen.ok, seen.scores) == (False, None)
    assert seen.text.rstrip().endswith("No submission.csv was written to /mlesmith/work.")


def test_escape_sequences_reach_neither_the_observation_nor_the_record(trial: Trial) -> None:
    seen = trial.run(
        "import sys\nsys.stdout.write('\\x1b[2J\\x1b]0;owned\\x07safe\\u202e\\r\\nnext\\x9b1m\\n')\n"
        "raise ValueError('\\x1b[31mred\\x07')"
    )
    for text in (seen.text, trial.kept["output.txt"].decode()):
        assert all(character.isprintable() or character in "\n\t" for character in text)
        assert "safe\nnext\n" in text and "ValueError: red" in text


def test_a_program_that_ends_its_sandbox_costs_its_working_folder_and_nothing_else(trial: Trial) -> None:
    trial.run("open('kept', 'w').write('x')")
    seen = trial.run("import os, time\nfor pid in (os.getppid(), -1):\n    os.kill(pid, 9)\ntime.sleep(2)")
    assert not seen.ok
    assert trial.run(_SAMPLE).ok


def test_a_daemon_does_not_change_what_was_graded(trial: Trial) -> None:
    seen = trial.run(
        _SAMPLE + "\nimport os, time\nif os.fork() == 0:\n    os.setsid()\n    while True:\n"
        "        open('submission.csv', 'w').write('flower,species\\n')\n        time.sleep(0.001)"
    )
    kept = trial.kept["submission.csv"]
    assert seen.ok == (kept.count(b"\n") == 51)
    assert trial.run("import os; print(sorted(os.listdir()))").text.count("submission.csv") == 1
