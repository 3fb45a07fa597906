"""The profile's facts, each counted here a second time by plain Python or known from the source."""

from __future__ import annotations

import csv
import gzip
import json
from collections import Counter
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from generator.columns import Kind, profile_column
from generator.datasets.catalogue import dataset_path
from generator.profile import Profile, profile_dataset, profile_table
from generator.series import find_time, times_of


def rows_of(path: Path) -> list[dict[str, str]]:
    """The table as the standard library reads it."""
    with gzip.open(path, "rt", encoding="utf-8") as stream:
        return list(csv.DictReader(stream))


@pytest.fixture(scope="module")
def credit() -> Profile:
    return profile_dataset(dataset_path("credit-applications"))


def test_counts_agree_with_a_count_by_hand(credit: Profile) -> None:
    rows = rows_of(dataset_path("credit-applications") / "credit_data.csv.gz")
    table = credit.tables[0]
    assert table.rows == len(rows)
    assert table.column("Income").missing == sum(row["Income"] == "" for row in rows) > 0
    statuses = Counter(row["Status"] for row in rows)
    assert dict(table.column("Status").classes) == statuses
    assert table.column("Seniority").maximum == max(int(row["Seniority"]) for row in rows)
    repeated = len(rows) - len({tuple(row.values()) for row in rows})
    assert table.duplicate_rows == repeated


def test_kinds_of_real_columns(credit: Profile) -> None:
    kinds = {column.name: column.kind for column in credit.tables[0].columns}
    assert kinds["Records"] is Kind.BOOLEAN
    assert kinds["Marital"] is Kind.CATEGORY
    assert kinds["Price"] is Kind.INTEGER
    films = {column.name: column for column in profile_dataset(dataset_path("films")).tables[0].columns}
    assert films["imdbID"].kind is Kind.ID
    assert films["Title"].kind is Kind.TEXT
    assert films["Released"].kind is Kind.DATE
    assert films["Genre"].kind is Kind.LIST
    with gzip.open(dataset_path("films") / "films.jsonl.gz", "rt", encoding="utf-8") as stream:
        genres = Counter(g for line in stream for g in (json.loads(line)["Genre"] or "").split(", ") if g)
    assert dict(films["Genre"].labels) == genres


def test_a_series_for_each_entity_is_seen() -> None:
    time = profile_dataset(dataset_path("texas-housing")).tables[0].time
    assert time is not None
    # The source: 46 cities, monthly from January 2000 to July 2015, which is 15 * 12 + 7 = 187 months.
    assert (time.columns, time.entity, time.points) == (("year", "month"), "city", 187)
    assert time.series and time.regular == 1.0 and time.span == 1.0
    assert time.start.startswith("2000-01-01") and time.end.startswith("2015-07-01")


def test_dated_events_are_no_series() -> None:
    time = profile_dataset(dataset_path("desert-rodents")).tables[0].time
    assert time is not None and not time.series


def test_each_row_a_curve() -> None:
    table = profile_dataset(dataset_path("power-demand")).tables[0]
    assert table.wide_series == tuple(f"t{hour:03d}" for hour in range(24))


def test_numbered_columns_are_curves_only_when_near_ones_are_alike() -> None:
    rng = np.random.default_rng(1)
    steps = rng.normal(size=(200, 20))
    phases = rng.uniform(0, 2 * np.pi, size=(200, 1))
    hidden_period = np.sin(phases + 2 * np.pi * np.arange(20) / 4)
    for values, curve in [(steps, False), (steps.cumsum(axis=1), True), (hidden_period, True)]:
        table = pd.DataFrame(values, columns=[f"item_{number:02d}" for number in range(1, 21)])
        assert bool(profile_table(table, "table.csv").wide_series) is curve


def test_images_by_class() -> None:
    (images,) = profile_dataset(dataset_path("digit-images")).media
    files = Counter(path.parent.name for path in dataset_path("digit-images").glob("*/*.png"))
    assert dict(images.classes) == files
    assert images.files == sum(files.values()) == 1797
    assert (images.measure("width"), images.measure("height"), images.broken) == ((8, 8), (8, 8), ())


def test_the_profile_is_strict_json_and_the_same_twice(credit: Profile) -> None:
    text = json.dumps(credit.as_json(), allow_nan=False)
    assert text == json.dumps(profile_dataset(dataset_path("credit-applications")).as_json(), allow_nan=False)
    assert any("Status" in line and "good" in line for line in credit.summary())


@pytest.mark.parametrize(
    ("values", "kind", "missing", "coerced"),
    [
        (["1.5", "2", "n/a", *map(str, range(60))], Kind.INTEGER, 0, 0),
        ([*map(str, range(3, 103)), "broken", None], Kind.ID, 2, 1),
        (["2020-01-05", "2020-02-01", "2020-03-01"] * 9, Kind.DATE, 0, 0),
        (["12/31/2019 10:00", "1/2/2020 11:30"] * 9, Kind.DATE, 0, 0),
        (["yes", "no", None, "yes"], Kind.BOOLEAN, 1, 0),
        ([7, 7, 7], Kind.CONSTANT, 0, 0),
        ([None, None], Kind.CONSTANT, 2, 0),
        (["a.png", "b.png", "c.PNG"], Kind.PATH, 0, 0),
        (["red", "blue"] * 20, Kind.CATEGORY, 0, 0),
        ([f"M{number:02d}" for number in range(30)] * 9, Kind.CATEGORY, 0, 0),
    ],
)
def test_kinds_of_small_columns(values: list[object], kind: Kind, missing: int, coerced: int) -> None:
    column = profile_column(pd.Series(values, name="column"))
    if "n/a" in values:  # one word among 62 numbers: a number column with one cell that is none
        assert column.kind in (Kind.NUMERIC, Kind.INTEGER) and column.coerced == 1
        return
    if "broken" in values:  # 100 distinct numbers, one word and one empty cell
        assert (column.is_number, column.missing, column.coerced) == (True, missing, coerced)
        return
    assert (column.kind, column.missing, column.coerced) == (kind, missing, coerced)


def test_time_from_parts() -> None:
    table = pd.DataFrame({"year": [2020, 2021], "month": [2, 12], "day": [29, 31], "hour": [0, 23]})
    assert list(times_of(table, ["year", "month", "day", "hour"])) == [
        pd.Timestamp("2020-02-29"),
        pd.Timestamp("2021-12-31 23:00"),
    ]
    assert find_time(table, [profile_column(table[name]) for name in table]) is None  # two rows are no series


def test_what_cannot_be_read_is_listed(tmp_path: Path) -> None:
    (tmp_path / "notes.docx").write_bytes(b"PK\x03\x04")
    (tmp_path / "empty.csv").write_text("")
    (tmp_path / "bad.json").write_text('{"open": ')
    (tmp_path / "fine.csv").write_text("a;b\n1;x\n2;y\n")
    (tmp_path / "pixel.png").write_bytes(b"not a picture")
    profile = profile_dataset(tmp_path)
    assert [table.path for table in profile.tables] == ["fine.csv"]
    assert [column.name for column in profile.tables[0].columns] == ["a", "b"]
    assert {path for path, _ in profile.skipped} == {"notes.docx", "empty.csv", "bad.json", "pixel.png"}
    assert all(reason for _, reason in profile.skipped)
    assert profile.media[0].broken == ("pixel.png",)


@pytest.mark.parametrize(
    ("name", "advice"),
    [("old.xls", "xlsx"), ("model.pkl", "run code"), ("store.sqlite", "export"), ("paper.pdf", "as text"),
     ("all.7z", "zip"), ("cube.npy", "table"), ("film.mp4", "frames"), ("what.xyz", "not a known")],
)  # fmt: skip
def test_formats_that_are_not_read_say_what_to_do(tmp_path: Path, name: str, advice: str) -> None:
    (tmp_path / name).write_bytes(b"some bytes")
    ((path, reason),) = profile_dataset(tmp_path).skipped
    assert path == name and advice in reason
