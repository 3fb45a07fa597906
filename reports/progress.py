"""Progress within trials: mean best-so-far curves by task set and by modality."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from harness.records import StepRecord, TrialResult
from leaderboards.normalised import Anchors
from leaderboards.results import Results
from stats.trajectories import best_so_far, normalise_between_anchors

Floats: TypeAlias = NDArray[np.float64]
Panels: TypeAlias = dict[str, dict[str, Floats]]

LENGTH = 10
"""Scored steps of a curve, as in the paper."""
OVERALL = "all tasks"
_WITHOUT_SCORE = ("request_info", "get_history", "submit")
"""Actions that only ask for information or end the trial: they are no step of a curve."""


def step_scores(steps: Sequence[StepRecord]) -> Floats:
    """The raw score of each step that could have had one; NaN where it had none."""
    return np.array(
        [np.nan if step.score is None else step.score for step in steps if step.action not in _WITHOUT_SCORE],
        dtype=np.float64,
    )


def own_scale_panels(results: Results) -> Panels:
    """The paper's A.3: each run on its own scale, averaged over all tasks, each set and each modality.

    A curve shows progress within runs, never the level between models.
    """

    def curve(record: TrialResult) -> Floats:
        return best_so_far(step_scores(record.steps), higher_is_better=record.higher_is_better, length=LENGTH)

    return _panels(results, curve)


def task_scale_panels(results: Results, anchors: Mapping[str, Anchors]) -> Panels:
    """The same on each task's scale, 0 at the worst and 1 at the best known result: levels are comparable.

    Args:
        results: trials.
        anchors: of every task (``<set>/<task>``) with a valid result.
    """

    def curve(record: TrialResult) -> Floats:
        scores = step_scores(record.steps)[:LENGTH]
        padded = np.full(LENGTH, np.nan)
        padded[: len(scores)] = scores
        ends = anchors[f"{record.task_set}/{record.task}"]
        if ends.floor is None or ends.top is None or ends.floor == ends.top:
            level = np.where(np.isnan(padded), 0.0, 1.0)
        else:
            level = normalise_between_anchors(
                padded, ends.floor, ends.top, higher_is_better=record.higher_is_better
            )
        return np.maximum.accumulate(np.clip(np.nan_to_num(level, nan=0.0), 0.0, 1.0))

    return _panels(results, curve)


def _panels(results: Results, curve: Callable[[TrialResult], Floats]) -> Panels:
    """Mean curves of every model: over attempts, then over tasks, by category."""
    by_task: dict[tuple[str, str, str, str], list[Floats]] = {}
    for record in results.counted().records:
        key = (record.model, record.task_set, record.task, record.modality)
        by_task.setdefault(key, []).append(curve(record))
    groups: dict[str, dict[str, list[Floats]]] = {}
    for (model, task_set, _, modality), curves in by_task.items():
        mean = np.mean(curves, axis=0)
        for title in dict.fromkeys((OVERALL, f"set: {task_set}", f"modality: {modality}")):
            groups.setdefault(title, {}).setdefault(model, []).append(mean)
    sets = [f"set: {name}" for name in results.task_sets]
    titles = [OVERALL, *(sets if len(sets) > 1 else ()), *(f"modality: {m}" for m in results.modalities)]
    return {
        title: {model: np.mean(curves, axis=0) for model, curves in groups[title].items()}
        for title in titles
        if title in groups
    }
