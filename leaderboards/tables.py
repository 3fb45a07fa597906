"""CSV files of others, read line by line, so that every complaint names the file, the line and the column."""

from __future__ import annotations

import csv
import unicodedata
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from harness.errors import InputError


@dataclass(frozen=True)
class Line:
    """One line below the header: its number in the file, and its cells by column, without outer blanks."""

    path: Path
    number: int
    cells: dict[str, str]

    def wrong(self, column: str, fix: str) -> InputError:
        """The error that a cell cannot be used."""
        return InputError(f"{self.path}: line {self.number}: column {column}: {self.cells[column]!r} {fix}")

    def name(self, column: str) -> str:
        """A cell that names something: not empty, and without control characters, which garble a terminal."""
        text = self.cells[column]
        if not text:
            raise self.wrong(column, "is empty; give a name")
        if has_controls(text):
            raise self.wrong(column, "holds a line break or another control character; remove it")
        return text


@dataclass(frozen=True)
class Table:
    """An open CSV file.

    Attributes:
        path: of the file.
        header: names of the columns.
        rows: number and cells, as they stand, of each line below it; read as they are asked for, blank ones
            left out.
    """

    path: Path
    header: tuple[str, ...]
    rows: Iterator[tuple[int, list[str]]]

    @property
    def lines(self) -> Iterator[Line]:
        """The rows with their cells by column."""
        return (self.line(number, cells) for number, cells in self.rows)

    def line(self, number: int, cells: Sequence[str]) -> Line:
        """A row with its cells by column."""
        named = {name: cell.strip() for name, cell in zip(self.header, cells, strict=True)}
        return Line(self.path, number, named)

    def require(self, columns: Sequence[str], optional: Sequence[str] = ()) -> None:
        """Refuse a header that lacks a column, or has one of those it is asked for twice."""
        if not self.header:
            raise InputError(f"{self.path}: empty; the first line must name the columns {','.join(columns)}")
        for column in (*columns, *optional):
            if self.header.count(column) > 1 or (column in columns and column not in self.header):
                what = "is missing" if column not in self.header else "is there more than once"
                raise InputError(
                    f"{self.path}: line 1: column {column} {what}; needed are {','.join(columns)}"
                )


def has_controls(text: str) -> bool:
    """Whether a text has line breaks or other control characters."""
    return not text.isprintable() and any(unicodedata.category(sign) == "Cc" for sign in text)


@contextmanager
def open_table(path: Path) -> Iterator[Table]:
    """Open a CSV file for as long as the block lasts.

    Raises:
        InputError: the file cannot be read, or is not CSV in UTF-8, also where this shows only in the block.
    """
    try:
        with path.open(encoding="utf-8-sig", newline="") as stream:
            reader = csv.reader(stream, strict=True)
            header = tuple(name.strip() for name in next(reader, []))
            if len(header) == 1 and (signs := [sign for sign in ";\t|" if sign in header[0]]):
                raise InputError(
                    f"{path}: line 1: the columns are separated by {signs[0]!r}; separate them by commas"
                )
            if garbled := [name for name in header if has_controls(name)]:
                raise InputError(
                    f"{path}: line 1: column {garbled[0]!r} holds a line break or another control character; "
                    "remove it"
                )

            def rows() -> Iterator[tuple[int, list[str]]]:
                for cells in reader:
                    if not any(cell.strip() for cell in cells):
                        continue
                    if len(cells) != len(header):
                        raise InputError(
                            f"{path}: line {reader.line_num}: {len(cells)} fields where the header has "
                            f"{len(header)}; quote fields that contain commas"
                        )
                    yield reader.line_num, cells

            yield Table(path, header, rows())
    except FileNotFoundError as error:
        raise InputError(f"{path}: not found; pass an existing CSV file") from error
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}; pass an existing CSV file") from error
    except UnicodeDecodeError as error:
        # The text is decoded in pieces, the next one when all whole lines of the last have been read.
        number = reader.line_num + 1 + error.object.count(b"\n", 0, error.start)
        raise InputError(f"{path}: line {number}: not UTF-8 text; save it as UTF-8") from error
    except csv.Error as error:
        raise InputError(
            f"{path}: line {reader.line_num}: not valid CSV: {error}; check that every quote is closed"
        ) from error
