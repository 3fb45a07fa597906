"""What differs between two prepared folders, and whether it is more than how the bytes are packed."""

from __future__ import annotations

import gzip
import hashlib
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Collection
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path
from typing import IO

import numpy as np
import pandas as pd

from generator.tables import UnreadableTable, read_table, table_format
from harness.tasks.package import file_hash

FOLDERS = ("public", "private")
_IMAGES = (".png", ".jpg", ".jpeg", ".bmp", ".tif", ".tiff", ".gif", ".webp")
_ARCHIVES = (".zip", ".npz")
_TARS = (".tar", ".tar.gz", ".tgz", ".tar.bz2", ".tbz2", ".tar.xz", ".txz")
#: Zipped documents; who wrote them, and when, stands in a folder of its own.
_DOCUMENTS, _ABOUT = (".xlsx", ".xlsm", ".docx", ".pptx"), "docProps/"
#: Numbers that differ by less are the same number, written by another version of a library.
_ROUNDING = 1e-9


@dataclass(frozen=True)
class Difference:
    """The first difference between two prepared folders.

    Attributes:
        file: its path below the folders' root.
        words: what differs, for evidence.
        packing: all files that differ hold the same content, packed in other bytes.
    """

    file: str
    words: str
    packing: bool = False


def prepared_files(root: Path, ignore: Collection[str] = ()) -> dict[str, Path]:
    """The files below ``public/`` and ``private/`` by their path below ``root``, hidden ones left out."""
    found = {
        path.relative_to(root).as_posix(): path
        for name in FOLDERS
        for path in sorted((root / name).rglob("*"))
        if path.is_file() and not path.name.startswith(".")
    }
    return {name: path for name, path in found.items() if name not in ignore}


def difference(
    left: Path,
    right: Path,
    ignore: Collection[str] = (),
    names: tuple[str, str] = ("first", "second"),
    *,
    foreign: bool = False,
) -> Difference | None:
    """What differs between two prepared roots; what is more than packing comes first.

    Args:
        left: one root.
        right: the other.
        ignore: files that do not count.
        names: what the two are called.
        foreign: files that only the right root has do not count.
    """
    ours, theirs = prepared_files(left, ignore), prepared_files(right, ignore)
    packed: list[str] = []
    for name in sorted(ours) if foreign else sorted(ours.keys() | theirs.keys()):
        if name not in theirs or name not in ours:
            return Difference(name, f"{name} is only in the {names[0] if name in ours else names[1]}")
        one, other = ours[name], theirs[name]
        if file_hash(one) == file_hash(other):
            continue
        if same_content(one, other):
            packed.append(name)
            continue
        return Difference(name, f"{name}{_first_line(one, other)}")
    if not packed:
        return None
    more = f" and {len(packed) - 1} more" if len(packed) > 1 else ""
    return Difference(packed[0], f"{packed[0]}{more}, in their bytes and not in what they hold", packing=True)


def same_content(left: Path, right: Path) -> bool:
    """Whether two files of different bytes hold the same: times in archives, other compression, rounding."""
    reader = _reader(left)
    if reader is None:
        return False
    try:
        return reader(left, right)
    except (OSError, ValueError, EOFError, zipfile.BadZipFile, tarfile.TarError, zlib.error, UnreadableTable):
        return False


def _reader(path: Path) -> Callable[[Path, Path], bool] | None:
    name = path.name.lower()
    if name.endswith(_ARCHIVES):
        return lambda left, right: _members(left) == _members(right)
    if name.endswith(_DOCUMENTS):
        return lambda left, right: _members(left, _ABOUT) == _members(right, _ABOUT)
    if name.endswith(_TARS):
        return lambda left, right: _rolled(left) == _rolled(right)
    if name.endswith(".gz"):
        return lambda left, right: _unpacked(left) == _unpacked(right)
    if name.endswith(_IMAGES):
        return _same_pixels
    return _same_cells if table_format(path) in ("parquet", "csv") else None


def _members(path: Path, ignore: str | None = None) -> list[tuple[str, int, int]]:
    with zipfile.ZipFile(path) as archive:
        return sorted(
            (member.filename, member.file_size, member.CRC)
            for member in archive.infolist()
            if ignore is None or not member.filename.startswith(ignore)
        )


def _rolled(path: Path) -> list[tuple[str, str]]:
    """Names and contents of a tar archive, without times and owners."""
    with tarfile.open(path) as archive:
        found = []
        for member in archive:
            stream = archive.extractfile(member) if member.isfile() else None
            found.append((member.name, _digest(stream) if stream is not None else member.linkname))
    return sorted(found)


def _unpacked(path: Path) -> str:
    with gzip.open(path, "rb") as stream:
        return _digest(stream)


def _digest(stream: IO[bytes] | gzip.GzipFile) -> str:
    digest = hashlib.sha256()
    while piece := stream.read(1 << 20):
        digest.update(piece)
    return digest.hexdigest()


def _same_pixels(left: Path, right: Path) -> bool:
    from PIL import Image

    with Image.open(left) as one, Image.open(right) as other:
        return one.mode == other.mode and one.size == other.size and one.tobytes() == other.tobytes()


def _same_cells(left: Path, right: Path) -> bool:
    one, other = read_table(left), read_table(right)
    if list(one.columns) != list(other.columns) or len(one) != len(other):
        return False
    return all(_same_column(one[name], other[name]) for name in one.columns)


def _same_column(one: pd.Series, other: pd.Series) -> bool:
    if pd.api.types.is_numeric_dtype(one) and pd.api.types.is_numeric_dtype(other):
        pair = one.to_numpy(dtype=float, na_value=np.nan), other.to_numpy(dtype=float, na_value=np.nan)
        return bool(np.allclose(*pair, rtol=_ROUNDING, atol=0.0, equal_nan=True))
    return bool((one.isna() == other.isna()).all() and (one.dropna() == other.dropna()).all())


def _first_line(left: Path, right: Path) -> str:
    with left.open("rb") as ours, right.open("rb") as theirs:
        for number, (one, other) in enumerate(zip_longest(ours, theirs, fillvalue=b""), start=1):
            if one != other:
                return f" from line {number}" if b"\0" not in one + other else " (binary)"
    return ""
