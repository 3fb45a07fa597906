"""`board check`: a good file passes, and each kind of damage has its code."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.errors import InputError
from leaderboards.check import check_board
from leaderboards.publish import COLUMNS

TAIL = "3,3,0.5000,1.0000,0.5000,,0.0,100,0.5000,smith,test,steps=15,abc,2026-01-02"
# Mean of the two ratings: (1095.4 + 904.6) / 2 = 1000.0
GOOD = [",".join(COLUMNS), f"1,1,2,a,1095.4,1000.0,1190.8,{TAIL}", f"2,1,2,b,904.6,800.0,1009.2,{TAIL}"]
UNDEFEATED = f"1,1,1,top,,,,{TAIL}"


def check(tmp_path: Path, lines: list[str]) -> list[tuple[str, str]]:
    path = tmp_path / "board.csv"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    result = check_board(path)
    assert result.ok is all(finding.severity == "warning" for finding in result.findings)
    return [(finding.code, finding.severity) for finding in result.findings]


def test_a_good_board_passes(tmp_path: Path) -> None:
    assert check(tmp_path, GOOD) == []


def test_models_without_a_rating_stand_by_rank_alone(tmp_path: Path) -> None:
    lines = [
        GOOD[0],
        UNDEFEATED,
        GOOD[1].replace("1,1,2,a", "2,2,3,a"),
        GOOD[2].replace("2,1,2,b", "3,2,3,b"),
    ]
    assert check(tmp_path, lines) == []
    assert check(tmp_path, [GOOD[0], UNDEFEATED]) == [("no-ratings", "warning")]


def test_a_rounded_mean_passes(tmp_path: Path) -> None:
    assert check(tmp_path, [line.replace("904.6", "904.7") for line in GOOD]) == []


@pytest.mark.parametrize(
    ("old", "new", "code"),
    [
        ("rank_low", "low_rank", "columns"),
        ("model,elo,", "elo,model,", "columns"),
        ("2026-01-02", "02.01.2026", "type"),
        (",100,", ",many,", "type"),
        ("3,3,0.5000", "3.5,4,0.5000", "type"),
        ("0.5000,1.0000", "0.5000,", "type"),
        ("904.6", "NaN", "nan-text"),
        ("904.6", "inf", "nan-text"),
        ("0.5000,,0.0", "0.5000,None,0.0", "nan-text"),
        ("0.5000,1.0000", "0.5000,1.5000", "range"),
        (",100,", ",-100,", "range"),
        ("3,3,0.5000", "4,3,0.5000", "counts"),
        ("1000.0,1190.8", "1190.8,1000.0", "interval"),
        ("800.0,1009.2", ",1009.2", "interval"),
        ("2,1,2,b", "2,3,2,b", "interval"),
        ("2,1,2,b", "3,1,3,b", "rank"),
        ("2,1,2,b", ",1,2,b", "rank"),
        ("1,1,2,a,1095.4,1000.0", "1,1,2,a,895.4,800.0", "rank-elo"),
        ("2,1,2,b", "1,1,2,b", "rank-elo"),
        ("904.6", "903.0", "offset"),
        (",b,", ",a,", "duplicate-model"),
    ],
)
def test_damage_is_found(tmp_path: Path, old: str, new: str, code: str) -> None:
    assert any(old in line for line in GOOD)
    findings = check(tmp_path, [line.replace(old, new) for line in GOOD])
    assert (code, "error") in findings


@pytest.mark.parametrize(
    ("old", "new"), [("abc", "def"), (",test,", ",none,"), ("smith", "dojo"), ("=15", "=10")]
)
def test_mixed_conditions_are_found(tmp_path: Path, old: str, new: str) -> None:
    assert check(tmp_path, [*GOOD[:2], GOOD[2].replace(old, new)]) == [("mixed-conditions", "error")]


def test_the_offset_is_told_with_the_sums(tmp_path: Path) -> None:
    path = tmp_path / "board.csv"
    path.write_text("\n".join(line.replace("904.6", "903.0") for line in GOOD) + "\n", encoding="utf-8")
    [finding] = check_board(path).findings
    # 1095.4 + 903.0 = 1998.4, where 2000 is right and rounding explains 0.05 per row.
    for words in ("2 ratings sum to 1998.4", "2000.0", "0.1 at most", "off by -1.6", "missing or altered"):
        assert words in finding.evidence


def test_rows_out_of_order_and_missing_rows_are_found(tmp_path: Path) -> None:
    assert check(tmp_path, [GOOD[0], GOOD[2], GOOD[1]]) == [("row-order", "error")]
    assert check(tmp_path, GOOD[:2]) == [("offset", "error")]
    assert check(tmp_path, GOOD[:1]) == [("empty", "error")]
    assert check(tmp_path, [GOOD[0], "1,2"]) == [("fields", "error")]
    assert check(tmp_path, []) == [("columns", "error")]


def test_a_rank_outside_its_interval_is_only_a_warning(tmp_path: Path) -> None:
    assert check(tmp_path, [line.replace("1,1,2,a", "1,2,2,a") for line in GOOD]) == [
        ("rank-interval", "warning")
    ]


def test_files_that_are_no_csv_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be read"):
        check_board(tmp_path / "nowhere.csv")
    path = tmp_path / "board.csv"
    path.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(InputError, match="not a UTF-8 CSV"):
        check_board(path)
