"""What the searches for leaks share: training and test rows in a sample, as numbers, beside their targets."""

from __future__ import annotations

import functools
from dataclasses import dataclass, field

import numpy as np
import pandas as pd
from scipy.stats import rankdata

from generator.verifier.case import Case
from generator.verifier.leaks.times import to_times
from generator.verifier.probing import Codes, Floats, Strength, column_numbers
from generator.verifier.sampling import sampled, told
from generator.verifier.targets import Kind, to_numbers
from generator.verifier.thresholds.leaks import LeakLimits

_DATE = r"\d{4}-\d{1,2}(?:-\d|$)|\d{1,2}[/.]\d{1,2}[/.]\d{2,4}|\d{4}/\d{1,2}/\d|\d:\d\d"


@dataclass(frozen=True)
class Truth:
    """One target whose values are classes or numbers, in one spelling on both sides.

    Attributes:
        name: the column.
        kind: of its values.
        test: answers of the sampled test rows.
        train: values of the sampled training rows, when the training table has the column.
    """

    name: str
    kind: Kind
    test: pd.Series
    train: pd.Series | None

    def ranked(self) -> Truth:
        """Numbers as their ranks among all, so that a long tail counts no more than other values."""
        if self.kind is not Kind.NUMBER:
            return self
        both = self.test if self.train is None else pd.concat([self.test, self.train])
        ranks = pd.Series(rankdata(to_numbers(both)) / len(both))
        cut = len(self.test)
        train = None if self.train is None else ranks.iloc[cut:].reset_index(drop=True)
        return Truth(self.name, self.kind, ranks.iloc[:cut], train)


@dataclass
class View:
    """A case as the searches look at it.

    Attributes:
        case: the verification under way.
        probes: what single columns and patterns were found to tell, for the report.
    """

    case: Case
    probes: list[dict[str, object]] = field(default_factory=list)

    @property
    def limits(self) -> LeakLimits:
        """The thresholds of the search for leaks."""
        return self.case.limits.leaks

    @functools.cached_property
    def test(self) -> pd.DataFrame:
        """Sampled test rows; without a test table none."""
        return pd.DataFrame() if self.case.joined is None else self.case.joined.test

    @functools.cached_property
    def train(self) -> pd.DataFrame:
        """Sampled training rows whose targets are all filled in; without a training table none."""
        train = self.case.train
        if train is None:
            return pd.DataFrame()
        rows = sampled(train, self.case.limits.sampling.rows)
        known = [name for name in self.case.targets if name in rows.columns]
        filled = (rows[known].apply(lambda column: column.str.strip() != "")).all(axis=1)
        kept: pd.DataFrame = rows[filled].reset_index(drop=True)
        return kept

    @functools.cached_property
    def features(self) -> list[str]:
        """Columns of the test table but for id and targets, at most ``limits.columns`` of them."""
        own = {self.case.id_column, *self.case.targets}
        return [name for name in self.test.columns if name not in own][: self.limits.columns]

    @functools.cached_property
    def shared(self) -> list[str]:
        """Those features that the training table has too."""
        return [name for name in self.features if name in self.train.columns]

    @functools.cached_property
    def truths(self) -> list[Truth]:
        """The targets that can be probed, at most ``limits.targets`` of them."""
        return list(filter(None, map(self._truth, self.case.targets[: self.limits.targets])))

    def _truth(self, name: str) -> Truth | None:
        kind, joined = self.case.kinds[name], self.case.joined
        if joined is None or kind not in (Kind.CLASS, Kind.NUMBER):
            return None
        test = joined.truth[name]
        train = self.train[name] if name in self.train.columns and len(self.train) else None
        if kind is Kind.CLASS and train is not None:
            numbers = [to_numbers(side) for side in (test, train)]
            if all(side.notna().all() for side in numbers):
                test, train = (side.astype(str) for side in numbers)
        if kind is Kind.NUMBER and train is not None and to_numbers(train).isna().any():
            train = None
        return Truth(name, kind, test, train)

    @functools.cached_property
    def _numbers(self) -> dict[str, tuple[Floats, Floats]]:
        return {}

    def numbers(self, name: str) -> tuple[Floats, Floats]:
        """A column as numbers in training rows and in test rows, categories by the same codes.

        Dates are moments. Without the column in training the first is empty.
        """
        if name not in self._numbers:
            parts = [table[name] for table in (self.train, self.test) if name in table.columns]
            self._numbers[name] = _split(as_numbers(pd.concat(parts, ignore_index=True)), len(self.test))
        return self._numbers[name]

    @functools.cached_property
    def slices(self) -> dict[str, Codes]:
        """For each feature the slice of its range that each test row is in: one for each value, or 128 when
        nearly every row has a value of its own."""
        return {name: _slices(self.numbers(name)[1]) for name in self.features}

    def matrix(self, names: list[str]) -> tuple[Floats, Floats]:
        """Several columns as numbers, shapes (train rows, d) and (test rows, d)."""
        if not names:
            return np.zeros((len(self.train), 0)), np.zeros((len(self.test), 0))
        columns = [self.numbers(name) for name in names]
        train, test = (np.column_stack(side) for side in zip(*columns, strict=True))
        return train, test

    @functools.cached_property
    def _dated(self) -> dict[str, bool]:
        return {}

    def dated(self, name: str) -> bool:
        """Whether a column of the test table holds dates or times of day."""
        if name not in self._dated:
            self._dated[name] = is_dated(self.test[name])
        return self._dated[name]

    @property
    def told(self) -> str:
        """That only a sample of the test rows was looked at, when so."""
        joined = self.case.joined
        return "" if joined is None else told(len(joined.test), joined.of, "test rows")

    def note(self, column: str, target: str, what: str, found: Strength) -> None:
        """Keep what was found for the report."""
        self.probes.append(
            {
                "column": column,
                "target": target,
                "what": what,
                "gain": round(found.gain, 4),
                "z": round(found.z, 2),
            }
        )


def _split(numbers: Floats, last: int) -> tuple[Floats, Floats]:
    cut = len(numbers) - last
    return numbers[:cut], numbers[cut:]


def _slices(values: Floats) -> Codes:
    values = np.where(np.isfinite(values), values, -np.inf)
    cells = np.unique(values, return_inverse=True)[1].ravel()
    if cells.max(initial=0) + 1 > len(values) / 4:
        cells = np.argsort(np.argsort(values, kind="stable"), kind="stable") * 128 // len(values)
    return np.asarray(cells, dtype=np.intp)


def as_numbers(cells: pd.Series) -> Floats:
    """A column of strings as numbers, shape (n,): dates as moments, else as :func:`column_numbers`."""
    return to_times(cells).to_numpy(dtype=float) if is_dated(cells) else column_numbers(cells)


def first_filled(cells: pd.Series, most: int) -> pd.Series:
    """The first cells that are not empty; the whole column is looked at only where many are."""
    for part in (cells.iloc[: 10 * most], cells):
        some = part[part.str.strip() != ""].iloc[:most]
        if len(some) == most:
            break
    return some


def is_dated(cells: pd.Series) -> bool:
    """Whether the cells of a column are dates or times of day."""
    some = first_filled(cells, 200)
    if some.empty or some.str.match(_DATE).mean() < 0.9:
        return False
    return bool(to_times(some).notna().mean() >= 0.9)
