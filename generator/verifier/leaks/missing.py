"""Empty cells that tell the target."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd

from generator.defects.base import Finding, Severity
from generator.defects.registry import finding
from generator.verifier.leaks.view import Truth, View
from generator.verifier.probing import Floats, Strength, strength, transfer
from generator.verifier.targets import Kind, to_numbers

_WORDS = frozenset({"unknown", "n/a", "na", "nan", "null", "?", "missing", "not available", "#n/a"})
_CODES = (-1.0, -9.0, -99.0, -999.0, -9999.0, 999.0, 9999.0)
#: A mask that is nearly always or nearly never set tells nothing.
_RARE = 0.005
_LEAVES = 32
_OTHERS = 40
_SURE = 0.9
#: When cells are filled in for one class only: how many rows, how pure, of a class how frequent at most, and
#: the least share of it. A cabin or a telephone number is known for both classes, if not as often.
_FEWEST = 30
_PURE = 0.995
_MOST_OF = 0.7
_COVERED = 0.1


def check(view: View) -> Iterator[Finding]:
    """What the pattern of empty cells, and of words and codes that stand for them, tells of each target."""
    masks = _masks(view)
    if not masks:
        return
    yield from _one_sided(view, masks)
    names = list(masks)
    train, test = (np.column_stack([masks[name][side] for name in names]) for side in (0, 1))
    train, test = _with_counts(train), _with_counts(test)
    for truth in map(Truth.ranked, view.truths):
        found = _told(truth, train, test)
        if found.z < view.limits.z:
            continue
        view.note(", ".join(names[:3]), truth.name, "empty cells", found)
        # With more than two classes the measure can exceed 1.
        size = min(found.correlation, 1.0)
        if size < view.limits.missing_warning:
            continue
        lone = {name: _told(truth, *(side.reshape(-1, 1) for side in masks[name])) for name in names}
        best = max(lone, key=lambda name: lone[name].correlation)
        yield finding(
            "missingness_leak",
            f"which cells are empty, or hold a word or code for it, tells {truth.name}: correlation "
            f"{size:.2f} of what a tree on {len(names)} such patterns predicts, z {found.z:.0f}; {best} "
            f"alone {lone[best].correlation:.2f}{view.told}",
            f"drop {best}, or fill it in the same way for all rows before the target is known",
            Severity.ERROR
            if size >= view.limits.missing and not _explained(view, best, masks[best])
            else Severity.WARNING,
        )


def _one_sided(view: View, masks: dict[str, tuple[Floats, Floats]]) -> Iterator[Finding]:
    """Columns that are filled in for rows of one class only, on both sides, though not for all of them."""
    limits = view.limits
    for truth in view.truths:
        if truth.kind is not Kind.CLASS or truth.train is None:
            continue
        for name, (known, asked) in masks.items():
            if not len(known):
                continue
            filled = [truth.test[asked == 0], truth.train[known == 0]]
            if min(len(side) for side in filled) < max(limits.copy_rows, _FEWEST):
                continue
            label = str(filled[1].mode().iloc[0])
            pure = min(float((side == label).mean()) for side in filled)
            base = float((truth.train == label).mean())
            covered = float((known[(truth.train == label).to_numpy()] == 0).mean())
            if pure < _PURE or base > _MOST_OF or covered < _COVERED:
                continue
            if _explained(view, name, (known, asked)):
                continue
            yield finding(
                "proxy_column",
                f"{name} is filled in only where {truth.name} is {label}: {pure:.1%} of such rows, which are "
                f"{covered:.1%} of that class; the class is {base:.1%} of all rows{view.told}",
                f"drop {name} if it is known only after {truth.name}",
            )


def _explained(view: View, name: str, mask: tuple[Floats, Floats]) -> bool:
    """Whether the other columns tell where cells are empty: a storm without a category has slow winds."""
    others = [other for other in view.features if other != name][:_OTHERS]
    if not others:
        return False
    gaps = pd.Series(mask[1].astype(int).astype(str))
    return strength(view.matrix(others)[1], gaps, Kind.CLASS).gain >= _SURE


def _told(truth: Truth, train: Floats, test: Floats) -> Strength:
    within = strength(test, truth.test, truth.kind, _LEAVES)
    if truth.train is None or len(train) == 0:
        return within
    across = transfer(train, truth.train, test, truth.test, truth.kind, _LEAVES)
    return max(within, across, key=lambda found: found.z)


def _masks(view: View) -> dict[str, tuple[Floats, Floats]]:
    """For each column with gaps, which cells of training and test rows are gaps."""
    masks = {}
    for name in view.features:
        train = view.train[name] if name in view.shared else pd.Series([""] * len(view.train), dtype=str)
        cells = pd.concat([train, view.test[name]], ignore_index=True)
        gaps = _gaps(cells)
        cut = len(train)
        if _RARE < gaps[cut:].mean() < 1 - _RARE:
            masks[name] = gaps[:cut].astype(float), gaps[cut:].astype(float)
    return masks


def _gaps(cells: pd.Series) -> np.ndarray:
    plain = cells.str.strip().str.casefold()
    gaps = (plain == "").to_numpy() | plain.isin(_WORDS).to_numpy()
    numbers = to_numbers(plain).to_numpy()
    rest = numbers[np.isfinite(numbers)]
    if len(rest) < 0.5 * len(cells) or len(np.unique(rest)) < 5:
        return gaps
    for code in _CODES:
        others = rest[rest != code]
        beyond = code < min(0.0, others.min(initial=0.0)) or code > 2 * max(others.max(initial=0.0), 1.0)
        if len(others) < len(rest) and beyond:
            gaps |= numbers == code
    return np.asarray(gaps)


def _with_counts(masks: Floats) -> Floats:
    return np.column_stack([masks, masks.sum(axis=1)])
