"""Several tables with keys: foreign keys found by values and names, and the recipe of the joined table.

What a row of another table says of a row of the main one is joined to it as it is; what many rows of another
table say of one row is counted and averaged. Without strong evidence nothing is joined.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from generator.tables.literals import literal
from generator.tables.recipe import Recipe

#: Values of a foreign key that must be keys of the other table; some rows of real data point nowhere.
_FOUND = 0.98
#: Rows of a table of keys, at least: a few small numbers are contained in everything.
_LEAST_KEYS = 5
#: Different values that are strong evidence by themselves, when the keys are no numbers that count up.
_TELLING = 20
_MOST_TABLES = 12
_MOST_MEANS = 20
_KEY_WORD = re.compile(r"(?:^|_)(?:id|key|code|no|nr|number|uuid)$")


@dataclass(frozen=True)
class Part:
    """One table among several.

    Attributes:
        path: as profiled.
        recipe: how it is read.
        frame: all of its rows.
    """

    path: str
    recipe: Recipe
    frame: pd.DataFrame

    @property
    def stem(self) -> str:
        """Its name in lower case, without folders and suffixes."""
        name = Path(self.path.replace("#", "/")).name.lower()
        return re.sub(r"\W+", "_", name.split(".")[0]).strip("_") or "other"


@dataclass(frozen=True)
class Attributes:
    """Columns of a table whose key ``key`` a column ``on`` of the main table names; many to one."""

    name: str
    recipe: Recipe
    on: str
    key: str

    def join(self, table: pd.DataFrame, rows: pd.DataFrame) -> pd.DataFrame:
        """The table with the columns of ``rows`` beside it, under the other table's name."""
        named = rows.add_prefix(f"{self.name}_")
        key = f"{self.name}_{self.key}"
        return table.merge(named, how="left", left_on=self.on, right_on=key).drop(columns=key)

    def code(self, table: str, rows: str) -> list[str]:
        """As :meth:`join`."""
        prefix, key = literal(f"{self.name}_"), literal(f"{self.name}_{self.key}")
        return [
            f"{rows} = {rows}.add_prefix({prefix})",
            f'{table} = {table}.merge({rows}, how="left", left_on={literal(self.on)}, right_on={key})',
            f"{table} = {table}.drop(columns={key})",
        ]


@dataclass(frozen=True)
class Counts:
    """How many rows of a table name a row of the main one in ``on``, and means of some of their columns."""

    name: str
    recipe: Recipe
    on: str
    key: str
    means: tuple[str, ...]

    def join(self, table: pd.DataFrame, rows: pd.DataFrame) -> pd.DataFrame:
        """The table with the number of rows, and their means."""
        groups = rows.groupby(self.on)
        count = groups.size().reindex(table[self.key]).fillna(0)
        table[f"{self.name}_count"] = count.astype(int).to_numpy()
        if not self.means:
            return table
        means = groups[list(self.means)].mean().add_prefix(f"{self.name}_mean_")
        return table.merge(means, how="left", left_on=self.key, right_index=True)

    def code(self, table: str, rows: str) -> list[str]:
        """As :meth:`join`."""
        key, name = literal(self.key), literal(f"{self.name}_count")
        lines = [
            f"groups = {rows}.groupby({literal(self.on)})",
            f"count = groups.size().reindex({table}[{key}]).fillna(0)",
            f"{table}[{name}] = count.astype(int).to_numpy()",
        ]
        if not self.means:
            return lines
        prefix = literal(f"{self.name}_mean_")
        return [
            *lines,
            f"means = groups[{literal(self.means)}].mean().add_prefix({prefix})",
            f'{table} = {table}.merge(means, how="left", left_on={key}, right_index=True)',
        ]


@dataclass(frozen=True)
class Joined:
    """The main table with what others say of its rows."""

    main: Recipe
    others: tuple[Attributes | Counts, ...]

    @property
    def files(self) -> tuple[str, ...]:
        """The files of all tables."""
        every = [*self.main.files, *(name for other in self.others for name in other.recipe.files)]
        return tuple(dict.fromkeys(every))

    @property
    def imports(self) -> tuple[str, ...]:
        """What the code of all tables uses."""
        every = {*self.main.imports, *(name for other in self.others for name in other.recipe.imports)}
        return tuple(sorted(every))

    def read(self, folder: Path) -> pd.DataFrame:
        """All rows of the main table."""
        table = self.main.read(folder)
        for other in self.others:
            table = other.join(table, other.recipe.read(folder))
        return table

    def chunks(self, folder: Path, rows: int) -> Iterator[pd.DataFrame]:
        """Some rows of the main table at a time."""
        frames = [other.recipe.read(folder) for other in self.others]
        for table in self.main.chunks(folder, rows):
            for other, frame in zip(self.others, frames, strict=True):
                table = other.join(table, frame)
            yield table

    def code(self, table: str) -> list[str]:
        """The tables one after the other."""
        lines = self.main.code(table, imports=False).split("\n")
        for number, other in enumerate(self.others, start=1):
            rows = f"rows_{number}"
            lines += [*other.recipe.code(rows, imports=False).split("\n"), *other.code(table, rows)]
        return lines


def join(main: Part, others: Sequence[Part]) -> Recipe | None:
    """The recipe of the main table with all that others say of its rows, or ``None`` when none does.

    Args:
        main: its rows may be a part of them.
        others: with all their rows.
    """
    taken = {str(name) for name in main.frame.columns}
    found: list[Attributes | Counts] = []
    notes = []
    for part in others[:_MOST_TABLES]:
        link = _link(main, part)
        if link is None:
            continue
        new = _columns(link, part)
        if not new or new & taken:
            continue
        taken |= new
        found.append(link)
        notes.append(_said(link, part))
    if not found:
        return None
    return Recipe(Joined(main.recipe, tuple(found)), (), (*main.recipe.notes, *notes))


def foreign_key(child: Part, parent: Part) -> tuple[str, str] | None:
    """The column of ``child`` that holds keys of ``parent``, and that key; the surest pair, or ``None``."""
    best: tuple[int, str, str] | None = None
    for key in parent.frame.columns:
        keys = parent.frame[key]
        if len(keys) < _LEAST_KEYS or not keys.is_unique or keys.isna().any() or not _discrete(keys):
            continue
        known = set(keys)
        for column in child.frame.columns:
            values = child.frame[column].dropna()
            if not len(values) or not _discrete(values) or _is_text(values) != _is_text(keys):
                continue
            if values.isin(known).mean() < _FOUND:
                continue
            strength = _strength(str(column), str(key), parent.stem, values, keys)
            if strength and (best is None or strength > best[0]):
                best = (strength, str(column), str(key))
    return None if best is None else (best[1], best[2])


def _link(main: Part, other: Part) -> Attributes | Counts | None:
    up = foreign_key(main, other)
    if up is not None and not main.frame[up[0]].is_unique:
        return Attributes(other.stem, other.recipe, *up)
    down = foreign_key(other, main)
    if down is not None and not other.frame[down[0]].is_unique:
        numbers = [
            str(name)
            for name in other.frame.columns
            if pd.api.types.is_numeric_dtype(other.frame[name])
            and not pd.api.types.is_bool_dtype(other.frame[name])
            and name != down[0]
            and not _KEY_WORD.search(_word(str(name)))
        ]
        return Counts(other.stem, other.recipe, *down, tuple(numbers[:_MOST_MEANS]))
    # One to one: rows of two tables that speak of the same things.
    return Attributes(other.stem, other.recipe, *up) if up is not None else None


def _strength(column: str, key: str, stem: str, values: pd.Series, keys: pd.Series) -> int:
    """How sure it is that a column names a key: 0 not at all, 3 by name and values."""
    named = _same_name(column, key, stem)
    distinct = values.nunique()
    # Numbers that count up from one contain any other small numbers.
    counting = not _is_text(keys) and len(keys) > 0.5 * (int(keys.max()) - int(keys.min()) + 1)
    telling = distinct >= _TELLING and not counting and (not _is_text(keys) or keys.str.len().mean() >= 3)
    if named:
        return 3 if telling else 2 if distinct >= 2 else 0
    return 1 if telling else 0


def _same_name(column: str, key: str, stem: str) -> bool:
    """Whether a column is called like the key, or like the table that the key is of."""
    column, key, stem = _word(column), _word(key), _word(stem)
    singular = stem.removesuffix("s") if not stem.endswith("ies") else f"{stem[:-3]}y"
    whole = {f"{name}_{key}" for name in (stem, singular)} | {f"{name}_id" for name in (stem, singular)}
    if column == key:
        # "id" is called so in every table, and a plain word may mean another thing.
        return column not in ("id", "key", "code", "no", "nr", "number") and bool(_KEY_WORD.search(column))
    return column in whole or (column in (stem, singular) and bool(_KEY_WORD.search(key)))


def _word(name: str) -> str:
    spaced = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name)
    return re.sub(r"\W+", "_", spaced).strip("_").lower()


def _columns(link: Attributes | Counts, part: Part) -> set[str]:
    """The columns that a link adds."""
    if isinstance(link, Counts):
        return {f"{link.name}_count", *(f"{link.name}_mean_{name}" for name in link.means)}
    return {f"{link.name}_{name}" for name in part.frame.columns if str(name) != link.key}


def _said(link: Attributes | Counts, part: Part) -> str:
    if isinstance(link, Counts):
        means = f" and means of {len(link.means)} columns" if link.means else ""
        return f"joined from {part.path}: number of rows{means} by {link.on}, for each {link.key}"
    count = len(part.frame.columns) - 1
    return f"joined from {part.path}: {count} columns by {link.on}, which names its {link.key}"


def _discrete(values: pd.Series) -> bool:
    return (
        _is_text(values)
        or pd.api.types.is_integer_dtype(values)
        or (pd.api.types.is_float_dtype(values) and bool((values.dropna() % 1 == 0).all()))
    )


def _is_text(values: pd.Series) -> bool:
    return pd.api.types.is_string_dtype(values) or values.dtype == object
