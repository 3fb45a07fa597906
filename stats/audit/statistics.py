"""Published statistics of a rating table, recomputed for one table or a batch of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from stats.agreement.correlation import STATISTICS
from stats.agreement.reliability import alpha_of, icc_2_1_of

Floats = NDArray[np.float64]

SLACK = 1e-9
"""Forgives the binary form of decimals, and lets an exact half be rounded either way."""


@dataclass(frozen=True)
class Published:
    """A statistic as published: its name, its sets (two, or more for a reliability), its value."""

    statistic: str
    sets: tuple[str, ...]
    value: float

    @property
    def label(self) -> str:
        """Name and sets."""
        return f"{self.statistic} of {', '.join(self.sets) or 'no set'}"


@dataclass(frozen=True)
class Checked:
    """A published statistic beside what the ratings give.

    Attributes:
        statistic, sets, published: as published.
        recomputed: from the ratings as they are; NaN where undefined.
        reproduced: `recomputed` rounds to `published`.
        low, high: smallest and largest value found when every rating may lie anywhere within its rounding;
            equal to `recomputed` for a reproduced statistic, where nothing is searched.
        within_rounding: `published` can be a rounded value between `low` and `high`.
    """

    statistic: str
    sets: tuple[str, ...]
    published: float
    recomputed: float
    reproduced: bool
    low: float
    high: float
    within_rounding: bool

    @property
    def label(self) -> str:
        """Name and sets."""
        return f"{self.statistic} of {', '.join(self.sets)}"


SEVERAL: Mapping[str, Callable[[Floats], Floats]] = MappingProxyType(
    {"cronbach_alpha": alpha_of, "icc_2_1": icc_2_1_of}
)
"""Statistics of two or more sets; those of `stats.agreement.correlation.STATISTICS` take exactly two."""


def check_published(published: Sequence[Published], sets: Sequence[str]) -> None:
    """Refuse what cannot be recomputed.

    Raises:
        ValueError: an unknown statistic or set, a wrong number of sets, or a value that is not finite; named.
    """
    for item in published:
        label = item.label
        if item.statistic not in SEVERAL and item.statistic not in STATISTICS:
            known = ", ".join([*STATISTICS, *SEVERAL])
            raise ValueError(f"{label}: unknown statistic {item.statistic!r}; known are {known}")
        if unknown := [name for name in item.sets if name not in sets]:
            raise ValueError(f"{label}: unknown set {', '.join(unknown)}; the table has {', '.join(sets)}")
        if len(set(item.sets)) != len(item.sets):
            raise ValueError(f"{label}: names a set twice")
        if len(item.sets) < 2 or (item.statistic in STATISTICS and len(item.sets) > 2):
            need = "two or more sets" if item.statistic in SEVERAL else "two sets"
            raise ValueError(f"{label}: needs {need}")
        if not np.isfinite(item.value):
            raise ValueError(f"{label}: published value {item.value} is not finite")


def compute(published: Sequence[Published], sets: Sequence[str], tables: Floats) -> Floats:
    """The statistics of (B, n, k) tables as a (B, m) array.

    Models without all of a statistic's sets are left out. The missing cells must be the same in all tables.
    """
    values = np.full((len(tables), len(published)), np.nan)
    for place, item in enumerate(published):
        chosen = tables[:, :, [list(sets).index(name) for name in item.sets]]
        chosen = chosen[:, ~np.isnan(chosen[0]).any(axis=1)]
        if chosen.shape[1] < 2:
            continue
        if item.statistic in SEVERAL:
            values[:, place] = SEVERAL[item.statistic](chosen)
        else:
            values[:, place] = STATISTICS[item.statistic][0](chosen[:, :, 0], chosen[:, :, 1])
    return values


def same(published: Floats, values: Floats, decimals: int) -> NDArray[np.bool_]:
    """Whether values round to the published ones; False for NaN."""
    return np.asarray(np.abs(values - published) <= 0.5 * 10.0**-decimals + SLACK)


def check(
    published: Sequence[Published],
    sets: Sequence[str],
    table: Floats,
    *,
    decimals: int,
    statistic_decimals: int,
) -> tuple[Checked, ...]:
    """Recompute the published statistics from one (n, k) table.

    Only for a statistic that is not reproduced, its range under rounding is searched: every rating is moved
    to both ends of its rounding alone, then all together in the directions that raised and that lowered the
    statistic. For a smooth statistic that is its range to first order, found at real tables; for a rank
    statistic it is the range of what ties and near ties can do.
    """
    if not published:
        return ()
    recomputed = compute(published, sets, table[None])[0]
    goals = np.array([item.value for item in published])
    reproduced = same(goals, recomputed, statistic_decimals)
    low, high = recomputed.copy(), recomputed.copy()
    half, margin = 0.5 * 10.0**-decimals, 0.5 * 10.0**-statistic_decimals + SLACK
    for place in map(int, np.flatnonzero(~reproduced)):
        low[place], high[place] = _range(published[place], sets, table, half)
    return tuple(
        Checked(
            item.statistic, item.sets, item.value, float(value), bool(fine), float(least), float(most),
            bool(least - margin <= item.value <= most + margin),
        )
        for item, value, fine, least, most in zip(published, recomputed, reproduced, low, high, strict=True)
    )  # fmt: skip


def _range(item: Published, sets: Sequence[str], table: Floats, half: float) -> tuple[float, float]:
    """Smallest and largest value of one statistic when each rating moves by at most `half`."""
    part = table[:, [list(sets).index(name) for name in item.sets]]
    part = part[~np.isnan(part).any(axis=1)]
    steps = half * np.eye(part.size).reshape(-1, *part.shape)
    moved = compute([item], item.sets, np.concatenate([part[None], part + steps, part - steps]))[:, 0]
    gradient = (moved[1 : 1 + part.size] - moved[1 + part.size :]).reshape(part.shape)
    corners = compute([item], item.sets, part + half * np.sign(gradient) * np.array([1, -1])[:, None, None])
    found = np.concatenate([moved, corners[:, 0]])
    found = found[np.isfinite(found)]
    return (float(found.min()), float(found.max())) if found.size else (np.nan, np.nan)
