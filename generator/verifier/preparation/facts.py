"""What raw rows say, as numbers: all that a column derived from them would follow."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt
import pandas as pd

from generator.verifier.leaks.times import to_times
from generator.verifier.preparation.raw_tables import RawTable
from generator.verifier.targets import to_numbers

Floats = npt.NDArray[np.float64]

_MOST_COLUMNS = 60
#: Most of a column's cells must be numbers, or moments, to be taken for such.
_MOSTLY = 0.8
#: Texts of more words than this are also counted word by word, in so many bins.
_WORDY, _BINS = 2.0, 64
_NUMBER = r"(-?\d+(?:\.\d+)?)"


def facts(raw: RawTable, places: npt.NDArray[np.intp], others: Sequence[RawTable]) -> Floats:
    """Numbers about some rows of a raw table, shape (n, m), without missing ones.

    They are the cells, or codes, lengths, words and parts of dates, how often a value occurs, the rows before
    and after, the place in the file, and what other tables hold for the same value of a column.

    Args:
        raw: the table.
        places: the rows asked for.
        others: tables that may be joined to it.
    """
    table = raw.rows.reset_index(drop=True)
    columns: list[Floats] = [np.arange(len(table), dtype=float)]
    for name in list(table.columns)[:_MOST_COLUMNS]:
        columns += _of_column(table[name])
    for other in others:
        if other.names != raw.names:
            columns += _joined(table, other.rows)
    return np.column_stack([np.nan_to_num(_filled(each)[places], posinf=0, neginf=0) for each in columns])


def _filled(values: Floats) -> Floats:
    finite = np.isfinite(values)
    return np.where(finite, values, np.median(values[finite]) - 1 if finite.any() else 0.0)


def _floats(values: pd.Series) -> Floats:
    return np.asarray(values.to_numpy(dtype=float, na_value=np.nan))


def _of_column(column: pd.Series) -> Iterator[Floats]:
    texts = column.astype(str).where(column.notna(), "")
    filled = texts.str.strip() != ""
    counts = texts.map(texts.value_counts())
    yield _floats(counts)
    numbers = to_numbers(texts).to_numpy()
    if np.isfinite(numbers).sum() >= _MOSTLY * max(int(filled.sum()), 1):
        yield numbers
        for step in (1, -1):
            yield pd.Series(numbers).shift(step).to_numpy()
        return
    yield pd.factorize(texts, sort=True)[0].astype(float)
    yield _floats(texts.str.len())
    words = texts.str.count(r"\w+")
    yield _floats(words)
    yield to_numbers(texts.str.extract(_NUMBER, expand=False).fillna("")).to_numpy()
    if texts.str.contains(r"\d").sum() >= _MOSTLY * max(int(filled.sum()), 1):
        yield from _of_moments(texts)
    if words[filled].mean() > _WORDY:
        yield from _of_words(texts)


def _of_moments(texts: pd.Series) -> Iterator[Floats]:
    seconds = to_times(texts)
    if seconds.notna().mean() < _MOSTLY / 2:
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        moments = pd.to_datetime(texts, errors="coerce", utc=True, format="mixed")
    yield _floats(seconds)
    for part in ("year", "month", "day", "day_of_week", "day_of_year", "hour", "minute"):
        yield _floats(getattr(moments.dt, part))


def _of_words(texts: pd.Series) -> Iterator[Floats]:
    from sklearn.feature_extraction.text import HashingVectorizer

    bins = HashingVectorizer(n_features=_BINS, alternate_sign=False, norm=None).transform(texts)
    yield from np.asarray(bins.toarray(), dtype=float).T


def _joined(table: pd.DataFrame, other: pd.DataFrame) -> Iterator[Floats]:
    """How many rows of another table share a row's value of a column, and the means and spreads of these."""
    for key in [name for name in table.columns if name in other.columns][:3]:
        cells = table[key].astype(str)
        groups = other.groupby(other[key].astype(str))
        if not cells.isin(groups.groups.keys()).any():
            continue
        yield _floats(cells.map(groups.size()))
        for name in list(other.select_dtypes("number").columns)[:_MOST_COLUMNS]:
            if name != key:
                for of in ("mean", "std", "max"):
                    yield _floats(cells.map(groups[name].agg(of)))
