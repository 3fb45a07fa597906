"""How the rows of a sheet of cells lie: where the header is, what is no data, which columns have no name."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from generator.tables.formats import UnreadableTable

Row = Sequence[str]

#: Lines of a title or a licence above the header that a file may have; more are another kind of file.
_MOST_JUNK = 60
#: Lines that are left out by their numbers, which stand in the code; with more, the list would be no code.
MOST_SKIPPED = 200
#: Columns are looked at one by one, for some milliseconds each.
_MOST_COLUMNS = 4_000
#: Rows with more cells than the header, at most; beyond, cells are cut at the wrong places.
_MOST_LONG = 0.2
_NUMERIC_SHARE = 0.95
_NUMBER = re.compile(r"[-+]?(\d+([.,]\d+)*|\.\d+)([eE][-+]?\d+)?%?")
EMPTY = frozenset({"", "?", "-", "--", ".", "na", "n/a", "nan", "null", "none", "\\n", "(null)", "n.a."})


@dataclass(frozen=True)
class Layout:
    """Where the data are among the rows of a sheet.

    Attributes:
        header: the number of the header's row, or ``None`` when there is none.
        first: the number of the first row of data.
        width: cells of a row of data.
        names: of the header as it stands; empty without one.
        units: whether a row of units stands below the header.
    """

    header: int | None
    first: int
    width: int
    names: tuple[str, ...]
    units: bool = False


@dataclass(frozen=True)
class Body:
    """What all rows of a sheet say about a layout.

    Attributes:
        rows: rows of data.
        skipped: numbers of rows that are no data: repeated headers, and lines of one cell within wide rows.
        repeated: how many of those repeat the header.
        long: rows with more cells than the header.
        filled: for each column, whether any cell is not empty.
        surplus: whether rows have one more cell than the header, and that is always empty.
    """

    rows: int
    skipped: tuple[int, ...]
    repeated: int
    long: int
    filled: tuple[bool, ...]
    surplus: bool


def is_number(cell: str) -> bool:
    """Whether a cell looks like a number."""
    return _NUMBER.fullmatch(cell.strip()) is not None


def is_empty(cell: str) -> bool:
    """Whether a cell holds nothing, or a marker of a missing value."""
    return cell.strip().lower() in EMPTY


def find_layout(rows: Sequence[Row], name: str) -> Layout:
    """The layout that the first rows of a sheet show; blank rows are empty sequences.

    Raises:
        UnreadableTable: there are no rows.
    """
    widths = Counter(len(row) for row in rows if len(row) > 1)
    if not any(len(row) for row in rows):
        raise UnreadableTable(f"{name}: the file is empty")
    width = max(widths, key=lambda each: (widths[each], each)) if widths else 1
    width = max(width, _named_width(rows, widths))
    start = next(
        (number for number, row in enumerate(rows[:_MOST_JUNK]) if _begins(rows, number, width)), None
    )
    if start is None:
        start = next(number for number, row in enumerate(rows) if len(row))
    body = [row for row in rows[start + 1 :] if len(row) == width]
    if not _is_header(rows[start], body):
        return Layout(None, start, width, ())
    units = _is_units(rows, start, width)
    return Layout(start, start + 1 + units, width, tuple(rows[start]), units)


def survey(rows: Iterable[Row], layout: Layout) -> Body:
    """Look at all rows of a sheet."""
    width, first = max(layout.width, len(layout.names)), layout.first
    header = list(layout.names)
    skipped: list[int] = []
    unseen = set(range(width))
    count = repeated = long = surplus = 0
    surplus_filled = False
    for number, row in enumerate(rows):
        size = len(row)
        if number < first or not size:
            continue
        if header and size == len(header) and row[0] == header[0] and list(row) == header:
            skipped.append(number)
            repeated += 1
            continue
        if size == 1 and width >= 3:
            skipped.append(number)
            continue
        count += 1
        if header and size == len(header) + 1:
            surplus += 1
            surplus_filled |= not is_empty(row[-1])
        if size > width:
            long += 1
        elif unseen:
            unseen -= {place for place in unseen if place < size and row[place].strip()}
    filled = tuple(place not in unseen for place in range(width))
    return Body(count, tuple(skipped), repeated, long, filled, surplus > 0 and not surplus_filled)


def names_for(layout: Layout) -> tuple[str, ...]:
    """A name for each column of a sheet without a header, or whose header has one name too few."""
    if layout.header is None:
        return tuple(f"column_{number + 1}" for number in range(layout.width))
    names: list[str] = []
    for place, name in enumerate(("row", *layout.names)):
        free = plain = name.strip() or f"column_{place + 1}"
        number = 0
        while free in names:
            number += 1
            free = f"{plain}.{number}"
        names.append(free)
    return tuple(names)


def check_size(body: Body, name: str, width: int) -> None:
    """Raise ``UnreadableTable`` without rows, with too many columns, or many rows longer than the header."""
    if not body.rows:
        raise UnreadableTable(f"{name}: a table without rows")
    if width > _MOST_COLUMNS:
        raise UnreadableTable(
            f"{name}: {width} columns are more than the {_MOST_COLUMNS} that are looked at one by one; "
            "write them as rows, or in several files"
        )
    if body.long > _MOST_LONG * max(1, body.rows):
        raise UnreadableTable(
            f"{name}: {body.long} of {body.rows} rows have more than the {width} cells of the header; "
            "quote the cells that hold the delimiter"
        )


def _begins(rows: Sequence[Row], number: int, width: int) -> bool:
    """Whether a row may be the header, or the first row of data."""
    row = rows[number]
    if width == 1:
        return len(row) == 1
    filled = sum(bool(cell.strip()) for cell in row)
    if width >= 3 and filled <= 1:
        return False
    if len(row) == width:
        return True
    after = next((other for other in rows[number + 1 :] if len(other)), ())
    one_less = len(row) == width - 1 and len(row) > 1
    one_more = len(row) == width + 1 and not row[-1].strip()
    return (one_less or one_more) and len(after) == width


def _named_width(rows: Sequence[Row], widths: Counter[int]) -> int:
    """The width of a first row of names that no row exceeds, though most may end early; 0 for another one."""
    first = next(row for row in rows if len(row))
    names = all(cell.strip() and not is_number(cell) for cell in first)
    return len(first) if names and len(first) >= max(widths, default=0) else 0


def _is_header(first: Row, body: Sequence[Row]) -> bool:
    """Whether the first row names the columns rather than being data."""
    if len(body) < 2 or any(len(row) != len(first) for row in body[:1]):
        return True
    numeric, repeats, words = [], 0, 0
    for place, cell in enumerate(first):
        cells = [row[place] for row in body if not is_empty(row[place])]
        if cells and sum(map(is_number, cells)) >= _NUMERIC_SHARE * len(cells):
            numeric.append(cell)
        elif cells and cell.strip():
            words += 1
            # A value of the column that comes again and again is data, not the column's name.
            repeats += cell in cells and len(set(cells)) <= 0.5 * len(cells)
    if numeric:
        if any(not is_number(cell) and not is_empty(cell) for cell in numeric):
            return True
        if all(is_empty(cell) for cell in numeric):
            return not repeats
        return not repeats and _counts(numeric, alone=words > 0)
    return not (words and 2 * repeats >= words)


def _counts(cells: Sequence[str], *, alone: bool) -> bool:
    """Whether numbers in a first row are names: years or steps that go on evenly."""
    if not all(cell.strip().isdigit() for cell in cells):
        return False
    numbers = [int(cell) for cell in cells]
    if len(numbers) < 3:
        return alone and all(1900 <= number <= 2100 for number in numbers)
    return len({after - before for before, after in pairwise(numbers)} - {0}) == 1 and (
        len(set(numbers)) == len(numbers)
    )


def _is_units(rows: Sequence[Row], header: int, width: int) -> bool:
    """Whether the row below the header holds units: words over columns that are numbers further down."""
    if header + 4 >= len(rows) or len(rows[header + 1]) != width:
        return False
    below, body = rows[header + 1], [row for row in rows[header + 2 :] if len(row) == width]
    numeric = []
    for place in range(width):
        cells = [row[place] for row in body if not is_empty(row[place])]
        if len(cells) >= 3 and all(map(is_number, cells)):
            numeric.append(below[place])
    return (
        len(numeric) >= 2
        and not any(map(is_number, numeric))
        and 2 * sum(bool(cell.strip()) for cell in numeric) >= len(numeric)
        and not all(is_empty(cell) for cell in numeric)
    )
