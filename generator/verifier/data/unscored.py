"""Rows that the metric passes over, such as those that a competition keeps back with the mark -1."""

from __future__ import annotations

import numpy as np
import pandas as pd

from generator.verifier.case import Case
from generator.verifier.metric.bench import close
from generator.verifier.metric.changes import taken
from harness.errors import TaskError
from harness.tasks.variants import Variant

_SEED = 21


def is_unscored(case: Case, target: str, rows: pd.Index) -> bool:
    """Whether these rows of the answers may hold any prediction of the target at the same score.

    They must be worth nothing both where all other rows are right and where they are wrong, and the other
    rows must be worth something: a metric that looks at no row has not left these out on purpose.

    Args:
        rows: labels of the index of ``case.answers``.
    """
    try:
        right, grader = case.oracle(), case.grader
    except TaskError:
        return False  # nothing can be scored, which other parts tell
    if target not in right.columns:
        return False
    chosen = right[case.id_column].isin(case.answers.loc[rows, case.id_column]).to_numpy()
    at, others = np.flatnonzero(chosen), np.flatnonzero(~chosen)
    if not len(at) or len(others) < 2:
        return False
    rng = np.random.default_rng(_SEED)
    order = rng.permutation(others)
    given = rng.choice(others, size=len(at))
    wrong = taken(right, [target], order, right, np.roll(order, 1))
    frames = [right, wrong]
    frames += [taken(frame, [target], at, right, given) for frame in (right, wrong)]
    results = grader.score_variants([Variant(frame) for frame in frames])
    best, worse, best_without, worse_without = (result.finite for result in results)
    if best is None or worse is None or best_without is None or worse_without is None:
        return False
    return close(best, best_without) and close(worse, worse_without) and not close(best, worse)
