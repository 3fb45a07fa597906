"""How a table is made from raw files: as data, as a frame, and as the code of a prepare.py."""

from __future__ import annotations

import zipfile
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Protocol, TypeVar

import pandas as pd

from generator.tables.formats import UnreadableTable

Read = TypeVar("Read")


class Source(Protocol):
    """Where the rows come from."""

    @property
    def files(self) -> tuple[str, ...]:
        """The raw files it needs, relative to the raw folder."""

    @property
    def imports(self) -> tuple[str, ...]:
        """Modules of the standard library that its code uses."""

    def read(self, folder: Path) -> pd.DataFrame:
        """All rows."""

    def chunks(self, folder: Path, rows: int) -> Iterator[pd.DataFrame]:
        """The rows in pieces of about ``rows``, where the format can be read so; else in one."""

    def code(self, table: str) -> list[str]:
        """Statements that define a variable called ``table``."""


class Step(Protocol):
    """What is done to the rows that were read."""

    def apply(self, table: pd.DataFrame) -> pd.DataFrame:
        """The table after the step; the given one may be changed."""

    def code(self, table: str) -> list[str]:
        """Statements that do the same to a variable called ``table``."""


@dataclass(frozen=True)
class Recipe:
    """How a table is made from raw files.

    Attributes:
        source: where the rows come from.
        steps: what is done to them, in order.
        notes: for people: what was found in the files, and what was done about it.
    """

    source: Source
    steps: tuple[Step, ...] = ()
    notes: tuple[str, ...] = field(default=(), compare=False)

    @property
    def files(self) -> tuple[str, ...]:
        """The raw files it needs, relative to the raw folder."""
        return self.source.files

    @property
    def imports(self) -> tuple[str, ...]:
        """Modules of the standard library that the code uses beside pandas and NumPy."""
        return self.source.imports

    def read(self, folder: Path) -> pd.DataFrame:
        """The table; cells are data, never anything else.

        Raises:
            UnreadableTable: the files are not what they were, or hold no rows or columns.
        """
        return self._finished(guarded(lambda: self.source.read(folder), self.files[0]))

    def chunks(self, folder: Path, rows: int) -> Iterator[pd.DataFrame]:
        """The table in pieces of about ``rows`` rows, where its format can be read so; else in one."""
        pieces = self.source.chunks(folder, rows)
        while True:
            piece = guarded(lambda: next(pieces, None), self.files[0])
            if piece is None:
                return
            yield self.apply(piece)

    def apply(self, table: pd.DataFrame) -> pd.DataFrame:
        """The steps, on rows that were read."""
        for step in self.steps:
            table = step.apply(table)
        return table

    def code(self, table: str = "table", *, imports: bool = True) -> str:
        """Statements that define ``table``, where ``raw`` is the raw folder and pd and np are imported."""
        lines = [f"import {module}" for module in self.imports] if imports else []
        lines += self.source.code(table)
        for step in self.steps:
            lines += step.code(table)
        return "\n".join(lines)

    def then(self, *steps: Step, notes: tuple[str, ...] = ()) -> Recipe:
        """The same recipe with more steps."""
        return replace(self, steps=(*self.steps, *steps), notes=(*self.notes, *notes))

    def _finished(self, table: pd.DataFrame) -> pd.DataFrame:
        table = self.apply(table)
        if table.shape[0] == 0 or table.shape[1] == 0:
            raise UnreadableTable(f"{Path(self.files[0]).name}: a table without rows or columns")
        return table


def guarded(read: Callable[[], Read], name: str) -> Read:
    """What ``read`` gives; whatever a reader may raise becomes :class:`UnreadableTable`."""
    try:
        return read()
    except UnreadableTable:
        raise
    except ImportError as error:
        raise UnreadableTable(
            f"{name}: reading it needs a package that is missing: pip install 'mle-smith[formats]' ({error})"
        ) from error
    except (ValueError, OSError, EOFError, LookupError, TypeError, zipfile.BadZipFile, zlib.error) as error:
        raise UnreadableTable(f"{name}: cannot be read as a table: {error}") from error
