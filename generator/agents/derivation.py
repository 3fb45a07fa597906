"""Running an idea's derivation in the sandbox, and whether what it gives is the raw data's own."""

from __future__ import annotations

import hashlib
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pandas as pd

from generator.agents.altering import Choice, altered_copy, halved, shuffled
from generator.agents.workbench import open_workbench
from generator.backend import Desk
from harness.sandboxes.base import GIB, MIB, FileRefused, Limits, RunResult
from harness.sandboxes.kernel import leftovers

_LIMITS = Limits(memory_bytes=8 * GIB, output_bytes=8_000)
_TABLE_BYTES = 512 * MIB
#: Share of rows that come back when the raw rows change places. Ties that are broken by the order cost some.
_SAME_SHARE = 0.98
#: Values that stand in raw cells show that a column is given where they are many: 0 and 1 stand anywhere.
_TELLING_VALUES, _GIVEN_SHARE = 30, 0.99
_ANCHORS = 5
_DIGITS = 9


class Underivable(Exception):
    """The code does not give a table; the message says why."""


@dataclass(frozen=True)
class Derived:
    """What a derivation gave.

    Attributes:
        table: features and targets.
        sha256: of the CSV file that it was written to.
    """

    table: pd.DataFrame
    sha256: str


@dataclass(frozen=True)
class Derivation:
    """The code of an idea: ``def table(raw) -> DataFrame``.

    Attributes:
        desk: the dataset.
        source: the code.
        seconds: that one run may take.
    """

    desk: Desk
    source: str
    seconds: float

    def run(self, raw: Path | None = None, hash_seed: int = 0) -> Derived:
        """Run it in a sandbox of its own.

        Args:
            raw: other raw data than the dataset's.
            hash_seed: Python's, which decides the order of sets.

        Raises:
            Underivable: it failed, or gives no table that can be read.
        """
        desk, limits = self.desk, replace(_LIMITS, seconds=self.seconds)
        with (
            open_workbench(
                desk.provider, raw or desk.folder, "derivation", desk.card.name, limits, hash_seed
            ) as bench,
            tempfile.TemporaryDirectory(prefix=leftovers.prefix("derived")) as folder,
        ):
            bench.put({"derivation.py": self.source})
            paths = [f"{bench.work}/derivation.py", bench.raw, f"{bench.work}/derived.csv"]
            run = bench.sandbox.run_python(bench.script("derive.py"), paths, limits=limits)
            if not run.ok:
                raise Underivable(_why(run))
            target = Path(folder) / "derived.csv"
            try:
                bench.sandbox.get(paths[2], target, max_bytes=_TABLE_BYTES)
                table = pd.read_csv(target, low_memory=False)
            except (FileRefused, ValueError, pd.errors.ParserError) as error:
                raise Underivable(f"its table cannot be read: {error}") from error
            return Derived(table, hashlib.sha256(target.read_bytes()).hexdigest())

    def reads_nothing(self, table: pd.DataFrame) -> bool:
        """Whether the table stays the same although half of the raw rows are gone."""
        try:
            half = self._altered(halved)
        except Underivable:
            return False  # it noticed
        return half is not None and half.equals(table)

    def untraceable(self, table: pd.DataFrame, raw: Sequence[pd.DataFrame]) -> list[str]:
        """Columns whose values are neither the raw data's nor follow from their rows.

        When the raw rows change places, a value that was derived from them comes along; one that was made up
        for a position does not. Values that follow an order, as those of the row before, must stand in raw
        cells.

        Raises:
            Underivable: it does not work on rows in another order.
        """
        other = self._altered(shuffled)
        if other is None:
            return []
        if list(other.columns) != list(table.columns):
            raise Underivable("it gives other columns when the raw rows are in another order")
        moved = _not_moved_along(table, other)
        return [name for name in moved if not _is_given(table[name], raw)]

    def _altered(self, choice: Choice) -> pd.DataFrame | None:
        """The table from raw data whose rows are chosen otherwise; ``None`` where no raw table can be.

        Raises:
            Underivable: as :meth:`run`.
        """
        desk = self.desk
        tables = [
            name for table in desk.profile.tables for name in (table.recipe.files if table.recipe else ())
        ]
        with tempfile.TemporaryDirectory(prefix=leftovers.prefix("altered")) as name:
            folder = Path(name)
            folder.chmod(0o755)
            if not altered_copy(desk.folder, tables, folder, choice):
                return None
            return self.run(folder).table


def _why(run: RunResult) -> str:
    told = "\n".join(run.output.strip().splitlines()[-12:])
    if run.timed_out:
        return f"it ran longer than {run.seconds:.0f} s:\n{told}"
    return f"it {f'went over its {run.over}' if run.over else f'ended with code {run.exit_code}'}:\n{told}"


def _not_moved_along(table: pd.DataFrame, other: pd.DataFrame) -> list[str]:
    """Columns that are not with the same rows any more, by the fewest that explain it."""
    first, second = _hashes(table), _hashes(other)
    order = sorted(table.columns, key=lambda name: -table[name].nunique())
    best: list[str] | None = None
    for anchor in order[:_ANCHORS]:
        good, moved = _Sum(first, second), list[str]()
        for name in [anchor, *(each for each in order if each != anchor)]:
            if not good.take(name):
                moved.append(name)
        if best is None or len(moved) < len(best):
            best = moved
        if not best:
            break
    return best or []


class _Sum:
    """Row hashes over the columns taken so far, of both tables."""

    def __init__(self, first: dict[str, np.ndarray], second: dict[str, np.ndarray]) -> None:
        self._columns = first, second
        self._sums = [np.zeros(len(next(iter(side.values()), ())), np.uint64) for side in self._columns]

    def take(self, name: str) -> bool:
        """Add a column, if both tables then still hold the same rows."""
        sums = [
            total * np.uint64(31) + side[name] for total, side in zip(self._sums, self._columns, strict=True)
        ]
        if _overlap(*sums) < _SAME_SHARE:
            return False
        self._sums = sums
        return True


def _overlap(first: np.ndarray, second: np.ndarray) -> float:
    """Share of rows that both hold, each as often."""
    counts = pd.Series(first).value_counts(), pd.Series(second).value_counts()
    both = counts[0].to_frame("a").join(counts[1].to_frame("b"), how="inner").min(axis=1).sum()
    return float(both) / max(len(first), len(second), 1)


def _hashes(table: pd.DataFrame) -> dict[str, np.ndarray]:
    hashed = {}
    for name in table.columns:
        values = table[name]
        if pd.api.types.is_float_dtype(values):
            # Sums of floats depend on their order in the last digits.
            values = values.map(lambda number: float(f"{number:.{_DIGITS}g}"))
        hashed[name] = pd.util.hash_array(values.astype(str).to_numpy(object))
    return hashed


def _is_given(values: pd.Series, raw: Sequence[pd.DataFrame]) -> bool:
    known = values.dropna().unique()
    if len(known) < _TELLING_VALUES:
        return False
    numeric = pd.api.types.is_numeric_dtype(values)
    for frame in raw:
        for name in frame.columns:
            cells = frame[name].dropna()
            if numeric:
                cells = pd.to_numeric(cells, errors="coerce").dropna()
            else:
                cells = cells.astype(str).str.strip()
            if float(np.isin(known, cells.to_numpy(known.dtype)).mean()) >= _GIVEN_SHARE:
                return True
    return False
