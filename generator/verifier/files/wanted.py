"""The answers as they are looked for: by id, and in every order in which they could be listed."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd

from generator.verifier.case import Case
from generator.verifier.leaks.comparing import Values, agreement
from generator.verifier.public.media import test_rows
from generator.verifier.targets import Kind, listed, separator, to_numbers
from generator.verifier.thresholds.files import FileLimits

_SAMPLE = 2_000
#: In an order in which the answers change less often than this, much else has the same order.
_FEWEST_CHANGES = 10
#: Columns of the whole frame that are looked at.
_MOST_COLUMNS = 500
_EXACT = 0.98
_FEW_COLUMNS = 3
#: Labels of lists that are looked for one by one.
_MOST_LABELS = 8
_ONE_TO_ONE = 0.995


@dataclass(frozen=True)
class Told:
    """A column that tells a target.

    Attributes:
        column: its name.
        target: which target it tells.
        how: in words, by what.
    """

    column: str
    target: str
    how: str


class Wanted:
    """The answers of a task.

    Attributes:
        ids: one for each answer, stripped.
        truths: the values by target; indicator columns with one 1 in each row are also one column of their
            names, under the name ``the class``, and the most frequent labels of lists are indicators.
    """

    def __init__(self, case: Case) -> None:
        answers = case.answers.drop_duplicates(case.id_column).reset_index(drop=True)
        self.limits: FileLimits = case.limits.files
        self.rare_rows = case.limits.leaks.rare_rows
        self.kinds = dict(case.kinds)
        self.ids = answers[case.id_column].map(plain_id)
        self.truths = {target: answers[target] for target in case.targets}
        self._test_ids = test_rows(case)[case.id_column].map(plain_id)
        if len(case.targets) > 1 and (place := _place_of_one(answers[case.targets])) is not None:
            names = pd.Series(np.array(case.targets, dtype=object)[place])
            self.truths["the class"], self.kinds["the class"] = names, Kind.CLASS
        for target in case.targets:
            if self.kinds[target] is Kind.LABELS:
                found = _indicators(answers[target], target)
                self.truths |= found
                self.kinds |= dict.fromkeys(found, Kind.CLASS)

    @cached_property
    def known(self) -> frozenset[str]:
        """The ids."""
        return frozenset(self.ids)

    @cached_property
    def row_of(self) -> dict[str, int]:
        """The position of each id among the answers."""
        return {name: row for row, name in enumerate(self.ids)}

    @cached_property
    def orders(self) -> dict[str, np.ndarray]:
        """Orders in which the answers could be listed, as positions; equal ones once."""
        rows, numbers = np.arange(len(self.ids)), to_numbers(self.ids)
        orders = {"the answers": rows}
        positions = [self.row_of[name] for name in self._test_ids if name in self.row_of]
        if len(positions) == len(rows):
            orders["the test rows"] = np.array(positions)
        orders["the sorted ids"] = np.argsort(self.ids.to_numpy(dtype=object), kind="stable")
        if numbers.notna().all():
            orders["the ids by number"] = np.argsort(numbers.to_numpy(), kind="stable")
        kept: dict[str, np.ndarray] = {}
        for name, order in orders.items():
            if not any(np.array_equal(order, other) for other in kept.values()):
                kept[name] = order
        return kept

    def told_by(self, frame: pd.DataFrame, ordered: bool = True) -> Iterator[Told]:
        """Columns of a table that hold the answers: beside ids, else in an order in which they are listed.

        Args:
            frame: cells as strings.
            ordered: also look for the answers without ids.
        """
        frame = frame.iloc[:, :_MOST_COLUMNS]
        if len(self.ids) < self.limits.told_rows:
            return
        keys = [number for number in range(len(frame.columns)) if self._are_ids(frame.iloc[:, number])]
        for number in keys:
            yield from self._by_id(frame, number)
        if not keys and ordered:
            yield from self._in_order(frame)

    def _are_ids(self, cells: pd.Series) -> bool:
        step = max(1, len(cells) // _SAMPLE)
        if not any(plain_id(cell) in self.known for cell in cells.iloc[::step]):
            return False
        found = self.known & set(cells.map(plain_id))
        return len(found) >= max(self.limits.covered_share * len(self.known), self.limits.told_rows)

    def _by_id(self, frame: pd.DataFrame, number: int) -> Iterator[Told]:
        keys = frame.iloc[:, number].map(plain_id)
        mine = (keys.isin(self.known) & ~keys.duplicated()).to_numpy()
        rows = np.array([self.row_of[key] for key in keys[mine]])
        share = len(rows) / len(self.ids)
        matched = frame.loc[mine].reset_index(drop=True)
        for told in self.compared(matched, rows, skip=number):
            yield Told(
                told.column, told.target, f"{told.how} for the {share:.0%} of the test ids that it names"
            )

    def _in_order(self, frame: pd.DataFrame) -> Iterator[Told]:
        count = len(self.ids)
        parts = {"all rows": frame}
        if len(frame) == count - 1:
            parts = {"all lines": _with_header(frame)}
        elif len(frame) > count:
            parts = {"the last rows": frame.iloc[-count:], "the first rows": frame.iloc[:count]}
        elif len(frame) < count - 1:
            return
        for where, part in parts.items():
            for name, order in self.orders.items():
                told = list(self.compared(part.reset_index(drop=True), order, ordered=True))
                if told:
                    first = told[0]
                    yield Told(first.column, first.target, f"{first.how}, {where} in the order of {name}")
                    return

    def compared(
        self, frame: pd.DataFrame, rows: np.ndarray, skip: int | None = None, ordered: bool = False
    ) -> Iterator[Told]:
        """Columns that tell a target, when the table's rows belong to these rows of the answers.

        Args:
            frame: cells as strings, shape (n, d).
            rows: positions among the answers, shape (n,).
            skip: the position of a column that is not looked at.
            ordered: rows belong together only by their order, so that values must be the answers themselves,
                and must change often.
        """
        truths = {target: truth.iloc[rows].reset_index(drop=True) for target, truth in self.truths.items()}
        values = {target: Values(_plain(truth, self.kinds[target])) for target, truth in truths.items()}
        columns = [
            (str(frame.columns[at]), frame.iloc[:, at]) for at in range(len(frame.columns)) if at != skip
        ]
        columns += _largest(frame, skip)
        for name, cells in columns:
            spelt: dict[str, Values] = {}
            for target, truth in values.items():
                if ordered and int((truth.codes[1:] != truth.codes[:-1]).sum()) < _FEWEST_CHANGES:
                    continue
                kind = self.kinds[target]
                spelling = _spelling(kind)
                if spelling not in spelt:
                    spelt[spelling] = Values(_plain(cells, kind))
                how = self._same(spelt[spelling], truth, kind, ordered, len(columns))
                if how:
                    yield Told(name, target, how)

    def _same(self, column: Values, truth: Values, kind: Kind, ordered: bool, columns: int) -> str:
        rows = len(truth.codes)
        if rows - int(truth.counts.max()) < self.rare_rows or len(column.counts) < 2:
            return ""
        # Among many columns there are honest ones that nearly agree.
        least = self.limits.told_share if columns <= _FEW_COLUMNS or column.numbers is None else _EXACT
        alike = column.text == truth.text if column.numbers is None else column.numbers == truth.numbers
        if float(np.mean(alike)) >= least and (equal := agreement(column, truth)) >= least:
            return f"its values are the answers (agreement beyond chance {equal:.3f})"
        if kind is Kind.NUMBER:
            return "" if ordered else _same_order(column, truth)
        classes = len(truth.counts)
        if kind in (Kind.CLASS, Kind.LABELS) and len(column.counts) == classes <= rows // 2:
            pairs = np.bincount(column.codes * np.int64(classes) + truth.codes, minlength=classes * classes)
            pure = float(pairs.reshape(classes, classes).max(axis=1).sum()) / rows
            base = float(truth.counts.max()) / rows
            if (pure - base) / (1 - base) >= _ONE_TO_ONE:
                what = "classes" if kind is Kind.CLASS else "lists of labels"
                return f"its {classes} values stand for the {classes} {what} one to one"
        return ""


def plain_id(cell: str) -> str:
    """An id in one spelling: without spaces at its ends, and ``7`` for ``7.0``."""
    cell = cell.strip()
    return cell[:-2] if cell.endswith(".0") and cell[:-2].isdigit() else cell


def _same_order(column: Values, truth: Values) -> str:
    if column.ranks is None or truth.ranks is None or len(truth.counts) < len(truth.text) // 4:
        return ""
    rank = abs(float(np.mean(column.ranks * truth.ranks)))
    return f"it has the order of the answers (rank correlation {rank:.5f})" if rank >= 0.9995 else ""


def _spelling(kind: Kind) -> str:
    """Targets of one spelling share how a column is written for the comparison."""
    return "number" if kind is Kind.NUMBER else "words" if kind in (Kind.LABELS, Kind.TEXT) else "cells"


def _plain(cells: pd.Series, kind: Kind) -> pd.Series:
    """Cells in one spelling: numbers to six digits, lists by their words."""
    if kind is Kind.NUMBER:
        numbers = to_numbers(cells)
        if numbers.notna().all():
            return numbers.map(lambda value: f"{value:.6g}")
    if kind in (Kind.LABELS, Kind.TEXT):
        return cells.map(lambda cell: " ".join(re.findall(r"\w+", cell.lower())))
    return cells.str.strip()


def _with_header(frame: pd.DataFrame) -> pd.DataFrame:
    first = pd.DataFrame([[str(name) for name in frame.columns]], columns=frame.columns)
    return pd.concat([first, frame], ignore_index=True)


def _place_of_one(frame: pd.DataFrame) -> np.ndarray | None:
    numbers = frame.apply(to_numbers).to_numpy(dtype=float)
    if not np.isin(numbers, (0.0, 1.0)).all() or not (numbers.sum(axis=1) == 1).all():
        return None
    return np.asarray(numbers.argmax(axis=1))


def _indicators(values: pd.Series, target: str) -> dict[str, pd.Series]:
    """Whether each list holds a label, as 0 and 1, for the most frequent labels."""
    mark = separator(values)
    labels = listed(values, mark) if mark is not None else values.iloc[:0]
    return {
        f"{label} of {target}": pd.Series(
            np.where(values.index.isin(labels.index[labels == label]), "1", "0"), dtype=str
        )
        for label in labels.value_counts().index[:_MOST_LABELS]
    }


def _largest(frame: pd.DataFrame, skip: int | None) -> list[tuple[str, pd.Series]]:
    """The name of the largest of the columns that are shares of one, as a column."""
    if len(frame.columns) < 3:
        return []
    numbers = frame.drop(columns=frame.columns[[skip]] if skip is not None else []).apply(to_numbers)
    shares = numbers.loc[:, ((numbers >= 0) & (numbers <= 1)).all()]
    if shares.shape[1] < 2 or not np.allclose(shares.sum(axis=1), 1, atol=1e-2):
        return []
    return [("with the largest value", pd.Series(shares.idxmax(axis=1).astype(str)))]
