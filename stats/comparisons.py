"""Pairwise comparisons: who beat whom on which task."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from stats.outcomes import coded, tally
from stats.score_tables import InvalidPolicy, compare_scores
from stats.vectors import LARGEST

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

ROUNDING = 1e-9
"""Relative to the largest weight: how far ties may miss symmetry, or exceed the half wins they consist of."""


@dataclass(frozen=True, eq=False)
class Attempts:
    """Results of single attempts, of which the wins are means; T n^2 A^2 numbers for up to A attempts.

    Attributes:
        counts: (T, n) attempts of each model on each task.
        outcomes: (T, n, A, n, A) 1, 1/2 or 0: the result of attempt a of i against attempt b of j, 0 where
            either is absent or i is j. `wins[t, i, j]` is their sum over a and b by `counts_i counts_j`.
    """

    counts: Ints
    outcomes: Floats


@dataclass(frozen=True, eq=False)
class Comparisons:
    """Per-task win matrices.

    `wins[t, i, j]` is the weight of the comparison of i with j on task t that i won. The policies:

    - A tie is half a win for each side. Scores tie if they are equal, equal infinities too; finite ones also
      within a tolerance, if one is given.
    - An invalid result loses to a valid one, and two invalid ones tie (or invalid results are dropped).
    - A missing result is not a comparison: neither a loss nor a tie.
    - Built from scores, each pair on each task weighs exactly 1: with unequal numbers of attempts, each pair
      of attempts weighs 1 / (attempts of i x attempts of j), so that no model gains precision by being run
      more often on the same task.

    Attributes:
        models: n distinct names.
        tasks: T distinct names.
        wins: (T, n, n) weights, finite and non-negative, zero on the diagonal; read-only.
        ties: (T, n, n) symmetric weight of the tied comparisons, of which half is counted in the wins of
            either side; None if it is not known which are ties.
        attempts: the results behind the wins, if some model has several attempts on a task; else None.
    """

    models: tuple[str, ...]
    tasks: tuple[str, ...]
    wins: Floats
    ties: Floats | None = None
    attempts: Attempts | None = None

    def __post_init__(self) -> None:
        expected = (len(self.tasks), len(self.models), len(self.models))
        if self.wins.shape != expected:
            raise ValueError(f"wins has shape {self.wins.shape}; these tasks and models need {expected}")
        for kind, names in (("model", self.models), ("task", self.tasks)):
            if len(set(names)) < len(names):
                repeated = [name for name, times in Counter(names).items() if times > 1]
                raise ValueError(f"{kind} names are not distinct: {', '.join(repeated)}")
        if not _weights(self.wins):
            t, i, j = np.argwhere(~((self.wins >= 0) & (self.wins <= LARGEST)))[0]
            raise ValueError(
                f"weight {self.wins[t, i, j]} of {self.models[i]} over {self.models[j]} on task "
                f"{self.tasks[t]}: weights must be finite (at most {LARGEST:g}) and not negative"
            )
        itself = np.argwhere(np.einsum("tii->ti", self.wins))
        if itself.size:
            t, i = itself[0]
            raise ValueError(f"{self.models[i]} is compared with itself on task {self.tasks[t]}")
        self.wins.setflags(write=False)
        if self.ties is not None:
            self._check_ties(self.ties)
        if self.attempts is not None:
            self._check_attempts(self.attempts)

    def _check_ties(self, ties: Floats) -> None:
        if ties.shape != self.wins.shape:
            raise ValueError(f"ties has shape {ties.shape}, wins {self.wins.shape}")
        if not _weights(ties):
            raise ValueError("ties must be finite and not negative")
        allowed = ROUNDING * self.wins.max(initial=0.0)
        # Some rows at a time: a few times faster for a thousand models than with temporaries of full size.
        for first in range(0, len(self.models), 64):
            rows = slice(first, first + 64)
            for excess, why in (
                (ties[:, rows] - ties.transpose(0, 2, 1)[:, rows], "differ by direction"),
                (ties[:, rows] - 2.0 * self.wins[:, rows], "exceed the half wins they should consist of"),
            ):
                if excess.max(initial=0.0) > allowed:
                    t, i, j = np.argwhere(excess > allowed)[0]
                    one, other = self.models[first + i], self.models[j]
                    raise ValueError(f"ties of {one} with {other} on task {self.tasks[t]} {why}")
        ties.setflags(write=False)

    def _check_attempts(self, attempts: Attempts) -> None:
        counts, outcomes = attempts.counts, attempts.outcomes
        tasks, n, _ = self.wins.shape
        most = outcomes.shape[2] if outcomes.ndim == 5 else 0
        if counts.shape != (tasks, n) or outcomes.shape != (tasks, n, most, n, most):
            raise ValueError(
                f"attempts: counts {counts.shape}, outcomes {outcomes.shape}, wins {self.wins.shape}"
            )
        counts.setflags(write=False)
        outcomes.setflags(write=False)

    @property
    def total(self) -> Floats:
        """(n, n) wins summed over the tasks."""
        return np.asarray(self.wins.sum(axis=0))

    @property
    def n_tasks(self) -> Ints:
        """(n,) number of tasks on which each model was compared with at least one other."""
        met = self.wins.sum(axis=2) + self.wins.sum(axis=1) > 0
        return np.asarray(met.sum(axis=0), dtype=np.int64)

    def subset(self, models: Sequence[str] | None = None, tasks: Sequence[str] | None = None) -> Comparisons:
        """The comparisons among these models on these tasks, in this order; None keeps all.

        Raises:
            ValueError: a name that is unknown or repeated.
        """
        i, t = _places("model", self.models, models), _places("task", self.tasks, tasks)
        cells = np.ix_(t, i, i)
        attempts = self.attempts
        if attempts is not None:
            outcomes = attempts.outcomes[t][:, i][:, :, :, i]
            attempts = Attempts(attempts.counts[np.ix_(t, i)], outcomes)
        return Comparisons(
            tuple(self.models[k] for k in i),
            tuple(self.tasks[k] for k in t),
            self.wins[cells],
            None if self.ties is None else self.ties[cells],
            attempts,
        )

    @classmethod
    def from_scores(
        cls,
        scores: pd.DataFrame,
        *,
        invalid: InvalidPolicy = "loses",
        tie_rel: float = 0.0,
        tie_abs: float = 0.0,
    ) -> Comparisons:
        """Compare every two models on every task they share; the policies are those of the class.

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
        models, tasks, counts, outcomes, tied = compare_scores(scores, invalid, tie_rel, tie_abs)
        pairs = np.maximum(counts[:, :, None] * counts[:, None, :], 1)
        attempts = Attempts(counts, outcomes) if outcomes.shape[2] > 1 else None
        return cls(models, tasks, outcomes.sum(axis=(2, 4)) / pairs, tied.sum(axis=(2, 4)) / pairs, attempts)

    @classmethod
    def from_wins(
        cls,
        wins: ArrayLike,
        models: Sequence[str] | None = None,
        tasks: Sequence[str] | None = None,
        ties: ArrayLike | None = None,
    ) -> Comparisons:
        """Take win matrices as they are: (n, n), held as one task named `all`, or (T, n, n).

        Names default to `0`, `1`, ... A tie is half a win in both directions; `ties` says, in the same shape,
        how much of that there is.
        """
        array = np.array(wins, dtype=np.float64)
        tied = None if ties is None else np.array(ties, dtype=np.float64)
        if array.ndim == 2:
            array = array[None]
            tied = None if tied is None else tied[None]
            tasks = ("all",) if tasks is None else tasks
        if array.ndim != 3 or array.shape[1] != array.shape[2]:
            raise ValueError(f"wins must be (n, n) or (T, n, n), not {np.shape(wins)}")
        return cls(
            tuple(map(str, range(array.shape[1]) if models is None else models)),
            tuple(map(str, range(array.shape[0]) if tasks is None else tasks)),
            array,
            tied,
        )

    @classmethod
    def from_outcomes(cls, outcomes: pd.DataFrame) -> Comparisons:
        """Count raw outcomes, one row each; models and tasks are sorted by name.

        Args:
            outcomes: columns model_a, model_b and winner: `model_a`, `model_b`, `tie` or `tie (bothbad)`, or
                1, 0 and 0.5; optionally weight (1 if absent) and task. Without tasks all is one task `all`,
                and task-clustered intervals do not exist. Categorical columns are the fastest.

        Raises:
            ValueError: a missing column or name, an empty table, an unknown winner, a model against itself,
                a negative or missing weight; the message names the row or the labels.
        """
        a, b, outcome, models, weight, task, tasks = coded(outcomes)
        return cls(models, tasks, *tally(a, b, outcome, models, weight, task, tasks))

    @classmethod
    def from_codes(
        cls,
        a: ArrayLike,
        b: ArrayLike,
        outcome: ArrayLike,
        models: Sequence[str],
        weight: ArrayLike | None = None,
        task: ArrayLike | None = None,
        tasks: Sequence[str] = ("all",),
    ) -> Comparisons:
        """Count raw outcomes given as arrays of length R, in about the time of two passes of np.bincount.

        Args:
            a, b: integer places in `models`.
            outcome: 1 where a won, 0 where b won, 1/2 for a tie; nothing else.
            weight: finite and not negative; 1 if absent.
            task: integer places in `tasks`; if absent, all is one task.

        Raises:
            ValueError: another value in any of these, or a model against itself; the message names the row.
        """
        names, task_names = tuple(map(str, models)), tuple(map(str, tasks))
        one, other, result = np.asarray(a), np.asarray(b), np.asarray(outcome)
        weights = None if weight is None else np.asarray(weight, dtype=np.float64)
        places = None if task is None else np.asarray(task)
        return cls(names, task_names, *tally(one, other, result, names, weights, places, task_names))


def _weights(array: Floats) -> bool:
    """Whether all are within their range; NaN fails both comparisons."""
    return not array.size or bool(array.min() >= 0 and array.max() <= LARGEST)


def _places(kind: str, known: tuple[str, ...], wanted: Sequence[str] | None) -> list[int]:
    """Indices of the wanted names."""
    if wanted is None:
        return list(range(len(known)))
    place = {name: i for i, name in enumerate(known)}
    unknown = [name for name in wanted if name not in place]
    if unknown:
        raise ValueError(f"unknown {kind}: {', '.join(map(str, unknown))}")
    return [place[name] for name in wanted]
