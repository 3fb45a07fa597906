"""Tables of every format have the cells that stand in the file, as strings."""

from __future__ import annotations

import gzip
import json
import zipfile
from pathlib import Path

import pandas as pd
import pytest

from generator.verifier.public.tables import public_tables

ROWS = [
    {"id": "0042", "when": "2020-01-01", "count": 5, "size": "1.50", "word": "NA"},
    {"id": "007", "when": "2020-01-02", "count": None, "size": "1e5", "word": "a, b"},
    {"id": "1e5", "when": "2020-01-03", "count": 7, "size": "2", "word": ""},
]
#: By hand: what a CSV file of these rows holds.
WANTED = {
    "id": ["0042", "007", "1e5"],
    "when": ["2020-01-01", "2020-01-02", "2020-01-03"],
    "count": ["5", "", "7"],
    "size": ["1.50", "1e5", "2"],
    "word": ["NA", "a, b", ""],
}


def _text(mark: str) -> str:
    cells = [["" if cell is None else str(cell) for cell in row.values()] for row in ROWS]
    lines = [[f'"{cell}"' if mark in cell else cell for cell in row] for row in cells]
    return "\n".join(mark.join(line) for line in [list(ROWS[0]), *lines]) + "\n"


def _json(row: dict[str, object]) -> str:
    """A record whose sizes are numbers, written as they are above."""
    return json.dumps(row).replace(f'"size": "{row["size"]}"', f'"size": {row["size"]}')


FILES = {
    "table.csv": _text(","),
    "table.tsv": _text("\t"),
    "table.tab": _text("\t"),
    "table.txt": _text("|"),
    "semicolons.csv": _text(";"),
    "table.json": f"[{', '.join(_json(row) for row in ROWS)}]",
    "table.jsonl": "\n".join(_json(row) for row in ROWS),
    "table.ndjson": "\n".join(_json(row) for row in ROWS) + "\n\n",
}


@pytest.mark.parametrize("name", FILES)
def test_cells_are_what_stands_in_the_file(name: str, tmp_path: Path) -> None:
    """Loose, packed by gzip, and zipped: ids keep their zeros, whole numbers beside gaps stay whole."""
    (tmp_path / name).write_text(FILES[name])
    with gzip.open(tmp_path / f"{name}.gz", "wt") as packed:
        packed.write(FILES[name])
    with zipfile.ZipFile(tmp_path / f"{name}.zip", "w") as archive:
        archive.writestr(name, FILES[name])
    tables = public_tables(tmp_path)
    # A zipped text is looked at word by word.
    zipped = [] if name.endswith(".txt") else [f"{name}.zip"]
    assert [path.name for path in tables] == sorted([name, f"{name}.gz", *zipped])
    for path, table in tables.items():
        assert table.to_dict("list") == WANTED, path.name


def test_columns_as_pandas_writes_them(tmp_path: Path) -> None:
    """The forms of ``DataFrame.to_json`` that hold rows; dates and ids stay the strings that they are."""
    frame = pd.DataFrame({"id": ["007", "08"], "date": ["2020-01-01", "2020-01-02"], "n": [1.5, 2.25]})
    for form in ("columns", "records", "split"):
        frame.to_json(tmp_path / f"{form}.json", orient=form)
    frame.to_json(tmp_path / "lines.jsonl", orient="records", lines=True)
    for path, table in public_tables(tmp_path).items():
        assert table.to_dict("list") == {
            "id": ["007", "08"],
            "date": ["2020-01-01", "2020-01-02"],
            "n": ["1.5", "2.25"],
        }, path.name


def test_nested_cells_and_long_numbers_survive(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text('{"n": 12345678901234567890, "at": [1, 2.50], "ok": true}\n{"n": 1}\n')
    table = public_tables(tmp_path)[tmp_path / "a.jsonl"]
    assert table.to_dict("list") == {
        "n": ["12345678901234567890", "1"],
        "at": ["[1, 2.50]", ""],
        "ok": ["True", ""],
    }


def test_what_is_no_table_is_left_out(tmp_path: Path) -> None:
    for name, text in (("a.json", '{"version": 1, "by": "x"}'), ("b.jsonl", "{broken"), ("c.tsv", "")):
        (tmp_path / name).write_text(text)
    (tmp_path / "d.csv").write_text("id,label\n1,2,3\n")
    (tmp_path / "header.csv").write_text("id,label\n")
    assert [path.name for path in public_tables(tmp_path)] == ["header.csv"]
