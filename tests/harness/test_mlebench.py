"""A competition in the form of mle-bench becomes a task package, or is refused with a reason."""

from __future__ import annotations

import shutil
from pathlib import Path

import pandas as pd
import pytest
from sklearn.datasets import load_wine

from harness.errors import TaskError
from harness.sandboxes.base import SandboxProvider
from harness.tasks.grading import Grader
from harness.tasks.mlebench.competition import Competition, read_competition
from harness.tasks.mlebench.importing import import_competition
from harness.tasks.package import load_task
from harness.tasks.submission import Reason, read_strings

CONFIG = """\
id: wine-cellar
name: Wine Cellar
competition_type: simple
awards_medals: false
prizes: null
description: mlebench/competitions/wine-cellar/description.md
dataset:
  answers: wine-cellar/prepared/private/answers.csv
  sample_submission: wine-cellar/prepared/public/sampleSubmission.csv
grader:
  name: accuracy-score
  grade_fn: mlebench.competitions.wine-cellar.grade:grade
preparer: mlebench.competitions.wine-cellar.prepare:prepare
"""
PREPARE = """\
from pathlib import Path
from sklearn.model_selection import train_test_split
from tqdm.auto import tqdm
from mlebench.utils import extract, read_csv
from .cellar import SHELVES

def prepare(raw: Path, public: Path, private: Path):
    extract(raw / "wine.zip", public)
    wine = read_csv(public / "wine.csv")
    (public / "wine.csv").unlink()
    wine["shelf"] = [SHELVES[kind] for kind in tqdm(wine.pop("kind"), desc="shelves")]
    train, test = train_test_split(wine, test_size=0.3, random_state=0)
    train.to_csv(public / "train.csv", index=False)
    test.drop(columns="shelf").to_csv(public / "test.csv", index=False)
    test[["bottle", "shelf"]].to_csv(private / "answers.csv", index=False)
    test[["bottle"]].assign(shelf="top").to_csv(public / "sampleSubmission.csv", index=False)
"""
GRADE = """\
from sklearn.metrics import accuracy_score
from mlebench.grade_helpers import InvalidSubmissionError
from .cellar import SHELVES

def grade(submission, answers):
    if not set(submission["shelf"]) <= set(SHELVES):
        raise InvalidSubmissionError("no such shelf")
    merged = answers.merge(submission, on="bottle", suffixes=("", "_said"))
    return accuracy_score(merged["shelf"], merged["shelf_said"])
"""


@pytest.fixture
def competition(tmp_path: Path) -> Competition:
    root = tmp_path / "checkout" / "mlebench" / "competitions" / "wine-cellar"
    root.mkdir(parents=True)
    (root / "config.yaml").write_text(CONFIG)
    (root / "prepare.py").write_text(PREPARE)
    (root / "grade.py").write_text(GRADE)
    (root / "cellar.py").write_text('SHELVES = ["top", "middle", "bottom"]\n')
    (root / "description.md").write_text("# Wine Cellar\n\nPredict the `shelf` of each `bottle`.\n")
    (root / "leaderboard.csv").write_text("scoreNullable,teamId,score\n1,1,0.99\n1,2,0.7\n")
    return read_competition(root)


@pytest.fixture
def raw(tmp_path: Path) -> Path:
    table = load_wine(as_frame=True).frame.rename(columns={"target": "kind"})
    table.insert(0, "bottle", range(500, 500 + len(table)))
    (tmp_path / "unzipped").mkdir()
    table.to_csv(tmp_path / "unzipped" / "wine.csv", index=False)
    (tmp_path / "raw").mkdir()
    shutil.make_archive(str(tmp_path / "raw" / "wine"), "zip", tmp_path / "unzipped")
    return tmp_path / "raw"


def test_a_competition_becomes_a_task(
    competition: Competition, raw: Path, tmp_path: Path, sandbox: SandboxProvider
) -> None:
    """Zip, progress bar and a module beside it included; answers and sample get our names."""
    task = import_competition(competition, raw, tmp_path / "tasks", sandbox, objective="classification")
    assert (task.id, task.spec.set, task.spec.metric.name) == ("wine-cellar", "mle-bench", "accuracy-score")
    assert (task.spec.id_column, task.spec.target_columns) == ("bottle", ("shelf",))
    assert (task.spec.metric.higher_is_better, task.spec.metric.best) == (True, 1.0)
    assert load_task(task.root) == task and task.is_prepared
    assert sorted(path.name for path in task.public.iterdir()) == [
        "description.txt", "sample_submission.csv", "test.csv", "train.csv",
    ]  # fmt: skip
    answers = read_strings(task.answer_path)
    assert len(answers) == 54  # 0.3 of 178, rounded up
    with Grader(task, sandbox) as grader:
        top = float((answers["shelf"] == "top").mean())
        assert grader.grade(task.sample_path).raw_score == pytest.approx(top)
        path = tmp_path / "submission.csv"
        answers.assign(shelf="cupboard").to_csv(path, index=False)
        refused = grader.grade(path)
        assert (refused.reason, refused.message) == (Reason.METRIC_REJECTED, "no such shelf")


def test_the_direction_must_be_known(
    competition: Competition, raw: Path, tmp_path: Path, sandbox: SandboxProvider
) -> None:
    """By the leaderboard's order; a checkout without Git LFS has a pointer in its place."""
    board = competition.root / "leaderboard.csv"
    assert competition.higher_is_better() is True
    pd.DataFrame({"score": [0.1, 0.2, 0.9]}).to_csv(board)
    assert competition.higher_is_better() is False
    board.write_text("version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 12\n")
    with pytest.raises(
        TaskError, match=r"leaderboard\.csv: no leaderboard, so the direction .*accuracy-score"
    ):
        import_competition(competition, raw, tmp_path / "tasks", sandbox)
    assert not (tmp_path / "tasks").exists()


def test_submissions_that_repeat_given_columns_are_refused(
    competition: Competition, raw: Path, tmp_path: Path, sandbox: SandboxProvider
) -> None:
    path = competition.root / "prepare.py"
    path.write_text(path.read_text().replace('test[["bottle"]].assign', 'test[["bottle", "alcohol"]].assign'))
    with pytest.raises(TaskError, match=r"column 'alcohol' also stands in test\.csv"):
        import_competition(competition, raw, tmp_path / "tasks", sandbox)
    assert list((tmp_path / "tasks").iterdir()) == []


def test_nothing_is_left_of_what_cannot_be_prepared(
    competition: Competition, raw: Path, tmp_path: Path, sandbox: SandboxProvider
) -> None:
    (raw / "wine.zip").rename(raw / "wine.7z")
    with pytest.raises(TaskError, match=r"prepare\.py failed: .*No such file.*wine\.zip"):
        import_competition(competition, raw, tmp_path / "tasks", sandbox)
    assert list((tmp_path / "tasks").iterdir()) == []
    with pytest.raises(TaskError, match="no such folder; give the raw data of wine-cellar"):
        import_competition(competition, raw / "deeper", tmp_path / "tasks", sandbox)


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("name: Wine Cellar\n", "", "key 'name' is missing"),
        (
            "wine-cellar/prepared/private/answers.csv",
            "../../etc/passwd",
            "dataset.answers is '../../etc/passwd'",
        ),
        ("grader:\n", "grader: [\n", "cannot be read"),
        ("grader:\n  name: accuracy-score\n", "grader: none\nother:\n", "cannot be read"),
    ],
)
def test_a_broken_config_is_named(competition: Competition, old: str, new: str, said: str) -> None:
    path = competition.root / "config.yaml"
    assert old in path.read_text()
    path.write_text(path.read_text().replace(old, new))
    with pytest.raises(TaskError) as error:
        read_competition(competition.root)
    assert str(error.value).startswith(f"{path}: ") and said in str(error.value)
