"""Raw comparisons, as arenas publish them: one row per vote or match, model a against model b."""

from __future__ import annotations

import math
from array import array
from collections.abc import Callable, Iterable

import numpy as np
import pandas as pd

from harness.errors import InputError
from leaderboards.tables import Line, Table
from stats.outcomes import COLUMNS, WINNERS
from stats.vectors import LARGEST

OPTIONAL = ("weight", "task")
MAX_CELLS = 50_000_000
"""Most tasks x models x models: about 2 GiB of win matrices."""


def is_outcomes(header: Iterable[str]) -> bool:
    """Whether a file with these columns holds comparisons, not scores."""
    return not {"model_a", "model_b"}.isdisjoint(header)


def read_outcomes(table: Table) -> pd.DataFrame:
    """Read the comparisons of an open table; a million rows take some seconds.

    The columns are model_a, model_b and winner (model_a, model_b, tie, or 1, 0 and 0.5); weight (a finite
    number, not negative) and task may be there. Other columns are ignored.

    Returns:
        These columns, as :meth:`stats.comparisons.Comparisons.from_outcomes` takes them.

    Raises:
        InputError: names the file, the line, the column and the fix; or more tasks than memory can hold.
    """
    table.require(COLUMNS, OPTIONAL)
    readers: dict[str, Callable[[Line, str], str | float]] = {
        "model_a": Line.name, "model_b": Line.name, "winner": _result, "weight": _weight, "task": Line.name,
    }  # fmt: skip
    used = [(name, table.header.index(name)) for name in readers if name in table.header]
    # What a text means is found out when it is first seen in its column, and counted from then on.
    meanings: list[dict[str, int]] = [{} for _ in used]
    values: list[list[str | float]] = [[] for _ in used]
    codes = [array("q") for _ in used]
    a, b = table.header.index("model_a"), table.header.index("model_b")
    for number, cells in table.rows:
        for (name, place), meaning, value, code in zip(used, meanings, values, codes, strict=True):
            text = cells[place]
            if text not in meaning:
                value.append(readers[name](table.line(number, cells), name))
                meaning[text] = len(value) - 1
            code.append(meaning[text])
        if cells[a].strip() == cells[b].strip():
            raise table.line(number, cells).wrong("model_b", "is also model_a; no model meets itself")
    if not codes[0]:
        raise InputError(f"{table.path}: no rows below the header; add one row per comparison")
    frame = pd.DataFrame()
    for (name, _), value, code in zip(used, values, codes, strict=True):
        if readers[name] is Line.name:
            # With and without blanks around it, a name is the same.
            labels, place_of = np.unique(list(map(str, value)), return_inverse=True)
            frame[name] = pd.Categorical.from_codes(place_of[np.array(code)], pd.Index(labels.tolist()))
        else:
            frame[name] = np.array(value, dtype=np.float64)[np.array(code)]
    _check_size(table, frame)
    return frame


def _check_size(table: Table, frame: pd.DataFrame) -> None:
    """Refuse more tasks than their win matrices leave memory for."""
    tasks = len(frame["task"].cat.categories) if "task" in frame else 1
    models = len({*frame["model_a"].cat.categories, *frame["model_b"].cat.categories})
    if tasks * models**2 > MAX_CELLS:
        raise InputError(
            f"{table.path}: column task: {tasks} tasks of {models} models are too many to cluster by; "
            "group the tasks (by topic or day, say) or leave the column out"
        )


def _result(line: Line, column: str) -> float:
    """1, 0 or 1/2 of a label or a number."""
    text = line.cells[column]
    if text in WINNERS:
        return WINNERS[text]
    try:
        return WINNERS[float(text)]
    except (ValueError, KeyError):
        known = ", ".join(str(label) for label in WINNERS)
        raise line.wrong(column, f"is not known; write one of {known}") from None


def _weight(line: Line, column: str) -> float:
    try:
        value = float(line.cells[column])
    except ValueError:
        value = math.nan
    if not 0 <= value <= LARGEST:
        raise line.wrong(
            column, f"is not a finite number from 0 to {LARGEST:g}; leave the column out for 1 each"
        )
    return value
