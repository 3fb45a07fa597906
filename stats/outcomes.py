"""Raw outcomes, one row each (model a, model b, who won), checked and counted in one pass."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Codes = NDArray[np.integer[Any]]

COLUMNS = ("model_a", "model_b", "winner")
WINNERS: dict[object, float] = {
    "model_a": 1.0, "model_b": 0.0, "tie": 0.5, "tie (bothbad)": 0.5, 1: 1.0, 0: 0.0, 0.5: 0.5,
}  # fmt: skip

BLOCK_ROWS = 1 << 14
"""Rows coded at a time, so that the intermediate arrays stay in the processor's cache."""


def tally(
    a: Codes,
    b: Codes,
    outcome: NDArray[Any],
    models: Sequence[str],
    weight: NDArray[Any] | None = None,
    task: Codes | None = None,
    tasks: Sequence[str] = ("all",),
) -> tuple[Floats, Floats]:
    """Count raw outcomes.

    Args:
        a, b: (R,) codes of the two models, places in `models`.
        outcome: (R,) 1 where a won, 0 where b won, 1/2 for a tie.
        weight: (R,) finite and not negative; 1 if absent.
        task: (R,) places in `tasks`; all 0 if absent.

    Returns:
        (T, n, n) wins with ties as half a win each way, and the (T, n, n) symmetric weight of the ties.

    Raises:
        ValueError: another value in any of these, or a model against itself; the message names the row.
    """
    if a.ndim != 1:
        raise ValueError(f"outcomes: the columns must be vectors, not of shape {a.shape}")
    columns = {"a": a, "b": b, "outcome": outcome, "weight": weight, "task": task}
    given = {name: column for name, column in columns.items() if column is not None}
    if any(column.shape != (len(a),) for column in given.values()):
        shapes = ", ".join(f"{name} {column.shape}" for name, column in given.items())
        raise ValueError(f"outcomes: the columns must have one length: {shapes}")
    for name in ("a", "b", "task"):
        if name in given and not np.issubdtype(given[name].dtype, np.integer):
            raise ValueError(f"outcomes: {name} must hold integer codes, not {given[name].dtype}")

    for name in ("outcome", "weight"):
        if name in given and given[name].dtype.kind not in "biuf":
            raise ValueError(f"outcomes: {name} must hold real numbers, not {given[name].dtype}")

    n, n_tasks = len(models), len(tasks)
    cells = n_tasks * n * n
    key = np.empty(len(a), dtype=np.intp)
    for first in range(0, len(a), BLOCK_ROWS):
        rows = slice(first, first + BLOCK_ROWS)
        x, y = a[rows].astype(np.intp, copy=False), b[rows].astype(np.intp, copy=False)
        twice = outcome[rows] * 2.0
        with np.errstate(invalid="ignore"):
            result = twice.astype(np.intp)
        good = x.min() >= 0 and y.min() >= 0 and x.max() < n and y.max() < n
        good = good and result.min() >= 0 and result.max() <= 2 and np.array_equal(result, twice)
        good = good and not (x == y).any()
        cell = key[rows]
        np.multiply(result, cells, out=cell)
        if task is not None:
            good = good and task[rows].min() >= 0 and task[rows].max() < n_tasks
            cell += task[rows].astype(np.intp, copy=False) * (n * n)
        if weight is not None:
            good = good and weight[rows].min() >= 0 and weight[rows].max() < np.inf
        if not good:
            raise ValueError(_bad_row(given, models, n_tasks, first))
        cell += x * n
        cell += y
    counts = np.bincount(key, weight, minlength=3 * cells).reshape(3, n_tasks, n, n)
    lost, tied, won = counts
    ties = (tied + tied.transpose(0, 2, 1)).astype(np.float64)
    wins = ties * 0.5
    wins += won
    wins += lost.transpose(0, 2, 1)
    return wins, ties


def _bad_row(columns: dict[str, NDArray[Any]], models: Sequence[str], n_tasks: int, first: int) -> str:
    """Say what is wrong in the first bad row at or after `first`, counted from 1."""
    for row in range(first, len(columns["a"])):
        value = {name: column[row] for name, column in columns.items()}
        where = f"outcomes: row {row + 1}"
        for name, limit in (("a", len(models)), ("b", len(models)), ("task", n_tasks)):
            if name in value and not 0 <= value[name] < limit:
                return f"{where}: {name} is {value[name]}; codes run from 0 to {limit - 1}"
        if value["a"] == value["b"]:
            return f"{where} compares {models[value['a']]} with itself"
        if value["outcome"] not in (0.0, 0.5, 1.0):
            return f"{where}: outcome {value['outcome']} is not 1 (a won), 0 (b won) or 0.5 (a tie)"
        if "weight" in value and not 0 <= value["weight"] < np.inf:
            return f"{where}: weight {value['weight']} must be finite and not negative"
    raise AssertionError("no bad row")


def coded(
    outcomes: pd.DataFrame,
) -> tuple[Codes, Codes, NDArray[Any], tuple[str, ...], Floats | None, Codes | None, tuple[str, ...]]:
    """The arguments of `tally` from the table that `Comparisons.from_outcomes` reads, names sorted."""
    missing = [column for column in COLUMNS if column not in outcomes.columns]
    if missing:
        raise ValueError(f"outcomes: missing column {', '.join(missing)}")
    twice = [name for name in (*COLUMNS, "weight", "task") if (outcomes.columns == name).sum() > 1]
    if twice:
        raise ValueError(f"outcomes: column {twice[0]} is listed twice")
    if outcomes.empty:
        raise ValueError("outcomes: the table has no rows")
    (a, b), models = _shared_codes(outcomes, "model_a", "model_b")
    weight: Floats | None = None
    if "weight" in outcomes.columns:
        weight = pd.to_numeric(outcomes["weight"], errors="coerce").to_numpy(dtype=np.float64)
    task: Codes | None = None
    tasks: tuple[str, ...] = ("all",)
    if "task" in outcomes.columns:
        (task,), tasks = _shared_codes(outcomes, "task")
    return a, b, _results(outcomes["winner"]), models, weight, task, tasks


def _shared_codes(rows: pd.DataFrame, *columns: str) -> tuple[list[Codes], tuple[str, ...]]:
    """Codes of several columns in one sorted list of the names that occur."""
    factored = [_factored(rows[column]) for column in columns]
    labels = [[str(label) for label in found] for _, found in factored]
    # A categorical column may list names that no row has.
    occur = [
        np.bincount(codes, minlength=len(own)) > 0 for (codes, _), own in zip(factored, labels, strict=True)
    ]
    names = tuple(
        sorted({own[i] for own, seen in zip(labels, occur, strict=True) for i in np.flatnonzero(seen)})
    )
    place = {name: i for i, name in enumerate(names)}
    codes = [
        old if tuple(own) == names else np.array([place.get(name, -1) for name in own]).take(old)
        for (old, _), own in zip(factored, labels, strict=True)
    ]
    return codes, names


def _factored(column: pd.Series[Any]) -> tuple[Codes, list[Any]]:
    """Codes and their labels; those of a categorical column are taken as they are."""
    if isinstance(column.dtype, pd.CategoricalDtype):
        codes: Codes = column.cat.codes.to_numpy()
        labels = list(column.cat.categories)
    else:
        try:
            codes, found = pd.factorize(np.asarray(column))
        except TypeError:
            raise ValueError(f"outcomes: {column.name} must hold names or numbers") from None
        labels = list(found)
    if codes.min() < 0:
        raise ValueError(f"outcomes: row {int(codes.argmin()) + 1} has no {column.name}")
    return codes, labels


def _results(winner: pd.Series[Any]) -> NDArray[Any]:
    """1, 0 or 1/2 per row, from labels or numbers; unknown labels are named."""
    if pd.api.types.is_numeric_dtype(winner) and not winner.isna().any():
        return winner.to_numpy()
    codes, labels = _factored(winner)
    unknown = [label for i, label in enumerate(labels) if label not in WINNERS and (codes == i).any()]
    if unknown:
        raise ValueError(
            f"outcomes: winner has unknown labels {', '.join(map(repr, unknown[:10]))}; known are "
            f"{', '.join(repr(label) for label in WINNERS)}"
        )
    return np.array([WINNERS.get(label, np.nan) for label in labels], dtype=np.float32).take(codes)
