"""Members of archives, one after the other, within bounds: nothing is unpacked to disk."""

from __future__ import annotations

import bz2
import gzip
import io
import logging
import lzma
import tarfile
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import IO, cast

from generator.verifier.public.kinds import MEDIA, kind_by_name, suffix_of, unpacked_name
from generator.verifier.thresholds.files import FileLimits

log = logging.getLogger(__name__)

#: What a broken or hostile archive raises.
BROKEN = (
    OSError, EOFError, ValueError, RuntimeError, NotImplementedError, zipfile.BadZipFile, tarfile.TarError,
    zlib.error, lzma.LZMAError,
)  # fmt: skip


def members(name: str, stream: IO[bytes], limits: FileLimits) -> Iterator[tuple[str, bytes]]:
    """Names and contents of an archive's files, in its order; media are named and not read.

    Members with absolute names or ``..``, encrypted ones and those larger than ``limits.member_bytes`` are
    left out; reading stops at ``limits.archive_bytes`` and ``limits.members``. A broken archive gives what
    could be read before the break.

    Args:
        name: of the archive, whose suffix tells the format.
        stream: its bytes; it must seek.
        limits: the bounds.
    """
    total = 0
    try:
        for count, (member, content) in enumerate(_opened(name, stream, limits)):
            total += len(content)
            if total > limits.archive_bytes or count >= limits.members:
                log.info("%s: the rest of the archive is not looked at", name)
                return
            yield member, content
    except BROKEN as error:
        log.info("%s: cannot be read as an archive: %s", name, error)


def _opened(name: str, stream: IO[bytes], limits: FileLimits) -> Iterator[tuple[str, bytes]]:
    suffix, inner = suffix_of(name), unpacked_name(name)
    if suffix == "zip":
        yield from _zipped(stream, limits)
    elif suffix in ("tar", "tgz", "tbz2", "txz") or suffix_of(inner) == "tar":
        yield from _tarred(stream, limits)
    else:
        with unpacker(suffix, stream) as packed:
            content = _bounded(packed, limits)
        if content is not None:
            yield PurePosixPath(inner).name, content


def unpacker(suffix: str, stream: IO[bytes]) -> IO[bytes]:
    """The bytes of a packed file; the suffix names the packer, gzip where it is no other."""
    if suffix in ("bz2", "tbz2"):
        return bz2.BZ2File(stream)
    if suffix in ("xz", "txz"):
        return lzma.LZMAFile(stream)
    return cast(IO[bytes], gzip.GzipFile(fileobj=stream))


def _zipped(stream: IO[bytes], limits: FileLimits) -> Iterator[tuple[str, bytes]]:
    with zipfile.ZipFile(stream) as archive:
        for entry in archive.infolist():
            if entry.is_dir() or not is_safe(entry.filename) or entry.file_size > limits.member_bytes:
                continue
            if entry.flag_bits & 1:
                log.info("%s is encrypted and not looked at", entry.filename)
                continue
            if kind_by_name(entry.filename) in MEDIA:
                yield entry.filename, b""
                continue
            with archive.open(entry) as member:
                content = _bounded(member, limits)
            if content is not None:
                yield entry.filename, content


def _tarred(stream: IO[bytes], limits: FileLimits) -> Iterator[tuple[str, bytes]]:
    with tarfile.open(fileobj=stream, mode="r:*") as archive:
        for entry in archive:
            if not entry.isfile() or not is_safe(entry.name) or entry.size > limits.member_bytes:
                continue
            if kind_by_name(entry.name) in MEDIA:
                yield entry.name, b""
                continue
            member = archive.extractfile(entry)
            content = None if member is None else _bounded(member, limits)
            if content is not None:
                yield entry.name, content


def _bounded(stream: IO[bytes], limits: FileLimits) -> bytes | None:
    """All of a stream, or nothing when it is longer than it may be."""
    parts = io.BytesIO()
    while piece := stream.read(1 << 20):
        if parts.tell() + len(piece) > limits.member_bytes:
            log.info("a member of more than %d bytes is not looked at", limits.member_bytes)
            return None
        parts.write(piece)
    return parts.getvalue()


def is_safe(name: str) -> bool:
    """Whether a member's name stays below the folder in which it is unpacked."""
    name = name.replace("\\", "/")
    return not name.startswith("/") and ".." not in name.split("/")
