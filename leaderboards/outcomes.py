"""Raw comparisons, as arenas publish them: one row per vote or match, model a against model b."""

from __future__ import annotations

import math
from array import array
from collections.abc import Iterable

import numpy as np
import pandas as pd

from harness.errors import InputError
from leaderboards.tables import Line, Table
from stats.outcomes import COLUMNS, WINNERS

OPTIONAL = ("weight", "task")
MAX_CELLS = 50_000_000
"""Most tasks x models x models: about 2 GiB of win matrices."""


def is_outcomes(header: Iterable[str]) -> bool:
    """Whether a file with these columns holds comparisons, not scores."""
    return not {"model_a", "model_b"}.isdisjoint(header)


def read_outcomes(table: Table) -> pd.DataFrame:
    """Read the comparisons of an open table.

    The columns are model_a, model_b and winner (model_a, model_b, tie, or 1, 0 and 0.5); weight (a finite
    number, not negative) and task may be there. Other columns are ignored.

    Returns:
        These columns, as :meth:`stats.comparisons.Comparisons.from_outcomes` takes them.

    Raises:
        InputError: names the file, the line, the column and the fix; or more tasks than memory can hold.
    """
    table.require(COLUMNS, OPTIONAL)
    optional = [column for column in OPTIONAL if column in table.header]
    names: dict[str, list[str]] = {c: [] for c in ("model_a", "model_b", "task") if c in table.header}
    results, weights = array("d"), array("d")
    for line in table.lines:
        for column, values in names.items():
            if not line.cells[column]:
                raise line.wrong(column, "is empty; give a name")
            values.append(line.cells[column])
        if line.cells["model_a"] == line.cells["model_b"]:
            raise line.wrong("model_b", "is also model_a; a model is not compared with itself")
        results.append(_result(line))
        if "weight" in optional:
            weights.append(_weight(line))
    if not results:
        raise InputError(f"{table.path}: no rows below the header; add one row per comparison")
    frame = pd.DataFrame({c: pd.Categorical(values) for c, values in names.items()})
    frame["winner"] = np.array(results)
    if "weight" in optional:
        frame["weight"] = np.array(weights)
    if "task" in optional:
        n_tasks = len(frame["task"].cat.categories)
        n_models = len({*frame["model_a"].cat.categories, *frame["model_b"].cat.categories})
        if n_tasks * n_models**2 > MAX_CELLS:
            raise InputError(
                f"{table.path}: column task: {n_tasks} tasks of {n_models} models are too many to cluster "
                "by; group the tasks (by topic or day, say) or leave the column out"
            )
    return frame


def _result(line: Line) -> float:
    """1, 0 or 1/2 of a label or a number."""
    text = line.cells["winner"]
    if text in WINNERS:
        return WINNERS[text]
    try:
        return WINNERS[float(text)]
    except (ValueError, KeyError):
        known = ", ".join(str(label) for label in WINNERS)
        raise line.wrong("winner", f"is not known; write one of {known}") from None


def _weight(line: Line) -> float:
    try:
        value = float(line.cells["weight"])
    except ValueError:
        value = math.nan
    if not 0 <= value < math.inf:
        raise line.wrong("weight", "is not a finite number of at least 0; leave the column out for 1 each")
    return value
