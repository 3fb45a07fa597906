"""Medals on human leaderboards, and the share of tasks that earn one.

The cuts are Kaggle's for competition medals, as mle-bench (arXiv 2410.07095) applies them: the score at a
position of the final leaderboard that depends on the number of teams.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Literal, TypeGuard

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtri, stdtrit

from stats.intervals import Interval, check_level

Floats = NDArray[np.float64]
Medal = Literal["gold", "silver", "bronze"]

MEDALS: tuple[Medal, ...] = ("gold", "silver", "bronze")


@dataclass(frozen=True)
class Thresholds:
    """Scores that a leaderboard asks for.

    Attributes:
        gold, silver, bronze: the worst score that earns the medal.
        median: of all teams.
        teams: on the leaderboard.
        higher_is_better: direction of all of these.
    """

    gold: float
    silver: float
    bronze: float
    median: float
    teams: int
    higher_is_better: bool


@dataclass(frozen=True)
class Rate:
    """A share of tasks.

    Attributes:
        value: mean over the tasks of the share of attempts; NaN without a task.
        interval: tasks as the sample.
        notes: what was left out or is undefined.
    """

    value: float
    interval: Interval
    notes: tuple[str, ...] = ()


def medal_positions(teams: int) -> tuple[int, int, int]:
    """Last position, from 1, that earns gold, silver and bronze.

    | teams | gold | silver | bronze |
    |---|---|---|---|
    | 1-99 | 10 % | 20 % | 40 % |
    | 100-249 | 10 | 20 % | 40 % |
    | 250-999 | 10 + 0.2 % | 50 | 100 |
    | from 1000 | 10 + 0.2 % | 5 % | 10 % |

    Fractions are rounded down, but to no less than 1, as mle-bench does.

    Raises:
        ValueError: no team.
    """
    if teams < 1:
        raise ValueError(f"a leaderboard needs a team, not {teams}")
    if teams < 250:
        gold = max(1, teams // 10) if teams < 100 else 10
        return gold, max(1, teams // 5), max(1, teams * 2 // 5)
    gold = 10 + teams // 500
    return (gold, 50, 100) if teams < 1000 else (gold, teams // 20, teams // 10)


def medal_thresholds(leaderboard: ArrayLike, *, higher_is_better: bool) -> Thresholds:
    """Thresholds of one leaderboard.

    Args:
        leaderboard: final scores, one per team, in any order. The direction is not guessed from the order.
        higher_is_better: direction of the metric.

    Raises:
        ValueError: an empty leaderboard, not a vector, or a score that is not finite; its row is named.
    """
    rows = np.asarray(leaderboard, dtype=np.float64)
    if rows.ndim != 1:
        raise ValueError(f"a leaderboard is a vector of scores, not of shape {rows.shape}")
    if not np.isfinite(rows).all():
        row = int(np.flatnonzero(~np.isfinite(rows))[0])
        raise ValueError(f"leaderboard: row {row + 1} has the score {rows[row]}")
    best_first = np.sort(rows)[::-1] if higher_is_better else np.sort(rows)
    gold, silver, bronze = (float(best_first[place - 1]) for place in medal_positions(rows.size))
    return Thresholds(gold, silver, bronze, float(np.median(rows)), rows.size, higher_is_better)


def medal(score: float | None, thresholds: Thresholds) -> Medal | None:
    """The best medal that a score earns, or None.

    A score equal to a threshold earns the medal, so every score tied at a cut does. mle-bench rounds scores
    to five decimals first; to agree with it, pass them so.

    Args:
        score: None or NaN for no valid submission, which earns nothing.

    Raises:
        ValueError: an infinite score.
    """
    if not _valid(score):
        return None
    earned = (name for name in MEDALS if not _better(getattr(thresholds, name), score, thresholds))
    return next(earned, None)


def above_median(score: float | None, thresholds: Thresholds) -> bool:
    """Whether a score is strictly better than the median team; None and NaN are not.

    Raises:
        ValueError: an infinite score.
    """
    return _valid(score) and _better(score, thresholds.median, thresholds)


def medal_rate(
    medals: Sequence[Sequence[Medal | None]], level: float = 0.95, among: Collection[Medal] = MEDALS
) -> Rate:
    """Share of attempts that earned a medal, see `success_rate`.

    Args:
        medals: for each task the result of each attempt; None where it earned nothing or failed.
        level: nominal coverage.
        among: the medals that count; all by default.

    Raises:
        ValueError: as `success_rate`, or a medal of another name.
    """
    unknown = {m for task in medals for m in task if m is not None and m not in MEDALS} | set(among) - {
        *MEDALS
    }
    if unknown:
        raise ValueError(f"no medals: {', '.join(sorted(map(repr, unknown)))}")
    return success_rate([[m in among for m in task] for task in medals], level)


def success_rate(successes: Sequence[Sequence[bool]], level: float = 0.95) -> Rate:
    """Mean over tasks of the share of successful attempts, with Wilson's interval over the tasks.

    With one attempt per task the tasks are independent trials and the interval is Wilson's. Several attempts
    of one task are alike, so the interval is Wilson's for the effective number of trials p (1 - p) / v, v the
    variance of the mean of the tasks' shares, with a t quantile since v is estimated (the design effect of
    survey sampling; Dean & Pagano 2015). The trials are at most the attempts, and the tasks if nothing or
    everything succeeded.

    Args:
        successes: for each task the outcome of each attempt. Tasks without any are left out, with a note.
        level: nominal coverage.

    Returns:
        The rate; its interval lies within [0, 1] and is NaN with fewer than two tasks.

    Raises:
        ValueError: an outcome that is not true or false (NaN, say), or a bad level.
    """
    check_level(level)
    for t, task in enumerate(successes):
        for outcome in task:
            if outcome not in (True, False):
                raise ValueError(f"task {t}: an outcome is true or false, not {outcome!r}")
    tried = [task for task in successes if len(task)]
    left_out = len(successes) - len(tried)
    notes = (f"{left_out} tasks without an attempt left out",) if left_out else ()
    shares = np.array([np.mean(np.asarray(task, dtype=bool)) for task in tried])
    tasks, attempts = len(tried), sum(map(len, tried))
    value = float(shares.mean()) if tasks else np.nan
    single = attempts == tasks
    method = "Wilson score interval" + ("" if single else " with the effective number of trials")
    low = high = np.nan
    if tasks < 2:
        notes = (*notes, f"no interval: {tasks} tasks, needed are two")
    else:
        variance = float(shares.var()) / tasks
        trials = min(value * (1.0 - value) / variance, attempts) if variance > 0 else attempts
        if single or value in (0.0, 1.0):
            trials = tasks
        upper = (1.0 + level) / 2.0
        reach = float(ndtri(upper) if single else stdtrit(tasks - 1, upper))
        low, high = _wilson(value, trials, reach)
    return Rate(value, Interval(float(low), float(high), level, method, tasks, "tasks"), notes)


def _wilson(share: float, trials: float, reach: float) -> tuple[float, float]:
    """Wilson's limits: the shares p with |share - p| = reach sqrt(p (1 - p) / trials)."""
    pull = reach**2 / trials
    centre = (share + pull / 2.0) / (1.0 + pull)
    half = np.sqrt(pull * share * (1.0 - share) + pull**2 / 4.0) / (1.0 + pull)
    # The limits lie within [0, 1] but for rounding.
    return max(0.0, float(centre - half)), min(1.0, float(centre + half))


def _valid(score: float | None) -> TypeGuard[float]:
    if score is not None and np.isinf(score):
        raise ValueError("infinite score: no medal follows from it; pass NaN for an invalid submission")
    return score is not None and not np.isnan(score)


def _better(x: float, y: float, thresholds: Thresholds) -> bool:
    return x > y if thresholds.higher_is_better else x < y
