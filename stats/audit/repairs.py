"""Small repairs that would make a rating table consistent: inferences from its figures, never corrections."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from stats.audit.findings import Case
from stats.audit.pooling import Pooling
from stats.audit.statistics import Published, compute, same

Floats = NDArray[np.float64]

LIMIT = 100
"""Repairs returned at most."""


@dataclass(frozen=True)
class Repair:
    """Another reading of one model's row, and what it would explain. An inference, not a correction.

    Attributes:
        kind: `cell`, `cells` (two cells of the row), `shift-left` or `shift-right` (the printed values had
            moved that way by one column).
        model: whose row.
        changes: set to (printed, repaired).
        solved: sets whose value was not printed anywhere in the row, but follows from the column's mean; the
            other changes are values that the row prints elsewhere, so that their column's mean is evidence.
        uncertainty: largest error of a solved value, from the rounding of the others.
        restored: published statistics that come out with the repair and do not without.
        reproduced: published statistics that come out with the repair, out of `total`.
        total: published statistics.
        means_restored: columns whose mean is the offset with the repair and is not without.
        remaining: findings that are left, as code and place.
    """

    kind: str
    model: str
    changes: Mapping[str, tuple[float, float]]
    solved: tuple[str, ...]
    uncertainty: float
    restored: int
    reproduced: int
    total: int
    means_restored: int
    remaining: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class _Candidate:
    kind: str
    row: int
    values: Floats
    solved: tuple[int, ...]


def find_repairs(
    case: Case, published: Sequence[Published], statistic_decimals: int, pooled: Sequence[Pooling]
) -> tuple[Repair, ...]:
    """Single cells, pairs of cells of one row, and shifted rows that explain a wrong mean, best first.

    Ranked by reproduced statistics, then findings left, then fewer values solved (a repair whose values are
    all printed somewhere explains more), then the smaller change; at most `LIMIT` are returned. Columns with
    a missing rating cannot be solved. Errors that keep every mean, such as two models exchanged, leave
    nothing to solve for: they are found, but no repair is searched.

    Args:
        case: the table.
        published: the statistics to restore, and their printed places.
        pooled: how the wholes follow from their parts as printed. Among repairs that restore equally much,
            rows of models that do not follow are looked at first.
    """
    bad = case.off_mean(case.table)
    goals = np.array([item.value for item in published])
    before = same(goals, compute(published, case.sets, case.table[None]), statistic_decimals)[0]
    candidates = _distinct(case, bad)
    if not candidates:
        return ()
    tables = np.repeat(case.table[None], len(candidates), axis=0)
    tables[np.arange(len(candidates)), [c.row for c in candidates]] = [c.values for c in candidates]
    come_out = same(goals, compute(published, case.sets, tables), statistic_decimals)
    off = case.off_mean(tables)
    solved = np.array([len(c.solved) for c in candidates])
    flagged = {int(i) for item in pooled for i in item.outliers}
    elsewhere = np.array([c.row not in flagged for c in candidates])
    size = np.nansum(np.abs(tables - case.table), axis=(1, 2))
    # The last key counts first.
    first = np.lexsort((size, solved, elsewhere, off.sum(axis=1), -come_out.sum(axis=1)))[:LIMIT]
    ranked = []
    for place in map(int, first):
        candidate, fine, wrong = candidates[place], come_out[place], off[place]
        remaining = [f"mean-not-offset: {case.sets[j]}" for j in np.flatnonzero(wrong)]
        remaining += [
            f"outside-parts: {case.models[i]} in {item.whole}"
            for item in case.pooled(tables[place], pooled)
            for i in item.outliers
        ]
        remaining += [f"statistic-mismatch: {published[j].label}" for j in np.flatnonzero(~fine).tolist()]
        printed = case.table[candidate.row]
        changed = np.flatnonzero(np.abs(candidate.values - printed) > case.half)
        repair = Repair(
            kind=candidate.kind,
            model=case.models[candidate.row],
            changes={case.sets[j]: (float(printed[j]), float(candidate.values[j])) for j in changed},
            solved=tuple(case.sets[j] for j in candidate.solved),
            uncertainty=case.half * (len(case.models) - 1),
            restored=int((fine & ~before).sum()),
            reproduced=int(fine.sum()),
            total=len(published),
            means_restored=int((bad & ~wrong).sum()),
            remaining=tuple(remaining),
        )
        ranked.append(((-repair.reproduced, len(remaining), solved[place], size[place]), repair))
    return tuple(repair for _, repair in sorted(ranked, key=lambda pair: pair[0]))


def _distinct(case: Case, bad: NDArray[np.bool_]) -> list[_Candidate]:
    """The candidates, each set of new values once: with the fewest values solved."""
    best: dict[tuple[int, tuple[float, ...]], _Candidate] = {}
    for candidate in _candidates(case, bad):
        changed = np.abs(candidate.values - case.table[candidate.row]) > case.half
        if not (changed & bad).any():
            continue
        key = candidate.row, tuple(np.round(candidate.values, case.decimals))
        if key not in best or len(candidate.solved) < len(best[key].solved):
            best[key] = candidate
    return list(best.values())


def _candidates(case: Case, bad: NDArray[np.bool_]) -> Iterator[_Candidate]:
    n, k = case.table.shape
    complete = np.isfinite(case.table.sum(axis=0))
    # What each cell must be for its column's mean, the other cells being right.
    solutions = np.round(case.offset * n - (case.table.sum(axis=0) - case.table), case.decimals)
    wrong = np.flatnonzero(bad & complete)
    for row in range(n):
        printed = case.table[row]
        for size, kind in ((1, "cell"), (2, "cells")):
            for columns in combinations(wrong, size):
                values = printed.copy()
                values[list(columns)] = solutions[row, columns]
                yield _Candidate(kind, row, values, tuple(int(j) for j in columns))
        for first, last in combinations(range(k), 2):
            if np.isnan(printed[first : last + 1]).any():
                continue
            if complete[last]:
                values = printed.copy()
                values[first:last], values[last] = printed[first + 1 : last + 1], solutions[row, last]
                yield _Candidate("shift-right", row, values, (last,))
            if complete[first]:
                values = printed.copy()
                values[first + 1 : last + 1], values[first] = printed[first:last], solutions[row, first]
                yield _Candidate("shift-left", row, values, (first,))
