"""Columns of numbers that the raw data have no column for: made up, or made from what is there."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from generator.defects.base import Finding
from generator.verifier.preparation.gate import check_content
from tests.generator.verifier.test_preparation_content import REMARKS, WINES, Kind, case_of, package

Change = Callable[[pd.DataFrame], pd.DataFrame]
DRAWS = "def prepare(raw, public, private):\n    numbers = rng.normal(0, 1, 10)\n"


def found(root: Path, kind: Kind, change: Change, code: str = DRAWS) -> list[Finding]:
    """What is said of a task whose prepare.py changes the raw table so, and splits it."""
    task = package(root, kind.target)
    kind.write(kind.table(), task.raw)
    task.prepare_path.write_text(code, encoding="utf-8")
    made = change(kind.table()).sample(frac=1, random_state=3).reset_index(drop=True)
    made.insert(0, "nr", [f"x{i}" for i in range(len(made))])
    test = made.iloc[: len(made) // 3]
    made.iloc[len(test) :].to_csv(task.public / kind.train, index=False)
    test.drop(columns=kind.target).to_csv(task.public / "test.csv", index=False)
    test[["nr", kind.target]].to_csv(task.answer_path, index=False)
    test[["nr", kind.target]].assign(**{kind.target: "?"}).to_csv(task.sample_path, index=False)
    return list(check_content(case_of(task, root)))


def drawn(low: float, high: float) -> Change:
    """A column of numbers drawn between two bounds."""
    return lambda t: t.assign(index=np.random.default_rng(8).uniform(low, high, len(t)).round(2))


def invented(name: str, other: str) -> Change:
    """A column is left out, and another is in its place whose numbers are drawn with its mean and spread."""

    def change(table: pd.DataFrame) -> pd.DataFrame:
        values = np.random.default_rng(9).normal(table[name].mean(), table[name].std(), len(table))
        return table.drop(columns=name).assign(**{other: values.round(3)})

    return change


INVENTED: list[tuple[str, Kind, Change]] = [
    ("numbers drawn at random", WINES, drawn(300, 850)),
    ("numbers beside texts", REMARKS, drawn(0, 10)),
    ("whole numbers", WINES, lambda t: t.assign(age=np.random.default_rng(2).integers(18, 90, len(t)))),
    ("a renamed feature's numbers replaced", WINES, invented("hue", "colour_index")),
    (
        "a long tail",
        REMARKS,
        lambda t: t.assign(cost=np.random.default_rng(5).lognormal(3, 1, len(t)).round(2)),
    ),
]


@pytest.mark.parametrize(("name", "kind", "change"), INVENTED, ids=[case[0] for case in INVENTED])
def test_numbers_that_no_raw_row_tells_of_are_named(
    name: str, kind: Kind, change: Change, tmp_path: Path
) -> None:
    (only,) = found(tmp_path / "task", kind, change)
    assert (only.code, str(only.severity)) == ("values_fabricated", "error")


SPLITS = "def prepare(raw, public, private):\n    in_test = rng.random(len(table)) < 0.3\n"


@pytest.mark.parametrize("code", [SPLITS, "def prepare(raw, public, private):\n    pass\n"])
def test_where_only_the_split_is_drawn_it_is_a_warning(code: str, tmp_path: Path) -> None:
    (only,) = found(tmp_path / "task", WINES, drawn(0, 1), code)
    assert (only.code, str(only.severity)) == ("values_fabricated", "warning")


def test_a_unit_behind_the_raw_name_does_not_hide_a_column(tmp_path: Path) -> None:
    kind = Kind(
        lambda: WINES.table().rename(columns={"hue": "Hue (a.u.)"}), WINES.write, "maker", "train.csv"
    )
    (only,) = found(tmp_path / "task", kind, invented("Hue (a.u.)", "hue"))
    assert (only.code, str(only.severity)) == ("values_fabricated", "error")
    assert "Hue" not in only.evidence


def by_group(table: pd.DataFrame) -> pd.DataFrame:
    return table.assign(usual=table.groupby("cellar")["proline"].transform("mean"))


def dated() -> pd.DataFrame:
    """Remarks with the moment of each."""
    moments = pd.Timestamp("2021-03-01 08:15") + pd.to_timedelta(np.arange(240) * 53, unit="h")
    return REMARKS.table().assign(written=moments.strftime("%Y-%m-%d %H:%M"))[["written", "remark", "mood"]]


DATED = Kind(dated, REMARKS.write, "mood", "learn.csv")


def parts(table: pd.DataFrame) -> pd.DataFrame:
    """The day and the hour instead of the moment."""
    moments = pd.to_datetime(table["written"])
    return table.assign(day=moments.dt.day, hour=moments.dt.hour)[["day", "hour", "remark", "mood"]]


HONEST: list[tuple[str, Kind, Change]] = [
    ("a ratio", WINES, lambda t: t.assign(share=t["ash"] / t["proline"])),
    ("a difference of like columns", WINES, lambda t: t.assign(gap=t["alcohol"] - 5 * t["ash"])),
    ("a logarithm", WINES, lambda t: t.assign(log_proline=np.log(t["proline"])).drop(columns="proline")),
    ("a square around the mean", WINES, lambda t: t.assign(odd=(t["hue"] - t["hue"].mean()) ** 2)),
    ("a rank", WINES, lambda t: t.assign(place=t["alcohol"].rank(pct=True))),
    ("a normalised column", WINES, lambda t: t.assign(z=(t["ash"] - t["ash"].mean()) / t["ash"].std())),
    ("indicators", WINES, lambda t: t.join(pd.get_dummies(t["cellar"], prefix="cellar", dtype=int))),
    ("a mean by group", WINES, by_group),
    (
        "a rolling mean",
        WINES,
        lambda t: t.assign(
            smooth=t["hue"].rolling(5, min_periods=1).mean(), last=t["ash"].shift(1).fillna(0)
        ),
    ),
    ("renamed", WINES, lambda t: t.rename(columns={"hue": "colour_index"})),
    ("another unit and name", WINES, lambda t: t.assign(ounces=t["proline"] / 28.35).drop(columns="proline")),
    ("ids dealt at random", WINES, lambda t: t.assign(key=np.random.default_rng(3).permutation(len(t)))),
    ("folds", WINES, lambda t: t.assign(fold=np.random.default_rng(3).integers(0, 5, len(t)))),
    ("the length of a text", REMARKS, lambda t: t.assign(length=t["remark"].str.len())),
    ("a number in a text", REMARKS, lambda t: t.assign(hall=t["remark"].str.extract(r"hall (\d+)")[0])),
    ("parts of a date", DATED, parts),
    (
        "a weight for each word",
        REMARKS,
        lambda t: t.assign(
            tone=t["remark"].str.split().map(lambda w: sum(np.sin(len(x) * 7.0 + ord(x[0])) for x in w))
        ),
    ),
]


@pytest.mark.parametrize(("name", "kind", "change"), HONEST, ids=[case[0] for case in HONEST])
def test_numbers_made_from_the_raw_rows_are_passed(
    name: str, kind: Kind, change: Change, tmp_path: Path
) -> None:
    assert found(tmp_path / "task", kind, change) == []


@pytest.mark.parametrize("draws", [True, False])
def test_numbers_of_another_raw_table_are_passed(draws: bool, tmp_path: Path) -> None:
    """Aggregates of the purchases of each maker, and values that were looked up."""
    purchases = pd.DataFrame(
        {"cellar": np.arange(700) % 7, "price": np.random.default_rng(1).gamma(2, 9, 700).round(2)}
    )

    def write(table: pd.DataFrame, raw: Path) -> None:
        WINES.write(table, raw)
        purchases.to_csv(raw / "purchases.csv", index=False)

    kind = Kind(WINES.table, write, "maker", "train.csv")
    spent = purchases.groupby("cellar")["price"]
    code = DRAWS if draws else "def prepare(raw, public, private):\n    pass\n"
    change: Change = lambda t: t.assign(  # noqa: E731
        spent=t["cellar"].map(spent.sum()) + 0.0,
        price=purchases["price"].sample(len(t), random_state=1).to_numpy(),
    )
    assert found(tmp_path / "task", kind, change, code) == []


def test_files_that_are_no_tables_may_be_where_numbers_come_from(tmp_path: Path) -> None:
    def write(table: pd.DataFrame, raw: Path) -> None:
        WINES.write(table, raw)
        (raw / "spectra.npz").write_bytes(b"PK spectra")

    kind = Kind(WINES.table, write, "maker", "train.csv")
    assert found(tmp_path / "task", kind, drawn(0, 1)) == []
