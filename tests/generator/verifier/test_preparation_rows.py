"""Rows that are lost beside their media, and rows that are altered copies of others."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from generator.verifier.preparation.gate import check_content
from harness.tasks.package import Task
from tests.generator.verifier.test_preparation_content import REMARKS, WINES, Kind, case_of, found, package

Media = Callable[[Path, int], bytes]
COUNT = 120


def scan(path: Path, number: int) -> bytes:
    return b"\x89PNG" + number.to_bytes(2, "big") * 30


def clip(path: Path, number: int) -> bytes:
    return b"RIFF" + number.to_bytes(2, "big") * 50 + b"WAVE"


def pictures(root: Path, labels: pd.DataFrame, rows: pd.DataFrame, converted: bool = False) -> Task:
    """Pictures that a table names, all copied to public/images, and rows of them in train and test."""
    task = package(root, "digit")
    (task.raw / "scans").mkdir()
    (task.public / "images").mkdir()
    labels.to_csv(task.raw / "labels.csv", index=False)
    for number in labels["scan"]:
        content = scan(task.raw, int(number))
        (task.raw / "scans" / f"{number}.png").write_bytes(content)
        (task.public / "images" / f"p{number}.png").write_bytes(content + b"new" * converted)
    made = pd.DataFrame({"nr": "p" + rows["scan"].astype(str), "digit": rows["digit"]})
    write(task, made.assign(file="images/" + made["nr"] + ".png"))
    return task


def sounds(root: Path, rows: pd.DataFrame) -> Task:
    """Clips in folders of their classes, copied to two folders; the training table says what they are."""
    task = package(root, "digit")
    (task.public / "audio").mkdir()
    for number in range(COUNT):
        folder = task.raw / f"class {number % 4}"
        folder.mkdir(exist_ok=True)
        (folder / f"{number}.wav").write_bytes(clip(folder, number))
        (task.public / "audio" / f"{number}.wav").write_bytes(clip(folder, number))
    write(task, pd.DataFrame({"nr": rows["scan"].astype(str), "digit": rows["digit"]}))
    return task


def write(task: Task, made: pd.DataFrame) -> None:
    test = made.iloc[: len(made) // 3]
    made.iloc[len(test) :].to_csv(task.public / "train.csv", index=False)
    test.drop(columns="digit").to_csv(task.public / "test.csv", index=False)
    for path in (task.answer_path, task.sample_path):
        test[["nr", "digit"]].to_csv(path, index=False)


def listed(count: int = COUNT) -> pd.DataFrame:
    numbers = np.arange(count)
    return pd.DataFrame({"scan": numbers, "digit": [f"d{number % 4}" for number in numbers]})


def codes(task: Task, root: Path) -> list[tuple[str, str]]:
    return [(each.code, str(each.severity)) for each in check_content(case_of(task, root))]


LOST = [("rows_lost", "warning")]


@pytest.mark.parametrize("converted", [False, True])
@pytest.mark.parametrize(
    ("rows", "expected"), [(listed(), []), (listed()[6:], []), (listed()[::2], LOST), (listed(70), LOST)]
)
def test_rows_of_pictures_are_counted(
    converted: bool, rows: pd.DataFrame, expected: list[tuple[str, str]], tmp_path: Path
) -> None:
    assert codes(pictures(tmp_path / "task", listed(), rows, converted), tmp_path) == expected


@pytest.mark.parametrize(("rows", "expected"), [(listed(), []), (listed()[5:], []), (listed()[::3], LOST)])
def test_rows_of_clips_in_class_folders_are_counted(
    rows: pd.DataFrame, expected: list[tuple[str, str]], tmp_path: Path
) -> None:
    assert codes(sounds(tmp_path / "task", rows), tmp_path) == expected


@pytest.mark.parametrize("name", ["digit", "what_it_shows"])
def test_pictures_without_a_label_need_no_row(name: str, tmp_path: Path) -> None:
    labels = listed().assign(digit=listed()["digit"].where(np.arange(COUNT) % 3 > 0))
    task = pictures(tmp_path / "task", labels.rename(columns={"digit": name}), labels.dropna())
    assert codes(task, tmp_path) == []


def blended(table: pd.DataFrame) -> pd.DataFrame:
    """A quarter more rows: copies in which numbers or words are mixed with those of another row."""
    extra = table.sample(frac=0.25, random_state=1).reset_index(drop=True)
    other = table.sample(frac=0.25, random_state=2).reset_index(drop=True)
    for name in list(extra)[:2]:
        if pd.api.types.is_float_dtype(extra[name]):
            extra[name] = ((extra[name] + other[name]) / 2).round(4)
    return pd.concat([table, extra], ignore_index=True)


def surveyed() -> pd.DataFrame:
    """Remarks with the time that each took to write, and who wrote it."""
    table = REMARKS.table()
    rng = np.random.default_rng(6)
    return pd.DataFrame(
        {
            "seconds": rng.gamma(3, 20, len(table)).round(2),
            "pause": rng.gamma(2, 4, len(table)).round(2),
            "badge": rng.permutation(len(table)) + 100,
            **table,
        }
    )


SURVEYED = Kind(surveyed, REMARKS.write, "mood", "learn.csv")


@pytest.mark.parametrize("kind", [WINES, SURVEYED], ids=["wines", "remarks"])
def test_altered_copies_of_rows_are_invented(kind: Kind, tmp_path: Path) -> None:
    findings = found(tmp_path / "task", kind, blended)
    assert str(findings["rows_invented"].severity) == "error"


@pytest.mark.parametrize("kind", [WINES, SURVEYED], ids=["wines", "remarks"])
@pytest.mark.parametrize(
    "change",
    [
        lambda t: pd.concat([t, t.sample(frac=0.3, random_state=4)]),
        lambda t: t.drop_duplicates(t.columns[0]),
        lambda t: t.assign(**{t.columns[1]: t.iloc[:, 1].clip(upper=t.iloc[:, 1].quantile(0.9))}),
    ],
    ids=["repeated", "without twins", "clipped"],
)
def test_rows_that_stand_twice_or_were_cleaned_are_not(
    kind: Kind, change: Callable[[pd.DataFrame], pd.DataFrame], tmp_path: Path
) -> None:
    assert "rows_invented" not in found(tmp_path / "task", kind, change)
