"""Simpler orders of models that boards show beside a rating, and means over tasks with error bars.

Tasks are the sample everywhere: attempts of one task are averaged before anything else, so that repeats of a
task never count as new evidence (clustered standard errors, Miller 2024, arXiv 2411.00640).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import stdtrit

from stats.comparisons import Comparisons
from stats.intervals import Interval, Intervals, check_level
from stats.vectors import check_range

Floats = NDArray[np.float64]

T_INTERVAL = "t interval of task means with T-1 degrees of freedom"


@dataclass(frozen=True)
class Estimate:
    """A mean over tasks.

    Attributes:
        value: the mean; NaN without a task.
        standard_error: clustered by task; NaN with fewer than two tasks.
        interval: of the value, tasks as the sample.
        notes: what was left out or is undefined.
    """

    value: float
    standard_error: float
    interval: Interval
    notes: tuple[str, ...] = ()


def win_shares(comparisons: Comparisons) -> Floats:
    """(n, T) share of its opponents that a model beat on a task, ties as half; NaN where it met none."""
    won = comparisons.wins.sum(axis=2)
    met = won + comparisons.wins.sum(axis=1)
    return np.asarray(np.divide(won, met, out=np.full_like(won, np.nan), where=met > 0).T)


def mean_win_rate(comparisons: Comparisons) -> Floats:
    """(n,) mean over tasks of the share of the other models beaten, ties as half; NaN without a comparison.

    HELM's mean win rate: the chance of beating a random other model on a random task of the model's.
    """
    return _moments(win_shares(comparisons))[0]


def win_rate_intervals(comparisons: Comparisons, level: float = 0.95) -> Intervals:
    """(n,) t intervals of the mean win rates, cut to [0, 1]; NaN with fewer than two tasks.

    A model with the same share on every task has an interval of width zero: its sample shows no spread.
    """
    check_level(level)
    mean, error, tasks = _moments(win_shares(comparisons))
    half = stdtrit(np.where(tasks > 1, tasks - 1.0, np.nan), (1.0 + level) / 2.0) * error
    low, high = np.clip([mean - half, mean + half], 0.0, 1.0)
    return Intervals(mean, low, high, level, T_INTERVAL, tasks, "tasks")


def borda(comparisons: Comparisons) -> Floats:
    """(n,) Borda points: opponents beaten, ties as half, summed over the tasks."""
    return np.asarray(comparisons.wins.sum(axis=(0, 2)))


def mean_rank(comparisons: Comparisons) -> Floats:
    """(n,) mean over tasks of the rank among the models met there, 1 is best, ties share the average rank.

    With several attempts the rank on a task is 1 + the sum of the opponents' shares of the comparisons.
    NaN without a comparison. Where models miss tasks, ranks are out of different numbers: prefer win rates.
    """
    lost = comparisons.wins.transpose(0, 2, 1)
    weight = lost + comparisons.wins
    shares = np.divide(lost, weight, out=np.zeros_like(lost), where=weight > 0).sum(axis=2)
    return _moments(np.where(weight.sum(axis=2) > 0, 1.0 + shares, np.nan).T)[0]


def mean_score(values: ArrayLike, level: float = 0.95) -> Estimate:
    """Mean score of one model over tasks, each task weighing the same, whatever its attempts.

    The standard error is that of the task means, sd / sqrt(T): with equal attempts the clustered error of
    Miller (2024) times sqrt(T / (T-1)).

    Args:
        values: (n_tasks, n_attempts) or (n_tasks,) scores on one scale, NaN where missing. A task without any
            is left out, with a note.
        level: nominal coverage.

    Raises:
        ValueError: another shape, infinite values, or a bad level.
    """
    means = _task_means(values)
    seen = ~np.isnan(means)
    left_out = int((~seen).sum())
    notes = (f"{left_out} tasks without a value left out",) if left_out else ()
    return _estimate(means[seen], level, notes)


def paired_difference(x: ArrayLike, y: ArrayLike, level: float = 0.95) -> Estimate:
    """Mean of x - y over the tasks that both models have: their difficulty cancels.

    Args:
        x, y: scores of two models on the same tasks, each as `mean_score` takes them.
        level: nominal coverage.

    Raises:
        ValueError: as `mean_score`, or different numbers of tasks.
    """
    first, second = _task_means(x), _task_means(y)
    if len(first) != len(second):
        raise ValueError(f"x has {len(first)} tasks and y {len(second)}: both need the same tasks")
    difference = first - second
    shared = ~np.isnan(difference)
    left_out = int((~shared).sum())
    notes = (f"{left_out} tasks that one of the two lacks left out",) if left_out else ()
    return _estimate(difference[shared], level, notes)


def minimum_detectable_effect(
    standard_deviation: float, tasks: int, *, power: float = 0.8, level: float = 0.95
) -> float:
    """Smallest mean (paired) difference that a two-sided t test over so many tasks finds with this power.

    Args:
        standard_deviation: of the per-task differences, in score units.
        tasks: T, at least 2.
        power: chance of finding it.
        level: 1 - the size of the test.

    Raises:
        ValueError: fewer than two tasks, a negative or infinite deviation, or a bad power or level.
    """
    check_level(level)
    if not tasks >= 2 or not 0 <= standard_deviation < np.inf:
        raise ValueError("need two tasks or more and a finite standard deviation that is not negative")
    if not 1 - level < power < 1:
        raise ValueError(f"power must lie between the size of the test and 1, not {power}")
    from statsmodels.stats.power import TTestPower

    effect = TTestPower().solve_power(nobs=tasks, alpha=1.0 - level, power=power, alternative="two-sided")
    return standard_deviation * float(np.ravel(effect)[0])


def position_score(score: float, boards: Sequence[ArrayLike], *, higher_is_better: bool) -> float:
    """Mean position score on human leaderboards (HumanRank of MLE-Dojo).

    The position on a board of N rows is 1 + the number of rows strictly better; the score is
    (N - position + 1) / N: 1 at the top, 0 below every row.

    Raises:
        ValueError: no board, an empty board, or a NaN.
    """
    if not boards:
        raise ValueError("position score needs at least one board")
    sign = 1.0 if higher_is_better else -1.0
    shares = []
    for board in boards:
        rows = np.asarray(board, dtype=np.float64)
        if rows.size == 0 or np.isnan(rows).any() or np.isnan(score):
            raise ValueError("position score needs a score and non-empty boards without NaN")
        position = 1 + int((sign * rows > sign * score).sum())
        shares.append((rows.size - position + 1) / rows.size)
    return float(np.mean(shares))


def _moments(values: Floats) -> tuple[Floats, Floats, NDArray[np.int64]]:
    """Mean along the last axis, its standard error and the count, NaN left out."""
    seen = ~np.isnan(values)
    count = seen.sum(axis=-1)
    missing = np.full(count.shape, np.nan)
    mean = np.divide(np.where(seen, values, 0.0).sum(axis=-1), count, out=missing.copy(), where=count > 0)
    squares = np.where(seen, (values - mean[..., None]) ** 2, 0.0).sum(axis=-1)
    variance = np.divide(squares, (count - 1) * count, out=missing, where=count > 1)
    return np.asarray(mean), np.sqrt(variance), np.asarray(count, dtype=np.int64)


def _task_means(values: ArrayLike) -> Floats:
    """(T,) means over the attempts; NaN for a task without any."""
    array = np.asarray(values, dtype=np.float64)
    if array.ndim == 1:
        array = array[:, None]
    if array.ndim != 2:
        raise ValueError(f"need tasks by attempts, not shape {array.shape}")
    if np.isinf(array).any():
        task = int(np.argwhere(np.isinf(array))[0][0])
        raise ValueError(f"infinite value on task {task}: means need finite values")
    check_range(array, "the scores")
    return _moments(array)[0]


def _estimate(means: Floats, level: float, notes: tuple[str, ...]) -> Estimate:
    """Mean of task means with its t interval."""
    check_level(level)
    mean, standard_error, tasks = _moments(means)
    value, error, count = float(mean), float(standard_error), int(tasks)
    if count < 2:
        notes = (*notes, f"no standard error: {count} tasks, needed are two")
    half = float(stdtrit(count - 1.0, (1.0 + level) / 2.0)) * error if count > 1 else np.nan
    interval = Interval(value - half, value + half, level, T_INTERVAL, count, "tasks")
    return Estimate(value, error, interval, notes)
