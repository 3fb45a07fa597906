"""From a table of scores to rated models: the one call behind boards and `mlesmith rate`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from stats.bradley_terry import Fit, GaussianPrior, Prior, Status, fit
from stats.comparisons import Comparisons
from stats.ranks import Kind, rank_intervals, rating_ranks
from stats.sandwich import rating_intervals
from stats.standings import mean_win_rate

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Ratings:
    """Rated models, best first; arrays of length n follow `models`.

    Attributes:
        elo, elo_low, elo_high: rating points; NaN where no rating or no interval exists.
        rank, rank_low, rank_high: 1 is best, ties share the best rank; the interval holds the ranks that the
            tasks do not rule out; whole numbers or NaN. With several groups that were never compared, ranks
            count within the group.
        win_rate: mean over tasks of the share of opponents beaten.
        n_tasks: tasks on which the model was compared.
        status: see `stats.bradley_terry.Status`.
        method: how all this was computed, as plain values that JSON can hold.
        comparisons, fitted: what was fitted and the fit, in their own order of models: for
            `stats.contrasts.contrasts`, say.
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
    comparisons: Comparisons
    fitted: Fit


def rate(
    scores: pd.DataFrame | Comparisons,
    level: float = 0.95,
    *,
    anchor: tuple[str, float] | None = None,
    prior: Prior | None = None,
    strict: bool = False,
    rank_interval: Kind = "marginal",
    seed: int = 0,
    draws: int | None = None,
) -> Ratings:
    """Rate models with intervals.

    Elo intervals are task-clustered sandwich intervals; rank intervals hold the ranks that tests of the
    differences leave open. With fewer than two tasks neither exists and both are NaN.

    Args:
        scores: the table that `Comparisons.from_scores` reads, with its default policies, or comparisons.
        level: nominal coverage of all intervals.
        anchor: a model and the rating it is shown with; by default the mean rating is the offset.
        prior: explicit prior, or None for maximum likelihood.
        strict: raise a ValueError that names the models without a plain rating.
        rank_interval: `marginal`: each covers its own model's rank; `simultaneous`: all at once.
        seed, draws: of the simulated critical values of the rank intervals; see `rank_intervals`.
    """
    comparisons = Comparisons.from_scores(scores) if isinstance(scores, pd.DataFrame) else scores
    fitted = fit(comparisons, anchor=anchor, prior=prior, strict=strict)
    intervals = rating_intervals(comparisons, fitted, level)
    placed = rank_intervals(comparisons, fitted, level, rank_interval, seed=seed, draws=draws)
    rank = rating_ranks(fitted)

    best_first = np.lexsort((np.array(fitted.models), -np.nan_to_num(fitted.ratings), rank))
    method: dict[str, Any] = {
        "model": "Bradley-Terry",
        "base": fitted.base,
        "scale": fitted.scale,
        "offset": fitted.offset,
        "ties": "half a win each",
        "weights": "as given",
        "anchor": None if anchor is None else {"model": anchor[0], "rating": anchor[1]},
        "prior": _described(prior),
        "n_tasks": len(comparisons.tasks),
        "iterations": fitted.iterations,
        "gradient_norm_per_comparison": fitted.gradient_norm,
        "converged": fitted.converged,
        "elo_interval": {"method": intervals.method, "level": level, "unit": intervals.unit},
        "rank_interval": {
            "method": placed.method,
            "kind": placed.kind,
            "level": level,
            "unit": placed.unit,
            "draws": placed.draws,
            "seed": seed,
        },
    }
    if isinstance(scores, pd.DataFrame):
        method["weights"] = "each pair on each task weighs 1, whatever the number of attempts"
        method["invalid"] = "loses to valid; two invalid tie"
        method["missing"] = "not a comparison"
    return Ratings(
        models=tuple(fitted.models[i] for i in best_first),
        elo=fitted.ratings[best_first],
        elo_low=intervals.low[best_first],
        elo_high=intervals.high[best_first],
        rank=rank[best_first],
        rank_low=placed.low[best_first],
        rank_high=placed.high[best_first],
        win_rate=mean_win_rate(comparisons)[best_first],
        n_tasks=comparisons.n_tasks[best_first],
        status=tuple(fitted.status[i] for i in best_first),
        method=method,
        comparisons=comparisons,
        fitted=fitted,
    )


def _described(prior: Prior | None) -> dict[str, Any] | None:
    """A prior as plain values."""
    if prior is None:
        return None
    return {"kind": "gaussian", "sd": prior.sd} if isinstance(prior, GaussianPrior) else {"kind": "firth"}
