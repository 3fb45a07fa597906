"""How much a few columns tell of a target: the gain of a small tree on unseen rows, and how sure it is."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd

from generator.verifier.targets import Kind, to_numbers

Floats = npt.NDArray[np.float64]
Codes = npt.NDArray[np.intp]

_FOLDS = 3
_SEED = 23
_LEAVES = 256
#: Rows of rarer classes are left out, so that the table of shares stays small.
_MOST_CLASSES = 100


@dataclass(frozen=True)
class Strength:
    """What columns tell of a target.

    Attributes:
        gain: the share of the way from knowing nothing (0) to perfect (1) on rows that were not learnt from;
            for classes it is that of the accuracy above the majority's share, for numbers R squared.
        z: by how many standard deviations the predictions fit the truth better than its permutations.
        rows: how many rows were asked.
    """

    gain: float
    z: float
    rows: int = 0

    @property
    def correlation(self) -> float:
        """z / sqrt(rows - 1): for numbers Pearson's correlation of prediction and truth, for two classes that
        of the predicted share and the class. Unlike z it does not grow with the rows."""
        return self.z / (self.rows - 1) ** 0.5 if self.rows > 1 else 0.0


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

    if len(truth) < 4 * _FOLDS or kind not in (Kind.CLASS, Kind.NUMBER):
        return NOTHING
    features = _finite(features)
    if kind is Kind.NUMBER:
        numbers = to_numbers(truth).to_numpy()
        if not np.isfinite(numbers).all() or np.ptp(numbers) == 0:
            return NOTHING
        said = np.empty(len(numbers))
        for learnt, asked in KFold(_FOLDS, shuffle=True, random_state=_SEED).split(features):
            said[asked] = _said(features[learnt], numbers[learnt], features[asked], leaves)
        return _number_strength(said, numbers)
    codes, counts = _frequent(pd.factorize(truth)[0])
    features, codes = features[codes >= 0], codes[codes >= 0]
    if len(counts) < 2 or np.sort(counts)[::-1][1] < _FOLDS:
        return NOTHING
    shares = np.zeros((len(codes), len(counts)))
    known = np.flatnonzero(counts[codes] >= _FOLDS)
    folds = StratifiedKFold(_FOLDS, shuffle=True, random_state=_SEED)
    for learnt, asked in folds.split(features[known], codes[known]):
        rows, answers = known[learnt], known[asked]
        shares[answers] = _shares(features[rows], codes[rows], features[answers], len(counts), leaves)
    return _class_strength(shares, codes)


def transfer(
    features: Floats,
    truth: pd.Series,
    asked: Floats,
    answers: pd.Series,
    kind: Kind,
    leaves: int = _LEAVES,
) -> Strength:
    """Fit a decision tree to training rows and ask it the test rows, as a participant would.

    Args:
        features: shape (n, d), training rows; NaN stands for a missing cell.
        truth: shape (n,), strings.
        asked: shape (m, d), test rows.
        answers: shape (m,), strings.
        kind: of the target; lists of labels and free text tell :data:`NOTHING`.
        leaves: the most leaves of the tree.
    """
    if min(len(truth), len(answers)) < 2 * _FOLDS or kind not in (Kind.CLASS, Kind.NUMBER):
        return NOTHING
    features, asked = _finite(features), _finite(asked)
    if kind is Kind.NUMBER:
        numbers, wanted = to_numbers(truth).to_numpy(), to_numbers(answers).to_numpy()
        if not (np.isfinite(numbers).all() and np.isfinite(wanted).all()) or np.ptp(wanted) == 0:
            return NOTHING
        return _number_strength(_said(features, numbers, asked, leaves), wanted)
    codes, _ = pd.factorize(pd.concat([answers, truth], ignore_index=True))
    wanted_codes, counts = _frequent(codes[: len(answers)])
    learnt = codes[len(answers) :]
    # Classes are numbered by their first row, answers first: the frequent ones keep their order.
    numbering = np.full(codes.max() + 1, -1)
    numbering[codes[: len(answers)][wanted_codes >= 0]] = wanted_codes[wanted_codes >= 0]
    learnt = numbering[learnt]
    if len(counts) < 2 or len(np.unique(learnt[learnt >= 0])) < 2:
        return NOTHING
    kept = wanted_codes >= 0
    shares = _shares(features[learnt >= 0], learnt[learnt >= 0], asked[kept], len(counts), leaves)
    return _class_strength(shares, wanted_codes[kept])


def column_numbers(cells: pd.Series) -> Floats:
    """A column of strings, shape (n,), as numbers: itself when nearly all cells are, else codes by frequency.

    Equally frequent values are told apart by the alphabet, never by the order of the rows, which would be
    coded with them. Values that come once have one code together. Empty cells become NaN.
    """
    numbers = to_numbers(cells)
    present = cells.str.strip() != ""
    if present.any() and bool(numbers[present].notna().mean() >= 0.95):
        return numbers.to_numpy()
    counts = cells[present].value_counts().sort_index().sort_values(ascending=False, kind="stable")
    last = int((counts > 1).sum())
    codes = {value: min(rank, last) for rank, value in enumerate(counts.index)}
    return cells.map(codes).to_numpy(dtype=float)


def column_strength(cells: pd.Series, truth: pd.Series, kind: Kind) -> Strength:
    """What one column of strings tells of a target."""
    return strength(column_numbers(cells).reshape(-1, 1), truth, kind)


def _finite(features: Floats) -> Floats:
    """What a tree takes: no infinity, nothing beyond the range of 32 bits."""
    with np.errstate(over="ignore"):
        narrow = features.astype(np.float32)
    return np.where(np.isfinite(narrow), narrow, np.nan)


def _frequent(codes: Codes) -> tuple[Codes, npt.NDArray[np.intp]]:
    """Codes of the most frequent classes numbered anew, -1 for the others, and how often each occurs."""
    counts = np.bincount(codes)
    if len(counts) <= _MOST_CLASSES:
        return codes, counts
    kept = np.sort(np.argsort(-counts, kind="stable")[:_MOST_CLASSES])
    numbering = np.full(len(counts), -1)
    numbering[kept] = np.arange(len(kept))
    return numbering[codes], counts[kept]


def _said(features: Floats, numbers: Floats, asked: Floats, leaves: int) -> Floats:
    from sklearn.tree import DecisionTreeRegressor

    tree = DecisionTreeRegressor(max_leaf_nodes=leaves, min_samples_leaf=2, random_state=_SEED)
    return np.asarray(tree.fit(features, numbers).predict(asked), dtype=float)


def _shares(features: Floats, codes: Codes, asked: Floats, classes: int, leaves: int) -> Floats:
    from sklearn.tree import DecisionTreeClassifier

    tree = DecisionTreeClassifier(max_leaf_nodes=leaves, min_samples_leaf=2, random_state=_SEED)
    tree.fit(features, codes)
    shares = np.zeros((len(asked), classes))
    shares[:, tree.classes_] = tree.predict_proba(asked)
    return shares


def _number_strength(said: Floats, truth: Floats) -> Strength:
    gain = 1.0 - float(((said - truth) ** 2).sum() / ((truth - truth.mean()) ** 2).sum())
    if np.ptp(said) == 0:
        return Strength(gain, 0.0, len(truth))
    fit = float(np.corrcoef(said, truth)[0, 1])
    return Strength(gain, fit * float(np.sqrt(len(truth) - 1)), len(truth))


def _class_strength(shares: Floats, codes: Codes) -> Strength:
    rows, counts = len(codes), np.bincount(codes, minlength=shares.shape[1])
    base = float(counts.max() / rows)
    right = float((shares.argmax(axis=1) == codes).mean())
    weights = counts / rows
    # Centred by rows and columns, so that the sum expected of a permuted truth is 0.
    centred = shares - (shares @ weights)[:, None]
    centred -= centred.mean(axis=0)[None, :]
    seen = float(centred[np.arange(rows), codes].sum())
    variance = float((centred**2 * counts[None, :]).sum()) / (rows - 1)
    z = seen / variance**0.5 if variance > 1e-18 else 0.0
    return Strength((right - base) / (1.0 - base) if base < 1 else 0.0, z, rows)
