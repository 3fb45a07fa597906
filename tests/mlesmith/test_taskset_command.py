"""``mlesmith taskset`` as users and scripts meet it, on real packages with real verdicts."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from harness.sandboxes.process import Process
from harness.tasks.package import load_task
from harness.tasks.preparing import prepare_task
from mlesmith.main import main
from tests.conftest import write_iris
from tests.generator.selection.real_tasks import prepared, remember_verdict, verifications

Command = Callable[..., "Done"]

TWO = ("titanic-survival", "travel-mode-choice")


@pytest.fixture(scope="module")
def _made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return prepared(TWO, tmp_path_factory.mktemp("taskset") / "tasks")


@pytest.fixture
def tasks(_made: Path, tmp_path: Path) -> Path:
    """Two verified tasks, and one without a verdict that is not prepared."""
    folder = Path(shutil.copytree(_made, tmp_path / "tasks"))
    for name in TWO:
        remember_verdict(folder / name, verifications()[name])
    write_iris(folder / "iris")
    return folder


@dataclass(frozen=True)
class Done:
    returncode: int
    stdout: str
    stderr: str


@pytest.fixture
def mlesmith(tasks: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Command:
    """The command in this process: verdicts are of the code as it was read here, if files change since."""

    def run(*arguments: object) -> Done:
        monkeypatch.chdir(tasks.parent)
        monkeypatch.setattr(sys, "argv", ["mlesmith", *map(str, arguments)])
        with pytest.raises(SystemExit) as end:
            main()
        return Done(int(end.value.code or 0), *capfd.readouterr())

    return run


def test_build_check_and_run_of_a_set(tasks: Path, mlesmith: Command) -> None:
    built = mlesmith("taskset", "build", "tasks", "--size", 2, "--out", "set.toml", "--json")
    assert built.returncode == 0, built.stderr
    document = json.loads(built.stdout)
    assert [task["task"] for task in document["tasks"]] == [f"reference/{name}" for name in TWO]
    assert [left["task"] for left in document["left_out"]] == ["reference/iris"]
    assert document["left_out"][0]["reason"].startswith("not prepared; run `mlesmith task prepare")
    assert set(document) == {
        "schema_version", "name", "size", "hash", "method", "options", "quality", "tasks", "left_out",
    }  # fmt: skip
    assert (document["name"], document["size"], document["options"]["per_dataset"]) == ("set", 2, 2)

    checked = mlesmith("taskset", "check", "set.toml", "--json")
    assert checked.returncode == 0 and json.loads(checked.stdout)["ok"] is True

    job = tasks.parent / "jobs" / "job.toml"
    job.parent.mkdir()
    job.write_text('tasks = ["../set.toml"]\nmodels = ["scripted/tree"]\n')
    by_options, by_file = ("--tasks", "set.toml", "--model", "scripted/tree"), (job,)
    for asked in (by_options, by_file):
        planned = mlesmith("run", *asked, "--dry-run", "--json")
        assert planned.returncode == 0, planned.stderr
        assert json.loads(planned.stdout)["trials"] == 2

    with (tasks / "titanic-survival" / "metric.py").open("a") as stream:
        stream.write("# other\n")
    changed = mlesmith("taskset", "check", "set.toml")
    assert changed.returncode == 1
    assert changed.stdout.splitlines() == [
        "reference/titanic-survival: changed: metric.py",
        "set: 1 of 2 tasks are as they were frozen",
    ]
    for asked in (by_options, by_file):
        refused = mlesmith("run", *asked, "--dry-run")
        assert refused.returncode == 2
        told = "1 of its 2 tasks are not what was frozen: reference/titanic-survival (metric.py)"
        assert told in refused.stderr


def test_a_set_for_people_and_never_replaced_silently(tasks: Path, mlesmith: Command) -> None:
    home = tasks.parent
    built = mlesmith("taskset", "build", "tasks", "--size", 1, "--out", "set.toml", "--name", "mine")
    assert built.returncode == 0, built.stderr
    assert "mine: 1 tasks" in built.stdout and "Beside random sets of this size" in built.stdout
    assert "objective: 1 ranking" in built.stdout
    before = (home / "set.toml").read_bytes()
    again = mlesmith("taskset", "build", "tasks", "--size", 2, "--out", "set.toml")
    assert again.returncode == 2 and "add --force to replace it" in again.stderr
    assert (home / "set.toml").read_bytes() == before
    forced = mlesmith(
        "taskset", "build", "tasks", "--size", 1, "--out", "set.toml", "--force", "--name", "mine"
    )
    assert forced.returncode == 0 and (home / "set.toml").read_bytes() == before


def test_verify_asks_the_verifier_for_what_is_missing(tasks: Path, mlesmith: Command) -> None:
    """A package that fails the first gate, so that the real verifier needs no baselines."""
    flowers = write_iris(tasks.parent / "more" / "flowers")
    text = (flowers / "task.toml").read_text().replace('id = "iris"', 'id = "flowers"')
    (flowers / "task.toml").write_text(text)
    prepare_task(load_task(flowers), Process())
    (flowers / "metric.py").write_text("def nothing(): pass\n")
    command = ["taskset", "build", "tasks", "more", "--size", 1, "--out", "set.toml", "--json"]

    def reason(*more: object) -> str:
        built = mlesmith(*command, "--force", *more)
        assert built.returncode == 0, built.stderr
        left_out = {left["task"]: left["reason"] for left in json.loads(built.stdout)["left_out"]}
        return str(left_out["reference/flowers"])

    assert reason() == "no verdict is remembered; run `mlesmith task verify`, or add --verify"
    told = reason("--verify", "--cache", "verdicts", "--sandbox", "process", "--trust")
    assert told.startswith("rejected by the verifier: ")
    # In a package that is rejected at once nothing is verified but itself, and the cache has it.
    assert len(list((tasks.parent / "verdicts").glob("*.json"))) == 1
    assert reason("--cache", "verdicts") == told


def test_what_cannot_be_used_names_the_file_the_field_and_the_fix(tasks: Path, mlesmith: Command) -> None:
    home = tasks.parent

    def build(*more: object) -> str:
        done = mlesmith("taskset", "build", "tasks", *more)
        assert done.returncode == 2 and done.stdout == "" and done.stderr.startswith("error: ")
        return done.stderr

    assert "--size 50: only 2 of 3 tasks can be chosen (1: not prepared)" in build("--out", "set.toml")
    assert "--out set.json: name a .toml file" in build("--out", "set.json")
    (home / "scores.csv").write_text("task,model\n")
    assert "scores.csv" in build("--out", "set.toml", "--scores", "scores.csv")
    lost = mlesmith("taskset", "check", "nowhere.toml")
    assert lost.returncode == 2 and "nowhere.toml: cannot be read" in lost.stderr
    assert not (home / "set.toml").exists()
