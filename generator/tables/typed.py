"""What typed files (parquet, Excel) hold beside numbers, text and dates, in plain types."""

from __future__ import annotations

import datetime
from dataclasses import dataclass
from decimal import Decimal

import pandas as pd

from generator.tables.literals import literal
from generator.tables.recipe import Step
from generator.tables.steps import Dates, Drop, Numbers


@dataclass(frozen=True)
class Cast:
    """Columns of one type get another."""

    columns: tuple[str, ...]
    to: str

    def apply(self, table: pd.DataFrame) -> pd.DataFrame:
        """See the class."""
        return table.astype(dict.fromkeys(self.columns, self.to))

    def code(self, table: str) -> list[str]:
        """See the class."""
        return [f"{table} = {table}.astype({literal(dict.fromkeys(self.columns, self.to))})"]


@dataclass(frozen=True)
class Seconds:
    """Durations become seconds."""

    columns: tuple[str, ...]

    def apply(self, table: pd.DataFrame) -> pd.DataFrame:
        """See the class."""
        for name in self.columns:
            table[name] = table[name].dt.total_seconds()
        return table

    def code(self, table: str) -> list[str]:
        """See the class."""
        cells = f"{table}[name]"
        return [f"for name in {literal(self.columns)}:", f"    {cells} = {cells}.dt.total_seconds()"]


def plain_types(table: pd.DataFrame) -> tuple[tuple[Step, ...], list[str]]:
    """Steps that give plain types, and what is to be said about them."""
    found: dict[str, list[str]] = {}
    for name in table.columns:
        kind = _kind(table[name])
        if kind is not None:
            found.setdefault(kind, []).append(str(name))
    columns = {kind: tuple(names) for kind, names in found.items()}
    steps: list[Step] = []
    notes = []
    for kind, to in (("category", "object"), ("nullable", "float64"), ("truth", "object"), ("time", "str")):
        if kind in columns:
            steps.append(Cast(columns[kind], to))
    if "duration" in columns:
        steps.append(Seconds(columns["duration"]))
        notes.append(f"durations in seconds: {', '.join(columns['duration'])}")
    if "decimal" in columns:
        steps.append(Numbers(columns["decimal"]))
    if "date" in columns:
        steps.append(Dates(columns["date"]))
    if "bytes" in columns:
        steps.append(Drop(columns["bytes"]))
        notes.append(f"columns of bytes are left out: {', '.join(columns['bytes'])}")
    return tuple(steps), notes


def _kind(values: pd.Series) -> str | None:
    """Which other type a column has; ``None`` for a plain one."""
    if isinstance(values.dtype, pd.CategoricalDtype):
        return "category"
    if pd.api.types.is_timedelta64_dtype(values):
        return "duration"
    if pd.api.types.is_extension_array_dtype(values) and pd.api.types.is_bool_dtype(values):
        return "truth"
    if pd.api.types.is_extension_array_dtype(values) and pd.api.types.is_numeric_dtype(values):
        return "nullable"
    if values.dtype != object:
        return None
    cells = [cell for cell in values if cell is not None and cell is not pd.NaT][:1000]
    for kind, types in (("bytes", bytes), ("decimal", Decimal), ("time", datetime.time)):
        if cells and all(isinstance(cell, types) for cell in cells):
            return kind
    dates = cells and all(isinstance(cell, datetime.date) for cell in cells)
    return "date" if dates else None
