"""Files of raw comparisons for `mlesmith rate`."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from harness.errors import InputError
from leaderboards.outcomes import read_outcomes
from leaderboards.tables import open_table
from stats.comparisons import Comparisons

HEADER = "model_a,model_b,winner\n"


def read(tmp_path: Path, text: str) -> pd.DataFrame:
    path = tmp_path / "votes.csv"
    path.write_text(text, encoding="utf-8")
    with open_table(path) as table:
        return read_outcomes(table)


def test_labels_numbers_weights_and_tasks_are_counted(tmp_path: Path) -> None:
    frame = read(
        tmp_path,
        "judge,task,weight,winner,model_b,model_a\n"
        "x,q,2,model_a,b,a\nx,q,1,1.0,a,b\n\nx,q,3,tie (bothbad),b,a\nx,r,0.5,0,a,c\nx,r,4,tie,a,c\n",
    )
    found = Comparisons.from_outcomes(frame)
    assert (found.models, found.tasks) == (("a", "b", "c"), ("q", "r"))
    # q: a beat b 2 and half of 3; b beat a 1 and half of 3. r: a beat c 0.5 and half of 4; c half of 4.
    assert found.wins.tolist() == [
        [[0, 3.5, 0], [2.5, 0, 0], [0, 0, 0]],
        [[0, 0, 2.5], [0, 0, 0], [2, 0, 0]],
    ]


def test_without_weight_and_task_each_row_weighs_one_and_all_is_one_task(tmp_path: Path) -> None:
    frame = read(tmp_path, HEADER + 'a,b,model_b\n a ,b,0.5\n"a",b, model_b\n')
    assert list(frame.columns) == ["model_a", "model_b", "winner"]
    assert Comparisons.from_outcomes(frame).wins.tolist() == [[[0, 0.5], [2.5, 0]]]


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("model_a,winner\na,model_a\n", "line 1: column model_b is missing"),
        ("model_a,model_b,winner,task,task\n", "line 1: column task is there more than once"),
        (HEADER, "no rows below the header; add one row per comparison"),
        (HEADER + "a,b,tie\na,b\n", "line 3: 2 fields where the header has 3"),
        (HEADER + "a,,tie\n", "line 2: column model_b: '' is empty"),
        (HEADER + "a,b,tie\n\na,b,b\n", "line 4: column winner: 'b' is not known; write one of model_a"),
        (HEADER + "a,b,\n", "line 2: column winner: '' is not known"),
        (HEADER + "a,b,nan\n", "line 2: column winner: 'nan' is not known"),
        (HEADER + "a,b,0.7\n", "line 2: column winner: '0.7' is not known"),
        (HEADER + "a,a,tie\n", "line 2: column model_b: 'a' is also model_a"),
        ("model_a,model_b,winner,task\na,b,tie,\n", "line 2: column task: '' is empty"),
        ("model_a,model_b,winner,weight\na,b,tie,\n", "line 2: column weight: '' is not a finite number"),
        ("model_a,model_b,winner,weight\na,b,tie,-1\n", "line 2: column weight: '-1' is not a finite"),
        ("model_a,model_b,winner,weight\na,b,tie,nan\n", "line 2: column weight: 'nan' is not a finite"),
        ("model_a,model_b,winner,weight\na,b,tie,inf\n", "line 2: column weight: 'inf' is not a finite"),
        ("model_a,model_b,winner,weight\na,b,tie,1e300\n", "line 2: column weight: '1e300' is not a finite"),
        (HEADER + '"a\nb",b,tie\n', "line 3: column model_a: 'a\\nb' holds a line break"),
    ],
)
def test_bad_files_are_refused_with_line_and_column(tmp_path: Path, text: str, named: str) -> None:
    with pytest.raises(InputError) as caught:
        read(tmp_path, text)
    assert str(caught.value).startswith(f"{tmp_path / 'votes.csv'}: ") and named in str(caught.value)


def test_more_tasks_than_memory_can_hold_are_refused(tmp_path: Path) -> None:
    # 800 models, each named once, on 400 tasks of their own: 400 x 800^2 cells would take some 10 GiB.
    rows = (f"m{2 * i},m{2 * i + 1},tie,t{i}\n" for i in range(400))
    with pytest.raises(InputError, match="column task: 400 tasks of 800 models are too many"):
        read(tmp_path, "model_a,model_b,winner,task\n" + "".join(rows))
