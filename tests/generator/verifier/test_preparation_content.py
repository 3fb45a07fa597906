"""Prepared rows, cells and media beside the raw data, on a CSV table, JSON lines of texts, and images."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_wine

from generator.defects.base import Finding
from generator.verifier.case import Case
from generator.verifier.preparation.gate import check_content
from generator.verifier.thresholds.config import DEFAULTS
from harness.sandboxes.process import Process
from harness.tasks.package import Metric, Source, Split, Task, TaskSpec

Change = Callable[[pd.DataFrame], pd.DataFrame]


def wines() -> pd.DataFrame:
    """Chemical measurements of 178 wines (scikit-learn's)."""
    data = load_wine(as_frame=True)
    return data.data[["alcohol", "ash", "hue", "proline"]].assign(
        maker=[f"maker {code}" for code in data.target], cellar=np.arange(178) % 7
    )


def remarks() -> pd.DataFrame:
    """Remarks with a mood: every one of 240 has words of its own."""
    subjects, verbs = (
        ["pump", "valve", "engine", "boiler", "crane", "belt"],
        ["leaks", "works", "rattles", "is new"],
    )
    rows = [
        {
            "remark": f"The {subjects[i % 6]} of hall {i} {verbs[i // 6 % 4]} on day {7 * i}",
            "mood": ["bad", "good"][i % 2],
        }
        for i in range(240)
    ]
    return pd.DataFrame(rows)


@dataclass(frozen=True)
class Kind:
    """One shape of task: its raw table, how it is written, and its target."""

    table: Callable[[], pd.DataFrame]
    write: Callable[[pd.DataFrame, Path], None]
    target: str
    train: str


def as_csv(table: pd.DataFrame, raw: Path) -> None:
    table.to_csv(raw / "wines.csv", index=False, sep=";")


def as_lines(table: pd.DataFrame, raw: Path) -> None:
    table.to_json(raw / "remarks.jsonl", orient="records", lines=True)


WINES = Kind(wines, as_csv, "maker", "train.csv")
REMARKS = Kind(remarks, as_lines, "mood", "learn.csv")


def found(root: Path, kind: Kind, change: Change) -> dict[str, Finding]:
    """What is said of a task whose prepare changes the table so, shuffles it, deals ids and splits it."""
    task = package(root, kind.target)
    kind.write(kind.table(), task.raw)
    made = change(kind.table()).sample(frac=1, random_state=3).reset_index(drop=True)
    made.insert(0, "nr", [f"x{i}" for i in range(len(made))])
    target = kind.target if kind.target in made.columns else made.columns[-1]
    cut = len(made) // 3
    test = made.iloc[:cut]
    made.iloc[cut:].to_csv(task.public / kind.train, index=False)
    test.drop(columns=target).to_csv(task.public / "test.csv", index=False)
    answers = test[["nr", target]].set_axis(["nr", kind.target], axis=1)
    answers.to_csv(task.answer_path, index=False)
    answers.assign(**{kind.target: "?"}).to_csv(task.sample_path, index=False)
    return {each.code: each for each in check_content(case_of(task, root))}


def package(root: Path, target: str) -> Task:
    for name in ("raw", "public", "private"):
        (root / name).mkdir(parents=True)
    spec = TaskSpec(
        schema_version=1, id=root.name, title="A task", set="test", modality="tabular",
        objective="classification", id_column="nr", target_columns=(target,), difficulty="easy",
        source=Source(name="s", licence="MIT", sha256="0"),
        metric=Metric(name="accuracy", higher_is_better=True, best=1.0), split=Split(kind="random", seed=3),
    )  # fmt: skip
    return Task(root, spec)


def case_of(task: Task, root: Path) -> Case:
    scratch = root / "scratch"
    scratch.mkdir()
    return Case(task, Process(), scratch, DEFAULTS, prepared=task)


def noisy_copies(table: pd.DataFrame) -> pd.DataFrame:
    """A fifth more rows, whose numbers or words are new."""
    extra = table.sample(frac=0.2, random_state=1)
    for name in extra.columns[:-1]:
        if pd.api.types.is_float_dtype(extra[name]):
            extra[name] += np.random.default_rng(4).normal(0, table[name].std(), len(extra))
        elif extra[name].nunique() == len(extra):
            extra[name] = [f"Something else altogether, number {i}" for i in range(len(extra))]
    return pd.concat([table, extra])


WRONG: list[tuple[str, Kind, Change, str, str]] = [
    ("the first rows only", WINES, lambda t: t.head(70), "rows_lost", "error"),
    ("the first texts only", REMARKS, lambda t: t.iloc[:100], "rows_lost", "error"),
    ("a part of the rows", WINES, lambda t: t.sample(frac=0.6, random_state=2), "rows_lost", "warning"),
    ("a part of the texts", REMARKS, lambda t: t.sample(frac=0.6, random_state=2), "rows_lost", "warning"),
    ("noisy copies", WINES, noisy_copies, "rows_invented", "error"),
    ("new texts", REMARKS, noisy_copies, "rows_invented", "error"),
    (
        "cells of different rows together",
        WINES,
        lambda t: pd.concat(
            [t, pd.DataFrame({c: t[c].sample(40, random_state=i).tolist() for i, c in enumerate(t)})]
        ),
        "rows_invented",
        "error",
    ),
    (
        "a column of made-up numbers",
        WINES,
        lambda t: t.assign(hue=np.random.default_rng(1).uniform(0.5, 1.7, len(t))),
        "values_fabricated",
        "error",
    ),
    (
        "some made-up numbers",
        WINES,
        lambda t: t.assign(ash=t["ash"].where(np.arange(len(t)) % 9 > 0, np.linspace(1.01, 3.03, len(t)))),
        "values_fabricated",
        "error",
    ),
    (
        "labels of other rows",
        REMARKS,
        lambda t: t.assign(mood=np.random.default_rng(1).permutation(t["mood"])),
        "values_fabricated",
        "error",
    ),
    (
        "one column instead of many",
        WINES,
        lambda t: pd.DataFrame({";".join(t): t.astype(str).agg(";".join, axis=1), "maker": t["maker"]}),
        "misparsed_table",
        "error",
    ),
    (
        "the header among the data",
        WINES,
        lambda t: pd.concat([pd.DataFrame([list(t)], columns=list(t)), t.astype(object)]),
        "misparsed_table",
        "error",
    ),
    (
        "a row as the header",
        WINES,
        lambda t: t.iloc[1:].set_axis([str(v) for v in t.iloc[0]], axis=1),
        "misparsed_table",
        "error",
    ),
    (
        "UTF-8 read as Latin-1",
        REMARKS,
        lambda t: t.assign(remark=t["remark"] + " caf\u00c3\u00a9"),
        "misparsed_table",
        "error",
    ),
    (
        "Latin-1 read as UTF-8",
        WINES,
        lambda t: t.assign(maker=t["maker"] + "\ufffd"),
        "misparsed_table",
        "error",
    ),
    (
        "a wrong encoding under another name",
        REMARKS,
        lambda t: t.assign(remark=t["remark"].str.replace("leaks", "lÃ¤uft")).rename(columns={"remark": "s"}),
        "misparsed_table",
        "error",
    ),
    (
        "texts from elsewhere in a wrong encoding",
        WINES,
        lambda t: t.assign(note=[f"cafÃ© number {i}" for i in range(len(t))])[["note", *t]],
        "misparsed_table",
        "warning",
    ),
]

FINE: list[tuple[str, Kind, Change]] = [
    ("as it is", WINES, lambda t: t),
    ("as they are", REMARKS, lambda t: t),
    ("a few rows less", WINES, lambda t: t.iloc[8:]),
    ("another unit", WINES, lambda t: t.assign(proline=t["proline"] / 28.35)),
    ("rounded", WINES, lambda t: t.round(1)),
    ("clipped", WINES, lambda t: t.assign(ash=t["ash"].clip(2, 2.6), hue=t["hue"].clip(0.7, 1.2))),
    ("logarithm", WINES, lambda t: t.assign(proline=np.log(t["proline"]))),
    ("codes", WINES, lambda t: t.assign(maker=t["maker"].astype("category").cat.codes)),
    (
        "standardised",
        WINES,
        lambda t: t.assign(**{c: (t[c] - t[c].mean()) / t[c].std() for c in ("ash", "hue")}),
    ),
    (
        "outliers at the median",
        WINES,
        lambda t: t.assign(hue=t["hue"].where(t["hue"] < 1.3, t["hue"].median())),
    ),
    ("a new feature", WINES, lambda t: t.assign(maker=t["maker"], share=t["ash"] / t["proline"])),
    ("renamed", WINES, lambda t: t.rename(columns={"proline": "Proline", "hue": "colour"})),
    ("cleaned texts", REMARKS, lambda t: t.assign(remark=t["remark"].str.upper().str.replace("THE ", ""))),
    ("labels as numbers", REMARKS, lambda t: t.assign(mood=(t["mood"] == "good").astype(int))),
    ("aggregated", WINES, lambda t: t.groupby(["maker", "cellar"], as_index=False).mean()[list(t)]),
    ("melted", WINES, lambda t: t.melt("maker", ["ash", "hue"])[["variable", "value", "maker"]]),
]


@pytest.mark.parametrize(
    ("name", "kind", "change", "code", "severity"), WRONG, ids=[case[0] for case in WRONG]
)
def test_what_is_not_the_raw_data_is_named(
    name: str, kind: Kind, change: Change, code: str, severity: str, tmp_path: Path
) -> None:
    findings = found(tmp_path / "task", kind, change)
    assert code in findings, findings
    assert findings[code].severity == severity
    assert any(character.isdigit() for character in findings[code].evidence)


@pytest.mark.parametrize(("name", "kind", "change"), FINE, ids=[case[0] for case in FINE])
def test_honest_preparation_is_passed(name: str, kind: Kind, change: Change, tmp_path: Path) -> None:
    assert found(tmp_path / "task", kind, change) == {}


def test_test_rows_may_come_from_another_raw_table(tmp_path: Path) -> None:
    """As on Kaggle: train.csv with targets, test.csv without, and its answers apart."""
    task = package(tmp_path / "task", "maker")
    table = wines().assign(nr=[f"x{i}" for i in range(178)])
    train, test = table.iloc[:110], table.iloc[110:]
    for folder in (task.raw, task.public):
        train.to_csv(folder / "train.csv", index=False)
        test.drop(columns="maker").to_csv(folder / "test.csv", index=False)
    test[["nr", "maker"]].to_csv(task.raw / "solution.csv", index=False)
    test[["nr", "maker"]].to_csv(task.answer_path, index=False)
    test[["nr", "maker"]].assign(maker="?").to_csv(task.sample_path, index=False)
    assert list(check_content(case_of(task, tmp_path))) == []


def image_task(root: Path, kept: int, new: int) -> Case:
    """A task that uses the first of 60 raw pictures, and some that are not there."""
    task = package(root, "label")
    for i in range(60):
        (task.raw / f"{i:03d}.png").write_bytes(b"\x89PNG" + bytes([i]) * 40)
    (task.public / "images").mkdir()
    for i in range(kept):
        (task.public / "images" / f"p{i}.png").write_bytes(b"\x89PNG" + bytes([i]) * 40)
    for i in range(new):
        (task.public / "images" / f"q{i}.png").write_bytes(b"\x89PNG" + json.dumps([i, "new"]).encode())
    for path in (task.answer_path, task.sample_path):
        pd.DataFrame({"nr": ["p0"], "label": ["a"]}).to_csv(path, index=False)
    return case_of(task, root)


@pytest.mark.parametrize(
    ("kept", "new", "codes"),
    [
        (60, 0, []),
        (57, 0, []),
        (25, 0, [("rows_lost", "error")]),
        (45, 0, [("rows_lost", "warning")]),
        (60, 8, [("rows_invented", "error")]),
        (0, 60, []),  # all were converted: nothing can be told
    ],
)
def test_media_are_compared_by_content(
    kept: int, new: int, codes: list[tuple[str, str]], tmp_path: Path
) -> None:
    findings = list(check_content(image_task(tmp_path / "task", kept, new)))
    assert [(each.code, str(each.severity)) for each in findings] == codes
