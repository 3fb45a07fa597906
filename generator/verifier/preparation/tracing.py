"""Which raw row a prepared row was made from."""

from __future__ import annotations

import functools
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd

from generator.verifier.case import Case
from generator.verifier.preparation.cells import EMPTY, Hashes, cell_hashes, is_among
from generator.verifier.preparation.raw_tables import RawTable
from generator.verifier.sampling import sampled_rows
from generator.verifier.thresholds.preparation import PreparationLimits

Bools = npt.NDArray[np.bool_]
Places = npt.NDArray[np.intp]

#: Rounds in which a column that breaks the match is left out of the key, and rows that these look at.
_ROUNDS = 3
_ROUND_ROWS = 5_000
#: By how much more rows must be found without the column, and what counts as equally many.
_GAIN, _TIE = 0.25, 0.01
#: How much the share of empty cells may differ where a column was not filled.
_FILLED = 0.02
#: Above this containment a column's values come from the raw column, though some were changed.
_PARTLY = 0.5
#: A unit behind a column's name, as in ``Weight (kg)``.
_UNIT = re.compile(r"\s*[(\[][^()\[\]]*[)\]]\s*$")


def made_rows(case: Case) -> pd.DataFrame | None:
    """Training and test rows, the latter with their answers, in the columns that both have."""
    train, test = case.train, case.test
    if train is None or test is None:
        return None
    targets = [name for name in case.targets if name in train.columns and name in case.answers.columns]
    answers = case.answers.drop_duplicates(case.id_column)[[case.id_column, *targets]]
    bare = test.drop(columns=[name for name in targets if name in test.columns])
    whole = bare.merge(answers, on=case.id_column, how="left")
    common = [name for name in train.columns if name in whole.columns]
    return pd.concat([train[common], whole[common]], ignore_index=True).fillna("")


@dataclass(frozen=True)
class Trace:
    """Prepared rows beside the raw table they come from.

    Attributes:
        made: prepared rows, strings.
        raw: the raw table.
        pairs: prepared column to raw column of the same name.
        key: the prepared columns whose cells together say which raw row it is.
    """

    made: pd.DataFrame
    raw: RawTable
    pairs: dict[str, str]
    key: tuple[str, ...]

    @functools.cached_property
    def made_hashes(self) -> dict[str, Hashes]:
        """Hashes of the prepared cells by prepared column."""
        return {name: cell_hashes(self.made[name]) for name in self.pairs}

    @functools.cached_property
    def raw_hashes(self) -> dict[str, Hashes]:
        """Hashes of the raw cells by prepared column."""
        return {name: cell_hashes(self.raw.rows[raw]) for name, raw in self.pairs.items()}

    def keys(self, names: Sequence[str]) -> tuple[Hashes, Hashes]:
        """Keys of prepared and of raw rows over some columns.

        They are sums, so that those of the whole key without one column, which are asked for again and
        again, are a difference.
        """
        out = [name for name in self.key if name not in names]
        if len(out) < 2 and len(names) == len(self.key) - len(out):
            made, raw = self._whole
            for name in out:
                made = made - self._weighed(self.made_hashes, name)
                raw = raw - self._weighed(self.raw_hashes, name)
            return made, raw
        return self._sum(self.made_hashes, names), self._sum(self.raw_hashes, names)

    @functools.cached_property
    def _whole(self) -> tuple[Hashes, Hashes]:
        return self._sum(self.made_hashes, self.key), self._sum(self.raw_hashes, self.key)

    def _sum(self, hashes: dict[str, Hashes], names: Sequence[str]) -> Hashes:
        total = np.zeros(len(next(iter(hashes.values()))), dtype=np.uint64)
        for name in names:
            total += self._weighed(hashes, name)
        return total

    @functools.cached_property
    def _weights(self) -> dict[str, np.uint64]:
        """Other odd factors for other columns, so that rows with exchanged cells differ."""
        return {name: np.uint64(2 * place + 1) for place, name in enumerate(self.pairs)}

    def _weighed(self, hashes: dict[str, Hashes], name: str) -> Hashes:
        return hashes[name] * self._weights[name]

    def uniqueness(self, names: Sequence[str]) -> float:
        """Distinct keys over raw rows."""
        return len(pd.unique(self.keys(names)[1])) / len(self.raw.rows)

    def found(self, names: Sequence[str]) -> Bools:
        """Which prepared rows have a raw row of the same key."""
        return is_among(*self.keys(names))

    def partners(self, names: Sequence[str], rows: Places) -> tuple[Places, Places]:
        """Which of some prepared rows a key finds one raw row alone for, and the places of these raw rows."""
        made, raw = self.keys(names)
        near = np.flatnonzero(is_among(raw, made[rows]))
        order = near[np.argsort(raw[near], kind="stable")]
        ordered = raw[order]
        first = np.searchsorted(ordered, made[rows], side="left")
        single = np.searchsorted(ordered, made[rows], side="right") - first == 1
        return rows[single], order[first[single]]

    def foreign_cells(self, name: str) -> Bools:
        """Which prepared cells are not empty and occur nowhere in the raw column."""
        made = self.made_hashes[name]
        return np.asarray((made != EMPTY) & ~is_among(made, self.raw_hashes[name]))


def trace(case: Case, made: pd.DataFrame, tables: Sequence[RawTable]) -> Trace | None:
    """The raw table that most prepared rows come from, unless they come from none that clearly."""
    best, reached = None, 0.0
    for table in tables:
        found = _fit(made, table, case)
        if found is None:
            continue
        share = float(found.found(found.key).mean()) * len(found.key)
        if share > reached:
            best, reached = found, share
    return best


def _fit(made: pd.DataFrame, table: RawTable, case: Case) -> Trace | None:
    limits: PreparationLimits = case.limits.preparation
    pairs = same_names(made, table)
    if not pairs:
        return None
    start = Trace(made, table, pairs, ())
    key = [name for name in pairs if _is_kept(start, name)]
    if not key:
        return None
    rows = sampled_rows(len(made), _ROUND_ROWS)
    for _ in range(_ROUNDS):
        share = _share(start, key, rows)
        if share >= limits.matching or len(key) < 2:
            break
        without = [[name for name in key if name != out] for out in key]
        shares = [_share(start, names, rows) for names in without]
        # A column whose cells were moved between rows leaves hardly any row in one piece.
        if max(shares) - share < max(_GAIN, (1 - share) / 2):
            break
        equal = [names for names, each in zip(without, shares, strict=True) if each >= max(shares) - _TIE]
        key = max(equal, key=start.uniqueness)
    if _share(start, key, rows) < limits.main_share or start.uniqueness(key) < limits.unique:
        return None
    whole = Trace(made, table, pairs, tuple(key))
    whole.__dict__.update(made_hashes=start.made_hashes, raw_hashes=start.raw_hashes)
    return whole


def _share(trace: Trace, names: Sequence[str], rows: Places) -> float:
    made, raw = trace.keys(names)
    return float(is_among(made[rows], raw).mean())


def _is_kept(trace: Trace, name: str) -> bool:
    made, raw = trace.made_hashes[name], trace.raw_hashes[name]
    full = made != EMPTY
    if not full.any() or abs(float(full.mean()) - float((raw != EMPTY).mean())) > _FILLED:
        return False
    return float(trace.foreign_cells(name)[full].mean()) <= 1 - _PARTLY


def same_names(made: pd.DataFrame, table: RawTable) -> dict[str, str]:
    """Prepared columns and the raw columns of the same name, however it is written.

    A unit in brackets may be missing, unless two raw columns differ by it alone.
    """
    columns = [str(name) for name in table.rows.columns]
    bare = Counter(_plain(_UNIT.sub("", name)) for name in columns)
    raw = {plain: name for name in columns if bare[plain := _plain(_UNIT.sub("", name))] == 1}
    raw |= {_plain(name): name for name in columns}
    return {name: raw[_plain(name)] for name in made.columns if _plain(name) in raw}


def _plain(name: str) -> str:
    return "".join(character for character in str(name).lower() if character.isalnum()) or str(name)
