"""The profile of a raw dataset: what its files, tables, columns and media are, found without any model.

Raw data are read as data only: nothing in a cell or a file name is ever run or obeyed. The same bytes give
the same profile.
"""

from __future__ import annotations

import dataclasses
import logging
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from generator.columns import Column, Kind, profile_column
from generator.datasets.catalogue import fingerprint, raw_files
from generator.media import MediaFolder
from generator.reading import ReadTable, read_dataset
from generator.series import TimeAxis, find_time, wide_series
from generator.tables import Recipe, plan_table
from generator.tables.sampling import read_sample

log = logging.getLogger(__name__)

_GROUP_VALUES = 30
_GROUP_SHARE = 0.004


@dataclass(frozen=True)
class Table:
    """One table of the dataset.

    Attributes:
        path: relative to the raw folder.
        rows: number of data rows.
        columns: in file order.
        duplicate_rows: rows that repeat an earlier row in every cell.
        keys: columns whose values are all present and distinct.
        groups: columns whose values repeat and may identify an entity that owns several rows.
        time: how the rows lie in time, when they carry dates.
        wide_series: columns that are the successive values of one series in each row.
        recipe: how it is read from the raw files; ``None`` for a table that came without files.
    """

    path: str
    rows: int
    columns: tuple[Column, ...]
    duplicate_rows: int
    keys: tuple[str, ...]
    groups: tuple[str, ...]
    time: TimeAxis | None
    wide_series: tuple[str, ...]
    recipe: Recipe | None = None

    def as_json(self) -> dict[str, Any]:
        """Plain lists and dictionaries; the recipe as its code and what it says."""
        document = dataclasses.asdict(dataclasses.replace(self, recipe=None))
        if self.recipe is not None:
            document["recipe"] = {
                "files": self.recipe.files,
                "code": self.recipe.code(),
                "notes": self.recipe.notes,
            }
        return document

    def column(self, name: str) -> Column:
        """The column of that name. Raises ``KeyError`` when there is none."""
        for column in self.columns:
            if column.name == name:
                return column
        raise KeyError(f"{self.path}: no column {name!r}")


@dataclass(frozen=True)
class Profile:
    """Everything the generator knows about a dataset before proposing a task.

    ``skipped`` lists the files that were not understood, with the reason.
    """

    name: str
    files: int
    bytes: int
    sha256: str
    tables: tuple[Table, ...]
    media: tuple[MediaFolder, ...]
    skipped: tuple[tuple[str, str], ...]

    def as_json(self) -> dict[str, Any]:
        """Plain lists, dictionaries, strings and finite numbers."""
        document = dataclasses.asdict(dataclasses.replace(self, tables=(), media=()))
        document["tables"] = [table.as_json() for table in self.tables]
        document["media"] = [media.as_json() for media in self.media]
        return document

    def summary(self) -> list[str]:
        """A reader's account, line by line."""
        lines = [f"{self.name}: {self.files} files, {self.bytes} bytes"]
        for table in self.tables:
            lines.append(f"table {table.path}: {table.rows} rows, {len(table.columns)} columns, "
                         f"{table.duplicate_rows} repeated rows")  # fmt: skip
            lines += [f"  {note}" for note in (table.recipe.notes if table.recipe else ())]
            if table.keys:
                lines.append(f"  keys: {', '.join(table.keys)}")
            if table.groups:
                lines.append(f"  entities that repeat: {', '.join(table.groups)}")
            if table.time:
                time = table.time
                kind = "a series" if time.series else "dated events"
                owner = f" for each {time.entity}" if time.entity else ""
                lines.append(f"  time: {' + '.join(time.columns)}, {kind}{owner}, {time.start} to {time.end}")
            if table.wide_series:
                lines.append(f"  each row is a series: {table.wide_series[0]} to {table.wide_series[-1]}")
            lines += [f"  {_column_line(column)}" for column in table.columns]
        lines += [line for media in self.media for line in media.summary()]
        lines += [f"skipped {path}: {reason}" for path, reason in self.skipped]
        return lines


def profile_dataset(folder: Path, name: str | None = None) -> Profile:
    """Profile all raw files below ``folder``; what cannot be read is listed, never fatal."""
    files = raw_files(folder)
    found = read_dataset(folder, files)
    tables = [_sampled(each) for each in found.tables]
    return Profile(
        name=name or folder.resolve().name,
        files=len(files),
        bytes=sum(path.stat().st_size for path in files),
        sha256=fingerprint(folder),
        tables=tuple(sorted(tables, key=lambda table: (-table.rows * len(table.columns), table.path))),
        media=found.media,
        skipped=found.skipped,
    )


def table_rows(table: Table, folder: Path) -> pd.DataFrame:
    """The rows of a profiled table: all of them, or those by which a large one was profiled.

    Raises:
        UnreadableTable: the files are not what they were.
    """
    recipe = table.recipe or plan_table(folder, table.path)
    return read_sample(recipe, folder).frame


def _sampled(read: ReadTable) -> Table:
    table = profile_table(read.sample.frame, read.path, read.recipe)
    return dataclasses.replace(table, rows=read.sample.rows)


def profile_table(table: pd.DataFrame, path: str, recipe: Recipe | None = None) -> Table:
    """Profile one table that was read already."""
    columns = tuple(profile_column(table[name]) for name in table.columns)
    rows = len(table)
    keys = tuple(c.name for c in columns if c.missing == 0 and c.unique == rows and c.kind != Kind.NUMERIC)
    groups = tuple(
        c.name
        for c in columns
        if c.kind in (Kind.CATEGORY, Kind.ID)
        and c.unique >= max(_GROUP_VALUES, _GROUP_SHARE * rows)
        and (rows - c.missing) / c.unique >= 1.5
    )
    return Table(
        path=path,
        rows=rows,
        columns=columns,
        duplicate_rows=int(table.astype(str).duplicated().sum()),
        keys=keys,
        groups=groups,
        time=find_time(table, columns),
        wide_series=wide_series(columns, table),
        recipe=recipe,
    )


def _column_line(column: Column) -> str:
    parts = [f"{column.name}: {column.kind}, {column.unique} distinct, {column.missing} missing"]
    if column.minimum is not None:
        parts.append(f"{column.minimum:g} to {column.maximum:g}")
    if column.classes and column.kind in (Kind.CATEGORY, Kind.BOOLEAN):
        parts.append("most often " + ", ".join(f"{value} ({count})" for value, count in column.classes[:3]))
    if column.labels:
        parts.append(f"lists of {len(column.labels)} labels")
    return "; ".join(parts)
