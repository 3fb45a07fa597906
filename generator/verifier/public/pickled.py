"""What a pickle holds, without loading it: a pickle can run code, so only its plain values are looked at."""

from __future__ import annotations

import io
import itertools
import pickle
import pickletools
from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd

from generator.verifier.public.nested import json_frames
from generator.verifier.public.strings import as_strings

_FEWEST = 5
_MOST_RUNS = 2_000
_NUMBERS = ("<i8", "<f8", "<i4", "<f4", "|i1")
_STRINGS = ("UNICODE", "BINUNICODE", "SHORT_BINUNICODE", "BINUNICODE8")
_SCALARS = (
    "INT",
    "BININT",
    "BININT1",
    "BININT2",
    "LONG",
    "LONG1",
    "LONG4",
    "FLOAT",
    "BINFLOAT",
    "NEWTRUE",
    "NEWFALSE",
)
_BYTES = ("BINBYTES", "SHORT_BINBYTES", "BINBYTES8", "BYTEARRAY8")


class _Plain(pickle.Unpickler):
    """Reads pickles of plain containers, strings and numbers; nothing else is ever looked up."""

    def find_class(self, module: str, name: str) -> Any:
        raise pickle.UnpicklingError(f"it needs {module}.{name}, which is not loaded from data")


def pickled_frames(data: bytes) -> Iterator[tuple[str, pd.DataFrame]]:
    """Tables of a pickle: its nested data when they are plain, else its lists of values, each as a column.

    Raises:
        ValueError: it is no pickle.
    """
    try:
        plain = _Plain(io.BytesIO(data)).load()
    except pickle.UnpicklingError:
        tables: dict[int, dict[str, pd.Series]] = {}
        for number, run in enumerate(_runs(data)):
            tables.setdefault(len(run), {})[f"list {number + 1}"] = pd.Series(run)
        for _, columns in sorted(tables.items()):
            yield "", as_strings(pd.DataFrame(columns))
        return
    yield from json_frames(plain)


def _runs(data: bytes) -> Iterator[list[Any]]:
    """Values that stand one after the other: the entries of lists, and the numbers of arrays."""
    memo: dict[int, Any] = {}
    run: list[Any] = []
    last: Any = None
    count = 0
    ends: list[int] | None = None
    value: Any
    for operation, value, _ in pickletools.genops(data):
        name = operation.name
        if name in (*_STRINGS, *_SCALARS):
            last = {"NEWTRUE": True, "NEWFALSE": False}.get(name, value)
            run.append(last)
        elif name == "MEMOIZE":
            memo[len(memo)] = last
        elif name in ("BINPUT", "LONG_BINPUT", "PUT"):
            memo[int(value)] = last
        elif name in ("BINGET", "LONG_BINGET", "GET") and isinstance(memo.get(int(value)), (str, int, float)):
            run.append(memo[int(value)])
        elif name in _BYTES and len(value) >= _FEWEST:
            last = None
            if ends is not None and (texts := _arrow_texts(ends, value)) is not None:
                yield texts
            ends = _arrow_ends(value)
            for kind in _NUMBERS:
                if len(value) % np.dtype(kind).itemsize == 0:
                    yield np.frombuffer(value, dtype=kind).tolist()
        elif name in ("MARK", "APPENDS", "TUPLE", "SETITEMS", "LIST", "DICT", "STOP"):
            if len(run) >= _FEWEST:
                yield run
                count += 1
            run, last = [], None
            if count >= _MOST_RUNS:
                return
        else:
            last = None if name not in ("FRAME", "PROTO") else last


def _arrow_ends(data: bytes) -> list[int] | None:
    """Where the texts end, if this is the buffer of offsets that Arrow writes before a column of texts."""
    if len(data) % 8:
        return None
    offsets = np.frombuffer(data, dtype="<i8")
    if len(offsets) <= _FEWEST or offsets[0] != 0 or (np.diff(offsets) < 0).any():
        return None
    return [int(end) for end in offsets]


def _arrow_texts(ends: list[int], data: bytes) -> list[str] | None:
    if ends[-1] != len(data):
        return None
    try:
        return [data[a:b].decode("utf-8") for a, b in itertools.pairwise(ends)]
    except UnicodeDecodeError:
        return None
