"""Tidy score files: one row per (task, model, attempt), from anywhere, to be rated as they are."""

from __future__ import annotations

import csv
import io
import math
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from harness.errors import InputError
from leaderboards.tables import Line, Table, open_table

COLUMNS = ("task", "model", "attempt", "score", "valid", "higher_is_better")
_BOOLEANS = {"true": True, "1": True, "false": False, "0": False}


def read_scores_csv(path: Path) -> pd.DataFrame:
    """Read a score file, see :func:`read_scores`.

    Raises:
        InputError: names the file, the line, the column and the fix.
    """
    with open_table(path) as table:
        return read_scores(table)


def read_scores(table: Table) -> pd.DataFrame:
    """Read the scores of an open table.

    The columns are task, model, attempt (a whole number), score (a finite number; may be empty when invalid),
    valid and higher_is_better (true, false, 1 or 0). Other columns are ignored.

    Returns:
        These six columns, in this order, in the file's row order; the score of invalid rows is NaN.

    Raises:
        InputError: names the file, the line, the column and the fix.
    """
    table.require(COLUMNS)
    rows = [_parse(line) for line in table.lines]
    if not rows:
        raise InputError(f"{table.path}: no rows below the header; add one row per task, model and attempt")
    _check_across(table.path, rows)
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


def scores_text(scores: pd.DataFrame) -> str:
    """A score file of these rows, in their order; reading it gives back every number exactly."""
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(COLUMNS)
    for task, model, attempt, score, valid, up in scores[list(COLUMNS)].itertuples(index=False, name=None):
        shown = repr(float(score)) if valid else ""
        writer.writerow((task, model, attempt, shown, str(valid).lower(), str(up).lower()))
    return stream.getvalue()


@dataclass(frozen=True)
class _Row:
    line: int
    task: str
    model: str
    attempt: int
    score: float
    valid: bool
    higher_is_better: bool


def _parse(line: Line) -> _Row:
    cells = line.cells
    task, model = line.name("task"), line.name("model")
    try:
        attempt = int(cells["attempt"])
    except ValueError:
        raise line.wrong("attempt", "is not a whole number; number the attempts from 1") from None
    if abs(attempt) >= 2**63:
        raise line.wrong("attempt", "is too large; number the attempts from 1")
    flags = {}
    for column in ("valid", "higher_is_better"):
        if cells[column].lower() not in _BOOLEANS:
            raise line.wrong(column, "is not a truth value; write true, false, 1 or 0")
        flags[column] = _BOOLEANS[cells[column].lower()]
    try:
        score = float(cells["score"] or "nan")
    except ValueError:
        raise line.wrong("score", "is not a number; write a number, or nothing when valid is false") from None
    if flags["valid"] and not math.isfinite(score):
        raise line.wrong("score", "is not finite, but valid is true; write a number, or set valid to false")
    return _Row(
        line=line.number,
        task=task,
        model=model,
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
