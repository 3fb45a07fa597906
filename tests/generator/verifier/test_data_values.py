"""The data gate's parts for ids, answers, sample, classes and shifts, on hand-made packages."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from generator.defects.base import Finding, Severity
from generator.verifier.case import Case
from generator.verifier.data import answers, classes, exhibit, ids, sample, shift
from tests.generator.verifier.data_cases import Package, digits, flowers, found, patients

E, W = Severity.ERROR, Severity.WARNING
Part = Callable[[Case], Iterator[Finding]]
PARTS: list[Part] = [ids.check, ids.check_tables, answers.check, sample.check, classes.check, shift.check]


def replaced(column: str, value: object, rows: int = 4) -> Callable[[pd.DataFrame], pd.DataFrame]:
    """The first rows of a column get another value."""

    def change(table: pd.DataFrame) -> pd.DataFrame:
        cells = table[column].astype(object).to_numpy(copy=True)
        cells[:rows] = value
        return table.assign(**{column: cells})

    return change


@pytest.mark.parametrize("make", [flowers, patients, digits])
def test_nothing_is_wrong_with_a_clean_package(make: Callable[[], Package], tmp_path: Path) -> None:
    case = make().case(tmp_path)
    assert [finding for part in PARTS for finding in part(case)] == []


Change = Callable[[pd.DataFrame], pd.DataFrame]


@pytest.mark.parametrize(
    ("make", "change", "part", "code"),
    [
        (digits, lambda a: pd.concat([a, a.iloc[:2]]), ids.check, "duplicate_ids"),
        (patients, lambda a: pd.concat([a, a.iloc[:1]]), ids.check, "duplicate_ids"),
        (flowers, lambda a: a.iloc[3:], ids.check_tables, "test_ids_differ"),
        (flowers, replaced("species", ""), answers.check, "missing_answers"),
        (digits, replaced("digit", "nan"), answers.check, "missing_answers"),
        (patients, replaced("progress", "None"), answers.check, "missing_answers"),
        (patients, replaced("progress", "inf"), answers.check, "missing_answers"),
        (digits, replaced("digit", "one", rows=80), answers.check, "constant_target"),
        (patients, replaced("progress", 7.0, rows=140), answers.check, "constant_target"),
        (flowers, replaced("species", "orchid", rows=9), classes.check, "unseen_class"),
        (digits, replaced("digit", "eleven", rows=9), classes.check, "unseen_class"),
        (flowers, lambda a: a.assign(species=a.species.str.upper()), classes.check, "unseen_class"),
        (patients, lambda a: a.assign(progress=np.log(a.progress)), shift.check, "target_shift"),
        (patients, lambda a: a.assign(progress=1000 * a.progress), shift.check, "target_shift"),
    ],
)
def test_changed_answers_are_told(
    make: Callable[[], Package], change: Change, part: Part, code: str, tmp_path: Path
) -> None:
    package = make()
    package.answers = change(package.answers.copy())
    assert found(part, package, tmp_path).get(code) is E


@pytest.mark.parametrize(
    ("make", "change", "severity"),
    [
        (flowers, replaced("species", np.nan, rows=60), E),
        (digits, replaced("digit", ""), E),
        (patients, replaced("progress", np.nan, rows=140), E),
        (patients, replaced("progress", "NaN"), E),
        (patients, replaced("progress", np.inf, rows=140), E),
        (patients, replaced("progress", "high", rows=140), E),
        (digits, replaced("digit", "Zero ", rows=80), W),
        (flowers, replaced("species", 0, rows=60), W),
    ],
)
def test_a_sample_that_is_no_submission_is_told(
    make: Callable[[], Package], change: Change, severity: Severity, tmp_path: Path
) -> None:
    package = make()
    package.sample = change(package.sample.copy())
    assert found(sample.check, package, tmp_path) == {"sample_invalid": severity}


def test_test_rows_with_other_ids_are_told_by_any_file_name(tmp_path: Path) -> None:
    """By columns like those of training, and by the word test in its name."""
    package = patients()
    package.tables["asked.tsv"] = package.tables["asked.tsv"].assign(Patient=range(140))
    assert found(ids.check_tables, package, tmp_path / "a") == {"test_ids_differ": E}
    package = flowers()
    package.tables["test.csv"] = package.tables["test.csv"].drop(columns="flower")
    assert found(ids.check_tables, package, tmp_path / "b") == {"test_ids_differ": E}


def test_ids_made_of_a_column_of_the_test_table_are_no_difference(tmp_path: Path) -> None:
    """One answer for each second of a recording, whose id is ``<recording>_<second>``."""
    package = flowers()
    names = package.tables["test.csv"]["flower"]
    package.tables["test.csv"] = package.tables["test.csv"].rename(columns={"flower": "recording"})
    package.answers = package.answers.assign(flower=names + "_5")
    package.sample = package.sample.assign(flower=names + "_5")
    assert found(ids.check_tables, package, tmp_path) == {}


def test_ids_that_are_names_of_files_are_no_difference(tmp_path: Path) -> None:
    """The test table names ``images/r00001.png``, of which the id is the name without folder and suffix."""
    package = flowers()
    names = "images/" + package.tables["test.csv"]["flower"] + ".png"
    package.tables["test.csv"] = pd.DataFrame({"file": names})
    assert found(ids.check_tables, package, tmp_path) == {}


def test_shared_ids_and_repeated_test_rows_are_worth_a_word(tmp_path: Path) -> None:
    package = flowers()
    package.tables["train.csv"] = package.tables["train.csv"].assign(
        flower=lambda t: [f"r{n:05d}" for n in range(90)]
    )
    package.tables["test.csv"] = pd.concat([package.tables["test.csv"], package.tables["test.csv"].iloc[:3]])
    assert found(ids.check_tables, package, tmp_path) == {"shared_ids": W, "duplicate_ids": W}


def test_labels_that_look_like_missing_values_survive(tmp_path: Path) -> None:
    """NA is a country, and None a kind of its own, where other cells are words."""
    package = flowers()
    for table in (package.answers, package.sample, package.tables["train.csv"]):
        table["species"] = table["species"].replace({"setosa": "NA", "virginica": "None"})
    case = package.case(tmp_path)
    assert [finding for part in PARTS for finding in part(case)] == []


def test_no_tag_at_all_is_an_answer_where_training_has_such_rows(tmp_path: Path) -> None:
    package = flowers()
    package.declare(objective="multi-label classification")
    tags = ["a b", "a", "", "b c", "c a b"]
    package.tables["train.csv"]["species"] = tags * 18
    package.answers = package.answers.assign(species=tags * 12)
    package.sample = package.sample.assign(species="a")
    assert found(answers.check, package, tmp_path / "a") == {}
    assert found(sample.check, package, tmp_path / "a2") == {}
    package.tables["train.csv"]["species"] = ["a b", "a", "c", "b c", "c a b"] * 18
    assert found(answers.check, package, tmp_path / "b") == {"missing_answers": E}
    package.answers = package.answers.assign(species=["a b", "a", "d", "b c", "c a b"] * 12)
    assert found(classes.check, package, tmp_path / "c") == {"unseen_class": E}


def test_several_guesses_for_one_number_are_a_valid_sample(tmp_path: Path) -> None:
    package = patients()
    package.declare(objective="ranking")
    package.answers = package.answers.assign(progress=np.arange(140) % 9)
    package.sample = package.sample.assign(progress="3 5 1")
    assert found(sample.check, package, tmp_path) == {}


def test_a_class_of_one_test_row_that_training_lacks_is_worth_a_word(tmp_path: Path) -> None:
    package = flowers()
    package.answers = replaced("species", "orchid", rows=1)(package.answers)
    assert found(classes.check, package, tmp_path) == {"unseen_class": W}


def test_a_class_of_few_training_rows_is_worth_a_word(tmp_path: Path) -> None:
    package = flowers()
    train = package.tables["train.csv"]
    few = train[train.species == "setosa"].iloc[:4]
    package.tables["train.csv"] = pd.concat([train[train.species != "setosa"], few])
    assert found(classes.check, package, tmp_path)["rare_class"] is W


def test_shares_of_classes_are_compared_when_rows_were_drawn(tmp_path: Path) -> None:
    """By hand: 400 rows half and half against 400 rows of nine in ten differ by 0.4, chi-square is 152."""
    package = flowers()
    names = [f"t{number}" for number in range(400)]
    package.tables["train.csv"] = pd.DataFrame({"flower": range(400), "x": 1, "species": ["a", "b"] * 200})
    package.tables["test.csv"] = pd.DataFrame({"flower": names, "x": 1})
    package.answers = pd.DataFrame({"flower": names, "species": (["a"] * 9 + ["b"]) * 40})
    package.sample = package.answers.assign(species="a")
    (finding,) = classes.check(package.case(tmp_path / "drawn"))
    assert (finding.code, finding.severity) == ("target_shift", W)
    assert "0.40 in total variation" in finding.evidence
    package.split("given")
    assert found(classes.check, package, tmp_path / "given") == {}


def test_a_trend_goes_on_after_the_training_rows(tmp_path: Path) -> None:
    """Answers above all training values are honest in time, unless they are of another unit."""
    package = patients()
    package.split("time", time_column="seen")
    package.answers = package.answers.assign(progress=np.linspace(380, 500, 140))
    assert found(shift.check, package, tmp_path / "trend") == {"target_shift": W}
    package.answers = package.answers.assign(progress=1000 * package.answers["progress"])
    assert found(shift.check, package, tmp_path / "unit") == {"target_shift": E}


def test_few_test_rows_and_a_constant_training_target(tmp_path: Path) -> None:
    package = patients()
    package.answers, package.sample = package.answers.iloc[:20], package.sample.iloc[:20]
    package.tables["known.jsonl"] = package.tables["known.jsonl"].assign(progress=3.0)
    assert found(answers.check, package, tmp_path) == {"few_test_rows": W, "constant_target": E}


def test_exhibits_show_the_split_and_the_targets(tmp_path: Path) -> None:
    """By hand: of 60 answers, the shares of each species sum to 1, as do those of 20 bins."""
    case = flowers().case(tmp_path)
    exhibit.show(case)
    assert case.exhibits["split"] == {
        "kind": "random", "reason": "", "train_rows": 90, "test_rows": 60, "sampled": False
    }  # fmt: skip
    (target,) = case.exhibits["targets"]
    assert target["labels"] == ["setosa", "versicolor", "virginica"]
    assert target["test"][0] == pytest.approx((case.answers["species"] == "setosa").mean())
    assert sum(target["train"]) == pytest.approx(1.0)
    case = patients().case(tmp_path)
    exhibit.show(case)
    (target,) = case.exhibits["targets"]
    assert len(target["edges"]) == len(target["train"]) + 1 == len(target["test"]) + 1
    assert (sum(target["train"]), sum(target["test"])) == (pytest.approx(1.0), pytest.approx(1.0))
    case = digits().case(tmp_path)
    exhibit.show(case)
    assert case.exhibits["targets"][0]["train"] == []
    assert sum(case.exhibits["targets"][0]["test"]) == pytest.approx(1.0)


PASSING_OVER = """\
import numpy as np
from mledojo.metrics.base import CompetitionMetrics


class Shares(CompetitionMetrics):
    def __init__(self):
        super().__init__(higher_is_better=True)

    def evaluate(self, y_true, y_pred):
        said = y_pred.set_index(y_pred.columns[0]).loc[y_true.iloc[:, 0]].to_numpy()
        truth = y_true.iloc[:, 1:].to_numpy()
        counted = {counted}
        return float(np.mean((truth == said)[counted]))

    def validate_submission(self, submission, ground_truth):
        return "valid"
"""
EVERY_ROW = "np.ones(len(truth), bool)"


def flagged() -> Package:
    """Flowers with two flags to tell instead of a name."""
    package = flowers()
    package.declare(target_columns=("large", "setosa"))
    for table in (package.tables["train.csv"], package.answers, package.sample):
        kind = table.pop("species")
        table["large"], table["setosa"] = (kind == "virginica").astype(int), (kind == "setosa").astype(int)
    return package


@pytest.mark.parametrize(
    ("make", "mark", "counted", "severity"),
    [
        (flowers, "kept back", '(truth != "kept back").all(axis=1)', Severity.INFO),
        (flagged, -1, "(truth >= 0).all(axis=1)", Severity.INFO),
        (flowers, "kept back", EVERY_ROW, E),
        (flagged, -1, EVERY_ROW, E),
    ],
)
def test_a_mark_of_rows_that_are_not_scored_is_no_class(
    make: Callable[[], Package], mark: object, counted: str, severity: Severity, tmp_path: Path
) -> None:
    """Competitions keep answers back under a mark that the metric passes over."""
    package = make()
    for target in package.spec.target_columns:
        package.answers = replaced(target, mark, rows=30)(package.answers)
    case = package.case(tmp_path)
    case.task.metric_path.write_text(PASSING_OVER.format(counted=counted), encoding="utf-8")
    try:
        said = [(one.code, one.severity) for one in classes.check(case) if one.code == "unseen_class"]
        assert said == [("unseen_class", severity)] * len(case.targets)
    finally:
        case.grader.close()
