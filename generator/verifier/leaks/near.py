"""Test rows of a table that are training rows with a little noise."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pandas as pd

from generator.defects.base import Finding, Severity
from generator.defects.registry import finding
from generator.verifier.leaks.comparing import Values, agreement
from generator.verifier.leaks.view import Truth, View
from generator.verifier.probing import Floats
from generator.verifier.sampling import sampled_rows, told
from generator.verifier.targets import Kind, to_numbers

_ASKED = 3_000
_FEWEST = 2
_NEIGHBOURS = 10
_COLUMNS = 50
_LEVELS = 5


@dataclass(frozen=True)
class _Table:
    """Rows as points.

    Attributes:
        numbers: shape (n, d), numeric columns over the middle spread of training, gaps at the median.
        rest: shape (n, k), codes of the categories and of the gaps, in which copies are equal.
    """

    numbers: Floats
    rest: Floats

    def at(self, rows: np.ndarray | slice) -> _Table:
        return _Table(self.numbers[rows], self.rest[rows])

    @property
    def points(self) -> Floats:
        """All in one space, where other categories are far apart."""
        return np.column_stack([self.numbers, 0.5 * (self.rest % _LEVELS)])


def check(view: View) -> Iterator[Finding]:
    """Rows much nearer to one training row than to others, with its label."""
    numbers = [name for name in view.shared if _numeric(view, name)][:_COLUMNS]
    if not any(_continuous(view, name) for name in numbers) or len(view.test) < view.limits.copy_rows:
        return
    if len(numbers) < _FEWEST or len(view.train) < 50:
        return
    raw = view.matrix(numbers)
    train, test = _tables(view, numbers, raw)
    asked = sampled_rows(len(test.numbers), _ASKED)
    nearest, close = _close(train, test.at(asked), view.limits.near)
    share = float(close.mean())
    if share < view.limits.duplicate_share or close.sum() < view.limits.rare_rows:
        return
    rows, partners = asked[close], nearest[close]
    agreed = [_agreement(truth, rows, partners) for truth in view.truths if truth.train is not None]
    if not agreed:
        return
    best = max(agreed)
    # Rows that are alike by nature are so within training too.
    halves = np.arange(len(train.numbers)) % 2 == 0
    usual = float(_close(train.at(halves), train.at(~halves).at(slice(_ASKED)), view.limits.near)[1].mean())
    # In two dimensions one row in thirty is so by chance.
    least = view.limits.duplicate_share if len(numbers) > _FEWEST else view.limits.near_many
    unusual = share > 2 * usual + least
    telling = best >= view.limits.duplicate_agreement
    # Copies made before the split are as frequent within training; noise is in all of their numbers, while
    # the samples of one batch differ in a few.
    many = telling and len(numbers) > _FEWEST and share >= view.limits.near_many
    if not (unusual or many):
        return
    serious = telling and (unusual or _noisy(raw[1][rows], raw[0][partners]))
    yield finding(
        "near_duplicates",
        f"{share:.1%} of the test rows are a training row with a little noise: in {len(numbers)} numeric "
        f"columns the nearest one is {1 / view.limits.near:.0f} times nearer than the tenth, and the others "
        f"are equal; within training {usual:.1%} are (agreement of their labels beyond chance: {best:.2f})"
        f"{told(len(asked), len(view.case.answers), 'test rows')}",
        "drop copies before the split, or keep them on one side of it",
        None if serious else Severity.WARNING,
    )


def _numeric(view: View, name: str) -> bool:
    """Whether what is filled in are numbers, and half of the cells are."""
    cells = view.test[name]
    filled = cells.str.strip() != ""
    return bool(filled.mean() >= 0.5 and to_numbers(cells[filled]).notna().mean() > 0.95)


def _continuous(view: View, name: str) -> bool:
    """Whether a column has many values; of coarse ones alone many rows coincide."""
    return view.test[name].nunique() > max(20, 0.1 * len(view.test))


def _tables(view: View, numbers: list[str], raw: tuple[Floats, Floats]) -> tuple[_Table, _Table]:
    """Training and test rows; columns that name rows or hold texts are left out."""
    codes = [np.isfinite(np.vstack(raw)).astype(float)]
    for name in [name for name in view.shared if name not in numbers][:_COLUMNS]:
        both = pd.concat([view.train[name], view.test[name]], ignore_index=True)
        if both.nunique() <= 0.5 * len(both):
            codes.append(pd.factorize(both, sort=True)[0].reshape(-1, 1).astype(float))
    rest, cut = np.column_stack(codes), len(raw[0])
    rest = rest[:, np.ptp(rest, axis=0) > 0]
    train, test = (_scaled(side, raw[0]) for side in raw)
    return _Table(train, rest[:cut]), _Table(test, rest[cut:])


def _close(train: _Table, asked: _Table, near: float) -> tuple[np.ndarray, np.ndarray]:
    """The nearest training row of each row, and whether it is much nearer than the tenth but not the same."""
    nearest, distances = _neighbours(train.points, asked.points)
    apart = np.maximum(distances[:, -1], 1e-12)
    alike = (train.rest[nearest] == asked.rest).all(axis=1)
    return nearest, alike & (distances[:, 0] > 0) & (distances[:, 0] < near * apart)


def _noisy(rows: Floats, partners: Floats) -> bool:
    """Whether most pairs differ in most of the numbers that are not zero; shapes (m, d), as in the table."""
    counted = np.isfinite(rows) & (rows != 0)
    differ = (counted & (rows != partners)).sum(axis=1) / np.maximum(counted.sum(axis=1), 1)
    return bool(np.median(differ) >= 0.5)


def _scaled(side: Floats, train: Floats) -> Floats:
    """Columns over the middle spread of training, gaps at the median."""
    low, middle, high = np.nanpercentile(np.where(np.isfinite(train), train, np.nan), [10, 50, 90], axis=0)
    width = np.where(high > low, high - low, 1.0)
    scaled = (np.where(np.isfinite(side), side, middle) - middle) / width
    return np.asarray(np.clip(scaled, -10, 10))


def _neighbours(train: Floats, asked: Floats) -> tuple[np.ndarray, Floats]:
    """The nearest training row of each row, shape (m,), and the distances to the nearest ten, (m, 10)."""
    from sklearn.neighbors import NearestNeighbors

    method = "kd_tree" if train.shape[1] <= 8 else "brute"
    finder = NearestNeighbors(n_neighbors=_NEIGHBOURS, algorithm=method).fit(train)
    distances, places = finder.kneighbors(asked)
    exact = np.sqrt(((train[places[:, 0]] - asked) ** 2).sum(axis=1))
    distances[:, 0] = exact
    return places[:, 0], distances


def _agreement(truth: Truth, rows: np.ndarray, partners: np.ndarray) -> float:
    if truth.train is None:
        return 0.0
    ours, theirs = truth.test.iloc[rows], truth.train.iloc[partners]
    if truth.kind is Kind.NUMBER:
        a, b = to_numbers(ours).to_numpy(), to_numbers(theirs).to_numpy()
        return float(np.corrcoef(a, b)[0, 1]) if np.ptp(a) > 0 and np.ptp(b) > 0 else 0.0
    if ours.nunique() == 1:
        return float((ours.to_numpy() == theirs.to_numpy()).mean())
    return agreement(Values(pd.Series(ours.to_numpy())), Values(pd.Series(theirs.to_numpy())))
