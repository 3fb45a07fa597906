"""The hand-made reference set: every task is prepared twice and graded from both ends by the real grader."""

from __future__ import annotations

import re
import shutil
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pandas as pd
import pytest

import harness.tasks.grading
from harness.errors import TaskError
from harness.sandboxes.base import SandboxProvider
from harness.sandboxes.process import Process
from harness.tasks.grading import Grader
from harness.tasks.package import MODALITIES, OBJECTIVES, Task, folder_hash, load_task, raw_hash
from harness.tasks.preparing import prepare_task
from harness.tasks.submission import Reason
from harness.tasksets.catalogue import REFERENCE, list_tasks, reference_task

BASE_CLASS = Path(harness.tasks.grading.__file__).with_name("inside") / "competition_metrics.py"
FILES = {"task.toml", "description.txt", "prepare.py", "metric.py", "raw"}


def prepare_into(folder: Path, task: Task) -> None:
    """Run the task's own prepare.py into ``folder``, as its sandbox would."""
    namespace: dict[str, Any] = {"__name__": "prepare"}
    exec(compile(task.prepare_path.read_text(encoding="utf-8"), task.prepare_path, "exec"), namespace)
    for name in ("public", "private"):
        (folder / name).mkdir(parents=True)
    namespace["prepare"](task.raw, folder / "public", folder / "private")


def metric_of(task: Task, monkeypatch: pytest.MonkeyPatch) -> Any:
    """The task's metric, with our base class under MLE-Dojo's name and files read as MLE-Dojo reads them."""
    base: dict[str, Any] = {"__name__": "mledojo.metrics.base"}
    exec(BASE_CLASS.read_text(encoding="utf-8"), base)
    module = ModuleType("mledojo.metrics.base")
    module.__dict__.update(base)
    for name in ("mledojo", "mledojo.metrics"):
        monkeypatch.setitem(sys.modules, name, ModuleType(name))
    monkeypatch.setitem(sys.modules, module.__name__, module)
    namespace: dict[str, Any] = {"__name__": "metric"}
    exec(compile(task.metric_path.read_text(encoding="utf-8"), task.metric_path, "exec"), namespace)
    parent = base["CompetitionMetrics"]
    (kind,) = (v for v in namespace.values() if isinstance(v, type) and parent in v.__bases__)
    return kind()


def words(path: Path) -> pd.DataFrame:
    """A CSV file with every cell as text."""
    return pd.read_csv(path, dtype=str, keep_default_na=False)


@pytest.fixture(scope="module")
def process() -> SandboxProvider:
    """The sandbox that needs nothing installed: these tasks are our own."""
    return Process()


@pytest.fixture(scope="module", params=list_tasks())
def prepared(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Task:
    """A prepared copy of one reference task."""
    folder = tmp_path_factory.mktemp("reference") / request.param
    shutil.copytree(reference_task(request.param), folder)
    task = load_task(folder)
    prepare_into(folder, task)
    return task


def test_the_package_is_complete_and_declared_in_known_words(prepared: Task) -> None:
    assert {path.name for path in reference_task(prepared.id).iterdir()} - {"__pycache__"} == FILES
    assert prepared.spec.set == "reference"
    assert prepared.spec.modality in MODALITIES
    assert prepared.spec.objective in OBJECTIVES
    assert prepared.spec.source.licence


def test_preparing_again_elsewhere_gives_the_same_bytes_and_leaves_raw_alone(
    prepared: Task, tmp_path: Path
) -> None:
    np.random.seed(1)  # a task that drew from the global state would now draw otherwise
    prepare_into(tmp_path, prepared)
    for name in ("public", "private"):
        assert folder_hash(tmp_path / name) == folder_hash(prepared.root / name)
    assert raw_hash(prepared.raw) == prepared.spec.source.sha256


def test_preparing_in_a_sandbox_gives_the_same_bytes(tmp_path: Path, process: SandboxProvider) -> None:
    folder = Path(shutil.copytree(reference_task("handwritten-digits"), tmp_path / "handwritten-digits"))
    task = load_task(folder)
    prepare_task(task, process)
    assert (task.public / "description.txt").read_bytes() == task.description_path.read_bytes()
    (task.public / "description.txt").unlink()
    prepare_into(tmp_path / "again", task)
    assert folder_hash(task.public) == folder_hash(tmp_path / "again" / "public")
    assert folder_hash(task.private) == folder_hash(tmp_path / "again" / "private")


def test_files_fit_together_and_no_answer_is_public(prepared: Task) -> None:
    spec = prepared.spec
    train, test = words(prepared.public / "train.csv"), words(prepared.public / "test.csv")
    sample, answer = words(prepared.sample_path), words(prepared.answer_path)
    assert list(sample.columns) == list(answer.columns) == [spec.id_column, *spec.target_columns]
    assert list(answer[spec.id_column]) == list(sample[spec.id_column]) == list(test[spec.id_column])
    assert answer[spec.id_column].is_unique
    assert not set(answer[spec.id_column]) & set(train[spec.id_column])
    assert set(train.columns) - set(test.columns) == set(spec.target_columns)
    assert set(test.columns) <= set(train.columns)
    if spec.modality == "image":
        for image in [*train["image"], *test["image"]]:
            assert (prepared.public / image).read_bytes().startswith(b"\x89PNG\r\n\x1a\n")
    assert len(test) >= 100
    assert len(train) <= 6000
    assert len(sample[list(spec.target_columns)].drop_duplicates()) == 1, "the sample tells rows apart"


def test_groups_and_time_are_split_as_declared(prepared: Task) -> None:
    train, test = words(prepared.public / "train.csv"), words(prepared.public / "test.csv")
    group, time = prepared.spec.split.group_column, prepared.spec.split.time_column
    if group is not None:
        assert not set(train[group]) & set(test[group])
    if time is not None:
        assert train[time].max() < test[time].min()


def test_the_answers_are_best_the_sample_is_worse_and_order_does_not_matter(
    prepared: Task, monkeypatch: pytest.MonkeyPatch
) -> None:
    metric = metric_of(prepared, monkeypatch)
    answer, sample = pd.read_csv(prepared.answer_path), pd.read_csv(prepared.sample_path)
    targets = list(prepared.spec.target_columns)
    elsewhere = answer.copy()
    elsewhere[targets] = answer[targets].sample(frac=1, random_state=5).to_numpy()
    scores = []
    for submission in (answer, answer.sample(frac=1, random_state=5), sample, elsewhere):
        metric.validate_submission(submission.copy(), answer.copy())
        scores.append(metric.evaluate(answer.copy(), submission.copy()))
    assert {type(score) for score in scores} == {float}
    oracle, shuffled, constant, wrong = scores
    assert metric.higher_is_better is prepared.spec.metric.higher_is_better
    assert oracle == pytest.approx(prepared.spec.metric.best, abs=1e-9)
    assert shuffled == pytest.approx(oracle, abs=1e-12)
    sign = 1 if metric.higher_is_better else -1
    assert sign * constant < sign * oracle
    assert sign * wrong < sign * oracle


def test_metrics_refuse_what_is_not_a_submission(prepared: Task, monkeypatch: pytest.MonkeyPatch) -> None:
    metric = metric_of(prepared, monkeypatch)
    refusal = sys.modules["mledojo.metrics.base"].InvalidSubmissionError
    answer, target = pd.read_csv(prepared.answer_path), prepared.spec.target_columns[0]
    for bad in (
        answer.drop(columns=target),
        answer.iloc[1:],
        pd.concat([answer, answer.iloc[:1]]),
        answer.astype({target: object}).assign(**{target: "nonsense"}),
    ):
        with pytest.raises(refusal):
            metric.validate_submission(bad, answer)


@pytest.mark.parametrize("name", ["bird-strike-phase", "party-identification", "travel-mode-choice"])
def test_the_grader_agrees(name: str, tmp_path: Path, process: SandboxProvider) -> None:
    task = load_task(Path(shutil.copytree(reference_task(name), tmp_path / name)))
    prepare_into(task.root, task)
    shuffled = tmp_path / "shuffled.csv"
    words(task.answer_path).sample(frac=1, random_state=5).to_csv(shuffled, index=False)
    with Grader(task, process) as grader:
        oracle, sample = grader.grade(shuffled), grader.grade(task.sample_path)
    assert [oracle.reason, sample.reason] == [Reason.OK, Reason.OK], sample.message
    assert oracle.raw_score == pytest.approx(task.spec.metric.best, abs=1e-9)
    # Chance on the kappa scale; the usual phase alone has F1 2p/(1+p) for its share p, over six phases;
    # four ways with equal scores share the rank 2.5.
    share = (words(task.answer_path).iloc[:, 1] == words(task.sample_path).iloc[0, 1]).mean()
    expected = {
        "bird-strike-phase": 2 * share / (1 + share) / 6,
        "party-identification": 0.0,
        "travel-mode-choice": 1 / 2.5,
    }
    assert sample.raw_score == pytest.approx(expected[name], abs=1e-9)


def test_the_description_tells_what_a_participant_needs(prepared: Task) -> None:
    text = prepared.description_path.read_text(encoding="utf-8")
    test = words(prepared.public / "test.csv")
    for heading in ("Goal", "Data", "Metric", "Submission"):
        assert re.search(rf"^{heading}\n-+$", text, flags=re.MULTILINE), heading
    better = "Higher is better" if prepared.spec.metric.higher_is_better else "Lower is better"
    assert better in " ".join(text.split())
    assert ",".join(words(prepared.sample_path).columns) in text, "the example's header is not the sample's"
    told = [name for name in test.columns if not re.search(r"(?i)^(t|att|c\d+_t)\d+$", name)]
    assert [name for name in told if name not in text] == []


def test_the_set_is_varied() -> None:
    specs = [load_task(REFERENCE / name).spec for name in list_tasks()]
    assert len(specs) >= 13
    assert {"tabular", "text", "image", "time series"} <= {spec.modality for spec in specs}
    objectives = {spec.objective for spec in specs}
    assert objectives >= {
        "classification",
        "regression",
        "multi-label classification",
        "ranking",
        "forecasting",
    }
    assert len({spec.metric.name for spec in specs}) >= 10
    assert {"random", "stratified", "group", "time", "given"} == {spec.split.kind for spec in specs}


def test_an_unknown_task_is_named_with_its_neighbours() -> None:
    with pytest.raises(TaskError, match=r"'titanic-survivor'.*titanic-survival"):
        reference_task("titanic-survivor")
