"""Rating tables as papers print them, with the statistics printed beside them, read for the audit."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import pandas as pd

from harness.errors import InputError
from leaderboards.tables import Line, open_table
from stats.audit.statistics import Published
from stats.vectors import LARGEST

_NO_NUMBER = ("", "na", "nan", "-", "–")


@dataclass(frozen=True)
class PrintedTable:
    """A table and the places it was printed with.

    Attributes:
        path: the file.
        ratings: indexed by model, one column per set; NaN where a cell has no number.
        decimals: most places after the point of any cell.
    """

    path: Path
    ratings: pd.DataFrame
    decimals: int


@dataclass(frozen=True)
class PrintedStatistics:
    """Published statistics and the most places after the point of any of them."""

    path: Path
    statistics: tuple[Published, ...]
    decimals: int


def read_table(path: Path) -> PrintedTable:
    """Read a CSV with the column model and one column of ratings per set.

    Raises:
        InputError: names the file, the line, the column and the fix.
    """
    header, lines = _read(path)
    if header.count("model") != 1:
        raise InputError(f"{path}: line 1: needs one column model; the header has {', '.join(header)}")
    sets = [name for name in header if name != "model"]
    if not sets:
        raise InputError(f"{path}: line 1: no column beside model; add one column of ratings per set")
    first: dict[str, int] = {}
    values: list[list[float]] = []
    decimals = 0
    for line in lines:
        model = line.name("model")
        if model in first:
            raise line.wrong("model", f"is already on line {first[model]}; keep one row")
        first[model] = line.number
        values.append([_number(line, name, may_be_empty=True) for name in sets])
        decimals = max(decimals, *(_places(line.cells[name]) for name in sets))
    ratings = pd.DataFrame(values, index=list(first), columns=sets, dtype=float)
    for name in sets:
        if ratings[name].isna().all():
            raise InputError(f"{path}: column {name}: has no number at all; remove the column")
    return PrintedTable(path, ratings, decimals)


def read_statistics(path: Path, sets: Sequence[str]) -> PrintedStatistics:
    """Read published statistics about the sets of a table.

    Either one row per statistic, with the columns sets (joined by +), statistic and value; or one row per
    pair, with the column pair (``a-b``, or two or more sets joined by +) and one column per statistic, empty
    where nothing was published.

    Raises:
        InputError: names the file, the line, the column and the fix.
    """
    header, lines = _read(path)
    tidy = {"sets", "statistic", "value"}
    if tidy <= set(header):
        cells = [(line, "sets", line.cells["statistic"], "value") for line in lines]
    elif "pair" in header:
        names = [name for name in header if name != "pair"]
        cells = [(line, "pair", name, name) for line in lines for name in names if line.cells[name]]
    else:
        raise InputError(
            f"{path}: line 1: needs the columns sets, statistic and value, or pair and one per statistic; "
            f"the header has {', '.join(header)}"
        )
    if not cells:
        raise InputError(f"{path}: no statistic below the header; add one")
    statistics = tuple(
        Published(name, _sets(line, where, sets), _number(line, column))
        for line, where, name, column in cells
    )
    return PrintedStatistics(
        path, statistics, max(_places(line.cells[column]) for line, _, _, column in cells)
    )


def parse_whole(text: str) -> tuple[str, tuple[str, ...]]:
    """``combined=dojo+smith`` as the whole and its parts.

    Raises:
        InputError: there is no equals sign or an empty name.
    """
    whole, _, rest = text.partition("=")
    parts = tuple(part.strip() for part in rest.split("+"))
    if not whole.strip() or len(parts) < 2 or not all(parts):
        raise InputError(f"--whole {text!r}: write the whole and its parts as combined=dojo+smith")
    return whole.strip(), parts


def _read(path: Path) -> tuple[tuple[str, ...], list[Line]]:
    """The header, in which every column has a name of its own, and the lines."""
    with open_table(path) as table:
        if not table.header:
            raise InputError(f"{path}: empty; the first line must name the columns")
        if "" in table.header:
            raise InputError(f"{path}: line 1: a column has no name; the first line must name every column")
        for one, two in pairwise(sorted(table.header)):
            if one == two:
                raise InputError(f"{path}: line 1: column {one} is there more than once; keep one")
        lines = list(table.lines)
    if not lines:
        raise InputError(f"{path}: no rows below the header; add some")
    return table.header, lines


def _number(line: Line, column: str, *, may_be_empty: bool = False) -> float:
    text = line.cells[column]
    if may_be_empty and text.lower() in _NO_NUMBER:
        return math.nan
    try:
        value = float(text)
    except ValueError:
        value = math.inf
    if not math.isfinite(value):
        fix = "write one"
        if may_be_empty:
            fix += ", or nothing for a model without a rating; remove columns that hold no ratings"
        raise line.wrong(column, f"is not a finite number; {fix}")
    if abs(value) > LARGEST:
        raise line.wrong(column, f"is beyond {LARGEST:g}; correct it")
    return value


def _places(text: str) -> int:
    """Digits after the point, as printed; more than a float holds do not count."""
    mantissa = text.lower().partition("e")[0]
    return min(len(mantissa.partition(".")[2]), 12)


def _sets(line: Line, column: str, known: Sequence[str]) -> tuple[str, ...]:
    """The sets of a statistic, joined by +, or two joined by -; names may hold either sign themselves."""
    text = line.cells[column]
    readings = {
        reading
        for sign in "+-"
        for reading in _readings(text, sign, known)
        if len(set(reading)) == len(reading) > 1 and (sign == "+" or len(reading) == 2)
    }
    if len(readings) == 1:
        return readings.pop()
    what = (
        "can be read in more than one way"
        if readings
        else "does not name two or more different sets of the table"
    )
    raise line.wrong(column, f"{what}; join the names by + (the table has {', '.join(known)})")


def _readings(text: str, sign: str, known: Sequence[str]) -> Iterator[tuple[str, ...]]:
    """All ways to read a text as known names joined by a sign."""
    if text in known:
        yield (text,)
    for name in known:
        if text.startswith(name + sign):
            yield from ((name, *rest) for rest in _readings(text[len(name) + 1 :], sign, known))
