"""What the features leave unexplained of a target, and whether rows that belong together share it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from generator.verifier.leaks.view import Truth
from generator.verifier.probing import Floats
from generator.verifier.targets import Kind, to_numbers

_MOST_CLASSES = 10
_TREES = 30
_FOLDS = 3
_SEED = 29
_PERMUTATIONS = 50


@dataclass(frozen=True)
class Alike:
    """How alike the outcomes of partners are.

    Attributes:
        correlation: of a row's outcome with its partner's, over all classes.
        z: by how many standard deviations it exceeds that with partners drawn at random.
    """

    correlation: float
    z: float


def outcomes(truth: Truth, values: pd.Series) -> Floats:
    """Values of a target as centred columns, shape (n, k): one per frequent class, or the number itself."""
    if truth.kind is Kind.NUMBER:
        columns = to_numbers(values).to_numpy().reshape(-1, 1)
    else:
        labels = truth.test.value_counts().index[:_MOST_CLASSES]
        columns = np.column_stack([(values == label).to_numpy(dtype=float) for label in labels])
    return np.asarray(columns - columns.mean(axis=0))


def alike(rows: Floats, partners: Floats) -> Alike:
    """Compare outcomes, shape (n, k), with those of partners, shape (n, k)."""
    rows, partners = rows - rows.mean(axis=0), partners - partners.mean(axis=0)
    size = float(np.sqrt((rows**2).sum() * (partners**2).sum()))
    if size < 1e-9 * len(rows):
        return Alike(0.0, 0.0)
    seen = float((rows * partners).sum())
    generator = np.random.default_rng(_SEED)
    by_chance = [
        float((rows * partners[generator.permutation(len(partners))]).sum()) for _ in range(_PERMUTATIONS)
    ]
    spread = float(np.std(by_chance))
    return Alike(seen / size, (seen - float(np.mean(by_chance))) / spread if spread > 0 else 0.0)


def unexplained(features: Floats, wanted: Floats, parts: np.ndarray) -> Floats:
    """What a small forest leaves of outcomes, each row predicted from rows of other parts only.

    Args:
        features: shape (n, d); without columns the outcomes come back.
        wanted: outcomes, shape (n, k).
        parts: shape (n,), equal numbers for rows that must not explain each other.
    """
    from sklearn.ensemble import RandomForestRegressor
    from sklearn.model_selection import GroupKFold

    if features.shape[1] == 0 or len(np.unique(parts)) < _FOLDS:
        return wanted
    narrow = features.astype(np.float32)
    narrow = np.where(np.isfinite(narrow), narrow, np.nan)
    left = np.empty_like(wanted)
    for learnt, asked in GroupKFold(_FOLDS).split(narrow, groups=parts):
        forest = RandomForestRegressor(
            _TREES, min_samples_leaf=3, max_features=0.5, max_samples=0.7, random_state=_SEED
        )
        said = forest.fit(narrow[learnt], wanted[learnt].squeeze()).predict(narrow[asked])
        left[asked] = wanted[asked] - said.reshape(len(asked), -1)
    return left
