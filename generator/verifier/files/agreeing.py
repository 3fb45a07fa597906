"""Whether two rows that look alike have the same label."""

from __future__ import annotations

import numpy as np
import pandas as pd

from generator.verifier.case import Case
from generator.verifier.leaks.comparing import Values, agreement
from generator.verifier.targets import Kind, to_numbers


def agreed_labels(case: Case, ours: pd.DataFrame, theirs: pd.DataFrame) -> float:
    """How far the labels of pairs of rows agree beyond chance, the mean over the targets; 0 is chance, 1 all.

    It is Cohen's kappa for classes, and for numbers one minus the mean squared difference over twice the
    variance of all answers, which is what two rows drawn at random differ by.

    Args:
        case: gives the kinds and the answers.
        ours: targets of the test rows, shape (n, targets).
        theirs: the same of their partners in training.
    """
    found = []
    for target in case.targets:
        left, right = (frame[target].reset_index(drop=True) for frame in (ours, theirs))
        known = left.str.strip().ne("") & right.str.strip().ne("")
        if not known.any():
            continue
        left, right = left[known], right[known]
        if case.kinds[target] is Kind.NUMBER:
            spread = float(np.var(to_numbers(case.answers[target]).dropna()))
            squares = float(((to_numbers(left) - to_numbers(right)) ** 2).mean())
            found.append(1 - squares / (2 * spread) if spread > 0 else 0.0)
        elif (left == right).all():
            # Kappa knows nothing of pairs that are all of one class.
            found.append(1.0)
        else:
            found.append(agreement(Values(left), Values(right)))
    return float(np.mean(found)) if found else 0.0
