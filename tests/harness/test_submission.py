"""The framework's checks of a submission: every reason, its message, and that no message shows an answer."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.errors import TaskError
from harness.tasks import submission as module
from harness.tasks.package import Task, load_task
from harness.tasks.submission import (
    AnswerKey,
    InvalidSubmission,
    Reason,
    Rows,
    read_answer_key,
    read_submission,
)

#: Answers that no participant's file holds, so that a message that repeats one is caught.
KEY = AnswerKey(
    answers=pd.DataFrame(
        {
            "id": ["007", "7", "1e5", "a,b"],
            "y": ["41.5", "42.5", "43.5", "44.5"],
            "t": ["NA", "zyx", "wvu", "null"],
        }
    ),
    columns=("id", "y", "t"),
    numeric=frozenset({"y"}),
    id_column="id",
)
ANSWERS = ("41.5", "42.5", "43.5", "44.5", "zyx", "wvu")
GOOD = 'id,y,t\n007,1,NA\n7,2,None\n1e5,3,null\n"a,b",4,"x,y"\n'


def read(tmp_path: Path, content: str | bytes, key: AnswerKey = KEY) -> pd.DataFrame:
    path = tmp_path / "submission.csv"
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return read_submission(path, key)


def rows(*lines: str) -> str:
    return "\n".join(("id,y,t", *lines)) + "\n"


def test_a_good_file_keeps_labels_ids_and_quoted_commas(tmp_path: Path) -> None:
    frame = read(tmp_path, GOOD)
    assert frame["id"].tolist() == ["007", "7", "1e5", "a,b"]
    assert frame["y"].tolist() == [1.0, 2.0, 3.0, 4.0]
    assert frame["t"].tolist() == ["NA", "None", "null", "x,y"]


@pytest.mark.parametrize(
    "content",
    [
        "\N{ZERO WIDTH NO-BREAK SPACE}" + GOOD,
        GOOD.replace("\n", "\r\n"),
        GOOD.rstrip("\n"),
        GOOD.replace("\n", "\n\n"),
        'y,t,id\n1,NA,007\n2,None,7\n3,null,1e5\n4,"x,y","a,b"\n',
        'id,y,t\n"a,b",4,"x,y"\n1e5,3,null\n7,2,None\n007,1,NA\n',
        'id,y,t\n007, 1 ,NA\n7,2.0,None\n1e5,3e0,null\n"a,b","4","x,y"\n',
    ],
    ids=[
        "BOM",
        "CRLF",
        "no last newline",
        "blank lines",
        "column order",
        "row order",
        "spellings of numbers",
    ],
)
def test_the_same_content_in_other_clothes(tmp_path: Path, content: str) -> None:
    pd.testing.assert_frame_equal(read(tmp_path, content), read(tmp_path, GOOD))


BAD: list[tuple[str, str | bytes, Reason, str]] = [
    ("nothing", "", Reason.EMPTY, "is empty"),
    ("blank", " \n\n", Reason.EMPTY, "is empty"),
    ("header only", "id,y,t\n", Reason.EMPTY, "a header but no rows"),
    ("latin-1", "id,y,t\n007,1,caf\xe9\n".encode("latin-1"), Reason.NOT_UTF8, "byte 16"),
    ("utf-16", GOOD.encode("utf-16"), Reason.NOT_UTF8, "encoding='utf-8'"),
    ("NUL", GOOD.replace("NA", "N\0A"), Reason.NOT_CSV, "NUL"),
    ("semicolons", GOOD.replace(",", ";"), Reason.WRONG_COLUMNS, "unexpected 'id;y;t'"),
    ("tabs", "id\ty\tt\n007\t1\tNA\n", Reason.WRONG_COLUMNS, "missing 'id', 'y', 't'"),
    (
        "no header",
        rows("007,1,NA").removeprefix("id,y,t\n") + "7,2,b\n",
        Reason.WRONG_COLUMNS,
        "missing 'id'",
    ),
    ("column missing", "id,y\n007,1\n", Reason.WRONG_COLUMNS, "missing 't'"),
    ("column extra", "id,y,t,u\n007,1,a,b\n", Reason.WRONG_COLUMNS, "unexpected 'u'"),
    ("column twice", "id,y,y,t\n007,1,1,b\n", Reason.WRONG_COLUMNS, "unexpected 'y.1'"),
    ("column's case", GOOD.replace("id,y", "ID,y"), Reason.WRONG_COLUMNS, "missing 'id', unexpected 'ID'"),
    ("index column", ",id,y,t\n0,007,1,NA\n", Reason.WRONG_COLUMNS, "unexpected 'Unnamed: 0'"),
    ("cells extra in every row", rows("007,1,5,NA", "7,2,5,b"), Reason.NOT_CSV, "more cells than the header"),
    ("comma at every line's end", rows("007,1,NA,", "7,2,b,"), Reason.NOT_CSV, "more cells than the header"),
    ("cells extra in one row", rows("007,1,NA", "7,2,b,c"), Reason.NOT_CSV, "line 3"),
    ("cell missing", rows("007,1", "7,2,b", "1e5,3,c", '"a,b",4,d'), Reason.MISSING_VALUE, "column 't'"),
    ("open quote", rows('"007,1,NA', "7,2,b"), Reason.NOT_CSV, "EOF inside string"),
    ("id twice", rows("007,1,NA", "007,1,NA", "7,2,b"), Reason.DUPLICATE_ID, "'007'"),
    (
        "id missing",
        rows("007,1,NA", "7,2,b", '"a,b",4,c'),
        Reason.MISSING_ID,
        "1 of 4 test ids are missing: '1e5'",
    ),
    ("id foreign", GOOD + "9,1,b\n", Reason.FOREIGN_ID, "'9'"),
    ("id as a float", GOOD.replace("7,2", "7.0,2"), Reason.FOREIGN_ID, "'7.0'"),
    ("1e5 written out", GOOD.replace("1e5,", "100000,"), Reason.FOREIGN_ID, "'100000'"),
    ("leading zeros lost", GOOD.replace("007,", "7,"), Reason.DUPLICATE_ID, "'7'"),
    ("blank around an id", GOOD.replace("007", " 007"), Reason.FOREIGN_ID, "' 007'"),
    ("value empty", GOOD.replace("7,2", "7,"), Reason.MISSING_VALUE, "column 'y' is empty for 1 ids"),
    (
        "label blank",
        GOOD.replace("NA", "  "),
        Reason.MISSING_VALUE,
        "column 't' is empty for 1 ids, first id '007'",
    ),
    *(
        (f"number {word}", GOOD.replace("7,2", f"7,{word}"), Reason.NOT_FINITE, "first id '7'")
        for word in ("NaN", "nan", "inf", "-Infinity", "1e999", "NA", "None", "null")
    ),
    *(
        (f"number {word}", GOOD.replace("7,2", f"7,{word}"), Reason.NOT_NUMERIC, "first id '7'")
        for word in ("setosa", "0x10", "1_0", "1+2j", "2020-01-01", "50%", '"1,5"', "9" * 5000)
    ),
]


@pytest.mark.parametrize(
    ("content", "reason", "said"), [case[1:] for case in BAD], ids=[case[0][:30] for case in BAD]
)
def test_what_is_wrong_has_its_reason_and_its_place(
    tmp_path: Path, content: str | bytes, reason: Reason, said: str
) -> None:
    with pytest.raises(InvalidSubmission) as caught:
        read(tmp_path, content)
    message = str(caught.value)
    assert (caught.value.reason, said in message) == (reason, True), message
    assert "\n" not in message
    assert len(message) < 1000
    assert not [answer for answer in ANSWERS if answer in message]


@pytest.mark.parametrize("column", ["id", "name"])
def test_a_message_stays_short_whatever_a_cell_holds(tmp_path: Path, column: str) -> None:
    long = "z" * 100_000
    content = GOOD.replace("007", long) if column == "id" else GOOD.replace("id,y", f"{long},y")
    with pytest.raises(InvalidSubmission) as caught:
        read(tmp_path, content)
    assert len(str(caught.value)) < 1000


def test_what_is_no_file_is_neither_followed_nor_waited_for(tmp_path: Path, iris: Task) -> None:
    path, key = tmp_path / "submission.csv", read_answer_key(iris)

    def reason() -> Reason:
        with pytest.raises(InvalidSubmission) as caught:
            read_submission(path, key)
        return caught.value.reason

    assert reason() is Reason.MISSING_FILE
    path.symlink_to(iris.answer_path)  # a link to the answers would otherwise be a perfect submission
    assert reason() is Reason.NOT_A_FILE
    path.unlink()
    path.symlink_to(tmp_path / "nowhere")
    assert reason() is Reason.NOT_A_FILE
    path.unlink()
    os.mkfifo(path)  # opening it would wait for a writer
    assert reason() is Reason.NOT_A_FILE
    path.unlink()
    path.mkdir()
    assert reason() is Reason.NOT_A_FILE
    path.rmdir()
    path.symlink_to("/dev/zero")
    assert reason() is Reason.NOT_A_FILE


def test_a_file_that_is_too_large_is_not_read(tmp_path: Path) -> None:
    path = tmp_path / "submission.csv"
    with path.open("wb") as stream:
        stream.truncate(module.MAX_BYTES + 1)  # sparse: takes no space
    with pytest.raises(InvalidSubmission) as caught:
        read_submission(path, KEY)
    assert caught.value.reason is Reason.TOO_LARGE


def test_truth_values_are_numbers_where_numbers_are_asked(tmp_path: Path) -> None:
    frame = read(tmp_path, GOOD.replace("007,1", "007,True").replace("7,2", "7,false"))
    assert frame["y"].tolist() == [1.0, 0.0, 3.0, 4.0]


def test_labels_may_be_empty_only_where_answers_are(tmp_path: Path) -> None:
    content = GOOD.replace("NA", "")
    with pytest.raises(InvalidSubmission):
        read(tmp_path, content)
    assert read(tmp_path, content, replace(KEY, may_be_empty=frozenset({"t"})))["t"].iloc[0] == ""


def test_the_key_of_a_task(iris: Task) -> None:
    key = read_answer_key(iris)
    assert (key.columns, key.numeric, key.id_column) == (("flower", "species"), frozenset(), "flower")
    assert not key.integer_ids  # 003 is not a plain integer
    assert len(key.answers) == 50


def test_the_kind_of_a_column_comes_from_answers_and_sample_together(iris: Task) -> None:
    iris.answer_path.write_text("flower,species\na,1\nb,\n")
    iris.sample_path.write_text("flower,species\na,1\nb,2\n")
    key = read_answer_key(iris)
    assert (key.numeric, key.may_be_empty) == (frozenset(), frozenset({"species"}))
    iris.answer_path.write_text("flower,species\n1,1\n-20,0.5\n")
    iris.sample_path.write_text("flower,species\n1,0\n-20,0\n")
    key = read_answer_key(iris)
    assert (key.numeric, key.integer_ids) == (frozenset({"species"}), True)


@pytest.mark.parametrize(
    ("answers", "sample", "said"),
    [
        ("", "flower,species\na,b\n", "is empty"),
        ("plant,species\na,b\n", "flower,species\na,b\n", "no column 'flower'"),
        ("flower,species\na,b\na,b\n", "flower,species\na,b\n", "holds an id twice"),
        ("flower,species\na,b\n", "flower,species\nb,b\n", "its ids are not those of test_answer.csv"),
    ],
)
def test_a_broken_task_is_the_tasks_fault(iris: Task, answers: str, sample: str, said: str) -> None:
    iris.answer_path.write_text(answers)
    iris.sample_path.write_text(sample)
    with pytest.raises(TaskError, match=said):
        read_answer_key(iris)


@given(st.lists(st.text(), unique=True, max_size=40))
def test_feedback_and_held_back_rows_partition_all_rows(ids: list[str]) -> None:
    key = AnswerKey(pd.DataFrame({"id": ids}, dtype=str), ("id",), frozenset(), "id")
    parts = [key.positions(part) for part in (Rows.FEEDBACK, Rows.HELD_BACK)]
    assert sorted(np.concatenate(parts)) == list(key.positions(Rows.ALL)) == list(range(len(ids)))


def test_the_halves_depend_on_ids_alone_and_are_halves() -> None:
    ids = [str(number) for number in range(1000)]
    key = AnswerKey(pd.DataFrame({"id": ids}), ("id",), frozenset(), "id")
    turned = AnswerKey(pd.DataFrame({"id": ids[::-1]}), ("id",), frozenset(), "id")
    chosen = {ids[position] for position in key.positions(Rows.FEEDBACK)}
    assert chosen == {ids[::-1][position] for position in turned.positions(Rows.FEEDBACK)}
    # Binomial(1000, 1/2) has a standard deviation of 15.8; five of them.
    assert abs(len(chosen) - 500) < 80


@given(st.binary(max_size=300) | st.text(max_size=300).map(str.encode))
def test_no_bytes_raise_anything_but_a_reason(tmp_path_factory: pytest.TempPathFactory, data: bytes) -> None:
    folder = tmp_path_factory.getbasetemp() / "any-bytes"
    folder.mkdir(exist_ok=True)
    with pytest.raises(InvalidSubmission):
        read(folder, data)


def test_a_group_is_never_cut_by_the_split_of_feedback(iris: Task) -> None:
    """Ten groups of five test rows: each lies wholly in one half, and both halves hold some."""
    toml = iris.root / "task.toml"
    toml.write_text(toml.read_text().replace('kind = "random"', 'kind = "group"\ngroup_column = "bed"'))
    test = pd.read_csv(iris.public / "test.csv", dtype=str)
    test["bed"] = [f"bed {row // 5}" for row in range(len(test))]
    test.to_csv(iris.public / "test.csv", index=False)
    key = read_answer_key(load_task(iris.root))
    bed = dict(zip(test["flower"], test["bed"], strict=True))
    halves = [
        {bed[key.answers["flower"][position]] for position in key.positions(rows)}
        for rows in (Rows.FEEDBACK, Rows.HELD_BACK)
    ]
    assert halves[0] and halves[1] and not halves[0] & halves[1]
    assert len(halves[0] | halves[1]) == 10
