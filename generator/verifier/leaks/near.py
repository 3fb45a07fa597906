"""Test rows of a table that are training rows with a little noise."""

from __future__ import annotations

from collections.abc import Iterator

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
_FEWEST = 3
_NEIGHBOURS = 5
_COLUMNS = 50


def check(view: View) -> Iterator[Finding]:
    """Rows much nearer to one training row than to any other, with its label."""
    names = [name for name in view.shared if _numeric(view, name)][:_COLUMNS]
    fine = sum(_continuous(view, name) for name in names)
    if fine < _FEWEST or len(view.train) < 50 or len(view.test) < view.limits.copy_rows:
        return
    train, test = (_scaled(side, view.matrix(names)[0]) for side in view.matrix(names))
    asked = sampled_rows(len(test), _ASKED)
    nearest, close = _close(train, test[asked], view.limits.near)
    rest = [name for name in view.shared if not _numeric(view, name)][:_COLUMNS]
    for name in rest:
        close &= view.test[name].iloc[asked].to_numpy() == view.train[name].iloc[nearest].to_numpy()
    share = float(close.mean())
    if share < view.limits.duplicate_share or close.sum() < view.limits.rare_rows:
        return
    rows, partners = asked[close], nearest[close]
    agreed = [_agreement(truth, rows, partners) for truth in view.truths if truth.train is not None]
    if not agreed:
        return
    best = max(agreed)
    # Rows that are alike by nature are so within training too.
    halves = np.arange(len(train)) % 2 == 0
    usual = float(_close(train[halves], train[~halves][:_ASKED], view.limits.near)[1].mean())
    serious = best >= view.limits.duplicate_agreement and share > 2 * usual + view.limits.duplicate_share
    yield finding(
        "near_duplicates",
        f"{share:.1%} of the test rows are a training row with a little noise: in {len(names)} numeric "
        f"columns the nearest one is {1 / view.limits.near:.0f} times nearer than the fifth (agreement of "
        f"their labels beyond chance: {best:.2f}){told(len(asked), len(view.case.answers), 'test rows')}",
        "drop copies before the split, or keep them on one side of it",
        None if serious else Severity.WARNING,
    )


def _numeric(view: View, name: str) -> bool:
    return bool(to_numbers(view.test[name]).notna().mean() > 0.95)


def _continuous(view: View, name: str) -> bool:
    """Whether a column has mostly values of its own in each row; coarse ones coincide by chance."""
    numbers = to_numbers(view.test[name])
    return bool(numbers.notna().mean() > 0.95 and numbers.nunique() > max(20, 0.3 * len(numbers)))


def _close(train: Floats, asked: Floats, near: float) -> tuple[np.ndarray, np.ndarray]:
    """The nearest training row of each row, and whether it is much nearer than the fifth but not the same."""
    nearest, distances = _neighbours(train, asked)
    apart = np.maximum(distances[:, -1], 1e-12)
    return nearest, (distances[:, 0] > 0) & (distances[:, 0] < near * apart)


def _scaled(side: Floats, train: Floats) -> Floats:
    """Columns over the middle spread of training, gaps at the median."""
    low, middle, high = np.nanpercentile(np.where(np.isfinite(train), train, np.nan), [10, 50, 90], axis=0)
    width = np.where(high > low, high - low, 1.0)
    scaled = (np.where(np.isfinite(side), side, middle) - middle) / width
    return np.asarray(np.clip(scaled, -10, 10))


def _neighbours(train: Floats, asked: Floats) -> tuple[np.ndarray, Floats]:
    """The nearest training row of each row, shape (m,), and the distances to the nearest five, (m, 5)."""
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
