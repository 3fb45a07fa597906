"""Following a recipe in the two ways that must agree: by reading, and by running its code."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from generator.tables import Recipe, plan_table


def run(recipe: Recipe, folder: Path) -> pd.DataFrame:
    """What the code of a recipe makes, where only the raw folder, pandas and NumPy are known."""
    names: dict[str, Any] = {"raw": folder, "pd": pd, "np": np}
    exec(compile(recipe.code(), "prepare.py", "exec"), names)
    table: pd.DataFrame = names["table"]
    return table


def served(folder: Path, name: str) -> tuple[pd.DataFrame, Recipe]:
    """A raw file as its recipe reads it; the code, and the pieces for large files, give the same."""
    recipe = plan_table(folder, name)
    table = recipe.read(folder)
    pd.testing.assert_frame_equal(run(recipe, folder), table)
    pieces = pd.concat(list(recipe.chunks(folder, 7)), ignore_index=True)
    assert list(pieces.columns) == list(table.columns) and len(pieces) == len(table)
    return table, recipe
