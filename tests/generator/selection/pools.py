"""Pools of made-up facts, and the best set of each by trying all."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

from hypothesis import strategies as st

from generator.selection.discrimination import Discrimination, Origin
from generator.selection.facts import Facts
from generator.selection.pool import Candidate, Options, Pool, make_pool, reachable

PARTS = {"task.toml": "a" * 64}


def facts(key: str, **known: Any) -> Facts:
    """Facts of a task; what is not said is the same for all."""
    plain: dict[str, Any] = {
        "modality": "tabular", "objective": "classification", "metric": "accuracy", "family": "labels",
        "difficulty": "easy", "dataset": key, "twin": key,
    }  # fmt: skip
    return Facts(key, Path(key), PARTS, **plain | known)


def measured(*values: float, keys: list[str]) -> dict[str, Discrimination]:
    """Discriminations by key."""
    return {key: Discrimination(value, Origin.LADDER) for key, value in zip(keys, values, strict=True)}


@st.composite
def pools(draw: st.DrawFn, most: int = 9) -> tuple[list[Facts], dict[str, Discrimination], int, Options]:
    """Small pools, with ties, twins, crowded datasets and all weights, of which a set can be chosen."""
    count = draw(st.integers(1, most))
    keys = [f"set/{name}" for name in draw(st.permutations([chr(97 + i) for i in range(count)]))]
    told = [
        facts(
            key,
            modality=draw(st.sampled_from(["tabular", "image"])),
            objective=draw(st.sampled_from(["classification", "regression"])),
            family=draw(st.sampled_from(["labels", "order", "squared error"])),
            difficulty=draw(st.sampled_from(["easy", "hard"])),
            dataset=draw(st.sampled_from("xyz")),
            twin=draw(st.sampled_from("pqrst")),
        )
        for key in keys
    ]
    values = [draw(st.integers(-2, 8)) / 8 for _ in keys]
    options = Options(
        balance=draw(st.sampled_from(["proportional", "uniform"])),
        per_dataset=draw(st.integers(1, 4)),
        balance_weight=draw(st.sampled_from([0.0, 0.125, 0.5, 2.0])),
        twin_weight=draw(st.sampled_from([0.0, 0.25, 1.0])),
    )
    candidates = make_pool(told, measured(*values, keys=keys), 1, options).candidates
    size = draw(st.integers(1, sum(reachable(candidates, options.per_dataset).values())))
    return told, measured(*values, keys=keys), size, options


def by_trying_all(pool: Pool) -> tuple[Candidate, ...]:
    """The best allowed set; the first in the alphabet among equals."""
    sets = [each for each in itertools.combinations(pool.candidates, pool.size) if pool.is_allowed(each)]
    return min(sets, key=lambda each: (-value_by_hand(pool, each), [one.key for one in each]))


def value_by_hand(pool: Pool, chosen: tuple[Candidate, ...]) -> float:
    """The objective in its own words: discrimination, tasks outside the quotas, twins."""
    worth = sum(each.worth for each in chosen) / 1000
    off = 0.0
    for axis, quotas in enumerate(pool.quotas):
        counts = {level: sum(each.levels[axis] == level for each in chosen) for level in quotas}
        lack = sum(quota.low - counts[level] for level, quota in quotas.items() if counts[level] < quota.low)
        more = sum(
            counts[level] - quota.high for level, quota in quotas.items() if counts[level] > quota.high
        )
        off += max(lack, more)
    again = sum(each.twin in {other.twin for other in chosen[:place]} for place, each in enumerate(chosen))
    options = pool.options
    return round(worth - options.balance_weight * off - options.twin_weight * again, 6)
