"""From a table of scores to rated models: the one call behind boards and `mlesmith rate`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from stats.bootstrap import bootstrap_ratings, failed_replicates
from stats.bradley_terry import Fit, GaussianPrior, Status, fit
from stats.comparisons import Comparisons
from stats.ranks import rank_intervals, rating_ranks
from stats.sandwich import rating_intervals
from stats.standings import mean_win_rate

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Ratings:
    """Rated models, best first; arrays of length n follow `models`.

    Attributes:
        elo, elo_low, elo_high: rating points; NaN where no rating or no interval exists.
        rank, rank_low, rank_high: 1 is best, ties share the best rank; whole numbers or NaN. With several
            groups that were never compared, ranks count within the group.
        win_rate: mean over tasks of the share of opponents beaten.
        n_tasks: tasks on which the model was compared.
        status: see `stats.bradley_terry.Status`.
        method: how all this was computed, as plain values that JSON can hold.
        fitted: the fit behind it, in its own order of models.
    """

    models: tuple[str, ...]
    elo: Floats
    elo_low: Floats
    elo_high: Floats
    rank: Floats
    rank_low: Floats
    rank_high: Floats
    win_rate: Floats
    n_tasks: NDArray[np.int64]
    status: tuple[Status, ...]
    method: Mapping[str, Any]
    fitted: Fit


def rate(
    scores: pd.DataFrame | Comparisons,
    level: float = 0.95,
    replicates: int = 1000,
    seed: int = 0,
    prior: GaussianPrior | None = None,
) -> Ratings:
    """Rate models with intervals.

    Elo intervals are task-clustered sandwich intervals; rank intervals come from a bootstrap of the tasks.
    With fewer than two tasks neither exists and both are NaN.

    Args:
        scores: the table that `Comparisons.from_scores` reads, with its default policies, or comparisons.
        level: nominal coverage of all intervals.
        replicates: bootstrap replicates for the ranks; 0 for none.
        seed: of the bootstrap.
        prior: explicit prior, or None for maximum likelihood.
    """
    comparisons = Comparisons.from_scores(scores) if isinstance(scores, pd.DataFrame) else scores
    fitted = fit(comparisons, prior=prior)
    intervals = rating_intervals(comparisons, fitted, level)
    rank = rating_ranks(fitted)
    rank_low, rank_high = np.full((2, len(rank)), np.nan)
    failed = drawn = 0
    if len(comparisons.tasks) > 1 and replicates > 0:
        resampled = bootstrap_ratings(comparisons, replicates, seed, fitted=fitted)
        rank_low, rank_high = rank_intervals(fitted, resampled, level)
        failed, drawn = failed_replicates(resampled, fitted), replicates

    best_first = np.lexsort((np.array(fitted.models), -np.nan_to_num(fitted.ratings), rank))
    method: dict[str, Any] = {
        "model": "Bradley-Terry",
        "base": fitted.base,
        "scale": fitted.scale,
        "offset": fitted.offset,
        "ties": "half a win each",
        "weights": "each pair on each task weighs 1, whatever the number of attempts",
        "prior": None if prior is None else {"kind": "gaussian", "sd": prior.sd},
        "n_tasks": len(comparisons.tasks),
        "iterations": fitted.iterations,
        "gradient_norm_per_comparison": fitted.gradient_norm,
        "converged": fitted.converged,
        "elo_interval": {"method": intervals.method, "level": level, "unit": intervals.unit},
        "rank_interval": {
            "method": "marginal percentile bootstrap of ranks",
            "level": level,
            "unit": "tasks",
            "replicates": drawn,
            "failed": failed,
            "seed": seed,
        },
    }
    if isinstance(scores, pd.DataFrame):
        method["invalid"] = "loses to valid; two invalid tie"
        method["missing"] = "not a comparison"
    return Ratings(
        models=tuple(fitted.models[i] for i in best_first),
        elo=fitted.ratings[best_first],
        elo_low=intervals.low[best_first],
        elo_high=intervals.high[best_first],
        rank=rank[best_first],
        rank_low=rank_low[best_first],
        rank_high=rank_high[best_first],
        win_rate=mean_win_rate(comparisons)[best_first],
        n_tasks=comparisons.n_tasks[best_first],
        status=tuple(fitted.status[i] for i in best_first),
        method=method,
        fitted=fitted,
    )
