"""Tables of scores, one row per (task, model, attempt), checked and compared pair by pair."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]
InvalidPolicy = Literal["loses", "dropped"]

COLUMNS = ("task", "model", "attempt", "score", "valid", "higher_is_better")


def compare_scores(
    scores: pd.DataFrame, invalid: InvalidPolicy, tie_rel: float, tie_abs: float
) -> tuple[tuple[str, ...], tuple[str, ...], Ints, Floats, Bools]:
    """Compare every attempt of every model with every attempt of every other on each task.

    Args as in `Comparisons.from_scores`.

    Returns:
        n model names and T task names, sorted; (T, n) numbers of attempts that count; (T, n, A, n, A) results
        1, 1/2 or 0 of attempt a of i against attempt b of j, 0 where either is absent; which of these are
        ties.
    """
    if not (0 <= tie_rel < np.inf and 0 <= tie_abs < np.inf):
        raise ValueError(f"tie_rel {tie_rel} and tie_abs {tie_abs} must be finite and not negative")
    if invalid not in ("loses", "dropped"):
        raise ValueError(f"invalid={invalid!r}: expected 'loses' or 'dropped'")
    rows = _checked(scores)
    task, tasks = pd.factorize(rows["task"].to_numpy(dtype=object), sort=True)
    model, models = pd.factorize(rows["model"].to_numpy(dtype=object), sort=True)
    up = rows["higher_is_better"].to_numpy(dtype=bool)
    ups = np.bincount(task, up)
    mixed = np.flatnonzero(np.logical_and(ups > 0, ups < np.bincount(task)))
    if mixed.size:
        raise ValueError(f"scores: task {tasks[mixed[0]]} has two values of higher_is_better")
    valid = rows["valid"].to_numpy(dtype=bool)
    value = np.where(valid, rows["score"].to_numpy(dtype=np.float64), 0.0) * np.where(up, 1.0, -1.0)

    slot = _running_count(task * len(models) + model)
    shape = (len(tasks), len(models), int(slot.max()) + 1)
    values = np.zeros(shape)
    is_valid = np.zeros(shape, dtype=bool)
    present = np.zeros(shape, dtype=bool)
    values[task, model, slot] = value
    is_valid[task, model, slot] = valid
    present[task, model, slot] = valid if invalid == "dropped" else True

    (x, y), (x_valid, y_valid), (x_present, y_present) = map(_facing, (values, is_valid, present))
    other = ~np.eye(len(models), dtype=bool)[:, None, :, None]
    both, two_valid = x_present & y_present & other, x_valid & y_valid
    tied: Bools = both & np.where(two_valid, _ties(x, y, tie_rel, tie_abs), x_valid == y_valid)
    outcomes = np.where(tied, 0.5, both & np.where(two_valid, x > y, x_valid))
    return tuple(map(str, models)), tuple(map(str, tasks)), present.sum(axis=2), outcomes, tied


def _running_count(key: Ints) -> Ints:
    """How many earlier rows have the same key (a pandas groupby takes far longer on small tables)."""
    order = np.argsort(key, kind="stable")
    ordered = key[order]
    count = np.empty(len(key), dtype=np.int64)
    count[order] = np.arange(len(key)) - np.searchsorted(ordered, ordered)
    return count


def _facing(array: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """A (T, n, A) array for attempt a of i, and for attempt b of j: they broadcast to (T, n, A, n, A)."""
    return array[:, :, :, None, None], array[:, None, None, :, :]


def _ties(x: Floats, y: Floats, rel: float, absolute: float) -> Bools:
    """Equal, or both finite and within the tolerance."""
    equal = x == y
    if rel == 0 and absolute == 0:
        return np.asarray(equal)
    with np.errstate(invalid="ignore"):
        close = np.abs(x - y) <= np.maximum(absolute, rel * np.maximum(np.abs(x), np.abs(y)))
    return np.asarray(equal | (close & np.isfinite(x) & np.isfinite(y)))


def _checked(scores: pd.DataFrame) -> pd.DataFrame:
    """The six columns, typed, or a ValueError that names what is wrong."""
    missing = [column for column in COLUMNS if column not in scores.columns]
    if missing:
        raise ValueError(f"scores: missing column {', '.join(missing)}; needed are {', '.join(COLUMNS)}")
    if scores.empty:
        raise ValueError("scores: the table has no rows")
    rows = scores.loc[:, list(COLUMNS)].reset_index(drop=True)
    if len(rows.columns) > len(COLUMNS):
        twice = rows.columns[rows.columns.duplicated()]
        raise ValueError(f"scores: column {twice[0]} is listed twice")
    if rows["score"].dtype.kind in "cmM":
        raise ValueError(f"scores: score must hold real numbers, not {rows['score'].dtype}")
    for column in ("task", "model", "attempt"):
        if rows[column].isna().any():
            raise ValueError(f"scores: {_row(rows, rows[column].isna())} has no {column}")
    rows["task"], rows["model"] = rows["task"].astype(str), rows["model"].astype(str)
    repeated = rows.duplicated(["task", "model", "attempt"])
    if repeated.any():
        raise ValueError(f"scores: {_row(rows, repeated)} repeats a (task, model, attempt)")
    rows["valid"] = _booleans(rows, "valid")
    rows["higher_is_better"] = _booleans(rows, "higher_is_better")
    numbers = pd.to_numeric(rows["score"].where(rows["valid"]), errors="coerce")
    unusable = rows["valid"] & numbers.isna()
    if unusable.any():
        raise ValueError(f"scores: {_row(rows, unusable)} is valid but its score is not a number")
    rows["score"] = numbers
    return rows


def _booleans(rows: pd.DataFrame, column: str) -> pd.Series[bool]:
    """True and False, 1 and 0, or these as text in any case."""
    words: dict[str, bool] = {"true": True, "1": True, "1.0": True, "false": False, "0": False, "0.0": False}
    if rows[column].dtype == bool:
        return rows[column]
    parsed = rows[column].map(lambda value: words.get(str(value).strip().lower()))
    if parsed.isna().any():
        raise ValueError(f"scores: {_row(rows, parsed.isna())}: {column} must be true or false")
    return parsed.astype(bool)


def _row(rows: pd.DataFrame, mask: Any) -> str:
    """Name the first row of the mask, counted from 1 without the header."""
    position = int(np.flatnonzero(np.asarray(mask))[0])
    row = rows.iloc[position]
    return f"row {position + 1} (task {row['task']}, model {row['model']}, attempt {row['attempt']})"
