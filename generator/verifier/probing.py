"""How much a few columns tell of a target: the cross-validated gain of a small tree, and how sure it is."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd

from generator.verifier.targets import Kind, to_numbers

Floats = npt.NDArray[np.float64]

_FOLDS = 3
_SEED = 23
_LEAVES = 256


@dataclass(frozen=True)
class Strength:
    """What columns tell of a target.

    Attributes:
        gain: the share of the way from knowing nothing (0) to perfect (1) on rows that were not learnt from;
            for classes it is that of the accuracy above the majority's share, for numbers R squared.
        z: by how many standard deviations the predictions fit the truth better than its permutations.
    """

    gain: float
    z: float


NOTHING = Strength(0.0, 0.0)


def strength(features: Floats, truth: pd.Series, kind: Kind, leaves: int = _LEAVES) -> Strength:
    """Cross-validate a decision tree.

    For classes z is exact for a permutation of the truth (the variance of Hoeffding's combinatorial sum);
    for numbers it is the correlation of prediction and truth times sqrt(n - 1).

    Args:
        features: shape (n, d); NaN stands for a missing cell.
        truth: shape (n,), strings.
        kind: of the target; lists of labels and free text tell :data:`NOTHING`.
        leaves: the most leaves of the tree.
    """
    from sklearn.model_selection import KFold, StratifiedKFold
    from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

    if len(truth) < 4 * _FOLDS or kind not in (Kind.CLASS, Kind.NUMBER):
        return NOTHING
    features = np.where(np.isfinite(features), features, np.nan).astype(np.float32)
    if kind is Kind.NUMBER:
        numbers = to_numbers(truth).to_numpy()
        if not np.isfinite(numbers).all() or np.ptp(numbers) == 0:
            return NOTHING
        said = np.empty(len(numbers))
        for learnt, asked in KFold(_FOLDS, shuffle=True, random_state=_SEED).split(features):
            tree = DecisionTreeRegressor(max_leaf_nodes=leaves, min_samples_leaf=2, random_state=_SEED)
            said[asked] = tree.fit(features[learnt], numbers[learnt]).predict(features[asked])
        return _number_strength(said, numbers)
    codes, _ = pd.factorize(truth)
    counts = np.bincount(codes)
    if len(counts) < 2 or np.sort(counts)[::-1][1] < _FOLDS:
        return NOTHING
    shares = np.zeros((len(codes), len(counts)))
    known = np.flatnonzero(counts[codes] >= _FOLDS)
    folds = StratifiedKFold(_FOLDS, shuffle=True, random_state=_SEED)
    for learnt, asked in folds.split(features[known], codes[known]):
        chooser = DecisionTreeClassifier(max_leaf_nodes=leaves, min_samples_leaf=2, random_state=_SEED)
        chooser.fit(features[known[learnt]], codes[known[learnt]])
        shares[np.ix_(known[asked], chooser.classes_)] = chooser.predict_proba(features[known[asked]])
    return _class_strength(shares, codes)


def column_numbers(cells: pd.Series) -> Floats:
    """A column of strings, shape (n,), as numbers: itself when nearly all cells are, else codes by frequency.

    Empty cells become NaN.
    """
    numbers = to_numbers(cells)
    present = cells.str.strip() != ""
    if present.any() and bool(numbers[present].notna().mean() >= 0.95):
        return numbers.to_numpy()
    order = cells.value_counts()
    return cells.map({value: rank for rank, value in enumerate(order.index)}).to_numpy(dtype=float)


def column_strength(cells: pd.Series, truth: pd.Series, kind: Kind) -> Strength:
    """What one column of strings tells of a target."""
    return strength(column_numbers(cells).reshape(-1, 1), truth, kind)


def _number_strength(said: Floats, truth: Floats) -> Strength:
    gain = 1.0 - float(((said - truth) ** 2).sum() / ((truth - truth.mean()) ** 2).sum())
    if np.ptp(said) == 0:
        return Strength(gain, 0.0)
    return Strength(gain, float(np.corrcoef(said, truth)[0, 1] * np.sqrt(len(truth) - 1)))


def _class_strength(shares: Floats, codes: npt.NDArray[np.intp]) -> Strength:
    rows, counts = len(codes), np.bincount(codes)
    base = counts.max() / rows
    right = float((shares.argmax(axis=1) == codes).mean())
    weights = counts / rows
    # Centred by rows and columns, so that the sum expected of a permuted truth is 0.
    centred = shares - (shares @ weights)[:, None]
    centred -= centred.mean(axis=0)[None, :]
    seen = float(centred[np.arange(rows), codes].sum())
    variance = float((centred**2 * counts[None, :]).sum()) / (rows - 1)
    return Strength((right - base) / (1.0 - base), seen / variance**0.5 if variance > 0 else 0.0)
