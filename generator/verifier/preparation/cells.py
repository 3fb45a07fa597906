"""Cells as numbers that are equal when the cells mean the same, however a file writes them."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pandas as pd

Hashes = npt.NDArray[np.uint64]

#: The hash of an empty cell.
EMPTY = np.uint64(0)
_SALT = np.uint64(0x9E37_79B9_7F4A_7C15)
#: Mantissas are compared in so many steps, which is about ten significant digits.
_STEPS = 2.0**33


def cell_hashes(column: pd.Series) -> Hashes:
    """One hash per cell: ``5``, ``5.0`` and `` 5`` are the same, as are ``True`` and ``1``; empty is 0.

    Args:
        column: strings, or what pandas made of them.
    """
    if pd.api.types.is_bool_dtype(column.dtype) or pd.api.types.is_numeric_dtype(column.dtype):
        return _number_hashes(column.to_numpy(dtype=float, na_value=np.nan))
    codes, distinct = pd.factorize(column.astype(str).where(column.notna(), ""))
    texts = pd.Series(distinct, dtype=object).astype(str).str.strip()
    truth = texts.str.lower().map({"true": "1", "false": "0"})
    numbers = pd.to_numeric(truth.fillna(texts), errors="coerce").to_numpy(dtype=float)
    hashes = np.where(
        np.isnan(numbers),
        pd.util.hash_array(texts.to_numpy(dtype=object), categorize=False),
        _number_hashes(numbers),
    )
    hashes[(texts == "").to_numpy() | texts.str.lower().isin(["nan", "<na>", "nat"]).to_numpy()] = EMPTY
    return np.asarray(hashes, dtype=np.uint64)[codes]


def _number_hashes(numbers: npt.NDArray[np.float64]) -> Hashes:
    mantissa, exponent = np.frexp(np.where(np.isfinite(numbers), numbers, 0.0))
    rounded = np.ldexp(np.round(mantissa * _STEPS) / _STEPS, exponent) + 0.0
    rounded = np.where(np.isinf(numbers), numbers, rounded)
    # pandas hashes 0.0 to 0, which is an empty cell's.
    hashes = pd.util.hash_array(rounded.astype(np.float64)) ^ _SALT
    return np.where(np.isnan(numbers), EMPTY, hashes).astype(np.uint64)


def is_among(hashes: Hashes, known: Hashes) -> npt.NDArray[np.bool_]:
    """Which of some hashes occur among others; in time that is linear in both, without sorting them."""
    return np.asarray(pd.Series(hashes).isin(pd.unique(known)))
