"""The rated models of a pool of comparable trials: the rows of one board.

Ratings, ranks and win rates come from the counted trials: results that an infrastructure failure spoiled say
nothing about a model and are left out. Valid rates are over trials; normalised and position scores are means
over tasks of the means over attempts, so that every task weighs the same; cost, tokens and hours are totals.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from harness.models.pricing import PriceTable
from leaderboards.comparability import Finding, require_comparable
from leaderboards.costs import trial_cost
from leaderboards.normalised import Anchors, anchors_of, normalised_scores
from leaderboards.results import Results
from stats.ratings import Ratings, rate
from stats.standings import borda, mean_rank, win_rate_intervals


@dataclass(frozen=True)
class Row:
    """A model on a board; ``None`` where a number does not exist.

    Attributes:
        win_rate_low, win_rate_high, borda, mean_rank: see :mod:`stats.standings`; in the JSON only.
        status: what stands behind the rating, in the words of :class:`stats.bradley_terry.Status`.
        n_unpriced: trials whose price is unknown; any of them leaves ``cost_usd`` empty.
        date: day (UTC) on which the model's newest trial ended.
    """

    rank: int | None
    rank_low: int | None
    rank_high: int | None
    model: str
    elo: float | None
    elo_low: float | None
    elo_high: float | None
    n_tasks: int
    n_trials: int
    win_rate: float | None
    win_rate_low: float | None
    win_rate_high: float | None
    borda: float
    mean_rank: float | None
    valid_rate: float
    mean_normalised_score: float
    position_score: float | None
    cost_usd: float | None
    tokens: int
    hours: float
    status: str
    n_unpriced: int
    date: str


@dataclass(frozen=True)
class Board:
    """One leaderboard.

    Attributes:
        name: of the task set, ``combined``, or ``modality-<modality>``; also the CSV's ``set``.
        results: the trials it is made of, with those left out.
        findings: warnings about their comparability.
        anchors: of the normalised scores, by ``<set>/<task>``.
        rows: best first.
        ratings: what the statistics returned, with their method.
    """

    name: str
    results: Results
    findings: tuple[Finding, ...]
    anchors: dict[str, Anchors]
    rows: tuple[Row, ...]
    ratings: Ratings

    @property
    def unpriced(self) -> tuple[str, ...]:
        """The models whose cost is unknown, in a few words each."""
        return tuple(
            f"{row.model} ({row.n_unpriced} of {row.n_trials} trials)" for row in self.rows if row.n_unpriced
        )


def make_board(name: str, results: Results, *, seed: int = 0, prices: PriceTable) -> Board:
    """Rate the models of some trials; the seed is that of the rank intervals.

    Raises:
        ComparabilityError: trials that must not be pooled, by name.
    """
    findings = require_comparable(results)
    counted = results.counted()
    trials = counted.trials
    anchors = anchors_of(trials)
    trials = trials.assign(
        normalised=normalised_scores(trials, anchors),
        position=_positions(trials),
        cost_usd=np.array([trial_cost(r, prices) for r in counted.records], dtype=np.float64),
    )
    ratings = rate(results.scores_frame(), seed=seed)
    groups = dict(iter(trials.groupby("model", sort=True)))
    rows = tuple(_row(ratings, i, groups[model]) for i, model in enumerate(ratings.models))
    return Board(name, results, tuple(findings), anchors, rows, ratings)


def _row(ratings: Ratings, i: int, trials: pd.DataFrame) -> Row:
    by_task = trials.groupby("task", sort=True)
    unpriced = int(trials["cost_usd"].isna().sum())
    return Row(
        rank=_whole(ratings.rank[i]),
        rank_low=_whole(ratings.rank_low[i]),
        rank_high=_whole(ratings.rank_high[i]),
        model=ratings.models[i],
        elo=_number(ratings.elo[i]),
        elo_low=_number(ratings.elo_low[i]),
        elo_high=_number(ratings.elo_high[i]),
        n_tasks=by_task.ngroups,
        n_trials=len(trials),
        win_rate=_number(ratings.win_rate[i]),
        **_standing(ratings, i),
        valid_rate=float(trials["valid"].mean()),
        mean_normalised_score=float(by_task["normalised"].mean().mean()),
        position_score=_number(by_task["position"].mean().mean()),
        cost_usd=None if unpriced else math.fsum(trials["cost_usd"]),
        tokens=int(trials["tokens"].sum()),
        hours=math.fsum(trials["hours"]),
        status=ratings.status[i].value,
        n_unpriced=unpriced,
        date=str(trials["date"].max()),
    )


def _standing(ratings: Ratings, i: int) -> dict[str, Any]:
    """Simpler orders than the rating, for readers of other boards."""
    comparisons = ratings.comparisons
    place = comparisons.models.index(ratings.models[i])
    shares = win_rate_intervals(comparisons)
    return {
        "win_rate_low": _number(shares.low[place]),
        "win_rate_high": _number(shares.high[place]),
        "borda": float(borda(comparisons)[place]),
        "mean_rank": _number(mean_rank(comparisons)[place]),
    }


def _positions(trials: pd.DataFrame) -> pd.Series[float]:
    """Position score of each trial: 0 when invalid, NaN on tasks without a human leaderboard.

    Whether a task has one shows in its other trials: an invalid trial may carry no position.
    """
    has_board = trials.groupby("task")["position_score"].transform("count") > 0
    values = trials["position_score"].where(trials["valid"], 0.0)
    return values.where(has_board)


def _number(value: Any) -> float | None:
    return float(value) if np.isfinite(value) else None


def _whole(value: Any) -> int | None:
    return int(value) if np.isfinite(value) else None
