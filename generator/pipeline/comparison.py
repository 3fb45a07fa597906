"""Generations compared, such as a line with and without one of its parts, dataset by dataset."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from generator.pipeline.funnel import STAGES, Stage
from generator.pipeline.shares import LEVEL
from generator.pipeline.statistics import (
    Statistics,
    is_undecided,
    statistics_of,
    undecided_datasets,
    verified_by_dataset,
)
from generator.pipeline.written import Written
from harness.errors import InputError

Floats = NDArray[np.float64]

#: What each difference is of, and how many digits it is told with.
QUANTITIES = {
    "verified": ("Verified tasks for each dataset", 2),
    "proposed": ("Proposed formulations for each dataset", 2),
    "yield": ("Share of the proposed that were verified", 2),
    "seconds": ("Seconds for each dataset", 0),
    "cost_usd": ("US dollars for each dataset", 2),
}


@dataclass(frozen=True)
class Difference:
    """One quantity of two generations, over the datasets that both worked on to the end.

    Attributes:
        quantity: ``verified`` or ``proposed`` tasks, ``seconds`` or ``cost_usd`` for each dataset, or
            ``yield``, the share of the proposed that were verified.
        first, other: the mean over datasets, of ``yield`` the share of all; ``None`` where there is none.
        difference: ``other`` minus ``first``.
        low, high: 95 % interval of the difference by Student's t over datasets; ``None`` where all datasets
            agree, or there are fewer than two.
        p: two-sided, of a sign-flip test over datasets; ``None`` of ``yield``, where datasets weigh unlike.
    """

    quantity: str
    first: float | None
    other: float | None
    difference: float | None = None
    low: float | None = None
    high: float | None = None
    p: float | None = None


@dataclass(frozen=True)
class Compared:
    """One generation beside the first.

    Attributes:
        name: of its folder.
        statistics: its own.
        shared: datasets that it and the first worked on to the end.
        differences: from the first; none of the first itself.
        made: who made it and what was left out, for people.
    """

    name: str
    statistics: Statistics
    shared: int = 0
    differences: tuple[Difference, ...] = ()
    made: str = ""


def compare(generations: Sequence[Written]) -> tuple[Compared, ...]:
    """Each generation, with its differences from the first.

    Raises:
        InputError: fewer than two, or one of them twice.
    """
    folders = [each.folder.resolve() for each in generations]
    if len(set(folders)) < max(2, len(folders)):
        raise InputError("to compare, name at least two different folders of generations")
    names = [folder.name for folder in folders]
    if len(set(names)) < len(names):
        names = [str(each.folder) for each in generations]
    tables = [_table(each) for each in generations]
    return tuple(
        Compared(
            name,
            statistics_of(each.funnel, each.attempts),
            *(_differences(tables[0], table) if i else (0, ())),
            made=each.told,
        )
        for i, (name, each, table) in enumerate(zip(names, generations, tables, strict=True))
    )


def comparison_document(compared: Sequence[Compared]) -> dict[str, Any]:
    """Everything as plain data."""
    return {
        "schema_version": 1,
        "first": compared[0].name,
        "generations": [
            {
                "name": each.name,
                "made": each.made,
                "statistics": each.statistics.as_json(),
                "shared_datasets": each.shared,
                "differences": [asdict(difference) for difference in each.differences],
            }
            for each in compared
        ],
    }


def comparison_csv(compared: Sequence[Compared]) -> str:
    """One line for each difference; what does not exist is empty."""
    text = io.StringIO()
    writer = csv.DictWriter(
        text,
        ["generation", "shared_datasets", *(field.name for field in fields(Difference))],
        lineterminator="\n",
    )
    writer.writeheader()
    for each in compared:
        for difference in each.differences:
            row = {"generation": each.name, "shared_datasets": each.shared, **asdict(difference)}
            writer.writerow(
                {key: round(value, 6) if isinstance(value, float) else value for key, value in row.items()}
            )
    return text.getvalue()


@dataclass(frozen=True)
class _Dataset:
    """What a generation did with one dataset. ``judged`` are the proposed whose fate is known."""

    verified: int
    proposed: int
    judged: int
    seconds: float
    cost: float | None


def _table(generation: Written) -> Mapping[str, _Dataset]:
    passages, attempts = generation.funnel.passages, generation.attempts
    left_out = undecided_datasets(passages, attempts)
    table = {}
    for name, verified in verified_by_dataset(passages, attempts).items():
        if name in left_out:
            continue
        proposed = [
            each
            for each in passages
            if each.dataset == name and STAGES.index(each.reached) >= STAGES.index(Stage.PROPOSED)
        ]
        own = [attempt for attempt in attempts if attempt.dataset == name]
        costs = [attempt.cost_usd for attempt in own]
        table[name] = _Dataset(
            verified=verified,
            proposed=len(proposed),
            judged=sum(not is_undecided(each) for each in proposed),
            seconds=sum(attempt.seconds for attempt in own if attempt.agent != "reviewer"),
            cost=None if None in costs else sum(cost for cost in costs if cost is not None),
        )
    return table


def _differences(
    first: Mapping[str, _Dataset], other: Mapping[str, _Dataset]
) -> tuple[int, tuple[Difference, ...]]:
    names = [name for name in first if name in other]
    pairs = [(first[name], other[name]) for name in names]

    def both(field: str) -> tuple[list[float | None], list[float | None]]:
        return [getattr(a, field) for a, _ in pairs], [getattr(b, field) for _, b in pairs]

    verified, judged = both("verified"), both("judged")
    return len(names), (
        _difference("verified", *verified),
        _difference("proposed", *both("proposed")),
        _ratio("yield", _floats(verified), _floats(judged)),
        _difference("seconds", *both("seconds")),
        _difference("cost_usd", *both("cost")),
    )


def _difference(quantity: str, first: list[float | None], other: list[float | None]) -> Difference:
    """Of means over datasets, with a test; none where a value is unknown."""
    from stats.sign_flip import sign_flip_scores

    if None in first or None in other or not first:
        return Difference(quantity, _mean(first), _mean(other))
    values = _floats((first, other))
    ones = np.ones_like(values[0])
    found = _ratio(quantity, values, (ones, ones))
    p = float(sign_flip_scores(values[1], values[0]).p)
    return Difference(quantity, found.first, found.other, found.difference, found.low, found.high, p)


def _ratio(quantity: str, hits: tuple[Floats, Floats], sizes: tuple[Floats, Floats]) -> Difference:
    """Of two ratios of sums over the same datasets; the variance is that of their linear parts."""
    ratios = [h.sum() / n.sum() if n.sum() else None for h, n in zip(hits, sizes, strict=True)]
    first, other = (None if each is None else float(each) for each in ratios)
    datasets = hits[0].size
    if first is None or other is None:
        return Difference(quantity, first, other)
    parts = (hits[1] - other * sizes[1]) / sizes[1].mean() - (hits[0] - first * sizes[0]) / sizes[0].mean()
    if datasets < 2 or np.allclose(parts, 0.0, rtol=0.0, atol=1e-12):
        return Difference(quantity, first, other, other - first)
    from scipy.special import stdtrit

    error = float(np.sqrt((parts**2).sum() / (datasets - 1) / datasets))
    reach = float(stdtrit(datasets - 1, (1 + LEVEL) / 2)) * error
    return Difference(quantity, first, other, other - first, other - first - reach, other - first + reach)


def _mean(values: list[float | None]) -> float | None:
    return None if None in values or not values else float(_floats((values, values))[0].mean())


def _floats(pair: tuple[list[float | None], list[float | None]]) -> tuple[Floats, Floats]:
    return np.asarray(pair[0], dtype=np.float64), np.asarray(pair[1], dtype=np.float64)
