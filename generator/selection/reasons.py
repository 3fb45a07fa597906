"""Why a task was chosen, and why not."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from generator.selection.discrimination import Discrimination
from generator.selection.facts import Facts
from generator.selection.pool import AXES, UNIT, Candidate, Pool

_WORDS = {"family": "metric family", "difficulty": "difficulty"}


def why_chosen(
    pool: Pool, chosen: Sequence[Candidate], found: Mapping[str, Discrimination]
) -> dict[str, str]:
    """For every chosen task its discrimination, its rank in the pool, and what only it brings."""
    values = [each.worth for each in pool.candidates]
    counts = [Counter(each.levels[axis] for each in chosen) for axis in range(len(AXES))]
    datasets = Counter(each.dataset for each in chosen)
    reasons = {}
    for each in chosen:
        rank = 1 + sum(value > each.worth for value in values)
        parts = [f"{found[each.key].words()}, rank {rank} of {len(values)}"]
        kind = each.levels[0]
        parts.append(f"one of {counts[0][kind]} in {kind}, where the quota is {pool.quotas[0][kind]}")
        for axis, level in enumerate(each.levels[1:], start=1):
            if counts[axis][level] == 1:
                parts.append(f"the only one of {_WORDS[AXES[axis]]} {level}")
        if datasets[each.dataset] == 1:
            parts.append(f"the only one of {each.dataset}")
        reasons[each.key] = "; ".join(parts)
    return reasons


def why_left_out(
    pool: Pool, chosen: Sequence[Candidate], found: Mapping[str, Discrimination], facts: Sequence[Facts]
) -> dict[str, str]:
    """For every other task why it is barred, or what the set would lose by the best exchange for it."""
    taken = {each.key for each in chosen}
    candidates = {each.key: each for each in pool.candidates}
    reasons = {each.key: each.barred for each in facts if each.barred}
    for key, candidate in candidates.items():
        if key not in taken:
            reasons[key] = f"{found[key].words()}; {_exchange(pool, chosen, candidate)}"
    return dict(sorted(reasons.items()))


def _exchange(pool: Pool, chosen: Sequence[Candidate], candidate: Candidate) -> str:
    """The allowed exchange of one task that costs least, and what it costs."""
    source = [each for each in chosen if each.dataset == candidate.dataset]
    full = len(source) >= pool.options.per_dataset
    value = pool.value(chosen)
    loss, other, after = min(
        (value - pool.value(exchanged), each.key, exchanged)
        for each in (source if full else chosen)
        for exchanged in [[*(one for one in chosen if one is not each), candidate]]
    )
    before = next(each for each in chosen if each.key == other)
    steps = sum(pool.steps(after)) - sum(pool.steps(chosen))
    parts = [f"discrimination {(candidate.worth - before.worth) / UNIT:+.2f}"]
    if steps:
        parts.append(f"{abs(steps)} {'more' if steps > 0 else 'fewer'} off the quotas")
    if any(each.twin == candidate.twin for each in after if each is not candidate):
        parts.append("a twin in the set")
    told = f"in place of {other} ({', '.join(parts)}) the set would "
    told += f"lose {loss / UNIT:.2f}" if loss else "be as good, and come later in the alphabet"
    if full:
        names = ", ".join(sorted(each.key for each in source))
        told = f"{candidate.dataset} gives its {pool.options.per_dataset} already, {names}; {told}"
    return told
