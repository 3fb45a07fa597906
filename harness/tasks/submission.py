"""The framework's checks of a submission file, the same for every task, before any metric runs.

Ids are compared as strings, rows are aligned to the answers by id, and no message ever shows an answer.
"""

from __future__ import annotations

import csv
import hashlib
import io
import os
import re
import stat
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import BinaryIO

import numpy as np
import pandas as pd

from harness.errors import TaskError
from harness.tasks.package import Task

MAX_BYTES = 1 << 30
#: How many more columns than it needs a submission may have and still be read, to be told which are wrong.
_SPARE_COLUMNS = 1_000
_SHOWN = 8
_SHOWN_CHARACTERS = 80


class Reason(StrEnum):
    """Why a submission is invalid, or ``ok``; for the task's own defects see ``GradeResult``."""

    OK = "ok"
    MISSING_FILE = "missing_file"
    NOT_A_FILE = "not_a_file"
    TOO_LARGE = "too_large"
    NOT_UTF8 = "not_utf8"
    NOT_CSV = "not_csv"
    EMPTY = "empty"
    WRONG_COLUMNS = "wrong_columns"
    DUPLICATE_ID = "duplicate_id"
    MISSING_ID = "missing_id"
    FOREIGN_ID = "foreign_id"
    MISSING_VALUE = "missing_value"
    NOT_NUMERIC = "not_numeric"
    NOT_FINITE = "not_finite"
    METRIC_REJECTED = "metric_rejected"
    METRIC_FAILED = "metric_failed"
    METRIC_NOT_FINITE = "metric_not_finite"
    METRIC_TIMEOUT = "metric_timeout"


class InvalidSubmission(Exception):
    """A submission fails a check. ``str()`` is a message fit for the participant."""

    def __init__(self, reason: Reason, message: str) -> None:
        super().__init__(message)
        self.reason = reason


class Rows(StrEnum):
    """Which test rows are graded: all, the part used for feedback, or the rest (see ``Feedback.SPLIT``)."""

    ALL = "all"
    FEEDBACK = "feedback"
    HELD_BACK = "held_back"


@dataclass(frozen=True)
class AnswerKey:
    """The answers of a task and what a submission must look like.

    Attributes:
        answers: the answer file, all cells as strings, in file order.
        columns: the columns of a submission, in the sample's order.
        numeric: those of ``columns`` that must hold finite numbers; ``true`` and ``false`` are 1 and 0.
        boolean: those of ``numeric`` that hold nothing but ``true`` and ``false`` in answers and sample.
        id_column: the name of the id column.
        may_be_empty: those of ``columns`` whose cells may be empty, as some answers are (no tags, say).
        groups: the group of an id, where rows of one group must be graded together; an id that is not in it
            is a group of its own.
    """

    answers: pd.DataFrame
    columns: tuple[str, ...]
    numeric: frozenset[str]
    id_column: str
    may_be_empty: frozenset[str] = frozenset()
    groups: Mapping[str, str] = field(default_factory=dict)
    boolean: frozenset[str] = frozenset()

    @property
    def integer_ids(self) -> bool:
        """Whether every id is written as a plain integer, so that it may be handed on as one."""
        return bool(self.answers[self.id_column].map(_is_plain_integer).all())

    def positions(self, rows: Rows) -> np.ndarray:
        """Positions of the answers that belong to ``rows``: a fixed half, by a hash of the group or id."""
        if rows is Rows.ALL:
            return np.arange(len(self.answers))
        units = [self.groups.get(value, value) for value in self.answers[self.id_column]]
        in_feedback = np.array([_half(unit) for unit in units], dtype=bool)
        return np.flatnonzero(in_feedback if rows is Rows.FEEDBACK else ~in_feedback)


def read_answer_key(task: Task) -> AnswerKey:
    """Read the answers and the sample submission of a prepared task.

    Raises:
        TaskError: a file is missing, cannot be read or contradicts ``task.toml``.
    """
    task.require_prepared()
    frames = {}
    for path in (task.answer_path, task.sample_path):
        try:
            frames[path] = read_strings(path)
        except InvalidSubmission as error:
            raise TaskError(f"{path}: {error}") from error
    answers, sample = frames[task.answer_path], frames[task.sample_path]
    id_column = task.spec.id_column
    for path, frame in frames.items():
        if id_column not in frame.columns:
            raise TaskError(f"{path}: no column {id_column!r}, which task.toml declares as id_column")
        if frame[id_column].duplicated().any():
            raise TaskError(f"{path}: column {id_column!r} holds an id twice")
    if set(answers[id_column]) != set(sample[id_column]):
        raise TaskError(f"{task.sample_path}: its ids are not those of {task.answer_path.name}")
    numeric, boolean, may_be_empty = set(), set(), set()
    for column in sample.columns:
        if column == id_column:
            continue
        source = answers if column in answers.columns else sample
        if _all_numeric(source[column]) and _all_numeric(sample[column]):
            numeric.add(column)
            if _all_truths(source[column]) and _all_truths(sample[column]):
                boolean.add(column)
        elif (source[column].str.strip() == "").any():
            may_be_empty.add(column)
    return AnswerKey(
        answers,
        tuple(sample.columns),
        frozenset(numeric),
        id_column,
        frozenset(may_be_empty),
        _read_groups(task),
        frozenset(boolean),
    )


def _read_groups(task: Task) -> dict[str, str]:
    """The group of each test id, where task.toml names a group column that ``public/test.csv`` shows."""
    path, column = task.public / "test.csv", task.spec.split.group_column
    if column is None or not path.is_file():
        return {}
    try:
        test = read_strings(path)
    except InvalidSubmission as error:
        raise TaskError(f"{path}: {error}") from error
    if column not in test.columns or task.spec.id_column not in test.columns:
        return {}
    return dict(zip(test[task.spec.id_column], test[column], strict=True))


def read_submission(path: Path, key: AnswerKey) -> pd.DataFrame:
    """Read and check a submission, and align it to the answers.

    Returns:
        One row per answer, in the answers' order, with the sample's columns; ids and labels are strings,
        numeric columns floats.

    Raises:
        InvalidSubmission: with its reason and a message that names the column, the id or the row.
    """
    frame = read_strings(path, most_columns=len(key.columns) + _SPARE_COLUMNS)
    _check_columns(frame, key)
    frame = frame[list(key.columns)]
    _check_ids(frame[key.id_column], key)
    order = frame.set_index(key.id_column, drop=False).loc[key.answers[key.id_column]]
    aligned = order.reset_index(drop=True)
    for column in key.columns:
        if column != key.id_column:
            aligned[column] = _checked_values(aligned, column, key)
    return aligned


def read_strings(path: Path, most_columns: int | None = None) -> pd.DataFrame:
    """Read a CSV file with every cell as the string it is; ``NA``, ``None`` and ``007`` survive.

    Args:
        path: the file.
        most_columns: it is not read when it has more; for files that are not our own.

    Raises:
        InvalidSubmission: missing, not a regular file, too large, not UTF-8, not CSV or too wide.
    """
    text = _read_text(path)
    if not text.strip():
        raise InvalidSubmission(
            Reason.EMPTY, f"{path.name} is empty; it needs a header and one row per test id"
        )
    if most_columns is not None and (columns := _count_columns(text)) > most_columns:
        # Before pandas reads them, which takes minutes when there are very many.
        raise InvalidSubmission(
            Reason.WRONG_COLUMNS, f"{path.name} has {columns} columns; at most {most_columns} are read"
        )
    try:
        frame = pd.read_csv(io.StringIO(text), dtype=str, keep_default_na=False, na_filter=False)
    except (pd.errors.ParserError, pd.errors.EmptyDataError, ValueError) as error:
        detail = str(error).removeprefix("Error tokenizing data. C error: ").strip()
        raise InvalidSubmission(
            Reason.NOT_CSV, f"{path.name} is not a comma-separated table: {detail}"
        ) from error
    # With more cells than the header names, pandas takes the first ones for row labels.
    if not isinstance(frame.index, pd.RangeIndex):
        raise InvalidSubmission(
            Reason.NOT_CSV,
            f"{path.name}: rows have more cells than the header; quote cells that hold commas",
        )
    if frame.isna().to_numpy().any():
        row = int(np.flatnonzero(frame.isna().any(axis=1))[0]) + 2
        raise InvalidSubmission(Reason.NOT_CSV, f"{path.name}: line {row} has fewer cells than the header")
    return frame


def _count_columns(text: str) -> int:
    lines = io.StringIO(text.replace("\r\n", "\n").replace("\r", "\n"))
    try:
        return len(next(csv.reader(lines), ()))
    except csv.Error as error:
        raise InvalidSubmission(Reason.NOT_CSV, f"the header is not comma-separated: {error}") from error


def open_regular(path: Path) -> BinaryIO:
    """Open a file made by agent code: a link, a pipe or a device is looked at, never followed or waited for.

    Raises:
        InvalidSubmission: missing, not a regular file, or larger than :data:`MAX_BYTES`.
    """
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except FileNotFoundError:
        raise InvalidSubmission(Reason.MISSING_FILE, f"{path.name} was not written") from None
    except OSError:
        raise InvalidSubmission(Reason.NOT_A_FILE, f"{path.name} is not a regular file") from None
    state = os.fstat(handle)
    if not stat.S_ISREG(state.st_mode):
        os.close(handle)
        raise InvalidSubmission(Reason.NOT_A_FILE, f"{path.name} is not a regular file")
    if state.st_size > MAX_BYTES:
        os.close(handle)
        raise InvalidSubmission(
            Reason.TOO_LARGE, f"{path.name} has {state.st_size} bytes; at most {MAX_BYTES} are read"
        )
    return os.fdopen(handle, "rb")


def _read_text(path: Path) -> str:
    with open_regular(path) as stream:
        data = stream.read()
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InvalidSubmission(
            Reason.NOT_UTF8,
            f"{path.name} is not UTF-8 text (byte {error.start}); write it with encoding='utf-8'",
        ) from None
    if "\0" in text:
        raise InvalidSubmission(Reason.NOT_CSV, f"{path.name} holds NUL bytes; it is not a text file")
    return text


def _check_columns(frame: pd.DataFrame, key: AnswerKey) -> None:
    expected, given = list(key.columns), list(frame.columns)
    missing = [column for column in expected if column not in given]
    extra = [column for column in given if column not in expected]
    if missing or extra:
        parts = []
        if missing:
            parts.append(f"missing {_listed(missing)}")
        if extra:
            parts.append(f"unexpected {_listed(extra)}")
        raise InvalidSubmission(
            Reason.WRONG_COLUMNS, f"columns must be {_listed(expected)}: {', '.join(parts)}"
        )
    if len(frame) == 0:
        raise InvalidSubmission(Reason.EMPTY, "the file has a header but no rows")


def _check_ids(ids: pd.Series, key: AnswerKey) -> None:
    expected = set(key.answers[key.id_column])
    duplicated = ids[ids.duplicated()].unique()
    if len(duplicated):
        raise InvalidSubmission(
            Reason.DUPLICATE_ID,
            f"{len(duplicated)} ids appear more than once in {key.id_column!r}: {_listed(duplicated)}",
        )
    given = set(ids)
    foreign = sorted(given - expected)
    if foreign:
        raise InvalidSubmission(
            Reason.FOREIGN_ID,
            f"{len(foreign)} ids in {key.id_column!r} are not test ids: {_listed(foreign)}; "
            "ids are compared as text",
        )
    missing = sorted(expected - given)
    if missing:
        raise InvalidSubmission(
            Reason.MISSING_ID, f"{len(missing)} of {len(expected)} test ids are missing: {_listed(missing)}"
        )


def _checked_values(frame: pd.DataFrame, column: str, key: AnswerKey) -> pd.Series:
    values = frame[column].str.strip()
    empty = values == ""
    if empty.any() and column not in key.may_be_empty:
        raise InvalidSubmission(
            Reason.MISSING_VALUE,
            f"column {column!r} is empty for {int(empty.sum())} ids, first {_first(frame, empty, key)}",
        )
    if column not in key.numeric:
        return frame[column]
    numbers = _to_numbers(values)
    bad = numbers.isna() & ~values.str.lower().isin(_NAN_WORDS)
    if bad.any():
        raise InvalidSubmission(
            Reason.NOT_NUMERIC,
            f"column {column!r} must hold numbers; it does not for {int(bad.sum())} ids, "
            f"first {_first(frame, bad, key)}",
        )
    infinite = ~np.isfinite(numbers.to_numpy())
    if infinite.any():
        raise InvalidSubmission(
            Reason.NOT_FINITE,
            f"column {column!r} must be finite; it is not for {int(infinite.sum())} ids, "
            f"first {_first(frame, pd.Series(infinite), key)}",
        )
    return numbers


_NAN_WORDS = frozenset({"nan", "na", "n/a", "null", "none", "<na>"})
_TRUTH = {"true": "1", "false": "0"}


def _to_numbers(values: pd.Series) -> pd.Series:
    lowered = values.str.lower()
    return pd.to_numeric(lowered.map(_TRUTH).fillna(lowered), errors="coerce").astype(float)


def _all_truths(values: pd.Series) -> bool:
    return bool(values.str.strip().str.lower().isin(_TRUTH.keys()).all())


def _all_numeric(values: pd.Series) -> bool:
    numbers = _to_numbers(values.str.strip())
    return bool(np.isfinite(numbers.to_numpy()).all())


def _first(frame: pd.DataFrame, mask: pd.Series, key: AnswerKey) -> str:
    return f"{key.id_column} {_quoted(frame.loc[mask.to_numpy(), key.id_column].iloc[0])}"


def _listed(values: Collection[object]) -> str:
    shown = ", ".join(_quoted(value) for value in list(values)[:_SHOWN])
    more = len(values) - _SHOWN
    return shown + (f" and {more} more" if more > 0 else "")


def _quoted(value: object) -> str:
    text = str(value)
    return repr(text if len(text) <= _SHOWN_CHARACTERS else f"{text[:_SHOWN_CHARACTERS]}...")


def _is_plain_integer(text: str) -> bool:
    return re.fullmatch(r"0|-?[1-9]\d{0,17}", text) is not None


def _half(value: str) -> bool:
    return hashlib.sha256(value.encode()).digest()[0] < 128
