"""The best set, exactly: a mixed-integer linear programme, and the alphabet among sets of equal value."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import Bounds, LinearConstraint, milp
from scipy.sparse import csr_array, vstack

from generator.selection.pool import Candidate, Pool

Floats = NDArray[np.float64]

_OPTIMAL, _INFEASIBLE = 0, 2

_BLOCK = 10
"""Tasks whose place in the alphabet is weighed at once, by powers of two that stay far above tolerances."""

_HALF = 0.5
"""Values of sets are whole numbers, so whatever lies within a half is equal."""


def choose(pool: Pool) -> tuple[Candidate, ...]:
    """The set with the largest :meth:`Pool.value` that is allowed, sorted by key.

    Solved to proven optimality by branch and bound (HiGHS). Of several best sets the one is taken whose
    sorted keys come first, so that the result is a function of the pool alone.

    Raises:
        RuntimeError: the solver did not end as it must on a pool that has a set of its size.
    """
    programme = _Programme(pool)
    chosen = programme.best()
    value = pool.value(_candidates(pool, chosen))
    if programme.has_another(chosen, value):
        chosen = programme.first(value)
    found = _candidates(pool, chosen)
    if not pool.is_allowed(found) or pool.value(found) != value:
        raise RuntimeError("the solver's set does not have the value that it proved")
    return found


def _candidates(pool: Pool, chosen: NDArray[np.bool_]) -> tuple[Candidate, ...]:
    return tuple(each for each, taken in zip(pool.candidates, chosen, strict=True) if taken)


@dataclass(frozen=True)
class _Rows:
    """Constraints ``low <= matrix @ x <= high``."""

    matrix: csr_array
    low: Floats
    high: Floats

    def plus(self, row: Floats, low: float, high: float) -> _Rows:
        matrix = csr_array(vstack([self.matrix, csr_array(row[None, :])]))
        return _Rows(matrix, np.append(self.low, low), np.append(self.high, high))


class _Programme:
    """The pool as a programme.

    Variables: n tasks (0 or 1); for each axis its steps off the quotas; for each level of each axis the tasks
    it lacks to the lower end of its quota, and those it has beyond the upper end; for each group of twins the
    tasks after the first. All but the tasks are at least 0, and take their least values by what they cost.
    """

    def __init__(self, pool: Pool) -> None:
        tasks = pool.candidates
        levels = [(axis, level) for axis, quotas in enumerate(pool.quotas) for level in sorted(quotas)]
        twins = _several([each.twin for each in tasks])
        self._n = len(tasks)
        steps = self._n + np.arange(len(pool.quotas))
        lacking = self._n + len(steps) + np.arange(len(levels))
        beyond = lacking + len(levels)
        again = self._n + len(steps) + 2 * len(levels) + np.arange(len(twins))
        self._width = self._n + len(steps) + 2 * len(levels) + len(twins)
        self._cost = np.zeros(self._width)
        self._cost[: self._n] = [-each.worth for each in tasks]
        self._cost[steps], self._cost[again] = pool.step, pool.repeat
        rows: list[tuple[Floats, float, float]] = [(self._row(range(self._n)), pool.size, pool.size)]
        for place, (axis, level) in enumerate(levels):
            members = [i for i, each in enumerate(tasks) if each.levels[axis] == level]
            quota = pool.quotas[axis][level]
            rows.append((self._row(members, lacking[place], 1.0), quota.low, np.inf))
            rows.append((self._row(members, beyond[place], -1.0), -np.inf, quota.high))
        for axis, step in enumerate(steps):
            own = [i for i, (other, _) in enumerate(levels) if other == axis]
            rows += [(self._row(each[own], step, -1.0), -np.inf, 0.0) for each in (lacking, beyond)]
        for extra, members in zip(again, twins, strict=True):
            rows.append((self._row(members, extra, -1.0), -np.inf, 1.0))
        for members in _several([each.dataset for each in tasks]):
            rows.append((self._row(members), 0.0, pool.options.per_dataset))
        matrix, low, high = zip(*rows, strict=True)
        self._rows = _Rows(
            csr_array(np.array(matrix)), np.array(low, dtype=float), np.array(high, dtype=float)
        )

    def best(self) -> NDArray[np.bool_]:
        """Some best set."""
        chosen = self._solve(self._cost, self._rows)
        if chosen is None:
            raise RuntimeError("no set has this size, though the pool says so")
        return chosen

    def has_another(self, chosen: NDArray[np.bool_], value: int) -> bool:
        """Whether another set has that value."""
        other = self._equal(value).plus(self._row(np.flatnonzero(chosen)), 0.0, float(chosen.sum()) - 1.0)
        return self._solve(self._cost, other) is not None

    def first(self, value: int) -> NDArray[np.bool_]:
        """The set of that value whose sorted keys come first: the first task that only one of two sets has
        decides between them."""
        rows = self._equal(value)
        chosen = np.zeros(self._n, dtype=bool)
        for start in range(0, self._n, _BLOCK):
            block = range(start, min(start + _BLOCK, self._n))
            cost = np.zeros(self._width)
            cost[block] = -(2.0 ** np.arange(len(block))[::-1])
            found = self._solve(cost, rows)
            if found is None:
                raise RuntimeError("the solver lost the value that it had proved")
            chosen[block] = found[block]
            for place in block:
                rows = rows.plus(self._row([place]), float(found[place]), float(found[place]))
        return chosen

    def _equal(self, value: int) -> _Rows:
        return self._rows.plus(self._cost, -np.inf, -value + _HALF)

    def _row(
        self, members: Sequence[int] | NDArray[np.intp], place: np.intp | int = 0, entry: float = 0.0
    ) -> Floats:
        row = np.zeros(self._width)
        row[place] = entry
        row[list(members)] = 1.0
        return row

    def _solve(self, cost: Floats, rows: _Rows) -> NDArray[np.bool_] | None:
        high = np.full(self._width, np.inf)
        high[: self._n] = 1.0
        integral = np.zeros(self._width, dtype=np.int64)
        integral[: self._n] = 1
        result = milp(
            cost,
            integrality=integral,
            bounds=Bounds(0.0, high),
            constraints=LinearConstraint(rows.matrix, rows.low, rows.high),
            options={"mip_rel_gap": 0.0},
        )
        if result.status == _INFEASIBLE:
            return None
        if result.status != _OPTIMAL:
            raise RuntimeError(f"the solver gave up: {result.message}")
        return np.asarray(np.asarray(result.x)[: self._n] > _HALF)


def _several(names: Sequence[str]) -> list[list[int]]:
    """The places of each name that occurs more than once."""
    places: dict[str, list[int]] = {}
    for place, name in enumerate(names):
        places.setdefault(name, []).append(place)
    return [members for _, members in sorted(places.items()) if len(members) > 1]
