"""Score files for `mlesmith rate`."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from harness.errors import InputError
from leaderboards.scores import read_scores_csv
from stats.ratings import rate

HEADER = "task,model,attempt,score,valid,higher_is_better\n"


def write(tmp_path: Path, text: str, encoding: str = "utf-8") -> Path:
    path = tmp_path / "scores.csv"
    path.write_text(text, encoding=encoding)
    return path


def test_a_file_is_read_and_rated(tmp_path: Path) -> None:
    path = write(
        tmp_path,
        HEADER
        + "t,a,1,0.9,true,1\nt,b,1,0.8,TRUE,true\nu,a,1,1e1,1,0\nu,b,1,,False,0\n"
        + "v,a,1,2,1,false\nv,b,1,1,1,false\nw,a,1,5,1,1\nw,b,1,4,1,1\n",
        "utf-8-sig",
    )
    scores = read_scores_csv(path)
    assert list(scores.columns) == ["task", "model", "attempt", "score", "valid", "higher_is_better"]
    assert scores["valid"].tolist() == [True, True, True, False, True, True, True, True]
    np.testing.assert_array_equal(scores["score"][:4], [0.9, 0.8, 10.0, np.nan])
    rated = rate(scores)
    # a wins t, u and w, b wins v: 1000 + 200 log10(3)
    assert rated.models == ("a", "b") and rated.elo[0] == pytest.approx(1095.4242509439325)


def test_extra_columns_order_and_ids_are_kept_as_text(tmp_path: Path) -> None:
    path = write(
        tmp_path,
        "seed,higher_is_better,valid,score,attempt,model,task\n"
        '7,1,1,0.5,2,"m, large",007\n\n8,1,0,,3,m,1e5\n',
    )
    scores = read_scores_csv(path)
    assert scores[["task", "model", "attempt"]].to_numpy().tolist() == [
        ["007", "m, large", 2],
        ["1e5", "m", 3],
    ]


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("", "empty; the first line must name the columns"),
        (HEADER, "no rows below the header"),
        ("task,model,score,valid,higher_is_better\n", "line 1: column attempt is missing"),
        (
            "task,task,model,attempt,score,valid,higher_is_better\n",
            "line 1: column task is there more than once",
        ),
        (HEADER + "t,a,1,0.5,1\n", "line 2: 5 fields where the header has 6"),
        (HEADER + "t,a,1,0.5,1,1\n,a,1,0.5,1,1\n", "line 3: column task: '' is empty"),
        (HEADER + "t,,1,0.5,1,1\n", "line 2: column model: '' is empty"),
        (HEADER + "t,a,first,0.5,1,1\n", "line 2: column attempt: 'first' is not a whole number"),
        (HEADER + "t,a,1,good,1,1\n", "line 2: column score: 'good' is not a number"),
        (HEADER + "t,a,1,,1,1\n", "line 2: column score: '' is not finite, but valid is true"),
        (HEADER + "t,a,1,nan,1,1\n", "line 2: column score: 'nan' is not finite"),
        (HEADER + "t,a,1,inf,1,1\n", "line 2: column score: 'inf' is not finite"),
        (HEADER + "t,a,1,0.5,yes,1\n", "line 2: column valid: 'yes' is not a truth value"),
        (HEADER + "t,a,1,0.5,1,up\n", "line 2: column higher_is_better: 'up' is not a truth value"),
        (
            HEADER + "t,a,1,0.5,1,1\nt,a,1,0.6,1,1\n",
            "line 3: column attempt: task t, model a, attempt 1 is already",
        ),
        (
            HEADER + "t,a,1,0.5,1,1\nt,b,1,0.6,1,0\n",
            "line 3: column higher_is_better: task t has the other direction",
        ),
        (HEADER + 't,"a,1,0.5,1,1\n', "line 2: not valid CSV"),
        (HEADER + f't,"{"a" * 200_000}",1,0.5,1,1\n', "line 2: not valid CSV"),
        (HEADER + f"t,a,{2**63},0.5,1,1\n", "line 2: column attempt: '9223372036854775808' is too large"),
        (HEADER + 't,"a\nb",1,0.5,1,1\n', "line 3: column model: 'a\\nb' holds a line break"),
        (HEADER + "t,\x1b[31ma,1,0.5,1,1\n", "line 2: column model: '\\x1b[31ma' holds a line break or"),
        (HEADER.replace("task", "t\0sk"), "line 1: column 't\\x00sk' holds a line break or another control"),
        (HEADER.replace(",", ";"), "line 1: the columns are separated by ';'; separate them by commas"),
        (HEADER.replace(",", "\t"), "line 1: the columns are separated by '\\t'"),
    ],
)
def test_bad_files_are_refused_with_line_and_column(tmp_path: Path, text: str, named: str) -> None:
    path = write(tmp_path, text)
    with pytest.raises(InputError) as caught:
        read_scores_csv(path)
    assert str(caught.value).startswith(f"{path}: ") and named in str(caught.value)


def test_missing_and_undecodable_files(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"nowhere\.csv: not found"):
        read_scores_csv(tmp_path / "nowhere.csv")
    with pytest.raises(InputError, match=r"scores\.csv: line 2: not UTF-8"):
        read_scores_csv(write(tmp_path, HEADER + "tä,a,1,0.5,1,1\n", "latin-1"))
    # Beyond what is decoded in one piece.
    rows = [f"t{t},a,1,0.5,1,1\r\n" for t in range(3000)] + ["tä,a,1,0.5,1,1\r\n"]
    with pytest.raises(InputError, match="line 3002: not UTF-8"):
        read_scores_csv(write(tmp_path, HEADER + "".join(rows), "latin-1"))
    with pytest.raises(InputError, match="line 1: not UTF-8"):
        read_scores_csv(write(tmp_path, HEADER, "utf-16"))


@pytest.mark.parametrize("ends", ["\n", "\r\n", "\r"])
def test_a_byte_order_mark_and_any_line_ends_are_read(tmp_path: Path, ends: str) -> None:
    text = (HEADER + "t,a,1,0.5,1,1\nt,模型,1,1e300,1,1\n").replace("\n", ends)
    scores = read_scores_csv(write(tmp_path, text, "utf-8-sig"))
    assert scores[["model", "score"]].to_numpy().tolist() == [["a", 0.5], ["模型", 1e300]]
