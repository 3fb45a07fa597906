"""Scores of different tasks on one scale: 0 at the worst, 1 at the best known score of each task.

Per task, the floor is the worst valid score that any candidate of the pool reached, and the top is the best
value of the metric as the task declares it, or the pool's best score if a candidate surpassed that. Where the
two coincide, valid scores are 1. An invalid result is 0. The floor, and so the score, depends on who is in
the pool: a board records the anchors it used.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from stats.trajectories import normalise_between_anchors

DEFINITION = (
    "per task (score - floor) / (top - floor), invalid = 0; floor: worst valid score of the pool; top: "
    "declared best of the metric, or the pool's best score if that is better; mean over tasks of the mean "
    "over attempts"
)


@dataclass(frozen=True)
class Anchors:
    """The two ends of a task's scale; ``None`` when no candidate had a valid result."""

    floor: float | None
    top: float | None


def anchors_of(trials: pd.DataFrame) -> dict[str, Anchors]:
    """The anchors of each task, from the table of the pool's counted trials."""
    return {str(task): _anchors(rows) for task, rows in trials.groupby("task", sort=True)}


def normalised_scores(trials: pd.DataFrame, anchors: dict[str, Anchors]) -> pd.Series[float]:
    """One value in [0, 1] per trial, in the rows' order."""
    values = pd.Series(0.0, index=trials.index)
    for task, rows in trials[trials["valid"]].groupby("task", sort=True):
        ends = anchors[str(task)]
        if ends.floor is None or ends.top is None or ends.floor == ends.top:
            values[rows.index] = 1.0
        else:
            values[rows.index] = normalise_between_anchors(
                rows["score"].to_numpy(),
                ends.floor,
                ends.top,
                higher_is_better=bool(rows["higher_is_better"].iloc[0]),
            )
    return values


def _anchors(rows: pd.DataFrame) -> Anchors:
    scores = rows.loc[rows["valid"], "score"].to_numpy(dtype=np.float64)
    if scores.size == 0:
        return Anchors(None, None)
    up = bool(rows["higher_is_better"].iloc[0])
    floor, best = (scores.min(), scores.max()) if up else (scores.max(), scores.min())
    declared = float(rows["metric_best"].iloc[0])
    reachable = np.isfinite(declared) and (declared >= best if up else declared <= best)
    return Anchors(float(floor), declared if reachable else float(best))
