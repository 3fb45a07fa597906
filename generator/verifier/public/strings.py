"""Cells as the strings that they would be in a CSV file."""

from __future__ import annotations

import pandas as pd


def as_strings(frame: pd.DataFrame) -> pd.DataFrame:
    """Every cell as the string it would be in a CSV file; a missing one is empty."""
    missing = frame.isna()
    return frame.astype(str).mask(missing, "")
