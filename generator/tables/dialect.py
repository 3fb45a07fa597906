"""The delimiter and the quoting of a text table, and its rows by them."""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from generator.tables.encoding import Encoding, find_encoding, head, opened
from generator.tables.formats import UnreadableTable

_DELIMITERS = (",", "\t", ";", "|")
#: White space of any length, as pandas writes it.
SPACES = r"\s+"
_SAMPLE_LINES = 400
#: Rows of equally many cells that a table without a named delimiter needs.
EVEN_SHARE = 0.8
#: Lines that one quoted cell may go over; more, and a quote was opened that nobody closes.
_MOST_CELL_LINES = 200
_LONGEST_CELL = 1 << 27


@dataclass(frozen=True)
class Dialect:
    """How a text table is written.

    Attributes:
        encoding: of its characters.
        delimiter: between cells, ``SPACES`` for white space.
        even: the share of the first lines that it cuts into equally many cells, at least two.
        quoted: whether quotes hold cells together.
        spaced: whether a space follows each delimiter.
    """

    encoding: Encoding
    delimiter: str
    even: float
    quoted: bool = True
    spaced: bool = False

    def rows(self, lines: Iterable[str]) -> Iterator[list[str]]:
        """The cells of each line, none for a blank one."""
        if self.delimiter == SPACES:
            return (_words(line) if '"' in line else line.split() for line in lines)
        quoting: Literal[0, 3] = 0 if self.quoted else 3
        return csv.reader(lines, delimiter=self.delimiter, quoting=quoting, skipinitialspace=self.spaced)

    def rows_of(self, path: Path) -> Iterator[list[str]]:
        """The cells of each line of a file, line by line."""
        before = csv.field_size_limit(_LONGEST_CELL)
        try:
            with opened(path) as stream:
                yield from self.rows(
                    io.TextIOWrapper(stream, self.encoding.name, self.encoding.errors, newline="")
                )
        except csv.Error as error:
            raise UnreadableTable(f"{path.name}: {error}") from error
        finally:
            csv.field_size_limit(before)


def dialect(path: Path) -> tuple[str, str]:
    """Encoding and delimiter of a text table.

    Raises:
        UnreadableTable: the file is empty.
    """
    found = find_dialect(path)
    return found.encoding.name, found.delimiter if found.delimiter != SPACES else ","


def find_dialect(path: Path) -> Dialect:
    """The delimiter that cuts most lines into equally many cells.

    Raises:
        UnreadableTable: the file is empty.
    """
    encoding = find_encoding(path)
    lines = first_lines(path, encoding)
    if _is_binary(lines):
        raise UnreadableTable(f"{path.name}: not a text")
    if not any(line.strip() for line in lines):
        raise UnreadableTable(f"{path.name}: the file is empty")
    quoted = not _unclosed(path, encoding)
    if path.name.lower().removesuffix(".gz").endswith((".tsv", ".tab")):
        even = _evenness(lines, "\t", quoted)
        return Dialect(encoding, "\t", even, quoted, _spaced(lines, "\t"))
    scores = {delimiter: _evenness(lines, delimiter, quoted) for delimiter in _DELIMITERS}
    delimiter = max(_DELIMITERS, key=lambda each: (round(scores[each], 6), -_DELIMITERS.index(each)))
    even = scores[delimiter]
    if even < EVEN_SHARE:
        widths = Counter(len(line.split()) for line in lines if line.strip())
        width, count = widths.most_common(1)[0]
        if width >= 3 and count >= 0.95 * widths.total() and count >= 5:
            return Dialect(encoding, SPACES, count / widths.total(), quoted)
    if even == 0.0:
        delimiter = ","
    return Dialect(encoding, delimiter, even, quoted, _spaced(lines, delimiter))


def _words(line: str) -> list[str]:
    """Words of a line; those between quotes are one."""
    return [quoted or plain for quoted, plain in re.findall(r'"([^"]*)"|(\S+)', line)]


def first_lines(path: Path, encoding: Encoding) -> list[str]:
    """The first lines of a text, whole ones."""
    text = head(path).decode(encoding.name, errors="replace")
    lines = io.StringIO(text, newline="").readlines()[:_SAMPLE_LINES]
    # The sample may end within a line.
    return lines if len(lines) < 2 or lines[-1].endswith(("\n", "\r")) else lines[:-1]


def _is_binary(lines: list[str]) -> bool:
    """Whether control characters stand among the first lines as no text has them."""
    text = "".join(lines[:50])
    controls = sum(character < " " and character not in "\t\r\n\f\x1f" for character in text)
    return "\0" in text or controls > 0.01 * len(text)


def _evenness(lines: list[str], delimiter: str, quoted: bool) -> float:
    quoting: Literal[0, 3] = 0 if quoted else 3
    try:
        rows = [row for row in csv.reader(lines, delimiter=delimiter, quoting=quoting) if row]
    except csv.Error:
        return 0.0
    widths = Counter(len(row) for row in rows)
    wide = {width: count for width, count in widths.items() if width > 1}
    return max(wide.values()) / len(rows) if wide else 0.0


def _unclosed(path: Path, encoding: Encoding) -> bool:
    """Whether quotes are mere characters: one is opened and not closed."""
    opened_by: list[str] = []
    text = head(path).decode(encoding.name, errors="replace")
    if '"' not in text:
        return False
    for delimiter in _DELIMITERS:
        if delimiter not in text:
            continue
        before = csv.field_size_limit(_LONGEST_CELL)
        try:
            rows = list(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter))
        except csv.Error:
            return True
        finally:
            csv.field_size_limit(before)
        opened_by += [cell for row in rows[:-1] for cell in row if cell.count("\n") > _MOST_CELL_LINES]
        last = rows[-1] if rows else []
        opened_by += [cell for cell in last if cell.count("\n") > _MOST_CELL_LINES]
        if not opened_by:
            return False
    return bool(opened_by)


def _spaced(lines: list[str], delimiter: str) -> bool:
    """Whether a space follows nearly every delimiter."""
    if delimiter == SPACES:
        return False
    cuts = sum(line.count(delimiter) for line in lines)
    return cuts > 0 and sum(line.count(f"{delimiter} ") for line in lines) >= 0.95 * cuts
