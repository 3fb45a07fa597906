"""A part of a large table, always the same one, and the words that say so."""

from __future__ import annotations

import numpy as np
import pandas as pd

_SEED = 19


def sampled_rows(count: int, most: int, seed: int = _SEED) -> np.ndarray:
    """Positions of at most ``most`` of ``count`` rows, drawn without replacement, in ascending order."""
    if count <= most:
        return np.arange(count)
    return np.sort(np.random.default_rng(seed).choice(count, size=most, replace=False))


def sampled(table: pd.DataFrame, most: int) -> pd.DataFrame:
    """At most that many rows of a table, in their order."""
    return table if len(table) <= most else table.iloc[sampled_rows(len(table), most)]


def told(looked_at: int, of: int, what: str = "rows") -> str:
    """`` (in a sample of 20,000 of 1,000,000 rows)``, or nothing when all were looked at."""
    return "" if looked_at >= of else f" (in a sample of {looked_at:,} of {of:,} {what})"
