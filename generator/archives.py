"""Datasets that come as archives: unpacked within bounds, names made safe, and nothing but plain files."""

from __future__ import annotations

import bz2
import gzip
import lzma
import os
import shutil
import tarfile
import unicodedata
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import IO, Any

from generator.datasets.catalogue import DatasetError, raw_files
from generator.tables import raw_format

_TARS = (".tar", ".tar.gz", ".tgz", ".tar.bz2", ".tbz2", ".tar.xz", ".txz")
_SINGLE: dict[str, Callable[..., Any]] = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}
#: What packers of other systems add beside the data.
_LITTER = frozenset({"__MACOSX", ".DS_Store", "Thumbs.db", "desktop.ini"})
_UNKNOWN = (".7z", ".rar")
_PIECE = 1 << 20
_LONGEST_NAME = 150
_BROKEN = (zipfile.BadZipFile, tarfile.TarError, zlib.error, lzma.LZMAError, EOFError, OSError, RuntimeError,
           NotImplementedError, ValueError)  # fmt: skip


@dataclass(frozen=True)
class Limits:
    """What unpacking may make.

    Attributes:
        files: in all; beyond, a folder takes longer to list than to learn from.
        bytes: in all, more than a task's data may be.
        ratio: of unpacked to packed bytes, once ``small`` bytes are unpacked. Sheets of text shrink to a
            twentieth, sparse ones to a hundredth; what shrinks further is made to fill a disk.
        small: bytes up to which no ratio is asked for.
        depth: archives within archives that are unpacked, too.
    """

    files: int = 300_000
    bytes: int = 20 << 30
    ratio: float = 300.0
    small: int = 32 << 20
    depth: int = 2


def is_archive(path: Path) -> bool:
    """Whether a file is unpacked before it is profiled; a packed table is read as it is."""
    name = path.name.lower()
    if name.endswith((".zip", *_TARS)):
        return True
    return name.endswith(tuple(_SINGLE)) and raw_format(path) is None


def unpack(path: Path, into: Path, limits: Limits | None = None) -> Path:
    """Unpack a dataset: an archive, one file, or a folder with archives among its files.

    Args:
        path: an archive, a file of a table, packed or not, or a folder.
        into: receives a folder of the dataset's name; one that is there is replaced.
        limits: what unpacking may make.

    Returns:
        The folder with the unpacked files. It is ``path`` itself when that is a folder without archives.

    Raises:
        DatasetError: the archive is broken, encrypted, too large, of an unknown kind, or holds anything but
            plain files within itself.
    """
    budget = _Budget(limits or Limits())
    if path.is_dir():
        packed = [each for each in raw_files(path) if is_archive(each)]
        if not packed:
            return path
        place = _fresh(into / path.resolve().name)
        for each in sorted(item for item in path.rglob("*") if item.is_file() and item not in packed):
            target = place / each.relative_to(path)
            target.parent.mkdir(parents=True, exist_ok=True)
            _link(each, target)
        for each in packed:
            _unpack(each, place / each.relative_to(path).parent, budget, 1)
        return place
    if path.name.lower().endswith(_UNKNOWN):
        raise DatasetError(f"{path}: archives of this kind are not read; pack the files as .zip or .tar.gz")
    if raw_format(path) is not None and not path.name.lower().endswith(tuple(_SINGLE)):
        place = _fresh(into / _safe(path.stem))
        _link(path, place / _safe(path.name))
        return place
    if not is_archive(path) and not path.name.lower().endswith(tuple(_SINGLE)):
        raise DatasetError(f"{path}: not an archive; known are .zip, {', '.join(_TARS)}, .gz, .bz2 and .xz")
    place = _fresh(into / _stem(path.name))
    if path.name.lower().endswith((".zip", *_TARS)):
        _members(path, place, budget, 1)
    else:
        _single(path, place, budget)
    if not raw_files(place):
        raise DatasetError(f"{path}: the archive holds no files")
    return place


class _Budget:
    """What is left of the limits."""

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self.files = self.bytes = 0

    def file(self, archive: Path) -> None:
        """One more file."""
        self.files += 1
        if self.files > self.limits.files:
            raise DatasetError(f"{archive}: more than {self.limits.files} files")

    def piece(self, archive: Path, size: int, written: int, packed: int) -> None:
        """``size`` more bytes of an archive of ``packed`` bytes, which has given ``written`` so far."""
        self.bytes += size
        if self.bytes > self.limits.bytes:
            raise DatasetError(f"{archive}: unpacks to more than {self.limits.bytes} bytes")
        if written > self.limits.small and written > self.limits.ratio * max(1, packed):
            raise DatasetError(f"{archive}: unpacks to more than {self.limits.ratio:g} times its size")


def _unpack(archive: Path, folder: Path, budget: _Budget, depth: int) -> None:
    """Unpack an archive into a folder of its own name, or one packed file beside it."""
    if archive.name.lower().endswith((".zip", *_TARS)):
        place = _unused(folder / _stem(archive.name))
        place.mkdir(parents=True)
        _members(archive, place, budget, depth)
    else:
        folder.mkdir(parents=True, exist_ok=True)
        _single(archive, folder, budget)


def _members(archive: Path, place: Path, budget: _Budget, depth: int) -> None:
    """Write the files of an archive below ``place``, then those of the archives among them."""
    packed, written = archive.stat().st_size, 0
    made: list[Path] = []
    reader = _zipped(archive) if archive.name.lower().endswith(".zip") else _tarred(archive)
    with _explained(archive):
        for name, stream in reader:
            target = _target(archive, place, name)
            if target is None:
                continue
            budget.file(archive)
            written = _write(stream, target, archive, budget, written, packed)
            made.append(target)
    for inner in sorted(made):
        if is_archive(inner) and depth < budget.limits.depth:
            _unpack(inner, inner.parent, budget, depth + 1)
            inner.unlink()


def _single(archive: Path, place: Path, budget: _Budget) -> None:
    """Write the one file that is packed."""
    opener = next(each for suffix, each in _SINGLE.items() if archive.name.lower().endswith(suffix))
    name = archive.name.rpartition(".")[0]
    budget.file(archive)
    with _explained(archive), opener(archive, "rb") as stream:
        target = _unused(place / _safe(name))
        _write(stream, target, archive, budget, 0, archive.stat().st_size)


def _zipped(archive: Path) -> Iterator[tuple[str, IO[bytes]]]:
    with zipfile.ZipFile(archive) as stored:
        for member in sorted(stored.infolist(), key=lambda each: each.filename):
            kind = (member.external_attr >> 16) & 0o170000
            if member.is_dir():
                continue
            if kind not in (0, 0o100000):
                raise DatasetError(f"{archive}: {member.filename!r} is no plain file; links are not unpacked")
            if member.flag_bits & 1:
                raise DatasetError(f"{archive}: {member.filename!r} is encrypted; pack it without a password")
            with stored.open(member) as stream:
                yield member.filename, stream


def _tarred(archive: Path) -> Iterator[tuple[str, IO[bytes]]]:
    with tarfile.open(archive, "r:*") as stored:
        for member in stored:
            if member.isdir():
                continue
            if not member.isreg():
                raise DatasetError(f"{archive}: {member.name!r} is no plain file; links are not unpacked")
            stream = stored.extractfile(member)
            if stream is not None:
                yield member.name, stream


def _write(stream: IO[bytes], target: Path, archive: Path, budget: _Budget, written: int, packed: int) -> int:
    target.parent.mkdir(parents=True, exist_ok=True)
    with target.open("xb") as out:
        while piece := stream.read(_PIECE):
            written += len(piece)
            budget.piece(archive, len(piece), written, packed)
            out.write(piece)
    return written


def _target(archive: Path, place: Path, name: str) -> Path | None:
    """Where a member goes; ``None`` for hidden files and litter."""
    path = PurePosixPath(name.replace("\\", "/"))
    if path.is_absolute() or ".." in path.parts or (path.parts and path.parts[0].endswith(":")):
        raise DatasetError(f"{archive}: {name!r} lies outside of the archive")
    if not path.parts or any(part.startswith(".") or part in _LITTER for part in path.parts):
        return None
    target = place
    for part in path.parts[:-1]:
        target /= _safe(part)
        if target.is_file():
            target = target.with_name(f"{target.name}-folder")
    return _unused(target / _safe(path.name))


def _safe(name: str) -> str:
    """A name of one file that every file system takes: composed, no control characters, not too long."""
    composed = unicodedata.normalize("NFC", name)
    kept = "".join("_" if unicodedata.category(c)[0] == "C" or c in '/\\:*?"<>|' else c for c in composed)
    stem, dot, suffix = kept.rpartition(".")
    while len(kept.encode()) > _LONGEST_NAME and len(stem or suffix) > 1:
        stem, suffix = (stem[:-1], suffix) if len(stem) > 1 else (stem, suffix[:-1])
        kept = f"{stem}{dot}{suffix}"
    return kept.strip(" ") or "_"


def _unused(path: Path) -> Path:
    number, free = 2, path
    while free.exists():
        free, number = path.with_name(f"{path.stem}-{number}{path.suffix}"), number + 1
    return free


def _stem(name: str) -> str:
    """An archive's name without what says that it is one."""
    ending = next(
        each
        for each in (".zip", *sorted(_TARS, key=len, reverse=True), *_SINGLE)
        if name.lower().endswith(each)
    )
    whole = name[: -len(ending)]
    return _safe(Path(whole).stem if ending in _SINGLE else whole)


def _fresh(place: Path) -> Path:
    if place.exists():
        shutil.rmtree(place)
    place.mkdir(parents=True)
    return place


def _link(source: Path, target: Path) -> None:
    """The same file under another name; a copy on another file system."""
    try:
        os.link(source.resolve(), target)
    except OSError:
        shutil.copyfile(source, target)


@contextmanager
def _explained(archive: Path) -> Iterator[None]:
    try:
        yield
    except DatasetError:
        raise
    except _BROKEN as error:
        raise DatasetError(f"{archive}: the archive cannot be unpacked: {error}") from error
