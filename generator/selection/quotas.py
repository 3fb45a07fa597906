"""How many tasks of each kind a set should hold."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction


@dataclass(frozen=True)
class Quota:
    """A level's fair share of the places, rounded down and up.

    Either is fair (the quota rule of apportionment), so no rounding decides what discrimination can.
    """

    low: int
    high: int

    def __str__(self) -> str:
        return str(self.low) if self.low == self.high else f"{self.low} to {self.high}"


def share_out(size: int, most: Mapping[str, int], *, uniform: bool = False) -> dict[str, Quota]:
    """The quota of each level.

    Fair are shares in proportion to what there is; or, uniform, the same for all levels, where those that
    have less give all they have.

    Args:
        size: places, at most the sum of ``most``.
        most: how many tasks of each level there are.

    Raises:
        ValueError: more places than tasks.
    """
    total = sum(most.values())
    if size > total:
        raise ValueError(f"{size} places for {total} tasks")
    if uniform:
        shares = _equal(size, most)
    else:
        shares = {level: Fraction(size * count, total) for level, count in most.items()}
    return {level: Quota(math.floor(share), math.ceil(share)) for level, share in sorted(shares.items())}


def _equal(size: int, most: Mapping[str, int]) -> dict[str, Fraction]:
    """Shares min(count, t) that sum to the size."""
    shares: dict[str, Fraction] = {}
    left, levels = Fraction(size), len(most)
    for level, count in sorted(most.items(), key=lambda item: item[1]):
        shares[level] = min(Fraction(count), left / levels)
        left, levels = left - shares[level], levels - 1
    return shares
