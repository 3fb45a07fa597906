"""Tidy score files: one row per (task, model, attempt), from anywhere, to be rated as they are."""

from __future__ import annotations

import csv
import math
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from harness.errors import InputError

COLUMNS = ("task", "model", "attempt", "score", "valid", "higher_is_better")
_BOOLEANS = {"true": True, "1": True, "false": False, "0": False}


def read_scores_csv(path: Path) -> pd.DataFrame:
    """Read a score file for ``mlesmith rate``.

    The columns are task, model, attempt (a whole number), score (a finite number; may be empty when invalid),
    valid and higher_is_better (true, false, 1 or 0). Other columns are ignored.

    Returns:
        These six columns, in this order, in the file's row order; the score of invalid rows is NaN.

    Raises:
        InputError: names the file, the line, the column and the fix.
    """
    try:
        with path.open(encoding="utf-8-sig", newline="") as stream:
            rows = _read(path, stream)
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}; pass an existing CSV file") from error
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: not UTF-8 text; save it as UTF-8") from error
    except csv.Error as error:
        raise InputError(f"{path}: not valid CSV: {error}") from error
    _check_across(path, rows)
    return pd.DataFrame(
        {
            "task": [row.task for row in rows],
            "model": [row.model for row in rows],
            "attempt": pd.array([row.attempt for row in rows], dtype="int64"),
            "score": pd.array([row.score for row in rows], dtype="float64"),
            "valid": pd.array([row.valid for row in rows], dtype="bool"),
            "higher_is_better": pd.array([row.higher_is_better for row in rows], dtype="bool"),
        }
    )


@dataclass(frozen=True)
class _Row:
    line: int
    task: str
    model: str
    attempt: int
    score: float
    valid: bool
    higher_is_better: bool


def _read(path: Path, stream: Iterable[str]) -> list[_Row]:
    reader = csv.reader(stream, strict=True)
    header = [name.strip() for name in next(reader, [])]
    if not header:
        raise InputError(f"{path}: empty; the first line must name the columns {','.join(COLUMNS)}")
    for column in COLUMNS:
        if header.count(column) != 1:
            what = "is missing" if column not in header else "is there more than once"
            raise InputError(f"{path}: line 1: column {column} {what}; needed are {','.join(COLUMNS)}")
    rows = []
    for cells in reader:
        line = reader.line_num
        if not cells:
            continue
        if len(cells) != len(header):
            raise InputError(
                f"{path}: line {line}: {len(cells)} fields where the header has {len(header)}; "
                "quote fields that contain commas"
            )
        rows.append(_parse(path, line, {k: v.strip() for k, v in zip(header, cells, strict=True)}))
    if not rows:
        raise InputError(f"{path}: no rows below the header; add one row per task, model and attempt")
    return rows


def _parse(path: Path, line: int, cells: dict[str, str]) -> _Row:
    def wrong(column: str, fix: str) -> InputError:
        return InputError(f"{path}: line {line}: column {column}: {cells[column]!r} {fix}")

    for column in ("task", "model"):
        if not cells[column]:
            raise wrong(column, "is empty; give a name")
    try:
        attempt = int(cells["attempt"])
    except ValueError:
        raise wrong("attempt", "is not a whole number; number the attempts from 1") from None
    flags = {}
    for column in ("valid", "higher_is_better"):
        if cells[column].lower() not in _BOOLEANS:
            raise wrong(column, "is not a truth value; write true, false, 1 or 0")
        flags[column] = _BOOLEANS[cells[column].lower()]
    try:
        score = float(cells["score"] or "nan")
    except ValueError:
        raise wrong("score", "is not a number; write a number, or nothing when valid is false") from None
    if flags["valid"] and not math.isfinite(score):
        raise wrong("score", "is not finite, but valid is true; write a number, or set valid to false")
    return _Row(
        line=line,
        task=cells["task"],
        model=cells["model"],
        attempt=attempt,
        score=score if flags["valid"] else math.nan,
        valid=flags["valid"],
        higher_is_better=flags["higher_is_better"],
    )


def _check_across(path: Path, rows: list[_Row]) -> None:
    """Refuse a repeated (task, model, attempt) and a task with two directions."""
    seen: dict[tuple[str, str, int], int] = {}
    direction: dict[str, _Row] = {}
    for row in rows:
        key = (row.task, row.model, row.attempt)
        if key in seen:
            raise InputError(
                f"{path}: line {row.line}: column attempt: task {row.task}, model {row.model}, attempt "
                f"{row.attempt} is already on line {seen[key]}; keep one, or number the attempts"
            )
        seen[key] = row.line
        first = direction.setdefault(row.task, row)
        if first.higher_is_better != row.higher_is_better:
            raise InputError(
                f"{path}: line {row.line}: column higher_is_better: task {row.task} has the other direction "
                f"on line {first.line}; a task has one direction"
            )
