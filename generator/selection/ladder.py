"""How well a task tells baselines apart that its verification has run on it."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from scipy.special import ndtr

_WIDTH = 2 * 1.96
"""Standard errors in a 95 % interval of the exhibit."""

_ROUNDING = 1e-4 / math.sqrt(12)
"""Standard deviation of rounding to four digits, as the exhibit is rounded: intervals of huge test sets lose
their width by it."""


def ladder_discrimination(ladder: Sequence[Mapping[str, Any]]) -> float | None:
    """Signal over noise of the ladder, from 0 (any order of the baselines is luck) to 1 (none is).

    With gains g (0 is the floor, which knows nothing; 1 is perfect) and their standard errors e over other
    test rows, the mean over all pairs of baselines of

        2 Phi(|g_i - g_j| / sqrt(e_i^2 + e_j^2)) - 1.

    Phi(...) is the chance that other test rows order the pair in the same way, so this is the expected
    Kendall tau-a between the order seen and that on other rows: item discrimination (Lord and Novick 1968,
    chapter 15) in terms of pairs, as ratings by pairs need it. Both errors are taken as independent; those
    of one set of rows mostly go together, so the truth is rather higher. The floor is no rung: that something
    rises from it is asked of every verified task.

    Args:
        ladder: entries with ``gain``, ``low`` and ``high``, see :mod:`generator.verifier.exhibits`.

    Returns:
        ``None`` where it cannot be told: fewer than two baselines, or a metric that scores no part of the
        test rows, so that no interval has a width.
    """
    gains = np.array([float(rung["gain"]) for rung in ladder])
    widths = np.array([float(rung["high"]) - float(rung["low"]) for rung in ladder])
    if len(ladder) < 2 or (widths == 0).all():
        return None
    errors = np.hypot(widths / _WIDTH, _ROUNDING)
    pairs = list(itertools.combinations(range(len(gains)), 2))
    apart = [abs(gains[i] - gains[j]) / math.hypot(errors[i], errors[j]) for i, j in pairs]
    return float(np.mean(2.0 * ndtr(apart) - 1.0))
