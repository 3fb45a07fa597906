"""What is done to rows that were read: each as a function of a frame, and as statements that do the same."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from generator.tables.literals import literal, regex

_IS_LIST = "isinstance(cell, (list, np.ndarray))"


def _each(table: str, columns: tuple[str, ...], value: str) -> list[str]:
    """An assignment to one column, or a loop over several; ``{cell}`` in ``value`` stands for the column."""
    if len(columns) == 1:
        cell = f"{table}[{literal(columns[0])}]"
        return [f"{cell} = {value.format(cell=cell)}"]
    cell = f"{table}[name]"
    return [f"for name in {literal(columns)}:", f"    {cell} = {value.format(cell=cell)}"]


@dataclass(frozen=True)
class TextNames:
    """Column names become text."""

    def apply(self, table: pd.DataFrame) -> pd.DataFrame:
        """See the class."""
        table.columns = pd.Index([str(name) for name in table.columns])
        return table

    def code(self, table: str) -> list[str]:
        """See the class."""
        return [f"{table}.columns = [str(name) for name in {table}.columns]"]


@dataclass(frozen=True)
class Rename:
    """Columns get other names: pairs of the old and the new."""

    names: tuple[tuple[str, str], ...]

    def apply(self, table: pd.DataFrame) -> pd.DataFrame:
        """See the class."""
        return table.rename(columns=dict(self.names))

    def code(self, table: str) -> list[str]:
        """See the class."""
        return [f"{table} = {table}.rename(columns={literal(dict(self.names))})"]


@dataclass(frozen=True)
class Drop:
    """Columns are left out."""

    columns: tuple[str, ...]

    def apply(self, table: pd.DataFrame) -> pd.DataFrame:
        """See the class."""
        return table.drop(columns=list(self.columns))

    def code(self, table: str) -> list[str]:
        """See the class."""
        return [f"{table} = {table}.drop(columns={literal(self.columns)})"]


@dataclass(frozen=True)
class Blank:
    """Markers of missing values become missing in the columns given."""

    columns: tuple[str, ...]
    markers: tuple[str, ...]

    def apply(self, table: pd.DataFrame) -> pd.DataFrame:
        """See the class."""
        for name in self.columns:
            table[name] = table[name].where(~table[name].isin(list(self.markers)))
        return table

    def code(self, table: str) -> list[str]:
        """See the class."""
        return _each(table, self.columns, f"{{cell}}.where(~{{cell}}.isin({_braced(literal(self.markers))}))")


@dataclass(frozen=True)
class Numbers:
    """Columns of numbers written with signs: currencies, per cent, separators of thousands, decimal commas.

    Attributes:
        columns: written in the same way.
        remove: a regular expression of what is no part of the number; empty for none.
        decimal: the decimal sign.
        brackets: whether a number in brackets is negative.
    """

    columns: tuple[str, ...]
    remove: str = ""
    decimal: str = "."
    brackets: bool = False

    def apply(self, table: pd.DataFrame) -> pd.DataFrame:
        """See the class."""
        for name in self.columns:
            if not (self.remove or self.brackets or self.decimal != "."):
                table[name] = pd.to_numeric(table[name], errors="coerce")
                continue
            cells = table[name].astype(str)
            if self.brackets:
                cells = cells.str.replace(r"^\((.*)\)$", r"-\1", regex=True)
            if self.remove:
                cells = cells.str.replace(self.remove, "", regex=True)
            if self.decimal != ".":
                cells = cells.str.replace(self.decimal, ".")
            table[name] = pd.to_numeric(cells, errors="coerce")
        return table

    def code(self, table: str) -> list[str]:
        """See the class."""
        cells = "{cell}.astype(str)"
        if self.brackets:
            cells += r'.str.replace(r"^\((.*)\)$", r"-\1", regex=True)'
        if self.remove:
            cells += f'.str.replace({_braced(regex(self.remove))}, "", regex=True)'
        if self.decimal != ".":
            cells += f'.str.replace({literal(self.decimal)}, ".")'
        if not (self.remove or self.brackets or self.decimal != "."):
            return _each(table, self.columns, 'pd.to_numeric({cell}, errors="coerce")')
        if len(self.columns) == 1:
            column = f"{table}[{literal(self.columns[0])}]"
            return [
                f"cells = {cells.format(cell=column)}",
                f'{column} = pd.to_numeric(cells, errors="coerce")',
            ]
        return [
            f"for name in {literal(self.columns)}:",
            f"    cells = {cells.format(cell=f'{table}[name]')}",
            f'    {table}[name] = pd.to_numeric(cells, errors="coerce")',
        ]


@dataclass(frozen=True)
class Dates:
    """Columns of dates that are read by one rule: a format, or a unit since 1970.

    ``prefix`` goes before each cell, where the cells leave out what the format needs, such as the year;
    ``digits`` says that the cells are whole numbers whose digits the format reads.
    """

    columns: tuple[str, ...]
    format: str | None = None
    unit: str | None = None
    prefix: str = ""
    digits: bool = False

    def _options(self) -> dict[str, Any]:
        given = {"format": self.format, "unit": self.unit}
        options = {name: value for name, value in given.items() if value is not None} | {"errors": "coerce"}
        return options | {"utc": True} if self.format and "%z" in self.format else options

    def apply(self, table: pd.DataFrame) -> pd.DataFrame:
        """See the class."""
        for name in self.columns:
            cells = table[name].astype(str) if self.digits else table[name]
            cells = self.prefix + cells if self.prefix else cells
            table[name] = pd.to_datetime(cells, **self._options())
        return table

    def code(self, table: str) -> list[str]:
        """See the class."""
        options = ", ".join(f"{name}={literal(value)}" for name, value in self._options().items())
        cells = f"{_braced(literal(self.prefix))} + {{cell}}" if self.prefix else "{cell}"
        cells += ".astype(str)" if self.digits else ""
        return _each(table, self.columns, f"pd.to_datetime({cells}, {_braced(options)})")


@dataclass(frozen=True)
class ListText:
    """Cells that are lists become text, their entries between separators."""

    columns: tuple[str, ...]
    separator: str = ", "

    def apply(self, table: pd.DataFrame) -> pd.DataFrame:
        """See the class."""
        for name in self.columns:
            table[name] = table[name].map(
                lambda cell: (
                    self.separator.join(map(str, cell)) if isinstance(cell, (list, np.ndarray)) else cell
                )
            )
        return table

    def code(self, table: str) -> list[str]:
        """See the class."""
        joined = f"{literal(self.separator)}.join(map(str, cell)) if {_IS_LIST} else cell"
        return _each(table, self.columns, f"{{cell}}.map(\n    lambda cell: {_braced(joined)}\n)")


@dataclass(frozen=True)
class Lengths:
    """Cells that are lists of records become the number of those records."""

    columns: tuple[str, ...]

    def apply(self, table: pd.DataFrame) -> pd.DataFrame:
        """See the class."""
        for name in self.columns:
            table[name] = table[name].map(
                lambda cell: len(cell) if isinstance(cell, (list, np.ndarray)) else 0
            )
        return table

    def code(self, table: str) -> list[str]:
        """See the class."""
        count = f"{{cell}}.map(lambda cell: len(cell) if {_IS_LIST} else 0)"
        return _each(table, self.columns, count)


@dataclass(frozen=True)
class Flatten:
    """Cells that are records become columns ``outer.inner``."""

    def apply(self, table: pd.DataFrame) -> pd.DataFrame:
        """See the class."""
        records: Any = table.to_dict("records")
        return pd.json_normalize(records)

    def code(self, table: str) -> list[str]:
        """See the class."""
        return [f'{table} = pd.json_normalize({table}.to_dict("records"))']


def _braced(source: str) -> str:
    """Source that stands in a template of :func:`_each` as it is."""
    return re.sub(r"([{}])", r"\1\1", source)
