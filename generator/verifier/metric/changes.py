"""Wrong submissions made of the answers."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pandas as pd

Rows = npt.NDArray[np.intp]
_DRAWS = 20


def exchanged(
    frame: pd.DataFrame, columns: Sequence[str], share: float, rng: np.random.Generator
) -> pd.DataFrame:
    """A copy in which that share of the rows hold each other's values, so every value stays a legal one."""
    count = max(2, round(share * len(frame)))
    rows = rng.choice(len(frame), size=min(count, len(frame)), replace=False)
    # Rolling along a random order leaves no row in place.
    changed = frame.copy()
    for column in columns:
        values = frame[column].to_numpy(copy=True)
        values[rows] = values[np.roll(rows, 1)]
        changed[column] = values
    return changed


def wrong_at(
    frame: pd.DataFrame, columns: Sequence[str], rows: Rows, rng: np.random.Generator
) -> pd.DataFrame:
    """A copy in which these rows hold the values of rows that differ from them, where there are any."""
    codes = frame.groupby(list(columns), sort=False, dropna=False).ngroup().to_numpy()
    given = rng.integers(0, len(frame), size=len(rows))
    for _ in range(_DRAWS):
        equal = codes[given] == codes[rows]
        if not equal.any():
            break
        given[equal] = rng.integers(0, len(frame), size=int(equal.sum()))
    still = np.flatnonzero(codes[given] == codes[rows])
    for place in still[:100]:  # a rare value was not met by chance
        others = np.flatnonzero(codes != codes[rows[place]])
        if len(others):
            given[place] = rng.choice(others)
    return taken(frame, columns, rows, frame, given)


def taken(
    frame: pd.DataFrame, columns: Sequence[str], rows: Rows, source: pd.DataFrame, given: Rows
) -> pd.DataFrame:
    """A copy in which ``rows`` hold the values that ``source`` has in the rows ``given``."""
    changed = frame.copy()
    for column in columns:
        values = frame[column].to_numpy(copy=True)
        values[rows] = source[column].to_numpy()[given]
        changed[column] = values
    return changed


def softened(frame: pd.DataFrame, columns: Sequence[str], rng: np.random.Generator) -> pd.DataFrame:
    """Scores between 0 and 1 that follow answers of 0 and 1 loosely; rows that sum to 1 still do."""
    truth = frame[list(columns)].to_numpy(dtype=float)
    logits = 2.0 * truth - 1.0 + rng.normal(size=truth.shape)
    if truth.shape[1] > 1 and bool((truth.sum(axis=1) == 1).all()):
        powers = np.exp(logits)
        chances = powers / powers.sum(axis=1, keepdims=True)
    else:
        chances = 1.0 / (1.0 + np.exp(-logits))
    return frame.assign(**{column: chances[:, place] for place, column in enumerate(columns)})
