"""The pool to choose from, in whole numbers, so that two sets are compared exactly."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from generator.selection.discrimination import DIGITS, Discrimination
from generator.selection.facts import Facts
from generator.selection.quotas import Quota, share_out
from harness.errors import InputError

Balance = Literal["proportional", "uniform"]

UNIT: int = 10**DIGITS
"""What a discrimination of 1 is worth."""

AXES: tuple[str, ...] = ("kind", "family", "difficulty")
"""Along which a set is balanced: modality with objective, family of the metric, difficulty."""


@dataclass(frozen=True)
class Options:
    """How to choose.

    Attributes:
        balance: quotas are as the pool has it, or the same for every kind as far as the pool goes.
        per_dataset: most tasks of one source.
        balance_weight: what one task's step nearer to the quotas is worth along one axis, in discrimination.
            At 1/2 a task must tell models apart by half the scale better to be preferred all the same.
        twin_weight: what a second task of the same raw data and targets costs. At 1 the best task is worth
            nothing as a twin.
    """

    balance: Balance = "proportional"
    per_dataset: int = 2
    balance_weight: float = 0.5
    twin_weight: float = 1.0

    def __post_init__(self) -> None:
        if self.per_dataset < 1:
            raise InputError(f"per_dataset is {self.per_dataset}; it must be at least 1")
        for name in ("balance_weight", "twin_weight"):
            value = getattr(self, name)
            if not 0 <= value <= 100:
                raise InputError(f"{name} is {value}; give a number from 0 to 100")


@dataclass(frozen=True)
class Candidate:
    """A task that can be chosen.

    Attributes:
        key: its name.
        worth: its discrimination in :data:`UNIT`.
        levels: by axis.
        dataset: of which only so many may be chosen.
        twin: of which only one is worth its discrimination.
    """

    key: str
    worth: int
    levels: tuple[str, ...]
    dataset: str
    twin: str


@dataclass(frozen=True)
class Pool:
    """Candidates sorted by key, and what is asked of a set of ``size`` of them.

    Attributes:
        quotas: by axis, how many tasks of each level there should be.
    """

    candidates: tuple[Candidate, ...]
    size: int
    options: Options
    quotas: tuple[Mapping[str, Quota], ...]

    @property
    def step(self) -> int:
        """The price of one task's step away from the quotas, in :data:`UNIT`."""
        return round(self.options.balance_weight * UNIT)

    @property
    def repeat(self) -> int:
        """The price of one twin."""
        return round(self.options.twin_weight * UNIT)

    def steps(self, chosen: Sequence[Candidate]) -> tuple[int, ...]:
        """By axis, how many tasks would have to be others for the quotas to be met."""
        counts = [Counter(each.levels[axis] for each in chosen) for axis in range(len(self.quotas))]
        return tuple(
            max(
                sum(max(0, quota.low - count[level]) for level, quota in quotas.items()),
                sum(max(0, count[level] - quota.high) for level, quota in quotas.items()),
            )
            for quotas, count in zip(self.quotas, counts, strict=True)
        )

    def value(self, chosen: Sequence[Candidate]) -> int:
        """What is made as large as possible: discrimination, less the steps off the quotas, less twins."""
        worth = sum(each.worth for each in chosen)
        return worth - self.step * sum(self.steps(chosen)) - self.repeat * twins(chosen)

    def is_allowed(self, chosen: Sequence[Candidate]) -> bool:
        """Whether a set has the size, and no dataset more than its due."""
        most = max(Counter(each.dataset for each in chosen).values(), default=0)
        return len({each.key for each in chosen}) == self.size and most <= self.options.per_dataset


def twins(chosen: Sequence[Candidate]) -> int:
    """How many tasks ask for the same targets of the same raw data as another one that counts."""
    return len(chosen) - len({each.twin for each in chosen})


def make_pool(
    facts: Sequence[Facts], found: Mapping[str, Discrimination], size: int, options: Options
) -> Pool:
    """The pool of the tasks that are not barred.

    Raises:
        InputError: no set of that size exists.
    """
    if size < 1:
        raise InputError(f"size is {size}; it must be at least 1")
    candidates = tuple(
        Candidate(each.key, round(found[each.key].value * UNIT), levels(each), each.dataset, each.twin)
        for each in sorted(facts, key=lambda each: each.key)
        if not each.barred
    )
    largest = sum(reachable(candidates, options.per_dataset).values())
    if size > largest:
        raise InputError(_too_large(size, largest, facts, candidates, options))
    quotas = tuple(
        share_out(
            size, reachable(candidates, options.per_dataset, axis), uniform=options.balance == "uniform"
        )
        for axis in range(len(AXES))
    )
    return Pool(candidates, size, options, quotas)


def levels(facts: Facts) -> tuple[str, ...]:
    """A task's place on each of the axes."""
    return tuple(str(getattr(facts, axis)) for axis in AXES)


def reachable(candidates: Sequence[Candidate], per_dataset: int, axis: int | None = None) -> dict[str, int]:
    """How many tasks of each level of an axis datasets may give at most; without one, of all together."""
    by_source = Counter((_level(each, axis), each.dataset) for each in candidates)
    most: Counter[str] = Counter()
    for (level, _), count in by_source.items():
        most[level] += min(count, per_dataset)
    return dict(most)


def _level(candidate: Candidate, axis: int | None) -> str:
    return "" if axis is None else candidate.levels[axis]


def _too_large(
    size: int, largest: int, facts: Sequence[Facts], candidates: Sequence[Candidate], options: Options
) -> str:
    """Why there is no set of that size, and what would make one."""
    told = f"--size {size}: only {largest} of {len(facts)} tasks can be chosen"
    reasons = Counter(each.barred.partition(";")[0].partition(":")[0] for each in facts if each.barred)
    lines = [f"{count}: {reason}" for reason, count in sorted(reasons.items())]
    if largest < len(candidates):
        lines.append(
            f"{len(candidates) - largest}: beyond --per-dataset {options.per_dataset}, for which a larger "
            "number makes room"
        )
    fix = (
        f"; give --size {largest} or less, or more tasks"
        if largest
        else "; name verified tasks, or add --verify"
    )
    return f"{told} ({'; '.join(lines)}){fix}" if lines else f"{told}{fix}"
