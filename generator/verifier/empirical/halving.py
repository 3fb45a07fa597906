"""How sure a difference of two scores is: its spread over random halves of the test rows."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pandas as pd

from generator.verifier.case import Case

_SEED = 22
_MOST_STRATA = 20


@dataclass(frozen=True)
class Difference:
    """A difference of scores on the same rows, positive when the first submission is the better one.

    Attributes:
        value: on all rows.
        standard_error: of ``value``, over tasks that draw other test rows.
    """

    value: float
    standard_error: float

    @property
    def z(self) -> float:
        """The difference in standard errors."""
        if self.standard_error > 0:
            return self.value / self.standard_error
        return math.copysign(math.inf, self.value) if self.value else 0.0


class Against:
    """Compares submissions with one and the same other, whose scores are asked for once.

    For a mean over n rows with variance s^2, the mean of a random half without replacement varies about the
    whole mean by s^2/(n/2) (1 - 1/2) = s^2/n: exactly the sampling variance of the whole mean. So the root
    mean square of (difference on a half - difference on all) over both halves of several halvings is the
    standard error, with no row used twice (McCarthy 1969; Politis and Romano 1994). Halves keep groups
    together and classes in proportion.

    Args:
        case: the verification; its scored task is what counts.
        theirs: a submission in the form that the grader takes.
    """

    def __init__(self, case: Case, theirs: pd.DataFrame) -> None:
        self._case = case
        self._parts = [np.arange(len(theirs)), *halves(case)]
        self._theirs = case.grader.score_parts(theirs, self._parts)

    def difference(self, ours: pd.DataFrame) -> Difference | None:
        """How much better a submission is, ``None`` when the metric cannot score enough of the halves."""
        sign = 1.0 if self._case.task.spec.metric.higher_is_better else -1.0
        scores = zip(self._case.grader.score_parts(ours, self._parts), self._theirs, strict=True)
        whole, *gaps = [None if a is None or b is None else sign * (a - b) for a, b in scores]
        if whole is None:
            return None
        deviations = [value - whole for value in gaps if value is not None]
        if len(deviations) < self._case.limits.empirical.halvings:
            return None
        return Difference(whole, float(np.sqrt(np.mean(np.square(deviations)))))


def halves(case: Case) -> Iterator[np.ndarray]:
    """Positions of the rows of both halves of each halving."""
    rng = np.random.default_rng(_SEED)
    units, strata = _units(case)
    count = int(units.max()) + 1
    for _ in range(case.limits.empirical.halvings):
        order = rng.permutation(count)
        order = order[np.argsort(strata[order], kind="stable")]
        # Neighbours in the order, which share a class, go to different halves, the first by a coin.
        side = (np.arange(count) + rng.integers(2, size=(count + 1) // 2).repeat(2)[:count]) % 2
        in_first = np.empty(count, dtype=bool)
        in_first[order] = side == 0
        chosen = in_first[units]
        yield np.flatnonzero(chosen)
        yield np.flatnonzero(~chosen)


def _units(case: Case) -> tuple[np.ndarray, np.ndarray]:
    """For each row the number of its unit (the row itself, or its group), and for each unit its stratum."""
    answers, id_column = case.key.answers, case.key.id_column
    group, test = case.task.spec.split.group_column, case.test
    if (
        group
        and test is not None
        and group in test.columns
        and set(test[id_column]) >= set(answers[id_column])
    ):
        names = test.drop_duplicates(id_column).set_index(id_column)[group].loc[answers[id_column]]
        units = np.asarray(pd.factorize(names)[0])
        if units.max() >= 3:
            return units, np.zeros(int(units.max()) + 1, dtype=int)
    strata = answers.groupby(case.targets, sort=False, dropna=False).ngroup().to_numpy()
    if strata.max() >= _MOST_STRATA:
        strata = np.zeros(len(answers), dtype=int)
    return np.arange(len(answers)), strata
