"""Whether the prepared rows are the raw rows: none invented, and not many lost."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from generator.defects.base import Finding, Severity
from generator.defects.registry import finding
from generator.verifier.case import Case
from generator.verifier.preparation.cells import EMPTY, cell_hashes
from generator.verifier.preparation.raw_tables import RawTable
from generator.verifier.preparation.tracing import Bools, Trace, same_names

_PARTS = 3
#: A part of the key must be as unique as this to find a row that was changed elsewhere.
_PART_UNIQUE = 0.9
#: Another table is where rows come from when at least this share of their cells is in it.
_PART_KNOWN = 0.5


def check_rows(case: Case, trace: Trace, others: Sequence[RawTable]) -> Iterator[Finding]:
    """Rows that no raw table holds, and raw rows that are nowhere.

    Args:
        case: the task.
        trace: the prepared rows beside the raw table that most of them come from.
        others: all raw tables; the test rows may come from another one.
    """
    yield from _check_invented(case, trace, others)
    yield from _check_lost(case, trace)


def _check_invented(case: Case, trace: Trace, others: Sequence[RawTable]) -> Iterator[Finding]:
    limits = case.limits.preparation
    unfound = ~trace.found(trace.key)
    if not unfound.any():
        return
    corrected, copied = _found_in_part(trace)
    invented = unfound & ~corrected & (_mostly_foreign(trace) | _all_known(trace)) | unfound & copied
    if invented.any():
        invented &= ~_found_elsewhere(trace, others, invented)
    count, rows = int(invented.sum()), len(invented)
    if count < limits.least_rows or count < limits.invented * rows:
        return
    yield finding(
        "rows_invented",
        f"{count:,} of {rows:,} prepared rows ({count / rows:.1%}) have no row in {trace.raw.name} with the "
        f"same {_named(trace)}",
        "write only rows of the raw data, or describe in description.txt how rows were made, and not in test",
    )


def _found_in_part(trace: Trace) -> tuple[Bools, Bools]:
    """Rows that one part of the key finds: the rest of them was corrected or clipped.

    The second are those among them whose raw row is also there as it is: they are altered copies of it.
    """
    found, copied = np.zeros((2, len(trace.made)), dtype=bool)
    if len(trace.key) < _PARTS:
        return found, copied
    rows = np.arange(len(trace.made))
    whole = trace.found(trace.key)
    by_values = sorted(trace.key, key=lambda name: -len(np.unique(trace.raw_hashes[name])))
    parts = [by_values[start::_PARTS] for start in range(_PARTS)]
    for part in [*parts, *([name for name in by_values if name not in part] for part in parts)]:
        if trace.uniqueness(part) >= _PART_UNIQUE:
            found |= trace.found(part)
            single, places = trace.partners(part, rows)
            copied[single] |= ~whole[single] & np.isin(places, places[whole[single]])
    return found, copied


def _found_elsewhere(trace: Trace, others: Sequence[RawTable], asked: Bools) -> Bools:
    """Which of some rows stand in another raw table, in the columns that it shares."""
    found = np.zeros(len(trace.made), dtype=bool)
    rows = np.flatnonzero(asked)
    for table in others:
        if table.names == trace.raw.names:
            continue
        pairs = same_names(trace.made, table)
        part = Trace(trace.made.iloc[rows].reset_index(drop=True), table, pairs, tuple(pairs))
        key = [name for name in pairs if part.foreign_cells(name).mean() < 1 - _PART_KNOWN]
        if key and part.uniqueness(key) >= _PART_KNOWN:
            found[rows] |= part.found(key)
    return found


def _mostly_foreign(trace: Trace) -> Bools:
    """Rows of which most cells occur nowhere in their raw column; columns of few values say little."""
    telling = [name for name in trace.key if len(np.unique(trace.raw_hashes[name])) > 20] or list(trace.key)
    foreign = np.sum([trace.foreign_cells(name) for name in telling], axis=0)
    return np.asarray(foreign * 2 > len(telling))


def _all_known(trace: Trace) -> Bools:
    """Rows all of whose cells occur in the raw columns, though never together."""
    return np.asarray(~np.any([trace.foreign_cells(name) for name in trace.key], axis=0))


def _check_lost(case: Case, trace: Trace) -> Iterator[Finding]:
    limits = case.limits.preparation
    made, raw = trace.keys(trace.key)
    usable = np.ones(len(raw), dtype=bool)
    for target in case.targets:
        if target in trace.pairs:
            usable &= trace.raw_hashes[target] != EMPTY
        elif target in trace.raw.rows.columns:
            usable &= cell_hashes(trace.raw.rows[target]) != EMPTY
        else:
            # Without the target in it, as in an unlabelled test table, no row need be used.
            return
    kept = np.isin(raw, made)[usable]
    lost, rows = int((~kept).sum()), len(kept)
    if rows == 0 or lost < limits.least_rows or lost <= limits.lost * rows:
        return
    first = int(kept.sum())
    cut = bool(kept[:first].mean() > 0.99)
    grave = cut and lost > limits.most_lost * rows
    yield finding(
        "rows_lost",
        f"{lost:,} of {rows:,} usable rows of {trace.raw.name} ({lost / rows:.1%}) are in neither train nor "
        + (f"test; what is there are its first {first:,} rows" if cut else "test"),
        "use all rows that have a target, or say in description.txt which part is used and why",
        Severity.ERROR if grave else None,
    )


def _named(trace: Trace) -> str:
    shown = ", ".join(trace.key[:4])
    return shown if len(trace.key) <= 4 else f"{shown} and {len(trace.key) - 4} more columns"
