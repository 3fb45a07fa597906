"""task.toml: what is wrong is named by its key; hashes follow the formula the format declares."""

from __future__ import annotations

import hashlib
import logging
from pathlib import Path

import pytest

from harness.errors import TaskError
from harness.tasks.package import Task, find_tasks, folder_hash, load_task, raw_hash, task_hash
from tests.conftest import TOML

GOOD = TOML.format(sha256="0" * 64)


def write(tmp_path: Path, text: str, folder: str = "iris") -> Path:
    root = tmp_path / folder
    root.mkdir(exist_ok=True)
    (root / "task.toml").write_text(text, encoding="utf-8")
    return root


def test_a_good_file_loads_with_its_values(tmp_path: Path) -> None:
    task = load_task(write(tmp_path, GOOD))
    assert (task.id, task.spec.id_column, task.spec.target_columns) == ("iris", "flower", ("species",))
    assert task.spec.metric.higher_is_better is True
    assert task.spec.metric.worst == 0.0
    assert task.spec.tags == ()
    assert not task.is_prepared


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('title = "Name the iris"', "", "title: required key is missing"),
        ('sha256 = "' + "0" * 64 + '"', "", "source.sha256: required key is missing"),
        ("higher_is_better = true", "", "metric.higher_is_better: required key is missing"),
        ('difficulty = "easy"', 'difficulty = "easy"\ncolour = "red"', "colour: unknown key"),
        ("[metric]", "[metric]\nhigher = true", "metric.higher: unknown key"),
        ("higher_is_better = true", 'higher_is_better = "false"', "metric.higher_is_better: "),
        ("higher_is_better = true", "higher_is_better = 1", "metric.higher_is_better: "),
        ("best = 1.0", 'best = "1.0"', "metric.best: "),
        ("best = 1.0", "best = nan", "metric.best: "),
        ("worst = 0.0", "worst = -inf", "metric.worst: "),
        ("seed = 7", 'seed = "7"', "split.seed: "),
        ('target_columns = ["species"]', 'target_columns = "species"', "target_columns: "),
        ('target_columns = ["species"]', "target_columns = [1]", "target_columns.0: "),
        ('target_columns = ["species"]', "target_columns = []", "target_columns: "),
        ('target_columns = ["species"]', 'target_columns = ["flower"]', "id_column and target_columns"),
        ('difficulty = "easy"', 'difficulty = "trivial"', "difficulty: "),
        ('kind = "random"', 'kind = "by luck"', "split.kind: "),
        ('kind = "random"', 'kind = "group"', "group_column is required"),
        ('kind = "random"', 'kind = "time"', "time_column is required"),
        ("schema_version = 1", "schema_version = 2", "schema_version: "),
        ('id = "iris"', 'id = "Iris Task"', "id: "),
        ('id = "iris"', 'id = "rose"', "id is 'rose' but the folder is named 'iris'"),
        ("[split]", '[sandbox]\nallow_host = ["a.org"]\n[split]', "sandbox.allow_host: unknown key"),
        ("[split]", '[sandbox]\nallow_hosts = "a.org"\n[split]', "sandbox.allow_hosts: "),
        (
            "[split]",
            '[sandbox]\nallow_hosts = ["https://a.org"]\n[split]',
            "sandbox.allow_hosts: 'https://a.org' ",
        ),
        ("[split]", "[split", "not valid TOML"),
    ],
)
def test_every_error_names_the_file_and_the_key(tmp_path: Path, old: str, new: str, said: str) -> None:
    assert old in GOOD
    root = write(tmp_path, GOOD.replace(old, new, 1))
    with pytest.raises(TaskError) as caught:
        load_task(root)
    assert str(root / "task.toml") in str(caught.value)
    assert said in str(caught.value)


def test_several_errors_are_named_together(tmp_path: Path) -> None:
    text = GOOD.replace('title = "Name the iris"', "").replace("seed = 7", 'seed = "7"')
    with pytest.raises(TaskError, match=r"title: .*split\.seed: "):
        load_task(write(tmp_path, text))


def test_bytes_that_are_not_utf8_are_a_clear_error(tmp_path: Path) -> None:
    root = write(tmp_path, GOOD)
    (root / "task.toml").write_bytes(b'title = "\xff"\n')
    with pytest.raises(TaskError, match="not valid TOML"):
        load_task(root)


def test_missing_folder_and_missing_file(tmp_path: Path) -> None:
    with pytest.raises(TaskError, match="no such task folder"):
        load_task(tmp_path / "nothing")
    with pytest.raises(TaskError, match=r"task\.toml: not found"):
        load_task(tmp_path)


def test_unknown_words_warn_but_load(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    text = GOOD.replace('"tabular"', '"smell"').replace('"classification"', '"divination"')
    with caplog.at_level(logging.WARNING):
        task = load_task(write(tmp_path, text))
    assert (task.spec.modality, task.spec.objective) == ("smell", "divination")
    assert "modality 'smell'" in caplog.text
    assert "objective 'divination'" in caplog.text


def test_a_task_opens_no_network_unless_it_names_hosts(tmp_path: Path) -> None:
    assert load_task(write(tmp_path, GOOD)).spec.sandbox.allow_hosts == ()
    asking = GOOD + '[sandbox]\nallow_hosts = ["example.net", "*.Example.org", "example.net"]\n'
    assert load_task(write(tmp_path, asking)).spec.sandbox.allow_hosts == ("*.example.org", "example.net")


def test_an_unprepared_task_says_how_to_prepare_it(tmp_path: Path) -> None:
    task = load_task(write(tmp_path, GOOD))
    with pytest.raises(TaskError, match=r"sample_submission\.csv: not found; run `mlesmith task prepare"):
        task.require_prepared()


def test_tasks_are_found_in_folders_and_folders_of_folders(tmp_path: Path) -> None:
    one, two = write(tmp_path, GOOD, "one"), write(tmp_path, GOOD, "two")
    assert find_tasks([tmp_path]) == [one, two]
    assert find_tasks([two, one]) == [two, one]
    (tmp_path / "empty").mkdir()
    with pytest.raises(TaskError, match="neither a task folder"):
        find_tasks([tmp_path / "empty"])
    with pytest.raises(TaskError, match="no such folder"):
        find_tasks([tmp_path / "nothing"])


def test_raw_hash_is_the_files_own_or_that_of_its_lines(tmp_path: Path) -> None:
    (tmp_path / "b.csv").write_bytes(b"1")
    # One file: the SHA-256 of its bytes, here of "1".
    one = hashlib.sha256(b"1").hexdigest()
    assert raw_hash(tmp_path) == one
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "x").write_bytes(b"2")
    # Several: the SHA-256 of "<relative path>\0<sha256>\n" of all, sorted by path: a/x before b.csv.
    two = hashlib.sha256(b"2").hexdigest()
    assert raw_hash(tmp_path) == hashlib.sha256(f"a/x\0{two}\nb.csv\0{one}\n".encode()).hexdigest()
    assert folder_hash(tmp_path) == raw_hash(tmp_path)


@pytest.mark.parametrize(
    "name",
    ["task.toml", "metric.py", "prepare.py", "description.txt", "public/test.csv", "private/test_answer.csv"],
)
def test_a_tasks_identity_changes_with_each_of_its_files(iris: Task, name: str) -> None:
    before = task_hash(iris)
    assert task_hash(iris) == before
    with (iris.root / name).open("a") as stream:
        stream.write("\n")
    assert task_hash(iris) != before
