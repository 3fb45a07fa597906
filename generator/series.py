"""Time in a raw table: which columns hold it, whether the rows are one series or one for each entity."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import pandas as pd

from generator.columns import Column, Kind, as_dates

_PARTS = ("year", "month", "day", "hour")
_WIDE = re.compile(r"^(.*?)_?0*(\d+)$")
_SHORTEST_SERIES = 100
#: Places compared to tell curves from numbered columns, how far apart two may lie, as a period may be between
#: them, and the correlation of curves.
_COMPARED, _FARTHEST, _ALIKE = 60, 12, 0.4


@dataclass(frozen=True)
class TimeAxis:
    """How the rows of a table lie in time.

    Attributes:
        columns: one date column, or the columns year, month, day, hour that make a date together.
        entity: the column that tells several series apart, or ``None``.
        step_seconds: the most frequent distance between neighbours of a series.
        regular: the share of neighbours at that distance.
        series: whether each time occurs once (for each entity), so that the rows are a series.
        span: the share of the whole time that the median entity covers (1 without entities).
        start: first time, ISO.
        end: last time, ISO.
        points: number of distinct times.
    """

    columns: tuple[str, ...]
    entity: str | None
    step_seconds: float
    regular: float
    series: bool
    span: float
    start: str
    end: str
    points: int


def times_of(table: pd.DataFrame, columns: Sequence[str]) -> pd.Series:
    """The time of each row, from a date column or from the columns year, month, day, hour."""
    if len(columns) == 1:
        return as_dates(table[columns[0]])
    parts = {
        part: pd.to_numeric(table[name], errors="coerce") for part, name in zip(_PARTS, columns, strict=False)
    }
    parts.setdefault("day", pd.Series(1, index=table.index))
    return pd.to_datetime(pd.DataFrame(parts), errors="coerce")


def find_time(table: pd.DataFrame, columns: Sequence[Column]) -> TimeAxis | None:
    """The time axis of a table, or ``None`` when its rows carry no date."""
    names = _time_columns(columns)
    if not names:
        return None
    times = times_of(table, names)
    known = times.notna()
    if known.mean() < 0.95 or times.nunique() < 20:
        return None
    # A few repeated time stamps (clocks set back) do not make a series anything else.
    single = times[known].duplicated().mean() < 0.01
    entity = None if single else _entity(table, times, columns)
    ordered = pd.DataFrame({"time": times[known]})
    ordered["entity"] = table.loc[known, entity].astype(str) if entity else ""
    ordered = ordered.sort_values(["entity", "time"], kind="stable")
    gaps = ordered.groupby("entity")["time"].diff().dropna().dt.total_seconds()
    gaps = gaps[gaps > 0]
    step = float(gaps.mode().iloc[0]) if len(gaps) else 0.0
    # Months differ in length; a step of 28 to 31 days counts as the same.
    near = (gaps - step).abs() <= (4 * 86_400 if step >= 27 * 86_400 else 0.02 * step)
    lives = ordered.groupby("entity")["time"].agg(["min", "max"])
    total = (times.max() - times.min()).total_seconds()
    span = float(((lives["max"] - lives["min"]).dt.total_seconds() / total).median()) if total else 0.0
    return TimeAxis(
        columns=tuple(names),
        entity=entity,
        step_seconds=step,
        regular=round(float(near.mean()), 4) if len(gaps) else 0.0,
        series=(single or entity is not None) and len(table) >= _SHORTEST_SERIES,
        span=round(span, 4),
        start=times.min().isoformat(),
        end=times.max().isoformat(),
        points=int(times.nunique()),
    )


def wide_series(columns: Sequence[Column], table: pd.DataFrame) -> tuple[str, ...]:
    """The longest run of numeric columns named by one stem and consecutive numbers, at least 12 of them.

    Numbered columns are a series only when values near each other are alike, as those of a curve are and the
    counts of numbered articles are not.
    """
    runs: dict[str, list[tuple[int, str]]] = {}
    for column in columns:
        match = _WIDE.match(column.name)
        if match and (column.is_number or column.kind is Kind.CONSTANT):
            runs.setdefault(match[1], []).append((int(match[2]), column.name))
    best: tuple[str, ...] = ()
    for members in runs.values():
        members.sort()
        numbers = [number for number, _ in members]
        if numbers == list(range(numbers[0], numbers[0] + len(numbers))) and len(numbers) > len(best):
            best = tuple(name for _, name in members)
    return best if len(best) >= 12 and _coherent(table[list(best)]) else ()


def _coherent(curves: pd.DataFrame) -> bool:
    """Whether columns correlate with those a few places further on, at some distance at least."""
    step = max(1, len(curves.columns) // _COMPARED)
    strengths = []
    for distance in range(1, min(_FARTHEST, len(curves.columns) // 2) + 1):
        pairs = range(0, len(curves.columns) - distance, step)
        together = [curves.iloc[:, at].corr(curves.iloc[:, at + distance]) for at in pairs]
        strengths.append(pd.Series(together).abs().median())
    return bool(pd.Series(strengths).max() >= _ALIKE)


def _time_columns(columns: Sequence[Column]) -> list[str]:
    parts = {column.name.lower(): column.name for column in columns if column.is_number}
    named = [parts[part] for part in _PARTS if part in parts]
    dates = [column for column in columns if column.kind is Kind.DATE]
    if dates:
        return [max(dates, key=lambda column: column.unique).name]
    if "year" in parts and "month" in parts:
        # hour without day is no date.
        return named if "day" in parts else [parts["year"], parts["month"]]
    return []


def _entity(table: pd.DataFrame, times: pd.Series, columns: Sequence[Column]) -> str | None:
    """The column that makes (entity, time) nearly unique and has the fewest values."""
    candidates = [
        c for c in columns if c.kind in (Kind.CATEGORY, Kind.ID) and 2 <= c.unique <= len(table) / 5
    ]
    for column in sorted(candidates, key=lambda c: (c.unique, c.name)):
        pairs = pd.DataFrame({"entity": table[column.name], "time": times})
        if pairs.duplicated().mean() < 0.01:
            return column.name
    return None
