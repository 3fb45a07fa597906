"""Arrays in NumPy's and MATLAB's files as tables; nothing that would run code is loaded."""

from __future__ import annotations

import io
from collections.abc import Iterator, Mapping
from typing import cast

import numpy as np
import pandas as pd

from generator.verifier.public.strings import as_strings

_MOST_COLUMNS = 64


def array_frames(data: bytes, suffix: str) -> Iterator[tuple[str, pd.DataFrame]]:
    """Tables of the arrays of an ``npy``, ``npz`` or ``mat`` file, each with the words that name it.

    All arrays of one length stand in one table. Rows of 0 and 1 with one 1 each also give the column
    of its place.

    Raises:
        ValueError: it is no such file, or holds Python objects.
    """
    tables: dict[int, dict[str, np.ndarray]] = {}
    for name, array in plain_arrays(data, suffix).items():
        for column, values in _columns(name, array):
            tables.setdefault(len(values), {}).setdefault(column, values)
    for _, columns in sorted(tables.items()):
        yield "", as_strings(pd.DataFrame(columns))


def plain_arrays(data: bytes, suffix: str) -> Mapping[str, np.ndarray]:
    """The arrays of a file by name, none of Python objects."""
    if suffix == "mat":
        from scipy.io import loadmat

        loaded = loadmat(cast(str, io.BytesIO(data)), squeeze_me=True, struct_as_record=True)
        found: dict[str, np.ndarray] = {}
        for name, value in loaded.items():
            if not name.startswith("__"):
                _flatten(name, np.asarray(value), found, 4)
        return found
    loaded = np.load(io.BytesIO(data), allow_pickle=False)
    if isinstance(loaded, np.ndarray):
        return {"values": loaded}
    return {name: loaded[name] for name in loaded.files}


def _flatten(name: str, value: np.ndarray, found: dict[str, np.ndarray], depth: int) -> None:
    """Fields of MATLAB structures under dotted names; cells of scalars as one array."""
    if value.dtype.names:
        for field in value.dtype.names:
            inner = value[field]
            if depth:
                _flatten(f"{name}.{field}", np.asarray(inner), found, depth - 1)
    elif value.dtype == object:
        if value.ndim == 0 or value.size == 1:
            if depth:
                _flatten(name, np.asarray(value.reshape(-1)[0]), found, depth - 1)
        elif all(np.ndim(cell) == 0 or isinstance(cell, str) for cell in value.reshape(-1)):
            found[name] = value.reshape(-1).astype(str)
        elif depth:
            for number, cell in enumerate(value.reshape(-1)[:_MOST_COLUMNS]):
                _flatten(f"{name}.{number}", np.asarray(cell), found, depth - 1)
    else:
        found[name] = value


def _columns(name: str, array: np.ndarray) -> Iterator[tuple[str, np.ndarray]]:
    if array.dtype == object or (array.dtype.kind == "V" and not array.dtype.names):
        return
    if array.dtype.names:
        for field in array.dtype.names:
            yield from _columns(f"{name}.{field}", array[field])
        return
    array = np.squeeze(array) if array.ndim else array.reshape(1)
    array = array.reshape(1) if array.ndim == 0 else array
    if array.dtype.kind == "S":
        array = np.char.decode(array, "utf-8", "replace")
    if array.ndim == 1:
        yield name, array
    elif array.ndim == 2:
        for turned in (array, array.T):
            if turned.shape[1] <= _MOST_COLUMNS:
                for number in range(turned.shape[1]):
                    yield f"{name}[{number}]", turned[:, number]
                if turned.dtype.kind in "biuf" and turned.shape[1] > 1 and _is_one_hot(turned):
                    yield f"{name} (place of the largest)", turned.argmax(axis=1)


def _is_one_hot(array: np.ndarray) -> bool:
    """Whether each row has one clear winner: indicators or probabilities."""
    return bool(
        np.isfinite(array).all() and (array >= 0).all() and np.allclose(array.sum(axis=1), 1, atol=1e-3)
    )
