"""JSON, workbooks, parquet and logs, written by the libraries that write them."""

from __future__ import annotations

import datetime
import gzip
import json
import logging
import time
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from generator.columns import Kind, profile_column
from generator.tables import UnreadableTable, plan_table, plan_tables
from generator.tables.logs import BEFORE_PAIRS, PATTERNS
from tests.generator.tables.kitchen import run, served

RECORDS: list[dict[str, Any]] = [
    {
        "id": number,
        "user": {"name": f"user {number}", "home": {"city": "Köln" if number % 2 else "Bonn"}},
        "tags": ["red", "blue"][: number % 3],
        "orders": [{"price": 3}] * (number % 4),
        "score": number / 7,
    }
    for number in range(40)
]
FLAT = [{"id": number, "city": "Köln", "score": number / 7} for number in range(40)]


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("list.json", json.dumps(FLAT)),
        ("list.json", json.dumps(FLAT, indent=2, ensure_ascii=False)),
        ("lines.jsonl", "\n".join(map(json.dumps, FLAT))),
        ("lines.json", "\n".join(map(json.dumps, FLAT))),
        ("lines.log", "\n".join(map(json.dumps, FLAT))),
        ("columns.json", json.dumps({key: [record[key] for record in FLAT] for key in FLAT[0]})),
        ("pandas.json", pd.DataFrame(FLAT).to_json()),
        ("deep.json", json.dumps({"status": "ok", "response": {"count": 40, "items": FLAT}})),
        ("shallow.json", json.dumps({"data": FLAT}, indent=1)),
    ],
)
@pytest.mark.parametrize("packed", [False, True])
def test_flat_records_wherever_they_are(tmp_path: Path, name: str, content: str, packed: bool) -> None:
    data = content.encode()
    name = f"{name}.gz" if packed else name
    (tmp_path / name).write_bytes(gzip.compress(data) if packed else data)
    table, _ = served(tmp_path, name)
    assert list(table.columns) == ["id", "city", "score"]
    assert table["id"].tolist() == list(range(40)) and set(table["city"]) == {"Köln"}
    assert np.allclose(table["score"], np.arange(40) / 7)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "cp1252"])
@pytest.mark.parametrize("lines", [False, True])
def test_nested_records_become_columns(tmp_path: Path, encoding: str, lines: bool) -> None:
    if lines and encoding != "utf-8":
        encoding = "utf-8-sig"
    text = (
        "\n".join(json.dumps(record, ensure_ascii=False) for record in RECORDS)
        if lines
        else json.dumps(RECORDS, ensure_ascii=False)
    )
    name = "data.jsonl" if lines else "data.json"
    (tmp_path / name).write_text(text, encoding=encoding)
    table, recipe = served(tmp_path, name)
    assert {"id", "user.name", "user.home.city", "tags", "orders", "score"} == set(table.columns)
    assert table["user.home.city"].iloc[1] == "Köln"
    assert table["tags"].iloc[2] == "red, blue" and table["orders"].tolist() == [n % 4 for n in range(40)]
    assert recipe.notes


def test_records_by_their_keys(tmp_path: Path) -> None:
    (tmp_path / "data.json").write_text(json.dumps({f"k{r['id']}": r for r in RECORDS}))
    table, _ = served(tmp_path, "data.json")
    assert table["key"].tolist() == [f"k{number}" for number in range(40)]
    assert "user.home.city" in table.columns


def test_numbers_as_text_in_json(tmp_path: Path) -> None:
    records = [{"price": f"${number}.50", "size": str(number) if number % 5 else "N/A", "day": "31.01.2020"}
               for number in range(50)]  # fmt: skip
    (tmp_path / "data.json").write_text(json.dumps(records))
    table, _ = served(tmp_path, "data.json")
    assert table["price"].tolist() == [number + 0.5 for number in range(50)]
    assert table["size"].isna().sum() == 10
    assert table["day"].iloc[0] == pd.Timestamp("2020-01-31")


@pytest.mark.parametrize(
    ("name", "content", "reason"),
    [
        ("bad.json", '{"open": ', "JSON"),
        ("scalar.json", "3", "no list of records"),
        ("settings.json", '{"a": 1, "b": {"c": 2}}', "no list of records"),
        ("bad.jsonl", '{"a": 1}\n{"a": 2}\nnot\n', "line 3"),
        ("empty.json", "", "JSON"),
    ],
)
def test_json_that_is_no_table(tmp_path: Path, name: str, content: str, reason: str) -> None:
    (tmp_path / name).write_text(content)
    with pytest.raises(UnreadableTable, match=reason):
        plan_table(tmp_path, name).read(tmp_path)


def frame() -> pd.DataFrame:
    rng = np.random.default_rng(4)
    return pd.DataFrame(
        {
            "when": pd.date_range("2020-01-01", periods=50, freq="h"),
            "size": rng.normal(size=50).round(3),
            "kind": rng.choice(["a", "b"], 50),
            "sound": rng.random(50) < 0.5,
        }
    )


def test_a_workbook(tmp_path: Path) -> None:
    pytest.importorskip("openpyxl")
    messy = frame().rename(columns={"kind": ""})
    with pd.ExcelWriter(tmp_path / "book.xlsx") as book:
        pd.DataFrame({"read": ["me", "first"]}).to_excel(book, sheet_name="Notes", index=False)
        messy.to_excel(book, sheet_name="Data", index=False, startrow=3)
        book.sheets["Data"]["A1"] = "Measured in 2020"
        book.sheets["Data"]["A60"] = "end"
    table, _ = served(tmp_path, "book.xlsx")
    assert list(table.columns) == ["when", "size", "column_3", "sound"]
    assert table["when"].tolist() == frame()["when"].tolist() and np.allclose(table["size"], frame()["size"])
    assert [name for name, _ in plan_tables(tmp_path, "book.xlsx")] == ["book.xlsx", "book.xlsx#Notes"]
    assert profile_column(table["when"]).kind is Kind.DATE


def test_a_workbook_of_one_plain_sheet(tmp_path: Path) -> None:
    pytest.importorskip("openpyxl")
    frame().to_excel(tmp_path / "book.xlsx", index=False)
    table, recipe = served(tmp_path, "book.xlsx")
    assert recipe.code() == 'table = pd.read_excel(raw / "book.xlsx")'
    assert np.allclose(table["size"], frame()["size"])


def test_parquet_with_lists_records_and_dates(tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    rich = frame().assign(
        tags=[["x", "y"][: n % 3] for n in range(50)], place=[{"lat": n / 2, "lon": 1.0} for n in range(50)]
    )
    rich.to_parquet(tmp_path / "data.parquet")
    table, _ = served(tmp_path, "data.parquet")
    assert table["tags"].iloc[2] == "x, y" and table["place.lat"].iloc[3] == 1.5
    assert profile_column(table["when"]).kind is Kind.DATE


def test_parquet_of_other_types(tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    other = pd.DataFrame(
        {
            "group": pd.Categorical(["a", "b"] * 25, categories=["a", "b", "never"]),
            "took": pd.to_timedelta(np.arange(50), unit="min"),
            "price": [Decimal(f"{number}.25") for number in range(50)],
            "day": [datetime.date(2020, 1, 1 + number % 28) for number in range(50)],
            "picture": [b"\x89PNG"] * 50,
            "maybe": pd.array([1, None] * 25, dtype="Int64"),
            "truth": pd.array([True, False, None, True, False] * 10, dtype="boolean"),
            "zone": pd.date_range("2020-01-01", periods=50, tz="Europe/Berlin"),
        }
    )
    other.to_parquet(tmp_path / "data.parquet")
    table, recipe = served(tmp_path, "data.parquet")
    assert "picture" not in table and "bytes" in " ".join(recipe.notes)
    assert table["took"].tolist() == [60.0 * number for number in range(50)]
    assert table["price"].iloc[3] == 3.25 and table["maybe"].isna().sum() == 25
    kinds = {name: profile_column(table[name]).kind for name in table}
    assert kinds["group"] is Kind.CATEGORY and kinds["day"] is Kind.DATE and kinds["zone"] is Kind.DATE
    assert kinds["truth"] is Kind.BOOLEAN and dict(profile_column(table["group"]).classes) == {
        "a": 25,
        "b": 25,
    }


def test_a_missing_package_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    pytest.importorskip("openpyxl")
    frame().to_excel(tmp_path / "book.xlsx", index=False)
    monkeypatch.setitem(sys.modules, "openpyxl", None)
    with pytest.raises(UnreadableTable, match=r"pip install 'mle-smith\[formats\]'"):
        plan_table(tmp_path, "book.xlsx")


WEB = (
    '10.0.0.{n} - frank [10/Oct/2020:13:55:{s:02d} -0700] "GET /page/{n}?x=1 HTTP/1.1" 200 {size} '
    '"-" "Agent/1.0 (X11)"'
)
LOGS = {
    "web server": (WEB, {"host", "time", "method", "path", "status", "size", "agent"}),
    "syslog": ("Oct  3 06:25:{s:02d} host{n} sshd[{n}1]: Failed password for root from 10.0.0.{n}",
               {"time", "host", "process", "pid", "message"}),
    "syslog with full dates": ("<34>1 2020-10-11T22:14:{s:02d}.003Z machine.example su[77]: 'su' failed {n}",
                               {"priority", "time", "host", "process", "message"}),
    "named fields": ("2020-01-05 12:00:{s:02d},123 - shop.cart - WARNING - item {n} is gone",
                     {"time", "logger", "level", "message"}),
    "timestamp, level, logger": ("2015-10-18 18:01:{s:02d},978 INFO [main] org.apache.App: Job {n} done: yes",
                                 {"time", "level", "logger", "message"}),
    "timestamp, level": ("2020-01-05T12:00:{s:02d}Z ERROR something {n} broke", {"time", "level", "message"}),
    "web server error": ("[Sun Dec 04 04:47:{s:02d} 2005] [notice] [client 10.0.0.{n}] init() ok {n}",
                         {"time", "level", "client", "message"}),
    "timestamp": ("2020-01-05 12:00:{s:02d} status installed package{n}:amd64 1.0-{n}", {"time", "message"}),
    "compact timestamp": ("081109 2036{s:02d} 148 INFO dfs.DataNode$Packet: Packet {n} ends",
                          {"date", "clock", "pid", "level", "component", "message"}),
    "keys with values": ('time=2020-01-05T12:00:{s:02d}Z level=info size={size} msg="hello {n}" ok=true',
                         {"time", "level", "size", "msg", "ok"}),
}  # fmt: skip


@pytest.mark.parametrize("kind", LOGS)
@pytest.mark.parametrize("name", ["server.log", "server.txt", "server.log.gz"])
def test_logs(tmp_path: Path, kind: str, name: str) -> None:
    line, columns = LOGS[kind]
    lines = [line.format(n=number, s=number, size=number * 10 if number else "-") for number in range(50)]
    lines[10:10] = ["Traceback (most recent call last):", "    at some.place(Line.java)", ""]
    data = ("\n".join(lines) + "\n").encode()
    (tmp_path / name).write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
    table, recipe = served(tmp_path, name)
    assert len(table) == 50 and columns <= set(table.columns)
    assert f"a log ({kind}): 50 lines; 2 lines of another form are left out" in recipe.notes[0]
    assert all(table[name].notna().mean() > 0.9 for name in columns)
    if "size" in table:
        assert table["size"].iloc[1:].tolist() == [number * 10 for number in range(1, 50)]
    if "time" in table:
        times = pd.to_datetime(table["time"], format="mixed", utc=True)
        assert (times.diff().dropna() == pd.Timedelta(seconds=1)).all()


def test_a_log_of_the_standard_library(tmp_path: Path) -> None:
    handler = logging.FileHandler(tmp_path / "app.log")
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(name)s: %(message)s"))
    logger = logging.Logger("shop.cart")
    logger.addHandler(handler)
    for number in range(30):
        logger.log(logging.WARNING if number % 3 else logging.ERROR, "item %d: gone", number)
    handler.close()
    table, _ = served(tmp_path, "app.log")
    assert table["logger"].unique().tolist() == ["shop.cart"]
    assert table["level"].value_counts().to_dict() == {"WARNING": 20, "ERROR": 10}
    assert table["message"].iloc[4] == "item 4: gone"


@pytest.mark.parametrize(("said", "message"), [("", ""), ("job done, ", "job done, ")])
def test_pairs_in_the_messages_of_a_log(said: str, message: str, tmp_path: Path) -> None:
    lines = [
        f'2024-05-01 10:00:{n:02d} INFO runner: {said}user=u{n % 3} seconds={n}.5 note="a b" level=low'
        for n in range(50)
    ]
    (tmp_path / "jobs.log").write_text("\n".join(lines))
    table, _ = served(tmp_path, "jobs.log")
    assert table[["logger", "message", "user", "note"]].iloc[4].tolist() == ["runner", message, "u1", "a b"]
    assert table["seconds"].tolist() == [n + 0.5 for n in range(50)]
    assert set(table["level"]) == {"INFO"}, "what the line says of itself comes before a pair of that name"


@pytest.mark.parametrize("kind", [*PATTERNS, "pairs"])
@pytest.mark.parametrize(
    "text",
    [
        "2020-01-05 12:00:00 ",
        "[" * 50_000,
        "a" * 50_000,
        " " * 50_000,
        "a.b- " * 10_000,
        '1 1 1 [x] "GET ' + " " * 50_000,
        "Oct 11 06:25:00 h " + "p" * 50_000,
        "a-" * 50_000,
        "a b=c" * 10_000,
    ],
)
def test_no_pattern_takes_long_on_any_line(kind: str, text: str) -> None:
    import re

    pattern = PATTERNS.get(kind, BEFORE_PAIRS)
    started = time.perf_counter()
    re.compile(pattern).search("2020-01-05 12:00:00 INFO " + text)
    re.compile(pattern).search(text)
    assert time.perf_counter() - started < 1


def test_lines_of_no_known_kind(tmp_path: Path) -> None:
    (tmp_path / "notes.log").write_text("just words\nand more of them\n" * 20)
    with pytest.raises(UnreadableTable, match="no known kind of log"):
        plan_table(tmp_path, "notes.log")


def test_code_needs_no_more_than_it_says(tmp_path: Path) -> None:
    (tmp_path / "data.jsonl.gz").write_bytes(gzip.compress("\n".join(map(json.dumps, RECORDS)).encode()))
    recipe = plan_table(tmp_path, "data.jsonl.gz")
    assert recipe.imports == ("gzip", "json") and "import" not in recipe.code(imports=False)
    assert len(run(recipe, tmp_path)) == 40
