"""Large tables: a part of their rows, and the exact number of all."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from generator.tables.formats import UnreadableTable
from generator.tables.recipe import Recipe

#: Files up to this size together are read whole; packed text is some times larger than its file.
WHOLE_BYTES = 32 << 20
_PACKED = 6
_CHUNK_ROWS = 100_000
#: Rows kept of a large table; kinds, ranges and skills of a column are the same on so many.
MOST_ROWS = 200_000


@dataclass(frozen=True)
class Sample:
    """Rows of a table, all of them or every so many, and how many there are in all."""

    frame: pd.DataFrame
    rows: int

    @property
    def whole(self) -> bool:
        """Whether these are all rows."""
        return len(self.frame) == self.rows


def read_sample(
    recipe: Recipe, folder: Path, *, whole_bytes: int = WHOLE_BYTES, most_rows: int = MOST_ROWS
) -> Sample:
    """All rows of a small table; of a large one every so many, spread evenly over all of its rows.

    Args:
        recipe: how the table is read.
        folder: the raw folder.
        whole_bytes: tables of at most so many bytes are read whole.
        most_rows: about how many rows of a larger one are kept.

    Raises:
        UnreadableTable: as :meth:`Recipe.read`.
    """
    sizes = [(folder / name).stat().st_size * (_PACKED if name.lower().endswith(".gz") else 1)
             for name in recipe.files]  # fmt: skip
    if sum(sizes) <= whole_bytes:
        frame = recipe.read(folder)
        return Sample(frame, len(frame))
    kept: list[pd.DataFrame] = []
    rows, step = 0, 1
    for chunk in recipe.chunks(folder, _CHUNK_ROWS):
        chunk.index = pd.RangeIndex(rows, rows + len(chunk))
        rows += len(chunk)
        kept.append(chunk[chunk.index % step == 0])
        while sum(map(len, kept)) > 2 * most_rows:
            step *= 2
            kept = [part[part.index % step == 0] for part in kept]
    if not rows:
        raise UnreadableTable(f"{Path(recipe.files[0]).name}: a table without rows or columns")
    mixed = {name for part in kept for name in part.columns if part[name].dtype != kept[0][name].dtype}
    texts = {name for name in mixed if any(_is_text(part[name]) for part in kept)}
    # A column of words further down is a column of words, as it is when all rows are read at once.
    parts = [part.assign(**{str(name): _as_text(part[name]) for name in texts}) for part in kept]
    return Sample(pd.concat(parts, ignore_index=True), rows)


def _is_text(values: pd.Series) -> bool:
    return bool(values.dtype == object or pd.api.types.is_string_dtype(values))


def _as_text(values: pd.Series) -> pd.Series:
    return values if _is_text(values) else values.astype(str).where(values.notna())
