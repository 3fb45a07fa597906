"""Text that is no table by its name, as tables: by its lines, by their words, and as one list of words."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

import numpy as np
import pandas as pd

#: A word: what stands between spaces, quotes, brackets and the usual separators.
_WORD = re.compile(r"[^\s,;:|=<>\"'\[\]{}()]+")
_SEPARATORS = (",", "\t", ";", "|", "=", ":", " ")
_MOST_COLUMNS = 64
#: Share of the lines that must have one number of cells to be a table.
_REGULAR = 0.8
_LONGEST_RECORD = 12
_FEWEST_RECORDS = 5


def text_frames(text: str) -> Iterator[tuple[str, pd.DataFrame]]:
    """Tables that a text can be read as: its lines, their cells by each separator, its words in order."""
    lines = [line.strip() for line in text.splitlines()]
    lines = [line for line in lines if line]
    if len(lines) > 1:
        yield "", pd.DataFrame({"line": lines})
        for mark in _SEPARATORS:
            cut = [
                [cell.strip().strip("\"'") for cell in line.split(None if mark == " " else mark)]
                for line in lines
            ]
            yield from _regular(cut)
        yield from _regular([_WORD.findall(line) for line in lines])
    words = _WORD.findall(text)
    yield from _records(words)
    if len(words) != len(lines):
        yield "", pd.DataFrame({"word": words})
    packed = "".join(text.split())
    if len(words) < len(packed) / 20:
        yield "", pd.DataFrame({"character": list(packed)})


def words_of(text: str) -> list[str]:
    """The words of a text, in order."""
    return _WORD.findall(text)


def _records(words: list[str]) -> Iterator[tuple[str, pd.DataFrame]]:
    """Words that repeat every few words are the names of fields, those between them their values."""
    codes = pd.factorize(pd.Series(words, dtype=object))[0]
    for width in range(2, min(_LONGEST_RECORD, len(words) // _FEWEST_RECORDS) + 1):
        if (codes[width:] == codes[:-width]).mean() >= _REGULAR / width:
            rows = np.array(words[len(words) % width :], dtype=object).reshape(-1, width)
            yield "", pd.DataFrame(rows, columns=[f"word {number + 1}" for number in range(width)], dtype=str)


def _regular(rows: list[list[str]]) -> Iterator[tuple[str, pd.DataFrame]]:
    """The rows of the usual number of cells, when most have it and it is more than one."""
    width, count = Counter(len(row) for row in rows).most_common(1)[0]
    if 1 < width <= _MOST_COLUMNS and count >= _REGULAR * len(rows):
        kept = [row for row in rows if len(row) == width]
        yield "", pd.DataFrame(kept, columns=[f"word {number + 1}" for number in range(width)])
