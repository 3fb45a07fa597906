"""Normalised scores: best-so-far curves of single runs (the paper's A.3), and scores between two anchors."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from stats.vectors import common_scale

Floats = NDArray[np.float64]


def best_so_far(scores: ArrayLike, *, higher_is_better: bool, length: int = 10) -> Floats:
    """Normalised best-so-far curve of one model on one task.

    In this order: only the first `length` entries count; scores are signed so that more is better; observed
    ones are scaled to [0, 1] by their own minimum and maximum, or, if they are all equal, set to 1; missing
    ones take the last observed value, or 0 before the first; the prefix maximum is taken; the last value is
    repeated up to `length`. Since each run has its own scale, a curve shows progress within a run, never the
    level between models.

    Args:
        scores: one raw score per scored step, NaN where a step gave none. Steps that only asked for
            information are left out by the caller.
        higher_is_better: direction of the metric.
        length: of the curve.

    Returns:
        (length,) non-decreasing values in [0, 1]; all 0 without any observed score.

    Raises:
        ValueError: scores that are infinite or not a vector, or a length below 1.
    """
    array = np.asarray(scores, dtype=np.float64)
    if array.ndim != 1 or length < 1:
        raise ValueError("need a vector of scores and a positive length")
    if np.isinf(array).any():
        raise ValueError("scores must be finite, or NaN where missing")
    signed = np.full(length, np.nan)
    signed[: array.size] = array[:length] * (1.0 if higher_is_better else -1.0)
    observed = ~np.isnan(signed)
    if not observed.any():
        return np.zeros(length)
    signed[observed] /= common_scale(signed[observed])
    low, high = signed[observed].min(), signed[observed].max()
    # The prefix maximum also fills forward: a missing step, counted as 0, keeps the best value before it.
    scaled = np.zeros(length)
    scaled[observed] = 1.0 if high == low else (signed[observed] - low) / (high - low)
    return np.maximum.accumulate(scaled)


def category_averages(curves: ArrayLike, categories: Sequence[str]) -> tuple[dict[str, Floats], Floats]:
    """Pointwise means of curves.

    Args:
        curves: (m, length), one curve per task (of one model).
        categories: m names.

    Returns:
        Mean curve of each category, by sorted name, and the mean over all curves, each weighing the same.

    Raises:
        ValueError: no curve, another number of categories, or a curve with a value that is not finite.
    """
    array = np.asarray(curves, dtype=np.float64)
    if array.ndim != 2 or len(array) != len(categories) or len(array) == 0:
        raise ValueError(f"need one category per curve, not {len(categories)} for shape {array.shape}")
    if not np.isfinite(array).all():
        raise ValueError(
            f"curve {int(np.argwhere(~np.isfinite(array))[0][0])} has a value that is not finite"
        )
    names = np.asarray(categories)
    return {str(c): array[names == c].mean(axis=0) for c in np.unique(names)}, array.mean(axis=0)


def normalise_between_anchors(
    score: ArrayLike, floor: float, best: float, *, higher_is_better: bool
) -> Floats:
    """(score - floor) / (best - floor): 0 at the floor (doing nothing), 1 at the best known score.

    Not clipped: worse than the floor is negative, better than the best is above 1. NaN stays NaN, and a score
    farther off than a float can say is infinite.

    Raises:
        ValueError: anchors that are not finite, or a best that is not better than the floor.
    """
    if not np.isfinite([floor, best]).all():
        raise ValueError(f"anchors must be finite, not floor {floor} and best {best}")
    if best == floor or bool(best > floor) != higher_is_better:
        wanted = "above" if higher_is_better else "below"
        raise ValueError(f"the best score {best} must lie {wanted} the floor {floor}")
    scores = np.asarray(score, dtype=np.float64)
    # Halves, since a difference of two numbers may be out of the range that both lie in.
    with np.errstate(over="ignore"):
        return np.asarray((scores / 2.0 - floor / 2.0) / (best / 2.0 - floor / 2.0))
