"""Which ratings exist: strong components of the "has beaten" graph.

The Bradley-Terry likelihood has a finite maximum exactly where every model of a set can reach every other
one by a chain of (part) wins (Ford 1957). Outside such a set only an order is known, or nothing at all.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import fsum
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
        cores: per group, the indices of its strongly connected core: of the strong components with two or
            more models the one with most models, then most comparisons among them, then most won against
            the rest. Empty if there is none, or if the best are equal in all three, since nothing but the
            order of the rows could choose between them.
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
    n = len(wins)
    if n and _all_reached(wins) and _all_reached(wins.T):
        return Connectivity(np.zeros(n, dtype=np.int64), (np.arange(n),), np.zeros(n))
    group, strong = _labels(wins, "weak"), _labels(wins, "strong")
    order = np.full(len(wins), np.nan)
    cores: list[Ints] = []
    for g in range(int(group.max(initial=-1)) + 1):
        members = np.flatnonzero(group == g)
        parts = [np.flatnonzero(strong == s) for s in dict.fromkeys(strong[members].tolist())]
        core = _core(wins, parts)
        cores.append(np.empty(0, dtype=np.int64) if core is None else parts[core].astype(np.int64))
        levels = _levels(wins, parts, core)
        for part, level in zip(parts, levels, strict=True):
            order[part] = level
    return Connectivity(group, tuple(cores), order)


def strongly_connected(wins: Floats | NDArray[np.bool_]) -> NDArray[np.bool_]:
    """(B,) whether each of the (B, n, n) matrices has a finite maximum-likelihood fit.

    Only distinct patterns of who has beaten whom are examined.
    """
    known: dict[bytes, bool] = {}
    found = np.empty(len(wins), dtype=bool)
    for b, beats in enumerate(np.asarray(wins > 0)):
        pattern = beats.tobytes()
        if pattern not in known:
            known[pattern] = _all_reached(beats) and _all_reached(beats.T)
        found[b] = known[pattern]
    return found


def _all_reached(wins: Floats | NDArray[np.bool_]) -> bool:
    """Whether chains of wins lead from the first model to every other; each row is looked at once."""
    reached = wins[0] > 0
    reached[0] = True
    new = reached.copy()
    new[0] = False
    while new.any() and not reached.all():
        new = (wins[new] > 0).any(axis=0) & ~reached
        reached |= new
    return bool(reached.all())


def strong_components(wins: Floats) -> Ints:
    """(n,) ids of the sets of models that can all reach one another by chains of (part) wins."""
    return _labels(wins, "strong")


def _labels(wins: NDArray[np.generic], connection: Literal["weak", "strong"]) -> Ints:
    """Component ids, numbered by first appearance (scipy promises no order)."""
    _, labels = connected_components(csr_array(wins != 0), directed=True, connection=connection)
    _, first, inverse = np.unique(labels, return_index=True, return_inverse=True)
    return np.asarray(np.argsort(np.argsort(first))[inverse], dtype=np.int64)


def _core(wins: Floats, parts: list[Ints]) -> int | None:
    """Which strong component of a group is its core (see `Connectivity.cores`)."""
    largest = max(len(part) for part in parts)
    if largest == 1:
        return None
    candidates = [p for p, part in enumerate(parts) if len(part) == largest]
    if len(candidates) == 1:
        return candidates[0]
    claims = [_claim(wins, parts[p]) for p in candidates]
    best = max(claims)
    return candidates[claims.index(best)] if claims.count(best) == 1 else None


def _claim(wins: Floats, part: Ints) -> tuple[float, float]:
    """Comparisons inside a component, and net wins against the rest, in exact sums, whatever the order."""
    rest = np.delete(np.arange(len(wins)), part)
    inside = fsum(wins[np.ix_(part, part)].ravel())
    outside = fsum(np.concatenate([wins[np.ix_(part, rest)].ravel(), -wins[np.ix_(rest, part)].ravel()]))
    return inside, outside


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
