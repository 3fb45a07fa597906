"""Exact paired test of two models over tasks: would flipping the sign of task differences change the picture?

If two models are equally good, each task's difference is as likely to have the opposite sign. The test
compares the mean difference with that of all sign patterns (Fisher's paired randomisation). It needs no
model, no variance and no minimum number of tasks.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from stats.comparisons import Comparisons
from stats.vectors import check_range

Floats = NDArray[np.float64]

EXACT = 16
"""Differences other than zero up to which all 2^n sign patterns are visited."""


@dataclass(frozen=True)
class SignFlip:
    """Result of a sign-flip test.

    Attributes:
        statistic: mean difference over the tasks; NaN without a task.
        p: two-sided; 1 if all differences are zero, NaN without a task.
        n: tasks; `decisive` of them with a difference other than zero.
        exact: whether all sign patterns were visited.
        resamples: patterns visited.
        method: in words.
        seed: of random patterns.
        note: what is missing; empty if nothing is.
        unit: `tasks`.
    """

    statistic: float
    p: float
    n: int
    decisive: int
    exact: bool
    resamples: int
    method: str
    seed: int
    note: str = ""
    unit: str = "tasks"


def sign_flip_test(
    comparisons: Comparisons, model: str, other: str, *, resamples: int = 9_999, seed: int = 0
) -> SignFlip:
    """Compare two models on the tasks they share.

    A task's difference is the share of the comparison that `model` won minus the share that `other` won,
    between -1 and 1, whatever the weight of the task.

    Args:
        comparisons: of any models.
        model, other: two different names among them.
        resamples, seed: as in `sign_flip_scores`.

    Raises:
        ValueError: an unknown name, or the same name twice.
    """
    for name in (model, other):
        if name not in comparisons.models:
            raise ValueError(f"no model {name!r} among {', '.join(comparisons.models)}")
    if model == other:
        raise ValueError(f"{model!r} cannot be compared with itself")
    i, j = comparisons.models.index(model), comparisons.models.index(other)
    won, lost = comparisons.wins[:, i, j], comparisons.wins[:, j, i]
    met = won + lost > 0
    return _test((won[met] - lost[met]) / (won[met] + lost[met]), resamples, seed)


def sign_flip_scores(x: ArrayLike, y: ArrayLike, *, resamples: int = 9_999, seed: int = 0) -> SignFlip:
    """Compare two models by any score per task, the statistic being the mean of x - y.

    Args:
        x, y: (n,) finite scores of the same tasks, higher or lower being better on all of them, and in one
            unit, such as normalised scores.
        resamples: random sign patterns when there are too many to visit all; p is then
            (count + 1) / (resamples + 1).
        seed: of the random patterns.

    Raises:
        ValueError: vectors of different lengths, or values that are not finite, by position.
    """
    a, b = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)
    if a.ndim != 1 or a.shape != b.shape:
        raise ValueError(f"need two vectors of one length, not shapes {a.shape} and {b.shape}")
    broken = np.flatnonzero(~(np.isfinite(a) & np.isfinite(b)))
    if broken.size:
        raise ValueError(f"scores {a[broken[0]]} and {b[broken[0]]} at position {broken[0]} must be finite")
    check_range(np.concatenate([a, b]), "the scores")
    return _test(a - b, resamples, seed)


def _test(differences: Floats, resamples: int, seed: int) -> SignFlip:
    from scipy.stats import permutation_test

    if resamples < 1:
        raise ValueError(f"resamples must be positive, not {resamples}")
    n, moving = differences.size, differences[differences != 0]
    # Tasks without a difference have no sign to flip: leaving them out changes no p value.
    patterns = 2**moving.size
    exact = patterns <= max(2**EXACT, resamples)
    visited = patterns if exact else resamples
    method = f"sign-flip test over tasks, {'all sign patterns' if exact else 'random sign patterns'}"
    if n == 0:
        return SignFlip(np.nan, np.nan, 0, 0, True, 0, method, seed, "the two models share no task")
    p = 1.0
    if moving.size > 1:
        scaled = moving / np.abs(moving).max()

        def size(flipped: Floats, axis: int) -> Floats:
            # Patterns with the same sum differ by rounding, and must count as equal.
            return np.asarray(np.round(np.abs(flipped.sum(axis=axis)), 9))

        p = permutation_test(
            (scaled,), size, permutation_type="samples", alternative="greater", vectorized=True, axis=-1,
            n_resamples=visited, batch=1 << 14, rng=np.random.default_rng(seed),
        ).pvalue  # fmt: skip
    return SignFlip(float(differences.mean()), float(p), n, moving.size, exact, visited, method, seed)
