"""Whether one column is another, row by row, however it is written."""

from __future__ import annotations

import functools

import numpy as np
import pandas as pd
from scipy.stats import rankdata

from generator.verifier.targets import to_numbers
from generator.verifier.thresholds.leaks import LeakLimits

SAME_ORDER = "the same order"


class Values:
    """One column of cells, and what comparing it with others needs; each is computed once."""

    def __init__(self, cells: pd.Series) -> None:
        self.text = cells.to_numpy(dtype=object)

    @functools.cached_property
    def numbers(self) -> np.ndarray | None:
        """The cells as floats, when all are finite numbers."""
        numbers = to_numbers(pd.Series(self.text)).to_numpy()
        return numbers if len(numbers) and np.isfinite(numbers).all() else None

    @functools.cached_property
    def codes(self) -> np.ndarray:
        """The cells as numbers 0, 1, ... of their distinct values."""
        return np.asarray(pd.factorize(self.text if self.numbers is None else self.numbers)[0])

    @functools.cached_property
    def counts(self) -> np.ndarray:
        """How often each distinct value occurs."""
        return np.bincount(self.codes)

    @functools.cached_property
    def ranks(self) -> np.ndarray | None:
        """Standardised ranks of numbers, ties at their mean rank; nothing for text or a constant."""
        if self.numbers is None or len(self.counts) < 3:
            return None
        ranks = rankdata(self.numbers)
        return np.asarray((ranks - ranks.mean()) / ranks.std())

    def at(self, rows: np.ndarray) -> Values:
        """The same at some rows."""
        part = Values(pd.Series(self.text[rows], dtype=object))
        if self.numbers is not None:
            part.__dict__["numbers"] = self.numbers[rows]
        return part

    @functools.cached_property
    def part(self) -> Values:
        """The same without empty cells."""
        return self.at(self.filled)

    @functools.cached_property
    def filled(self) -> np.ndarray:
        """Which cells hold something."""
        return np.array([str(cell).strip() != "" for cell in self.text], dtype=bool)


def same(column: Values, truth: Values, limits: LeakLimits) -> str:
    """In words how a column is the truth itself, row by row, or nothing when it is not."""
    rows = len(truth.text)
    # A class of a few rows coincides with many an honest feature.
    if rows == 0 or rows - int(truth.counts.max()) < limits.rare_rows:
        return ""
    if len(column.counts) == 1:
        return ""
    # Kappa is never above the share of equal rows, which is quicker to count.
    if shared(column, truth) >= limits.copy_agreement:
        equal = agreement(column, truth)
        if equal >= limits.copy_agreement:
            return f"equal values (agreement beyond chance {equal:.3f})"
    classes = len(truth.counts)
    # Where no value comes twice, any two columns stand for each other one to one.
    repeats = rows - classes
    alike = len(column.counts) == classes and repeats >= max(limits.copy_rows, rows // 20)
    if alike and len(np.unique(column.codes * np.int64(classes) + truth.codes)) == classes:
        return f"its {classes} values stand for the {classes} values of the target one to one"
    if classes > max(2, rows // 100) and column.ranks is not None and truth.ranks is not None:
        rank = abs(float(np.mean(column.ranks * truth.ranks)))
        if rank >= 1 - (1 - limits.copy_agreement) / 10:
            return f"{SAME_ORDER} (rank correlation {rank:.5f})"
    return ""


def same_where_filled(column: Values, truth: Values, limits: LeakLimits) -> str:
    """As :func:`same`; of a column with empty cells, the others are compared."""
    how = same(column, truth, limits)
    filled = column.filled
    if how or filled.all() or filled.sum() < max(limits.copy_rows, len(filled) // 20):
        return how
    part = same(column.part, truth.at(filled), limits)
    return f"{part}, in the {filled.mean():.0%} of its cells that are not empty" if part else ""


def shared(left: Values, right: Values) -> float:
    """The share of rows in which two columns hold the same, numbers compared as numbers."""
    a, b = left.numbers, right.numbers
    return float(np.mean(left.text == right.text if a is None or b is None else a == b))


def agreement(left: Values, right: Values) -> float:
    """Cohen's kappa of two columns, numbers compared as numbers: (p_o - p_e) / (1 - p_e).

    1 is full agreement, 0 what chance gives. With one value only on both sides it is 0: nothing is told.
    """
    a, b = left.numbers, right.numbers
    if a is None or b is None:
        a, b = left.text, right.text
    observed = float(np.mean(a == b))
    if observed == 0.0:
        return 0.0
    shares = [pd.Series(values).value_counts(normalize=True) for values in (a, b)]
    expected = float(shares[0].mul(shares[1], fill_value=0.0).sum())
    return (observed - expected) / (1.0 - expected) if expected < 1.0 else 0.0
