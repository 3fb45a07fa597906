"""Test rows in an order that tells the target."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd

from generator.defects.base import Finding, Severity
from generator.defects.registry import finding
from generator.verifier.leaks.residuals import Alike, alike, outcomes
from generator.verifier.leaks.view import Truth, View, as_numbers
from generator.verifier.probing import Floats, Strength, strength
from generator.verifier.targets import to_numbers

_MODULI = range(2, 11)
_LEVELS = 3


def check(view: View) -> Iterator[Finding]:
    """Neighbouring and periodic answers, in the order of the test table and of the sample submission."""
    if len(view.test) < view.limits.copy_rows:
        return
    sample = view.case.tables.get(view.case.prepared.sample_path)
    orders = {"the test table": np.arange(len(view.test))}
    if sample is not None and view.case.id_column in sample.columns:
        places = pd.Series(np.arange(len(sample)), index=sample[view.case.id_column])
        places = places[~places.index.duplicated()]
        order = places.reindex(view.test[view.case.id_column]).to_numpy(dtype=float)
        if np.isfinite(order).all() and (np.diff(order) < 0).any():
            orders["the sample submission"] = np.argsort(order)
    for truth in view.truths:
        for name, order in orders.items():
            found = _check_order(view, truth, name, order)
            if found is not None:
                yield found
                break


def _check_order(view: View, truth: Truth, name: str, order: np.ndarray) -> Finding | None:
    values = outcomes(truth.ranked(), truth.test)[order]
    neighbours = _neighbours(values)
    place, told = _periodic(truth, order)
    view.note("", truth.name, f"order of {name}", Strength(neighbours.correlation, neighbours.z, len(values)))
    alike_rows = neighbours.z >= view.limits.z and neighbours.correlation >= view.limits.order_warning
    in_turn = told.z >= view.limits.z and told.correlation >= view.limits.order
    if not (alike_rows or in_turn):
        return None
    beyond = _beyond_columns(view, values, order)
    if not beyond.any():
        return None
    if alike_rows:
        left = _neighbours(beyond)
        if left.z >= view.limits.z and left.correlation >= view.limits.order_warning:
            return finding(
                "row_order_leak",
                f"neighbouring rows of {name} have like {truth.name}: correlation "
                f"{neighbours.correlation:.2f}, z {neighbours.z:.0f}, and no visible column "
                f"has that order{view.told}",
                "shuffle the test rows",
                Severity.ERROR if left.correlation >= view.limits.order else Severity.WARNING,
            )
    if in_turn:
        return finding(
            "row_order_leak",
            f"the row's number modulo {place} in {name} tells {truth.name}: correlation "
            f"{told.correlation:.2f}, z {told.z:.0f}",
            "shuffle the test rows",
        )
    return None


def _neighbours(values: Floats) -> Alike:
    """How alike rows are to the next one."""
    return alike(values[:-1], values[1:]) if len(values) > 10 else Alike(0.0, 0.0)


def _periodic(truth: Truth, order: np.ndarray) -> tuple[int, Strength]:
    answers = truth.ranked().test.iloc[order].reset_index(drop=True)
    places = np.arange(len(order), dtype=float)
    told = {k: strength((places % k).reshape(-1, 1), answers, truth.kind) for k in _MODULI}
    best = max(told, key=lambda k: told[k].z)
    return best, told[best]


def _beyond_columns(view: View, values: Floats, order: np.ndarray) -> Floats:
    """What is left of the outcomes when columns in whose order the rows stand are taken into account.

    Rows that stand by shop, and by date within the shop, are in an honest order: each column that is sorted
    or comes in unbroken runs, within those found before, explains it. A column of all different values in
    sequence explains all.
    """
    rows = len(order)
    blocks = np.zeros(rows, dtype=np.intp)
    columns = {name: _sequence(view, name)[order] for name in _explaining(view)}
    for _ in range(_LEVELS):
        found = next((name for name in columns if _in_sequence(columns[name], blocks)), None)
        if found is None:
            break
        numbers = columns.pop(found)
        blocks = np.unique(np.column_stack([blocks, numbers]), axis=0, return_inverse=True)[1].ravel()
        if blocks.max() + 1 > rows / 4:
            return np.zeros_like(values)
    means = pd.DataFrame(values).groupby(blocks).transform("mean").to_numpy()
    return np.asarray(values - means)


def _explaining(view: View) -> list[str]:
    """Visible columns whose order is honest; a date in the id is one, and the time in any spelling."""
    split = view.case.task.spec.split
    told = split.kind == "time" or view.case.task.spec.objective == "forecasting"
    dated = told or view.dated(view.case.id_column)
    names = [view.case.id_column] if dated else []
    times = [name for name in view.features if name == split.time_column]
    return (
        names + times + [name for name in view.features if name not in times and not _names_rows(view, name)]
    )


def _names_rows(view: View, name: str) -> bool:
    """Whether a column of texts, not dates, is different in every row, as paths and second ids are."""
    cells = view.test[name]
    if cells.nunique() <= 0.9 * len(cells) or view.dated(name):
        return False
    return bool(to_numbers(cells).notna().mean() < 0.5)


def _sequence(view: View, name: str) -> Floats:
    """A column as numbers that keep its order, texts by the alphabet; empty cells come first."""
    cells = view.test[name]
    if view.dated(name):
        numbers = as_numbers(cells)
    elif to_numbers(cells[cells.str.strip() != ""]).isna().any():
        numbers = np.asarray(cells.rank(method="dense"), dtype=float)
    else:
        numbers = to_numbers(cells).to_numpy()
    lowest = float(np.min(numbers[np.isfinite(numbers)], initial=0.0))
    return np.where(np.isfinite(numbers), numbers, lowest - 1)


def _in_sequence(numbers: Floats, blocks: np.ndarray) -> bool:
    """Whether values rise, fall, or come in unbroken runs within all blocks, with more than two of them."""
    inside = blocks[1:] == blocks[:-1]
    if inside.sum() < 10 or len(np.unique(numbers)) < 3:
        return False
    steps = np.diff(numbers)[inside]
    moves = steps[steps != 0]
    if len(moves) < 3:
        return False
    if max((steps >= 0).mean(), (steps <= 0).mean()) >= 0.99:
        return True
    pairs = len(np.unique(np.column_stack([blocks, numbers]), axis=0))
    runs = int((steps != 0).sum()) + len(np.unique(blocks))
    return pairs < len(numbers) / 2 and runs <= 1.02 * pairs
