"""A large task cut down keeps what belongs together, and still is a task."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from generator.verifier.case import Case
from generator.verifier.reduction import time_order, write_rows
from generator.verifier.thresholds.config import Thresholds
from generator.verifier.thresholds.sampling import SamplingLimits
from harness.sandboxes.process import Process
from harness.tasks.package import load_task
from tests.generator.verifier.ladders import case_of, measured

SMALL = Thresholds(sampling=SamplingLimits(scored_rows=50))


@pytest.fixture
def case(tmp_path: Path) -> Case:
    """400 rows to learn from, 200 to test, of which 50 each are scored; no sandbox is started."""
    return case_of(measured(), tmp_path, Process(), limits=SMALL)


def with_split(case: Case, split: str, scratch: Path) -> Case:
    """The same package with another split."""
    path = case.task.root / "task.toml"
    path.write_text(path.read_text().replace('kind = "random"', split))
    task = load_task(case.task.root)
    scratch.mkdir()
    return Case(task, case.provider, scratch, case.limits, prepared=task)


def read(case: Case, name: str) -> pd.DataFrame:
    return pd.read_csv(case.scored.root / name)


def test_ids_of_test_sample_and_answers_stay_the_same_ones(case: Case) -> None:
    ids = [
        set(read(case, name)["unit"])
        for name in ("public/test.csv", "public/sample_submission.csv", "private/test_answer.csv")
    ]
    assert ids[0] == ids[1] == ids[2] and len(ids[0]) == 50
    assert len(read(case, "public/train.csv")) == 50
    assert case.scored.metric_path.read_text() == case.task.metric_path.read_text()


def test_other_tables_are_cut_by_test_ids_only_when_they_tell_of_test_rows_alone(case: Case) -> None:
    public = case.task.public
    test = pd.read_csv(public / "test.csv")
    test[["unit"]].assign(more=1).to_csv(public / "more.tsv", index=False, sep="\t")
    train = pd.read_csv(public / "train.csv").assign(unit=[f"u{number}" for number in range(400)])
    train[["unit"]].assign(noted=2).to_csv(public / "notes.csv", index=False)
    assert len(read(case, "public/notes.csv")) == 400
    kept = pd.read_csv(case.scored.public / "more.tsv", sep="\t")
    assert set(kept["unit"]) == set(read(case, "public/test.csv")["unit"])


def test_groups_stay_whole(case: Case, tmp_path: Path) -> None:
    for name in ("train", "test"):
        path = case.task.public / f"{name}.csv"
        table = pd.read_csv(path)
        table.insert(1, "team", np.arange(len(table)) % 20)
        table.to_csv(path, index=False)
    cut = with_split(case, 'kind = "group"\ngroup_column = "team"', tmp_path / "scratch2")
    sizes = {name: read(cut, f"public/{name}.csv")["team"].value_counts() for name in ("train", "test")}
    assert set(sizes["train"]) == {20} and len(sizes["train"]) == 3  # 2 teams of 20 rows are less than 50
    assert set(sizes["test"]) == {10} and len(sizes["test"]) == 5


def test_a_split_in_time_keeps_the_border(case: Case, tmp_path: Path) -> None:
    """The latest rows to learn from and the first ones after them, in whatever order the files are."""
    days = pd.date_range("2020-01-01", periods=600).strftime("%d.%m.%Y")
    for name, part in (("train", days[:400]), ("test", days[400:])):
        path = case.task.public / f"{name}.csv"
        table = pd.read_csv(path)
        table.insert(1, "day", [f"{each[6:]}-{each[3:5]}-{each[:2]}" for each in part][::-1])
        table.to_csv(path, index=False)
    cut = with_split(case, 'kind = "time"\ntime_column = "day"', tmp_path / "scratch2")
    iso = pd.date_range("2020-01-01", periods=600).strftime("%Y-%m-%d")
    assert sorted(read(cut, "public/train.csv")["day"]) == list(iso[350:400])
    assert sorted(read(cut, "public/test.csv")["day"]) == list(iso[400:450])


def test_a_small_task_is_left_as_it_is(tmp_path: Path) -> None:
    case = case_of(measured(60), tmp_path, Process(), limits=SMALL)
    assert case.scored is case.prepared


@pytest.mark.parametrize("name", ["t.tsv", "t.csv.gz", "t.jsonl", "t.json"])
def test_rows_are_written_in_the_format_of_the_file(name: str, tmp_path: Path) -> None:
    table = pd.DataFrame({"id": ["01", "02", "03"], "x": ["1.5", "", "3"]})
    write_rows(Path(name), tmp_path / name, table, np.array([0, 2]))
    if "json" in name:
        found = pd.read_json(tmp_path / name, lines=name.endswith("l"), dtype=False)
    else:
        found = pd.read_csv(tmp_path / name, sep="\t" if "tsv" in name else ",", dtype={"id": str})
    assert found["id"].tolist() == ["01", "03"] and found["x"].tolist() == [1.5, 3.0]


def test_order_in_time_of_numbers_and_dates() -> None:
    table = pd.DataFrame({"when": ["2021-03-01", "2020-03-01", "2022-01-01"], "step": ["10", "9", "100"]})
    assert time_order(table, "when").tolist() == [1, 0, 2]
    assert time_order(table, "step").tolist() == [1, 0, 2]
    assert time_order(table, None).tolist() == [0, 1, 2]
