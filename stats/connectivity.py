"""Which ratings exist: strong components of the "has beaten" graph.

The Bradley-Terry likelihood has a finite maximum exactly where every model of a set can reach every other
one by a chain of (part) wins (Ford 1957). Outside such a set only an order is known, or nothing at all.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Connectivity:
    """What the comparison graph allows to be rated.

    Attributes:
        group: (n,) id of the weakly connected group of each model, numbered by first appearance.
        cores: per group, the indices of its strongly connected core; empty if no two models of the group
            have both beaten each other, directly or by a chain.
        order: (n,) 0 for models of a core; above it the length of the longest chain of results that leads
            down to the core, below it the same, negative; NaN if no chain leads to the core either way. In a
            group without a core: the longest chain of results below the model. Where a chain connects two
            models, the better one has the larger order; equal orders say nothing.
    """

    group: Ints
    cores: tuple[Ints, ...]
    order: Floats


def analyse(wins: Floats) -> Connectivity:
    """Groups, cores and orders of a (n, n) win matrix."""
    group, strong = _labels(wins, "weak"), _labels(wins, "strong")
    order = np.full(len(wins), np.nan)
    cores: list[Ints] = []
    for g in range(int(group.max(initial=-1)) + 1):
        members = np.flatnonzero(group == g)
        parts = [np.flatnonzero(strong == s) for s in dict.fromkeys(strong[members].tolist())]
        core = max(range(len(parts)), key=lambda p: _claim(wins, parts[p]))
        has_core = len(parts[core]) > 1
        cores.append(parts[core].astype(np.int64) if has_core else np.empty(0, dtype=np.int64))
        levels = _levels(wins, parts, core if has_core else None)
        for part, level in zip(parts, levels, strict=True):
            order[part] = level
    return Connectivity(group, tuple(cores), order)


def strongly_connected(wins: Floats) -> NDArray[np.bool_]:
    """(B,) whether each of the (B, n, n) matrices has a finite maximum-likelihood fit.

    Only distinct patterns of who has beaten whom are examined.
    """
    batch, n, _ = wins.shape
    packed = np.packbits((wins > 0).reshape(batch, n * n), axis=1)
    patterns, which = np.unique(packed, axis=0, return_inverse=True)
    supports = np.unpackbits(patterns, axis=1, count=n * n).reshape(-1, n, n)
    alive = np.array([_labels(support, "strong").max(initial=0) == 0 for support in supports], dtype=bool)
    return np.asarray(alive[which.reshape(-1)])


def _labels(wins: NDArray[np.generic], connection: Literal["weak", "strong"]) -> Ints:
    """Component ids, numbered by first appearance (scipy promises no order)."""
    _, labels = connected_components(csr_array(wins != 0), directed=True, connection=connection)
    _, first, inverse = np.unique(labels, return_index=True, return_inverse=True)
    return np.asarray(np.argsort(np.argsort(first))[inverse], dtype=np.int64)


def _claim(wins: Floats, part: Ints) -> tuple[int, float, float, int]:
    """Sort key of the core: most models, then most comparisons inside, then most won outside, then first."""
    inside = wins[np.ix_(part, part)].sum()
    return len(part), float(inside), float(wins[part].sum() - wins[:, part].sum()), -int(part[0])


def _levels(wins: Floats, parts: list[Ints], core: int | None) -> Floats:
    """Order of each strong component of one group (see `Connectivity.order`)."""
    member = np.zeros((len(parts), len(wins)))
    for p, part in enumerate(parts):
        member[p, part] = 1.0
    beats = (member @ wins @ member.T) > 0
    np.fill_diagonal(beats, False)
    if core is None:
        return _longest_chain(beats, np.logical_not(beats.any(axis=1, keepdims=True))[:, 0])
    at_core = np.asarray(np.arange(len(parts)) == core, dtype=np.bool_)
    above, below = _longest_chain(beats, at_core), _longest_chain(beats.T, at_core)
    return np.where(np.isfinite(above), above, np.where(np.isfinite(below), -below, np.nan))


def _longest_chain(edges: NDArray[np.bool_], ends: NDArray[np.bool_]) -> Floats:
    """Longest path from each node of an acyclic graph to an end; -inf if it reaches none."""
    length = np.where(ends, 0.0, -np.inf)
    while True:
        onward = np.where(edges, length[None, :] + 1.0, -np.inf).max(axis=1, initial=-np.inf)
        updated = np.where(ends, 0.0, onward)
        if np.array_equal(updated, length):
            return length
        length = updated
