"""Pairwise comparisons: who beat whom on which task.

A task's matrix holds weights: `wins[t, i, j]` is the share of the comparison of i with j on task t that i
won; a tie gives each side one half. Built from scores, each pair on each task weighs exactly 1, however
many attempts were made, so that no model gains precision by being run more often on the same task.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
InvalidPolicy = Literal["loses", "dropped"]

COLUMNS = ("task", "model", "attempt", "score", "valid", "higher_is_better")


@dataclass(frozen=True, eq=False)
class Comparisons:
    """Per-task win matrices.

    Attributes:
        models: n distinct names.
        tasks: T distinct names.
        wins: (T, n, n) weights, finite and non-negative, zero on the diagonal; read-only.
    """

    models: tuple[str, ...]
    tasks: tuple[str, ...]
    wins: Floats

    def __post_init__(self) -> None:
        n, expected = len(self.models), (len(self.tasks), len(self.models), len(self.models))
        if self.wins.shape != expected:
            raise ValueError(f"wins has shape {self.wins.shape}; these tasks and models need {expected}")
        for kind, names in (("model", self.models), ("task", self.tasks)):
            repeated = [name for name, times in Counter(names).items() if times > 1]
            if repeated:
                raise ValueError(f"{kind} names are not distinct: {', '.join(repeated)}")
        if not np.isfinite(self.wins).all() or (self.wins < 0).any():
            t, i, j = np.argwhere(~(np.isfinite(self.wins) & (self.wins >= 0)))[0]
            raise ValueError(
                f"weight {self.wins[t, i, j]} of {self.models[i]} over {self.models[j]} on task "
                f"{self.tasks[t]}: weights must be finite and not negative"
            )
        if n and np.einsum("tii->ti", self.wins).any():
            t, i = np.argwhere(np.einsum("tii->ti", self.wins))[0]
            raise ValueError(f"{self.models[i]} is compared with itself on task {self.tasks[t]}")
        self.wins.setflags(write=False)

    @property
    def total(self) -> Floats:
        """(n, n) wins summed over the tasks."""
        return np.asarray(self.wins.sum(axis=0))

    @property
    def n_tasks(self) -> NDArray[np.int64]:
        """(n,) number of tasks on which each model was compared with at least one other."""
        met = self.wins.sum(axis=2) + self.wins.sum(axis=1) > 0
        return np.asarray(met.sum(axis=0), dtype=np.int64)

    @classmethod
    def from_scores(
        cls,
        scores: pd.DataFrame,
        *,
        invalid: InvalidPolicy = "loses",
        tie_rel: float = 0.0,
        tie_abs: float = 0.0,
    ) -> Comparisons:
        """Compare every two models on every task they share.

        All pairs of attempts are compared, each with weight 1 / (attempts of i x attempts of j). A
        (task, model) without a row is not a comparison, neither a loss nor a tie. Equal infinities tie.

        Args:
            scores: one row per (task, model, attempt) with the columns task, model, attempt, score, valid
                and higher_is_better (one direction per task). The score of an invalid row is not read.
            invalid: `loses`: an invalid result loses to a valid one and two invalid ones tie; `dropped`: as
                if the row were missing.
            tie_rel, tie_abs: two finite scores tie if they differ by at most
                `max(tie_abs, tie_rel * max(|x|, |y|))`; the default is exact equality.

        Raises:
            ValueError: a missing column, an empty table, a repeated (task, model, attempt), a valid row
                without a score, a task with two directions; the message names the row or the column.
        """
        if tie_rel < 0 or tie_abs < 0:
            raise ValueError("tie_rel and tie_abs must not be negative")
        if invalid not in ("loses", "dropped"):
            raise ValueError(f"invalid={invalid!r}: expected 'loses' or 'dropped'")
        rows = _checked(scores)
        task, tasks = pd.factorize(rows["task"].to_numpy(dtype=object), sort=True)
        model, models = pd.factorize(rows["model"].to_numpy(dtype=object), sort=True)
        valid = rows["valid"].to_numpy(dtype=bool)
        better_up = np.where(rows["higher_is_better"].to_numpy(dtype=bool), 1.0, -1.0)
        value = np.where(valid, rows["score"].to_numpy(dtype=np.float64), 0.0) * better_up

        slot = rows.groupby(["task", "model"], sort=False).cumcount().to_numpy()
        shape = (len(tasks), len(models), int(slot.max()) + 1)
        values = np.zeros(shape)
        is_valid = np.zeros(shape, dtype=bool)
        present = np.zeros(shape, dtype=bool)
        values[task, model, slot] = value
        is_valid[task, model, slot] = valid
        present[task, model, slot] = valid if invalid == "dropped" else True

        wins = np.zeros((shape[0], shape[1], shape[1]))
        for a in range(shape[2]):
            for b in range(shape[2]):
                both = present[:, :, None, a] & present[:, None, :, b]
                x, y = values[:, :, None, a], values[:, None, :, b]
                x_valid, y_valid = is_valid[:, :, None, a], is_valid[:, None, :, b]
                tied = np.where(x_valid & y_valid, _ties(x, y, tie_rel, tie_abs), x_valid == y_valid)
                won = np.where(x_valid & y_valid, x > y, x_valid) & ~tied
                wins += both * (won + 0.5 * tied)
        attempts = present.sum(axis=2)
        wins /= np.maximum(attempts[:, :, None] * attempts[:, None, :], 1)
        np.einsum("tii->ti", wins)[...] = 0.0
        return cls(tuple(map(str, models)), tuple(map(str, tasks)), wins)

    @classmethod
    def from_wins(
        cls, wins: ArrayLike, models: Sequence[str] | None = None, tasks: Sequence[str] | None = None
    ) -> Comparisons:
        """Take win matrices as they are: (n, n), held as one task named `all`, or (T, n, n).

        Names default to `0`, `1`, ... A tie is half a win in both directions.
        """
        array = np.array(wins, dtype=np.float64)
        if array.ndim == 2:
            array = array[None]
            tasks = ("all",) if tasks is None else tasks
        if array.ndim != 3 or array.shape[1] != array.shape[2]:
            raise ValueError(f"wins must be (n, n) or (T, n, n), not {np.shape(wins)}")
        return cls(
            tuple(map(str, range(array.shape[1]) if models is None else models)),
            tuple(map(str, range(array.shape[0]) if tasks is None else tasks)),
            array,
        )

    @classmethod
    def from_outcomes(cls, outcomes: Iterable[tuple[str, str, float]]) -> Comparisons:
        """Sum a list of (winner, loser, weight); a tie is two entries, one each way, of half its weight.

        Models are sorted by name. All outcomes count as one task, so task-clustered intervals do not exist.
        """
        listed = list(outcomes)
        names = sorted({str(name) for winner, loser, _ in listed for name in (winner, loser)})
        index = {name: i for i, name in enumerate(names)}
        wins = np.zeros((1, len(names), len(names)))
        for winner, loser, weight in listed:
            if not 0 <= weight < np.inf:
                raise ValueError(f"weight {weight} of {winner} over {loser} must be finite and not negative")
            wins[0, index[str(winner)], index[str(loser)]] += weight
        return cls(tuple(names), ("all",), wins)


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
    for column in ("task", "model", "attempt"):
        if rows[column].isna().any():
            raise ValueError(f"scores: {_row(rows, rows[column].isna())} has no {column}")
    rows["task"], rows["model"] = rows["task"].astype(str), rows["model"].astype(str)
    repeated = rows.duplicated(["task", "model", "attempt"])
    if repeated.any():
        raise ValueError(f"scores: {_row(rows, repeated)} repeats a (task, model, attempt)")
    rows["valid"] = _booleans(rows, "valid")
    rows["higher_is_better"] = _booleans(rows, "higher_is_better")
    directions = rows.groupby("task", sort=True)["higher_is_better"].nunique()
    if (directions > 1).any():
        task = directions.index[directions > 1][0]
        raise ValueError(f"scores: task {task} has two values of higher_is_better")
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
