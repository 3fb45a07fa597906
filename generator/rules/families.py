"""Columns of one kind: flags that apply to the same rows, and measurements of the same thing."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import numpy as np
import pandas as pd
from scipy.stats import spearmanr

from generator.columns import Column, Kind, as_numbers
from generator.rules.naming import words
from generator.rules.personal import personal

#: What stands for "it applies", by what stands for "it does not".
_TRUE = {"0": "1", "0.0": "1.0", "no": "yes", "false": "true", "n": "y", "f": "t"}
#: Flags named alike that are a family; flags that only stand side by side must be more.
_LEAST_ALIKE, _LEAST_SIDE_BY_SIDE = 3, 5
_MOST_FLAGS = 14
#: Share of a run that flags named alike must be to leave the others out.
_MOST_ALIKE = 0.5
#: Rows for which a label of a family must apply, and must not.
_FLAG_ROWS, _FLAG_SHARE = 30, 0.02
#: Of rows in which exactly one flag applies, from which the flags are one class written in columns.
_ONE_OF = 0.98
#: Correlation (Spearman, absolute) of measurements that go together without being copies of each other.
_TOGETHER = (0.4, 0.95)
_THIRD = 0.3
_COMPARED = 8


def applies(column: Column) -> str | None:
    """The value that says that a flag applies, as it stands in the raw table; ``None`` for another column."""
    if column.kind is not Kind.BOOLEAN or column.missing:
        return None
    values = {name.lower(): name for name, _ in column.classes}
    return next((values[true] for false, true in _TRUE.items() if set(values) == {false, true}), None)


def flag_families(frame: pd.DataFrame, columns: Sequence[Column]) -> list[tuple[Column, ...]]:
    """Neighbouring flags that several of can apply to a row: labels written as columns of 0 and 1."""
    families = []
    for run in _runs(columns):
        kept = _several_at_once(frame, [c for c in run if personal(c) is None])
        kept = [c for c in kept if _common(c, len(frame))]
        alike = _alike(kept)
        if len(kept) >= _LEAST_SIDE_BY_SIDE and len(alike) < _MOST_ALIKE * len(kept):
            alike = kept
        if len(alike) >= _LEAST_ALIKE:
            families.append(tuple(alike[:_MOST_FLAGS]))
    return families


def written_in_columns(frame: pd.DataFrame, columns: Sequence[Column]) -> set[str]:
    """Flags of which exactly one applies in each row: none is a question of its own, the others answer it."""
    return {column.name for run in _runs(columns) for column in set(run) - set(_several_at_once(frame, run))}


def measured_together(frame: pd.DataFrame, columns: Sequence[Column]) -> tuple[Column, ...]:
    """Two or three numbers that go together most, of the first few ``columns``; nothing when none do."""
    compared = list(columns)[:_COMPARED]
    if len(compared) < 2:
        return ()
    values = {c.name: as_numbers(frame[c.name]) for c in compared}
    together = {
        (a.name, b.name): _correlation(values[a.name], values[b.name]) for a, b in combinations(compared, 2)
    }
    low, high = _TOGETHER
    pairs = [pair for pair, strength in together.items() if low <= strength <= high]
    if not pairs:
        return ()
    first, second = max(pairs, key=lambda pair: (bool(_shared(*pair)), together[pair]))
    chosen = [first, second]
    for third in compared:
        links = [together.get((third.name, n), together.get((n, third.name), 0.0)) for n in (first, second)]
        named = _shared(first, second) & _shared(first, third.name)
        if third.name not in chosen and named and all(_THIRD <= link <= high for link in links):
            chosen.append(third.name)
            break
    return tuple(c for c in compared if c.name in chosen)


def _runs(columns: Sequence[Column]) -> list[list[Column]]:
    """Flags that follow each other in the table and are written alike."""
    runs: list[list[Column]] = []
    last: str | None = None
    for column in columns:
        true = applies(column)
        if true is None:
            last = None
        elif true == last:
            runs[-1].append(column)
        else:
            runs.append([column])
            last = true
    return [run for run in runs if len(run) >= _LEAST_ALIKE]


def _several_at_once(frame: pd.DataFrame, run: list[Column]) -> list[Column]:
    """Without the parts of the run of which exactly one applies in each row."""
    flags = np.stack([_flag(frame, c) for c in run]) if run else np.empty((0, len(frame)))
    at = 0
    kept: list[Column] = []
    while at < len(run):
        ends = [e for e in range(at + 2, len(run) + 1) if (flags[at:e].sum(axis=0) == 1).mean() >= _ONE_OF]
        if ends:
            at = ends[-1]
        else:
            kept.append(run[at])
            at += 1
    return kept


def _flag(frame: pd.DataFrame, column: Column) -> np.ndarray:
    return (frame[column.name].astype(str).str.strip() == applies(column)).to_numpy(float)


def _common(column: Column, rows: int) -> bool:
    counts = [count for _, count in column.classes]
    return min(counts) >= max(_FLAG_ROWS, _FLAG_SHARE * rows)


def _alike(columns: Sequence[Column]) -> list[Column]:
    """The largest part whose names begin or end with the same word."""
    best: list[Column] = []
    for place in (0, -1):
        by_word: dict[str, list[Column]] = {}
        for column in columns:
            named = [word for word in words(column.name) if not word.isdigit()]
            if named:
                by_word.setdefault(named[place], []).append(column)
        best = max([best, *by_word.values()], key=len)
    return best


def _shared(first: str, second: str) -> set[str]:
    return {word for word in set(words(first)) & set(words(second)) if len(word) >= 3}


def _correlation(first: pd.Series, second: pd.Series) -> float:
    both = first.notna() & second.notna()
    if both.sum() < 50 or first[both].nunique() < 2 or second[both].nunique() < 2:
        return 0.0
    return abs(float(spearmanr(first[both], second[both]).statistic))
