"""The data gate's parts for columns, types, categories, drift and side tables, on hand-made packages."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from generator.defects.base import Finding, Severity
from generator.verifier.case import Case
from generator.verifier.data import categories, columns, drift, gate, side_tables, types
from tests.generator.verifier.data_cases import Package, digits, flowers, found, patients

E, W = Severity.ERROR, Severity.WARNING
Part = Callable[[Case], Iterator[Finding]]
Change = Callable[[Package], None]
PARTS: list[Part] = [columns.check, types.check, categories.check, drift.check, side_tables.check]


def table(name: str, change: Callable[[pd.DataFrame], pd.DataFrame]) -> Change:
    """Change one public table."""

    def apply(package: Package) -> None:
        package.tables[name] = change(package.tables[name].copy())

    return apply


def both(change: Callable[[pd.DataFrame], pd.DataFrame]) -> Change:
    """Change all public tables alike."""

    def apply(package: Package) -> None:
        package.tables = {name: change(frame.copy()) for name, frame in package.tables.items()}

    return apply


def without_folders(package: Package) -> None:
    package.media = {
        f"train/{place.rsplit('/', 1)[1]}" if place.startswith("train") else place: pixels
        for place, pixels in package.media.items()
    }


def sorted_by(column: str) -> Change:
    """Test rows are those of the lowest values, though the split is said to be random."""

    def apply(package: Package) -> None:
        whole = pd.concat([package.tables["train.csv"], package.tables["test.csv"].merge(package.answers)])
        whole = whole.sort_values(column)
        test = whole.iloc[:60]
        package.tables = {"train.csv": whole.iloc[60:], "test.csv": test.drop(columns="species")}
        package.answers, package.sample = (
            test[["flower", "species"]],
            test[["flower"]].assign(species="setosa"),
        )

    return apply


def side_table(of_test: bool, place: str = "more/visits.csv") -> Change:
    """Two visits of each patient, or of those in training only."""

    def apply(package: Package) -> None:
        tables = [package.tables["known.jsonl"]] + [package.tables["asked.tsv"]] * of_test
        who = pd.concat([frame["Patient"] for frame in tables]).repeat(2)
        package.tables[place] = pd.DataFrame({"Patient": who, "pulse": np.arange(len(who)) % 90})

    return apply


def word_per_side(package: Package) -> None:
    """Notes of many words, of which one tells the side."""
    words = np.array(["red", "green", "blue", "small", "large", "left", "right", "old", "new", "fast"])
    draw = np.random.default_rng(8)
    for name, word in (("known.jsonl", "before"), ("asked.tsv", "after")):
        frame = package.tables[name]
        notes = [f"{' '.join(draw.choice(words, 9))} {word} {number}" for number in range(len(frame))]
        package.tables[name] = frame.assign(note=notes)


def dated(package: Package) -> None:
    package.split("time", time_column="seen")
    sorted_tables = package.tables["asked.tsv"].assign(
        bp=lambda frame: frame.bp + 60,
        region=[f"new region {number % 4}" for number in range(len(package.tables["asked.tsv"]))],
    )
    package.tables["asked.tsv"] = sorted_tables


def flagged(package: Package) -> None:
    """One more column of the kind of two declared targets, as the 11 labels of which 9 were asked for."""
    draw = np.random.default_rng(3)
    for name in ("one", "two", "three"):
        package.tables["train.csv"][name] = draw.integers(0, 2, 90)
    answers = package.answers[["flower"]].assign(one=draw.integers(0, 2, 60), two=draw.integers(0, 2, 60))
    package.answers, package.sample = answers, answers.assign(one=0, two=0)
    package.tables["train.csv"] = package.tables["train.csv"].drop(columns="species")
    package.declare(target_columns=("one", "two"), objective="multi-label classification")


@pytest.mark.parametrize("make", [flowers, patients, digits])
def test_nothing_is_wrong_with_a_clean_package(make: Callable[[], Package], tmp_path: Path) -> None:
    case = make().case(tmp_path)
    assert [finding for part in PARTS for finding in part(case)] == []


DEFECTS = [
    (flowers, "train.csv", lambda t: t.drop(columns="species"), columns, "nothing_to_learn", E),
    (patients, "known.jsonl", lambda t: t.drop(columns="progress"), columns, "nothing_to_learn", E),
    (flowers, "train.csv", lambda t: t.assign(species=""), columns, "nothing_to_learn", E),
    (flowers, "test.csv", lambda t: t.rename(columns={"petal_l": "pl"}), columns, "columns_across_split", E),
    (patients, "asked.tsv", lambda t: t.rename(columns={"bmi": "BMI "}), columns, "columns_across_split", E),
    (patients, "asked.tsv", lambda t: t.drop(columns="bmi"), columns, "columns_across_split", W),
    (patients, "asked.tsv", lambda t: t.assign(more=range(140)), columns, "columns_across_split", W),
    (flowers, "test.csv", lambda t: t.assign(petal_w=""), columns, "columns_across_split", W),
    (patients, "known.jsonl", lambda t: t.assign(twice=2 * t.progress), columns, "undeclared_target", W),
    (
        flowers,
        "test.csv",
        lambda t: t.assign(petal_l=t.petal_l.astype(str).str.replace(".", ",")),
        types,
        "type_drift",
        E,
    ),
    (patients, "known.jsonl", lambda t: t.assign(s1=t.s1.map("{:,.1f} mg".format)), types, "type_drift", E),
    (patients, "asked.tsv", lambda t: t.assign(bp=1000 * t.bp), types, "type_drift", E),
    (flowers, "test.csv", lambda t: t.assign(sepal_l=10 * t.sepal_l), types, "type_drift", E),
    (patients, "asked.tsv", lambda t: t.assign(bp=(t.bp - t.bp.mean()) / t.bp.std()), types, "type_drift", E),
    (
        patients,
        "asked.tsv",
        lambda t: t.assign(seen=pd.to_datetime(t.seen).dt.strftime("%d/%m/%Y")),
        types,
        "type_drift",
        E,
    ),
    (
        patients,
        "asked.tsv",
        lambda t: t.assign(region=t.region.str.upper()),
        categories,
        "category_drift",
        E,
    ),
    (
        patients,
        "asked.tsv",
        lambda t: t.assign(region=t.region.where(t.bp > 90, "far away")),
        categories,
        "category_drift",
        W,
    ),
]


def coloured(write: Callable[[str], str]) -> Change:
    """One more column of categories on both sides, written otherwise in test."""

    def apply(package: Package) -> None:
        for name, frame in package.tables.items():
            colours = np.array(["dark red", "Green", "blue-ish", ""])[np.arange(len(frame)) * 7 % 5 % 4]
            if name in ("test.csv", "asked.tsv"):
                colours = np.array([write(each) if each else "" for each in colours])
            package.tables[name] = frame.assign(colour=colours)

    return apply


RESPELLED = [
    str.upper,
    lambda c: f" {c}.",
    lambda c: f"colour: {c}",
    lambda c: f"{c.upper()}_",
    lambda c: f"[{c}/2]",
]


@pytest.mark.parametrize("make", [flowers, patients])
@pytest.mark.parametrize("write", RESPELLED)
def test_categories_written_otherwise_are_an_error(
    make: Callable[[], Package], write: Callable[[str], str], tmp_path: Path
) -> None:
    package = make()
    coloured(write)(package)
    assert found(categories.check, package, tmp_path).get("category_drift") is E


@pytest.mark.parametrize("make", [flowers, patients])
@pytest.mark.parametrize("write", [str, lambda c: "Green" if c == "blue-ish" else c])
def test_known_categories_are_passed(
    make: Callable[[], Package], write: Callable[[str], str], tmp_path: Path
) -> None:
    package = make()
    coloured(write)(package)
    assert "category_drift" not in found(categories.check, package, tmp_path)


@pytest.mark.parametrize("make", [flowers, patients])
@pytest.mark.parametrize("new", [("violet", "ochre", "teal"), ("dark_red", "Green", "blue-ish")])
def test_new_categories_are_a_warning(
    make: Callable[[], Package], new: tuple[str, ...], tmp_path: Path
) -> None:
    package = make()
    coloured(dict(zip(("dark red", "Green", "blue-ish"), new, strict=True)).__getitem__)(package)
    assert found(categories.check, package, tmp_path).get("category_drift") is W


@pytest.mark.parametrize(("make", "name", "change", "part", "code", "severity"), DEFECTS)
def test_a_changed_table_is_told(
    make: Callable[[], Package],
    name: str,
    change: Callable[[pd.DataFrame], pd.DataFrame],
    part: object,
    code: str,
    severity: Severity,
    tmp_path: Path,
) -> None:
    package = make()
    table(name, change)(package)
    assert found(part.check, package, tmp_path).get(code) is severity  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("make", "change", "part", "code", "severity"),
    [
        (digits, without_folders, columns.check, "nothing_to_learn", E),
        (flowers, flagged, columns.check, "undeclared_target", W),
        (flowers, sorted_by("sepal_w"), drift.check, "split_not_exchangeable", W),
        (patients, word_per_side, drift.check, "split_not_exchangeable", W),
        (patients, side_table(of_test=False), side_tables.check, "side_table_keys", E),
    ],
)
def test_a_changed_package_is_told(
    make: Callable[[], Package], change: Change, part: Part, code: str, severity: Severity, tmp_path: Path
) -> None:
    package = make()
    change(package)
    assert found(part, package, tmp_path).get(code) is severity


def test_a_target_missing_among_others_is_named(tmp_path: Path) -> None:
    """Training shows one of the two targets that the answers ask for."""
    package = flowers()
    flagged(package)
    package.tables["train.csv"] = package.tables["train.csv"].drop(columns=["two", "three"])
    (finding,) = columns.check(package.case(tmp_path))
    assert (finding.code, finding.severity) == ("nothing_to_learn", E)
    assert finding.evidence.startswith("two is in no table")


def one_hot(package: Package) -> None:
    """Training says the species in a word; a probability is asked for each, as for dog breeds."""
    names = ["setosa", "versicolor", "virginica"]
    truth = package.answers["species"]
    answers = package.answers[["flower"]].assign(**{name: (truth == name).astype(int) for name in names})
    package.answers, package.sample = answers, answers.assign(**dict.fromkeys(names, 0.3))
    package.declare(target_columns=tuple(names))


def labels_apart(package: Package) -> None:
    """Features of both sides in tables alike, and the labels in a table of their own."""
    train = package.tables.pop("train.csv")
    package.tables["train_features.csv"] = train.drop(columns="species")
    package.tables["train_labels.csv"] = train[["flower", "species"]]


def wide_series(package: Package) -> None:
    """A series goes on in test: d_1 to d_3 in training, d_4 to d_6 in test."""
    for name, first in (("known.jsonl", 1), ("asked.tsv", 4)):
        days = {f"d_{first + step}": np.arange(len(package.tables[name])) + step for step in range(3)}
        package.tables[name] = package.tables[name].assign(**days)


def for_training_only(package: Package) -> None:
    """One side table serves both sides, another one is meant for training alone."""
    side_table(of_test=True)(package)
    side_table(of_test=False, place="more/doses.csv")(package)
    package.tables["more/doses.csv"] = package.tables["more/doses.csv"].rename(columns={"pulse": "dose"})


def twins(package: Package) -> None:
    """A side table for each side."""
    side_table(of_test=False, place="train_visits.csv")(package)
    whole = package.tables["train_visits.csv"]
    asked = package.tables["asked.tsv"]["Patient"]
    package.tables["test_visits.csv"] = whole.iloc[: len(asked)].assign(Patient=asked.to_numpy())


def by_region(package: Package) -> None:
    """Whole regions were drawn: categories and ranges differ by nature."""
    package.split("group", group_column="region")
    frame = package.tables["asked.tsv"]
    package.tables["asked.tsv"] = frame.assign(region="far " + frame.region, town="town of " + frame.region)
    known = package.tables["known.jsonl"]
    package.tables["known.jsonl"] = known.assign(town="town of near " + known.region)


def tickets(package: Package) -> None:
    """A column of codes, some of which are numbers, as ticket numbers are."""
    for frame in package.tables.values():
        frame["ticket"] = [f"A/{n}" if n % 3 else str(n) for n in range(len(frame))]


@pytest.mark.parametrize(
    ("make", "change"),
    [
        (flowers, one_hot),
        (flowers, labels_apart),
        (patients, wide_series),
        (patients, twins),
        (patients, side_table(of_test=True)),
        (patients, tickets),
        (patients, both(lambda frame: frame.assign(nr=range(len(frame))))),
    ],
)
def test_honest_packages_are_left_alone(make: Callable[[], Package], change: Change, tmp_path: Path) -> None:
    package = make()
    change(package)
    case = package.case(tmp_path)
    assert [finding for part in PARTS for finding in part(case)] == []


@pytest.mark.parametrize(("make", "change"), [(patients, by_region), (patients, dated)])
def test_groups_and_later_times_may_differ(
    make: Callable[[], Package], change: Change, tmp_path: Path
) -> None:
    package = make()
    change(package)
    case = package.case(tmp_path)
    assert not [one for part in PARTS for one in part(case) if one.severity is E]
    assert not [*types.check(case), *drift.check(case)]


def test_a_side_table_for_training_only_is_worth_a_word(tmp_path: Path) -> None:
    package = patients()
    for_training_only(package)
    assert found(side_tables.check, package, tmp_path) == {"side_table_keys": W}


def test_drift_names_the_column_and_its_standard_error(tmp_path: Path) -> None:
    """By hand: with 90 and 60 rows the standard error is sqrt(151 / (12 * 90 * 60)) = 0.048."""
    package = flowers()
    sorted_by("sepal_w")(package)
    (finding,) = drift.check(package.case(tmp_path))
    assert "sepal_w (" in finding.evidence and "standard error 0.048" in finding.evidence


@pytest.mark.parametrize(("objective", "severity"), [("anomaly detection", W), ("classification", E)])
def test_anomalies_may_be_looked_for_without_labels(
    objective: str, severity: Severity, tmp_path: Path
) -> None:
    package = flowers()
    package.declare(objective=objective)
    table("train.csv", lambda frame: frame.drop(columns="species"))(package)
    assert found(columns.check, package, tmp_path) == {"nothing_to_learn": severity}


def test_class_folders_beside_a_test_table_pass_the_whole_gate(tmp_path: Path) -> None:
    """Training images in folders by class, a table of the test images with the camera of each."""
    package = digits()
    cameras = ["a", "b", "c", "a"] * (len(package.answers) // 4)
    package.tables["test.csv"] = pd.DataFrame({"image": package.answers["image"], "camera": cameras})
    assert Severity.ERROR not in found(gate.check, package, tmp_path).values()
