"""Media in archives, as the files that they are once unpacked; a member is unpacked when it is opened."""

from __future__ import annotations

import calendar
import logging
import re
import tarfile
import zipfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from generator.verifier.public.archives import BROKEN, is_safe, unpacker
from generator.verifier.public.inventory import PublicFile
from generator.verifier.public.kinds import (
    HEAD_BYTES,
    FileKind,
    kind_by_name,
    suffix_by_content,
    suffix_of,
    unpacked_name,
)
from generator.verifier.thresholds.files import FileLimits

log = logging.getLogger(__name__)

#: Fewer files than these in an archive are no folder of media.
_FEWEST = 5
_TAR = ("tar", "tgz", "tbz2", "txz")
#: Archives that are not opened: other formats, and parts of a whole.
_CLOSED = re.compile(r"\.(7z|rar|zst|lz4|z\d\d|(zip|7z|tar|gz|tgz)\.\w?\d+)$|\.part\d+\.\w+$", re.IGNORECASE)
_BLOCK = 1 << 20


@dataclass(frozen=True)
class Packed:
    """What the archives of a folder hold.

    Attributes:
        files: their members, named ``train.zip/train/1.jpg``, in the order of the archive.
        unread: names of archives of which not all members are known.
    """

    files: Sequence[PublicFile]
    unread: Sequence[str]


@dataclass(frozen=True)
class _Member:
    """One file of an archive: its name there, size, time in seconds, mode, and how it is read."""

    name: str
    size: int
    time: float
    mode: int
    read: Callable[[], bytes]


def packed(files: Sequence[PublicFile], scratch: Path, limits: FileLimits) -> Packed:
    """The members of all archives with some files, hidden ones left out.

    Names and sizes are those of the archive's directory. What is larger than ``limits.member_bytes``
    cannot be opened; of an archive with more than ``limits.packed_members`` files the first are known.

    Args:
        files: all under public/.
        scratch: a folder for what is unpacked.
        limits: the bounds.
    """
    found: list[PublicFile] = []
    unread = [file.name for file in files if _CLOSED.search(file.name)]
    for number, file in enumerate(file for file in files if file.kind is FileKind.ARCHIVE):
        members: list[_Member] = []
        try:
            for member in _members(file, scratch / str(number), limits):
                if len(members) >= limits.packed_members:
                    raise ValueError(f"more than {limits.packed_members:,} members")
                members.append(member)
        except BROKEN as error:
            log.info("%s is not looked into as a whole: %s", file.name, error)
            unread.append(file.name)
        if len(members) >= _FEWEST:
            found += _files(file, members, scratch / str(number))
    return Packed(found, sorted(unread))


def _members(file: PublicFile, scratch: Path, limits: FileLimits) -> Iterator[_Member]:
    if file.suffix == "zip":
        listed = _zipped(file.path, limits)
    elif file.suffix in _TAR or suffix_of(unpacked_name(file.name)) == "tar":
        listed = _tarred(file, scratch, limits)
    else:
        return
    for member in listed:
        hidden = member.name.rpartition("/")[2].startswith(".") or "__MACOSX" in member.name
        if is_safe(member.name) and not hidden:
            yield member


def _zipped(path: Path, limits: FileLimits) -> Iterator[_Member]:
    archive = zipfile.ZipFile(path)

    def reader(entry: zipfile.ZipInfo) -> Callable[[], bytes]:
        def read() -> bytes:
            with archive.open(entry) as stream:
                return _bounded(stream.read(limits.member_bytes + 1), limits)

        return read

    for entry in archive.infolist():
        if not entry.is_dir():
            mode = entry.external_attr >> 16
            yield _Member(entry.filename, entry.file_size, _moment(entry.date_time), mode, reader(entry))


def _moment(parts: Sequence[int]) -> float:
    """Seconds of a date in a zip archive, which knows no time zone and may be none at all."""
    try:
        return float(calendar.timegm((*parts, 0, 0, 0)))
    except ValueError:
        return 0.0


def _tarred(file: PublicFile, scratch: Path, limits: FileLimits) -> Iterator[_Member]:
    plain = file.path if file.suffix == "tar" else _plain_tar(file, scratch, limits)

    def reader(entry: tarfile.TarInfo) -> Callable[[], bytes]:
        def read() -> bytes:
            with plain.open("rb") as stream:
                stream.seek(entry.offset_data)
                return _bounded(stream.read(min(entry.size, limits.member_bytes + 1)), limits)

        return read

    with tarfile.open(plain, mode="r:") as archive:
        for entry in archive:
            if entry.isfile() and not entry.issparse():
                yield _Member(
                    entry.name.removeprefix("./"), entry.size, float(entry.mtime), entry.mode, reader(entry)
                )


def _plain_tar(file: PublicFile, scratch: Path, limits: FileLimits) -> Path:
    """The archive without its compression, so that members can be read in any order."""
    scratch.mkdir(parents=True, exist_ok=True)
    place, total = scratch / "plain.tar", 0
    with file.path.open("rb") as source, unpacker(file.suffix, source) as stream, place.open("wb") as goal:
        while piece := stream.read(_BLOCK):
            total += len(piece)
            if total > limits.archive_bytes:
                raise ValueError(f"more than {limits.archive_bytes:,} bytes")
            goal.write(piece)
    return place


def _bounded(data: bytes, limits: FileLimits) -> bytes:
    if len(data) > limits.member_bytes:
        raise OSError(f"more than {limits.member_bytes:,} bytes")
    return data


def _files(archive: PublicFile, members: Sequence[_Member], scratch: Path) -> Iterator[PublicFile]:
    """The members as files. What a name does not tell, the first one of its folder and suffix does."""
    known: dict[tuple[str, str], tuple[FileKind, str]] = {}
    for place, member in enumerate(members):
        kind, suffix = kind_by_name(member.name), suffix_of(member.name)
        if kind is FileKind.OTHER:
            group = (member.name.rpartition("/")[0], suffix)
            if group not in known:
                known[group] = _by_content(member)
            kind, suffix = known[group]
        # Names in archives may be anything; the suffix is kept for those who go by it.
        ending = f".{suffix}" if suffix.isalnum() and len(suffix) < 10 else ""
        yield PublicFile(
            scratch / f"{place:07d}{ending}",
            f"{archive.name}/{member.name}",
            member.size,
            kind,
            suffix,
            member.time,
            member.mode,
            place,
            member.read,
        )


def _by_content(member: _Member) -> tuple[FileKind, str]:
    try:
        suffix = suffix_by_content(member.read()[:HEAD_BYTES])
    except BROKEN as error:
        log.info("%s cannot be read: %s", member.name, error)
        suffix = None
    return (kind_by_name(f"x.{suffix}"), suffix) if suffix else (FileKind.OTHER, "")
