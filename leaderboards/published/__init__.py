"""The figures that the paper published; the README beside this file tells their origin and one repair."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pandas as pd

FOLDER = Path(__file__).parent
REPAIR_NOTE = (
    "The o4-mini row is repaired (Smith 1097.6, Combined 1082.9): an inference from the column sums and "
    "Table 2, not a published correction."
)


def published_ratings(*, repaired: bool = True) -> pd.DataFrame:
    """Overall Elo of Table 1, in the paper's order.

    Args:
        repaired: with the o4-mini row as inferred (show :data:`REPAIR_NOTE` then), or as printed.

    Returns:
        Eight rows with the columns model, dojo, smith, combined; ratings in Elo points.
    """
    return pd.read_csv(FOLDER / f"overall_elo_{'repaired' if repaired else 'as_printed'}.csv")


def published_agreement() -> pd.DataFrame:
    """Table 2: one row per pair of sets.

    Returns:
        Columns pair (``dojo-smith``, ...), pearson_r, r_squared, spearman_rho, kendall_tau_b, ccc,
        top3_overlap and top5_overlap, rounded as printed.
    """
    return pd.read_csv(FOLDER / "agreement_published.csv")


def facts() -> dict[str, Any]:
    """All other published figures: reliability, yield, cost, evaluation settings, distributions."""
    data: dict[str, Any] = json.loads((FOLDER / "facts.json").read_text(encoding="utf-8"))
    return data
