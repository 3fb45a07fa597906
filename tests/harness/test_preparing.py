"""Preparation in the sandbox: raw is read-only, failures keep what was there, nothing points outside."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from harness.errors import TaskError
from harness.sandboxes.base import SandboxProvider
from harness.tasks.package import Task, folder_hash, load_task
from harness.tasks.preparing import Conditions, prepare_task, replace_folders, run_prepare
from tests.conftest import PREPARE, write_iris

OUTPUT = """
def prepare(raw, public, private):
    (public / "sample_submission.csv").write_text("flower,species\\n1,a\\n")
    (private / "test_answer.csv").write_text("flower,species\\n1,a\\n")
"""


def fails(task: Task, sandbox: SandboxProvider, body: str, said: str, seconds: float | None = None) -> None:
    """prepare.py with this body fails with this message, and the earlier state stays."""
    before = {path: folder_hash(path) for path in (task.raw, task.public, task.private)}
    entries = {path.name for path in task.root.iterdir()}
    task.prepare_path.write_text(body)
    with pytest.raises(TaskError) as caught:
        prepare_task(task, sandbox, seconds=seconds)
    assert said in str(caught.value)
    assert str(task.root) in str(caught.value)
    assert {path: folder_hash(path) for path in before} == before
    assert {path.name for path in task.root.iterdir()} == entries


def test_preparing_makes_both_folders_and_adds_the_description(
    tmp_path: Path, sandbox: SandboxProvider
) -> None:
    task = load_task(write_iris(tmp_path / "iris"))
    before = folder_hash(task.raw)
    report = prepare_task(task, sandbox)
    assert report.ok
    assert {path.name for path in task.public.iterdir()} == {
        "train.csv", "test.csv", "sample_submission.csv", "description.txt",
    }  # fmt: skip
    assert {path.name for path in task.private.iterdir()} == {"test_answer.csv"}
    assert folder_hash(task.raw) == before


def test_preparing_again_gives_the_same_and_keeps_leaderboards(iris: Task, sandbox: SandboxProvider) -> None:
    before = folder_hash(iris.public), folder_hash(iris.private)
    board = iris.private / "public_leaderboard.csv"
    board.write_text("rank,score\n1,0.9\n")
    (iris.public / "left-over.csv").write_text("stale")
    prepare_task(iris, sandbox)
    assert board.read_text() == "rank,score\n1,0.9\n"
    assert not (iris.public / "left-over.csv").exists()
    board.unlink()
    assert (folder_hash(iris.public), folder_hash(iris.private)) == before


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (
            "def prepare(raw, public, private):\n    raise ValueError('no such column')\n",
            "ValueError: no such column",
        ),
        ("x = 1\n", "defines no function prepare"),
        ("def prepare(raw):\n    pass\n", "TypeError"),
        ("def prepare(:\n", "SyntaxError"),
        ("import os\nos._exit(3)\n", "exit code 3"),
        ("def prepare(raw, public, private):\n    pass\n", "did not write public/sample_submission.csv"),
        (OUTPUT.replace("test_answer.csv", "answers.csv"), "did not write private/test_answer.csv"),
        (OUTPUT + "    import shutil\n    shutil.rmtree(raw)\n", "Read-only file system"),
        (OUTPUT + "    (raw / 'iris.csv').write_text('')\n", "Read-only file system"),
        (OUTPUT + "    (public / 'leak').symlink_to('../private/test_answer.csv')\n", "public/leak a link"),
        (OUTPUT + "    (public / 'description.txt').symlink_to('/tmp/x')\n", "public/description.txt a link"),
        (OUTPUT + "    import os\n    os.mkfifo(public / 'pipe')\n", "public/pipe a link or a special file"),
        (
            OUTPUT + "    import shutil\n    shutil.rmtree(public)\n    public.symlink_to(private)\n",
            "public a link",
        ),
        (OUTPUT + "    print(open('/etc/passwd').read())\n", "No such file"),
        (OUTPUT + "    import urllib.request as u\n    u.urlopen('http://127.0.0.1:9')\n", "refused"),
    ],
)
def test_a_failure_is_named_and_keeps_the_earlier_state(
    iris: Task, sandbox: SandboxProvider, body: str, said: str
) -> None:
    fails(iris, sandbox, body, said)


def test_a_prepare_that_does_not_end_is_stopped(iris: Task, sandbox: SandboxProvider) -> None:
    fails(iris, sandbox, "while True:\n    pass\n", "ran longer than 1 s", seconds=1.0)


def test_raw_data_other_than_declared_is_refused(iris: Task, sandbox: SandboxProvider) -> None:
    with (iris.raw / "iris.csv").open("a") as stream:
        stream.write("1,1,1,1,setosa\n")
    fails(iris, sandbox, PREPARE, "source.sha256")


def test_missing_files_are_named(iris: Task, sandbox: SandboxProvider) -> None:
    iris.description_path.unlink()
    with pytest.raises(TaskError, match=r"description\.txt: not found"):
        prepare_task(iris, sandbox)
    iris.description_path.write_text("Name it.\n")
    shutil.rmtree(iris.raw)
    with pytest.raises(TaskError, match="raw: not found; put the raw data there"):
        prepare_task(iris, sandbox)


def test_a_run_elsewhere_leaves_the_task_alone(iris: Task, tmp_path: Path, sandbox: SandboxProvider) -> None:
    before = folder_hash(iris.root)
    other = Conditions(1, elsewhere=True, listing="reverse", timezone="Asia/Tokyo", umask=0o077, days=30)
    for name, conditions in (("0", Conditions()), ("1", other)):
        report = run_prepare(iris, tmp_path / name, sandbox, conditions=conditions)
        assert report.ok, report.output
    assert folder_hash(tmp_path / "0") == folder_hash(tmp_path / "1")
    assert folder_hash(iris.root) == before


@pytest.mark.parametrize("earlier", [("a", "b"), ("a",), ("b",), ()])
@pytest.mark.parametrize("made", [("a",), ("b",), ()])
def test_folders_are_replaced_all_or_none(
    tmp_path: Path, earlier: tuple[str, ...], made: tuple[str, ...]
) -> None:
    """Whichever is missing among the new ones, the earlier state stays."""
    source, target = tmp_path / "source", tmp_path / "target"
    for place, names in ((source, made), (target, earlier)):
        place.mkdir()
        for name in names:
            (place / name).mkdir()
            (place / name / "of").write_text(place.name)
    before = folder_hash(source), folder_hash(target)
    with pytest.raises(FileNotFoundError):
        replace_folders(source, target, ("a", "b"))
    assert (folder_hash(source), folder_hash(target)) == before
    assert {path.name for path in target.iterdir()} == set(earlier)


def test_a_link_in_the_place_of_a_folder_is_replaced_and_what_it_leads_to_stays(
    iris: Task, tmp_path: Path, sandbox: SandboxProvider
) -> None:
    elsewhere = tmp_path / "elsewhere"
    iris.private.rename(elsewhere)
    before = folder_hash(elsewhere)
    iris.private.symlink_to(elsewhere)
    iris.public.rename(tmp_path / "gone")
    iris.public.symlink_to("nowhere")
    prepare_task(iris, sandbox)
    assert iris.public.is_dir() and not iris.public.is_symlink()
    assert not iris.private.is_symlink()
    assert folder_hash(elsewhere) == before == folder_hash(iris.private)
