"""Messy text tables, one kind of mess at a time: what they mean is read, and what was found is said."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from generator.datasets.catalogue import dataset_path, list_datasets, raw_files
from generator.tables import UnreadableTable, plan_table, table_format
from tests.generator.tables.kitchen import run, served

ROWS = 60
WORDS = ("north", "south", "east")


def clean() -> pd.DataFrame:
    """A small table of every common kind of column."""
    rng = np.random.default_rng(3)
    return pd.DataFrame(
        {
            "name": [f"item {number}" for number in range(ROWS)],
            "size": rng.normal(50, 20, ROWS).round(2),
            "count": rng.integers(0, 90, ROWS),
            "place": rng.choice(WORDS, ROWS),
        }
    )


def text(frame: pd.DataFrame, **options: object) -> str:
    return str(frame.to_csv(index=False, lineterminator="\n", **options))  # type: ignore[call-overload]


def above(lines: str) -> Callable[[str], str]:
    return lambda table: lines + table


def insert(place: int, line: str) -> Callable[[str], str]:
    def done(table: str) -> str:
        lines = table.splitlines()
        return "\n".join([*lines[:place], line, *lines[place:]]) + "\n"

    return done


def repeat_header(table: str) -> str:
    lines = table.splitlines()
    return "\n".join([*lines[:21], lines[0], *lines[21:41], lines[0], *lines[41:]]) + "\n"


@pytest.mark.parametrize(
    ("mess", "said"),
    [
        (lambda table: table, ""),
        (above("Survey of 2020\nLicence: free, see the site\n\n"), "lines above the header"),
        (above("Survey of 2020,,,\n,,,\n"), "lines above the header"),
        (above("# made by a tool\n# on a day\n"), "lines above the header"),
        (insert(1, "-,cm,pieces,-"), "units"),
        (repeat_header, "2 lines repeat the header"),
        (insert(61, "Source: somebody"), "single cell"),
        (insert(30, "item 999,1.5,2,north,surplus"), "more cells than the header"),
        (lambda table: table.replace(",", ", "), ""),
        (lambda table: table.replace("\n", "\r\n"), ""),
        (lambda table: table.replace("\n", "\n\n"), ""),
        (lambda table: table.replace("name,size", " name , size"), ""),
    ],
    ids=["clean", "title", "title with empty cells", "comments", "units", "repeated header", "footer",
         "long line", "spaces", "windows ends", "blank lines", "names with spaces"],
)  # fmt: skip
@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_lines_that_are_no_data(
    tmp_path: Path, mess: Callable[[str], str], said: str, delimiter: str
) -> None:
    (tmp_path / "data.csv").write_text(mess(text(clean())).replace(",", delimiter), newline="")
    table, recipe = served(tmp_path, "data.csv")
    pd.testing.assert_frame_equal(table, clean())
    assert said in " ".join(recipe.notes) and bool(said) == bool(recipe.notes)


@pytest.mark.parametrize(
    "encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "cp1252", "latin-1"]
)
@pytest.mark.parametrize("packed", [False, True])
def test_encodings(tmp_path: Path, encoding: str, packed: bool) -> None:
    frame = clean().assign(name=[f"café {number} ñandú" for number in range(ROWS)])
    if encoding == "cp1252":
        frame["place"] = "“quoted” €"
    data = text(frame).encode(encoding)
    name = "data.csv.gz" if packed else "data.csv"
    (tmp_path / name).write_bytes(gzip.compress(data) if packed else data)
    table, _ = served(tmp_path, name)
    pd.testing.assert_frame_equal(table, frame)


def test_a_character_far_down_decides_the_encoding(tmp_path: Path) -> None:
    frame = pd.DataFrame({"number": range(60_000), "word": ["plain"] * 59_999 + ["café"]})
    (tmp_path / "data.csv").write_bytes(text(frame).encode("cp1252"))
    table = plan_table(tmp_path, "data.csv").read(tmp_path)
    assert table["word"].iloc[-1] == "café"


def test_a_few_broken_bytes_leave_the_encoding(tmp_path: Path) -> None:
    frame = clean().assign(name=[f"café {number}" for number in range(ROWS)])
    data = text(frame).encode().replace("café 7".encode(), b"caf\xff 7", 1)
    (tmp_path / "data.csv").write_bytes(data)
    table, recipe = served(tmp_path, "data.csv")
    assert table["name"].iloc[7] == "caf\ufffd 7" and table["name"].iloc[8] == "café 8"
    assert "no characters" in recipe.notes[0]


def test_columns_without_names(tmp_path: Path) -> None:
    (tmp_path / "data.csv").write_text(text(clean(), header=False))
    table, recipe = served(tmp_path, "data.csv")
    assert list(table.columns) == ["column_1", "column_2", "column_3", "column_4"]
    assert np.array_equal(table.to_numpy(), clean().to_numpy()) and "no header" in recipe.notes[0]
    frame = clean().rename(columns={"size": "", "place": "name"})
    (tmp_path / "some.csv").write_text(text(frame))
    table, _ = served(tmp_path, "some.csv")
    assert list(table.columns) == ["name", "column_2", "count", "name.1"]
    lines = text(clean()).splitlines()
    (tmp_path / "rows.csv").write_text("\n".join([lines[0].partition(",")[2], *lines[1:]]))
    table, _ = served(tmp_path, "rows.csv")
    assert list(table.columns) == ["row", "size", "count", "place"] and len(table) == ROWS


@pytest.mark.parametrize("ending", [",", ",,"])
def test_delimiters_at_the_end_of_lines(tmp_path: Path, ending: str) -> None:
    (tmp_path / "all.csv").write_text(text(clean()).replace("\n", f"{ending}\n"))
    table, _ = served(tmp_path, "all.csv")
    pd.testing.assert_frame_equal(table, clean())
    first, _, rest = text(clean()).partition("\n")
    (tmp_path / "rows.csv").write_text(f"{first}\n" + rest.replace("\n", ",\n"))
    table, _ = served(tmp_path, "rows.csv")
    pd.testing.assert_frame_equal(table, clean())


@pytest.mark.parametrize("names", [["2018", "2019", "2020"], ["1", "2", "3"], ["0", "10", "20"]])
def test_numbers_that_count_up_are_names(tmp_path: Path, names: list[str]) -> None:
    rng = np.random.default_rng(1)
    frame = pd.DataFrame(rng.normal(size=(40, 3)).round(3), columns=names)
    frame.insert(0, "country", [f"land {number}" for number in range(40)])
    (tmp_path / "wide.csv").write_text(text(frame))
    table, _ = served(tmp_path, "wide.csv")
    pd.testing.assert_frame_equal(table, frame)


@pytest.mark.parametrize(
    ("write", "read"),
    [
        (lambda number: f"{number:.2f}".replace(".", ","), None),
        (lambda number: f"${number:,.2f}", None),
        (lambda number: f"{number:,.2f} €", None),
        (lambda number: f"USD {number:.2f}", None),
        (lambda number: f"{number:.2f}%", None),
        (lambda number: f"{number:.2f} %", None),
        (lambda number: f"{number:,.2f}", None),
        (lambda number: f"{number:,.2f}".replace(",", "'"), None),
        (lambda number: f"({-number:.2f})" if number < 0 else f"{number:.2f}", None),
        (lambda number: f"{number:,.2f} €".translate(str.maketrans(",.", ".,")), None),
        (lambda number: f"{number:,.0f}", 0),
        (lambda number: f"{number:.2f}", None),
    ],
    ids=["decimal comma", "dollars", "euros", "code", "per cent", "spaced per cent", "thousands",
         "apostrophes", "brackets", "euros with comma", "whole thousands", "plain"],
)  # fmt: skip
@pytest.mark.parametrize("delimiter", [",", ";"])
def test_numbers_with_signs(
    tmp_path: Path, write: Callable[[float], str], read: int | None, delimiter: str
) -> None:
    rng = np.random.default_rng(5)
    values = pd.Series(rng.normal(2_000, 3_000, ROWS).round(2), name="amount")
    frame = clean().drop(columns="size").assign(amount=[write(value) for value in values])
    (tmp_path / "data.csv").write_text(text(frame, sep=delimiter))
    table, _ = served(tmp_path, "data.csv")
    assert np.allclose(table["amount"].to_numpy(float), values.round(read) if read == 0 else values)
    assert table["place"].tolist() == clean()["place"].tolist()


@pytest.mark.parametrize("marker", ["?", "-", "NULL", "N/A", "", "n.a.", "\\N", "unknown", "--", "."])
def test_missing_values(tmp_path: Path, marker: str) -> None:
    frame = clean().astype(object)
    gone = np.random.default_rng(2).random(ROWS) < 0.3
    frame.loc[gone, "size"] = marker
    (tmp_path / "data.csv").write_text(text(frame))
    table, _ = served(tmp_path, "data.csv")
    assert table["size"].isna().tolist() == gone.tolist() and table["size"].dtype == float


def test_words_that_look_missing_stay_where_all_is_words(tmp_path: Path) -> None:
    frame = clean().assign(sign=["-", "+", "unknown"] * 20)
    (tmp_path / "data.csv").write_text(text(frame))
    table, _ = served(tmp_path, "data.csv")
    assert table["sign"].tolist() == frame["sign"].tolist()


@pytest.mark.parametrize(
    ("form", "dated"),
    [
        ("%d.%m.%Y", True),
        ("%d/%m/%Y", True),
        ("%d/%m/%Y %H:%M", True),
        ("%d-%m-%y", True),
        ("%Y%m%d", True),
        ("%m/%d/%Y", False),
        ("%Y-%m-%d", False),
    ],
)
def test_dates_as_text(tmp_path: Path, form: str, dated: bool) -> None:
    days = pd.date_range("2021-01-03", periods=ROWS, freq="9D")
    frame = clean().assign(date=days.strftime(form))
    (tmp_path / "data.csv").write_text(text(frame))
    table, _ = served(tmp_path, "data.csv")
    assert pd.api.types.is_datetime64_dtype(table["date"]) is dated
    parsed = pd.to_datetime(table["date"], format="mixed")
    assert parsed.tolist() == days.tolist()


@pytest.mark.parametrize(("unit", "factor"), [("s", 1), ("ms", 1000)])
def test_clocks_since_1970(tmp_path: Path, unit: str, factor: int) -> None:
    seconds = 1_600_000_000 + np.arange(ROWS) * 3_600
    (tmp_path / "data.csv").write_text(text(clean().assign(timestamp=seconds * factor, reading=seconds)))
    table, _ = served(tmp_path, "data.csv")
    assert table["timestamp"].iloc[1] == pd.Timestamp("2020-09-13 13:26:40")
    assert table["reading"].dtype == "int64"  # only its name says that a number is a time


def test_quotes_hold_what_they_hold(tmp_path: Path) -> None:
    frame = clean().assign(name=['one, "two"\nthree', "plain"] * 30)
    (tmp_path / "data.csv").write_text(text(frame))
    table, _ = served(tmp_path, "data.csv")
    pd.testing.assert_frame_equal(table, frame)
    # Skipped lines below cells of several lines are counted as pandas counts them.
    lines = text(frame).split("\n")
    (tmp_path / "more.csv").write_text("\n".join([*lines[:4], "only this", *lines[4:]]))
    table, _ = served(tmp_path, "more.csv")
    pd.testing.assert_frame_equal(table, frame)


def test_rows_that_end_early_lack_their_last_cells(tmp_path: Path) -> None:
    lines = text(clean()).splitlines()
    short = [line.rpartition(",")[0] if number % 4 else line for number, line in enumerate(lines)]
    (tmp_path / "data.csv").write_text("\n".join(short))
    table, _ = served(tmp_path, "data.csv")
    assert list(table.columns) == list(clean().columns) and len(table) == ROWS
    assert table["place"].notna().sum() == 15 and table["name"].tolist() == clean()["name"].tolist()


def test_a_header_that_ends_in_a_delimiter(tmp_path: Path) -> None:
    lines = text(clean()).splitlines()
    (tmp_path / "data.csv").write_text("\n".join(["Series: all", "", lines[0] + ",", *lines[1:]]))
    table, _ = served(tmp_path, "data.csv")
    pd.testing.assert_frame_equal(table, clean())


def test_quotes_between_white_space_and_names_that_repeat(tmp_path: Path) -> None:
    rows = [f'"land {number}" {number}.5 {number} {number}' for number in range(30)]
    (tmp_path / "data.dat").write_text("\n".join(['"a b" c c', *rows]))
    table, _ = served(tmp_path, "data.dat")
    assert list(table.columns) == ["row", "a b", "c", "c.1"] and table["row"].iloc[3] == "land 3"


def test_bytes_are_no_text(tmp_path: Path) -> None:
    (tmp_path / "data.dat").write_bytes(np.random.default_rng(0).normal(size=500).tobytes())
    with pytest.raises(UnreadableTable, match="not a text"):
        plan_table(tmp_path, "data.dat")


def test_a_quote_that_nobody_closes(tmp_path: Path) -> None:
    frame = pd.concat([clean()] * 10, ignore_index=True)
    (tmp_path / "data.csv").write_text(text(frame).replace("item 3,", '"item 3,', 1))
    table, recipe = served(tmp_path, "data.csv")
    assert len(table) == len(frame) and table["name"].iloc[3] == '"item 3'
    assert "quotes are characters" in " ".join(recipe.notes)


def test_white_space_cuts_cells(tmp_path: Path) -> None:
    (tmp_path / "data.txt").write_text(clean()[["size", "count", "place"]].to_string(index=False))
    table, _ = served(tmp_path, "data.txt")
    pd.testing.assert_frame_equal(table, clean()[["size", "count", "place"]])


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ("", "empty"),
        ("\n\n", "empty"),
        ("a,b\n", "without rows"),
        (",".join(f"x{n}" for n in range(5_000)) + "\n" + ",".join("1" * 5_000) + "\n", "5000 columns"),
        ("a,b\n1,2,3\n1,2,3,4\n1\n2,3\n1,2,3,4,5\n1,2,3,4,5,6\n", "more than the"),
    ],
)
def test_what_is_no_table_is_refused_with_a_reason(tmp_path: Path, content: str, reason: str) -> None:
    (tmp_path / "data.csv").write_text(content)
    with pytest.raises(UnreadableTable, match=f"^data.csv: .*{reason}"):
        plan_table(tmp_path, "data.csv").read(tmp_path)


def test_prose_is_no_table(tmp_path: Path) -> None:
    sentence = "It was, as they say, a day.\nNobody came; and so, we went.\nThe end\n"
    (tmp_path / "story.txt").write_text(sentence * 20)
    with pytest.raises(UnreadableTable, match="text whose lines"):
        plan_table(tmp_path, "story.txt")


@pytest.mark.parametrize(
    "name", ['quote".csv', "single'.csv", "brace{0}.csv", "line\nbreak.csv", "日本🙂.csv"]
)
def test_names_of_files_and_columns_are_data(tmp_path: Path, name: str) -> None:
    hostile = ['"); raise SystemExit("', "{name}", "back\\slash", "'''", "new\nline", "percent %s"]
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({column: [f"${value:.2f}" for value in rng.random(20) * 9] for column in hostile})
    (tmp_path / name).write_text(text(frame))
    table, _ = served(tmp_path, name)
    assert list(table.columns) == hostile
    assert all(table[column].dtype == float for column in hostile)


def test_plain_files_are_read_by_one_plain_line() -> None:
    for card in list_datasets():
        folder = dataset_path(card.name)
        for path in raw_files(folder):
            if table_format(path) == "csv":
                code = plan_table(folder, path.name).code()
                assert code == f'table = pd.read_csv(raw / "{path.name}", low_memory=False)'


cells = st.one_of(
    st.text(st.characters(exclude_categories=("Cs",), exclude_characters="\0\r\x1f"), max_size=12),
    st.integers(-(10**6), 10**6).map(str),
    st.floats(allow_nan=False, allow_infinity=False, width=32).map(str),
    st.sampled_from(["", "?", "$1,000.50", "12 %", "31.12.2020", "1,5", "NA", "(3)"]),
)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    rows=st.lists(st.lists(cells, min_size=3, max_size=3), min_size=1, max_size=12),
    names=st.lists(cells, min_size=3, max_size=3),
    delimiter=st.sampled_from([",", ";", "\t"]),
)
def test_code_and_reading_agree_on_any_table(
    tmp_path: Path, rows: list[list[str]], names: list[str], delimiter: str
) -> None:
    pd.DataFrame(rows, columns=names).to_csv(tmp_path / "data.csv", index=False, sep=delimiter)
    try:
        recipe = plan_table(tmp_path, "data.csv")
        table = recipe.read(tmp_path)
    except UnreadableTable as error:
        assert str(error).startswith("data.csv")
        return
    pd.testing.assert_frame_equal(run(recipe, tmp_path), table)
