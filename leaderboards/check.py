"""Whether a published board CSV holds together, checked from the file alone."""

from __future__ import annotations

import csv
import math
from dataclasses import dataclass
from datetime import date
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from harness.errors import InputError
from leaderboards.comparability import Finding
from leaderboards.publish import COLUMNS, ELO_DECIMALS
from stats.audit.findings import Case, mean_findings

OFFSET = 1000.0
_WHOLE = {"rank", "rank_low", "rank_high", "n_tasks", "n_trials", "tokens"}
_TEXT = {"model", "set", "feedback_policy", "budget", "spec_hash", "date"}
_MAY_BE_EMPTY = {
    "rank", "rank_low", "rank_high", "elo", "elo_low", "elo_high", "win_rate", "position_score", "cost_usd",
}  # fmt: skip
_SHARES = ("win_rate", "valid_rate", "mean_normalised_score", "position_score")
_NOT_NEGATIVE = ("n_tasks", "n_trials", "cost_usd", "tokens", "hours")
_SHARED = ("set", "feedback_policy", "budget", "spec_hash")

Cells = dict[str, Any]


@dataclass(frozen=True)
class BoardCheck:
    """What was found; ``ok`` when none of it is an error."""

    findings: tuple[Finding, ...]

    @property
    def ok(self) -> bool:
        """Whether the board can be used."""
        return all(finding.severity != "error" for finding in self.findings)


def check_board(path: Path) -> BoardCheck:
    """Check the columns, the types, and that ranks, ratings, intervals and conditions agree with each other.

    Raises:
        InputError: the file is not there or not a UTF-8 CSV.
    """
    try:
        with path.open(encoding="utf-8-sig", newline="") as stream:
            table = list(csv.reader(stream, strict=True))
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}; pass a board CSV") from error
    except (UnicodeDecodeError, csv.Error) as error:
        raise InputError(f"{path}: not a UTF-8 CSV: {error}; pass a board CSV") from error
    header = table[0] if table else []
    if header != list(COLUMNS):
        return BoardCheck((_error("columns", _header_difference(header)),))
    lines = [(number, cells) for number, cells in enumerate(table[1:], start=2) if cells]
    if not lines:
        return BoardCheck((_error("empty", "no rows below the header"),))
    rows: list[Cells] = []
    findings: list[Finding] = []
    for number, cells in lines:
        row, wrong = _parse(number, cells)
        rows.append(row)
        findings += wrong
    if not findings:
        for check in (
            _check_models,
            _check_conditions,
            _check_ranges,
            _check_intervals,
            _check_ranks,
            _check_offset,
        ):
            findings += check(rows)
    return BoardCheck(tuple(findings))


def _error(code: str, evidence: str) -> Finding:
    return Finding(code, "error", evidence)


def _header_difference(header: list[str]) -> str:
    missing = [column for column in COLUMNS if column not in header]
    unknown = [column for column in header if column not in COLUMNS]
    if missing or unknown:
        return f"missing: {', '.join(missing) or 'none'}; unknown: {', '.join(unknown) or 'none'}"
    return f"the order must be {','.join(COLUMNS)}"


def _parse(number: int, cells: list[str]) -> tuple[Cells, list[Finding]]:
    """Typed cells, ``None`` where empty, and what could not be read."""
    if len(cells) != len(COLUMNS):
        return {}, [_error("fields", f"line {number}: {len(cells)} fields instead of {len(COLUMNS)}")]
    row: Cells = {}
    findings = []
    for column, text in zip(COLUMNS, cells, strict=True):
        where = f"line {number}, {column}: {text!r}"
        row[column] = None
        if not text:
            if column not in _MAY_BE_EMPTY:
                findings.append(_error("type", f"{where} must not be empty"))
        elif column in _TEXT:
            row[column] = text
            if column == "date" and not _is_date(text):
                findings.append(_error("type", f"{where} is not a date like 2026-01-31"))
        else:
            try:
                row[column] = int(text) if column in _WHOLE else float(text)
            except ValueError:
                code = "nan-text" if text.strip().lower() in ("nan", "na", "n/a", "none", "null") else "type"
                wanted = "a whole number" if column in _WHOLE else "a number"
                findings.append(_error(code, f"{where} is not {wanted}; leave unknown numbers empty"))
            else:
                if not math.isfinite(row[column]):
                    findings.append(_error("nan-text", f"{where} is not finite; leave unknown numbers empty"))
    return row, findings


def _is_date(text: str) -> bool:
    try:
        return date.fromisoformat(text).isoformat() == text
    except ValueError:
        return False


def _check_models(rows: list[Cells]) -> list[Finding]:
    names = [row["model"] for row in rows]
    return [
        _error("duplicate-model", f"{name} has {names.count(name)} rows")
        for name in sorted(set(names))
        if names.count(name) > 1
    ]


def _check_conditions(rows: list[Cells]) -> list[Finding]:
    return [
        _error("mixed-conditions", f"{column} has several values: {', '.join(values)}")
        for column in _SHARED
        if len(values := sorted({row[column] for row in rows})) > 1
    ]


def _check_ranges(rows: list[Cells]) -> list[Finding]:
    findings = []
    for row in rows:
        for column in _SHARES:
            if row[column] is not None and not 0 <= row[column] <= 1:
                findings.append(
                    _error("range", f"{row['model']}: {column} {row[column]} is not between 0 and 1")
                )
        for column in _NOT_NEGATIVE:
            if row[column] is not None and row[column] < 0:
                findings.append(_error("range", f"{row['model']}: {column} {row[column]} is negative"))
        if row["n_trials"] < row["n_tasks"]:
            findings.append(
                _error("counts", f"{row['model']}: {row['n_trials']} trials on {row['n_tasks']} tasks")
            )
    return findings


def _check_intervals(rows: list[Cells]) -> list[Finding]:
    findings = []
    for row in rows:
        low, elo, high = row["elo_low"], row["elo"], row["elo_high"]
        if (low is None) != (high is None) or (elo is None and low is not None):
            findings.append(_error("interval", f"{row['model']}: elo {elo} with limits {low} and {high}"))
        elif low is not None and not low <= elo <= high:
            findings.append(_error("interval", f"{row['model']}: elo {elo} is not within {low} to {high}"))
        low, rank, high = row["rank_low"], row["rank"], row["rank_high"]
        if (low is None) != (high is None) or (low is not None and low > high):
            findings.append(_error("interval", f"{row['model']}: rank limits {low} and {high}"))
        elif low is not None and rank is not None and not low <= rank <= high:
            # Undefeated models share a rank by order, which a sign test between them may contradict.
            findings.append(
                Finding(
                    "rank-interval", "warning", f"{row['model']}: rank {rank} is not within {low} to {high}"
                )
            )
    return findings


def _check_ranks(rows: list[Cells]) -> list[Finding]:
    """Rows are in the order of rank, ranks are 1 + the number of better rows, and ratings follow them."""
    ranked = [row for row in rows if row["rank"] is not None]
    findings = [
        _error("rank", f"{row['model']} has rating {row['elo']} but no rank")
        for row in rows
        if row["rank"] is None and row["elo"] is not None
    ]
    for row in ranked:
        expected = 1 + sum(other["rank"] < row["rank"] for other in ranked)
        if row["rank"] != expected:
            findings.append(
                _error("rank", f"{row['model']} has rank {row['rank']}; {expected - 1} rows are better")
            )
    for upper, lower in pairwise(ranked):
        if lower["rank"] < upper["rank"]:
            findings.append(
                _error("row-order", f"{lower['model']} stands below {upper['model']} with a better rank")
            )
    rated = sorted((row for row in ranked if row["elo"] is not None), key=lambda row: row["rank"])
    for upper, lower in pairwise(rated):
        tied = upper["rank"] == lower["rank"]
        if upper["elo"] < lower["elo"] or (tied and upper["elo"] != lower["elo"]):
            findings.append(
                _error(
                    "rank-elo",
                    f"{upper['model']} (rank {upper['rank']}, elo {upper['elo']}) and "
                    f"{lower['model']} (rank {lower['rank']}, elo {lower['elo']}) contradict each other",
                )
            )
    return findings


def _check_offset(rows: list[Cells]) -> list[Finding]:
    """The ratings of a fit have the mean 1000, up to the rounding of each."""
    ratings = [row["elo"] for row in rows if row["elo"] is not None]
    if not ratings:
        return [Finding("no-ratings", "warning", "no model has a rating: their results only order them")]
    models = tuple(row["model"] for row in rows if row["elo"] is not None)
    case = Case(models, ("elo",), np.array(ratings)[:, None], OFFSET, ELO_DECIMALS, {})
    return [
        _error("offset", f"{finding.evidence}: rows are missing or altered")
        for finding in mean_findings(case)
    ]
