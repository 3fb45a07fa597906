"""Every file under public/, and what it is."""

from __future__ import annotations

import hashlib
import io
import logging
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from generator.verifier.public.archives import BROKEN, members
from generator.verifier.public.kinds import (
    HEAD_BYTES,
    FileKind,
    kind_by_name,
    suffix_by_content,
    suffix_of,
    unpacked_name,
)
from generator.verifier.thresholds.files import FileLimits
from harness.tasks.package import file_hash

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class PublicFile:
    """A file under public/, or a member of an archive there.

    Attributes:
        path: where it lies; for a member where :meth:`opened` puts it.
        name: its path below public/, with slashes; ``train.zip/train/1.jpg`` for a member.
        size: in bytes.
        kind: what it holds; by its name, and by its first bytes when the name tells nothing.
        suffix: the one that fits what it holds, without the dot.
        time: when it was last changed, in seconds.
        mode: of the file system.
        place: the position of a member in its archive.
        read: gives the bytes of a member.
    """

    path: Path
    name: str
    size: int
    kind: FileKind
    suffix: str
    time: float = 0.0
    mode: int = 0
    place: int | None = None
    read: Callable[[], bytes] | None = field(default=None, repr=False, compare=False)

    def opened(self) -> Path:
        """Where it can be read; a member is unpacked when it is first asked for.

        Raises:
            OSError: it cannot be unpacked.
        """
        if self.read is not None and not self.path.exists():
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self.path.write_bytes(self._bytes())
        return self.path

    def digest(self) -> str:
        """SHA-256 of its bytes, in hex.

        Raises:
            OSError: it cannot be read.
        """
        return file_hash(self.path) if self.read is None else hashlib.sha256(self._bytes()).hexdigest()

    def _bytes(self) -> bytes:
        if self.read is None:
            return self.path.read_bytes()
        try:
            return self.read()
        except BROKEN as error:
            raise OSError(f"it cannot be unpacked: {error}") from error


@dataclass(frozen=True)
class Content:
    """What a file or a member of an archive holds.

    Attributes:
        name: ``archive.zip/member.csv`` for members.
        suffix: the one that fits, without the dot.
        kind: what it holds.
        data: its bytes, bounded.
    """

    name: str
    suffix: str
    kind: FileKind
    data: bytes


def inventory(public: Path) -> list[PublicFile]:
    """All regular files below a folder, hidden ones too, sorted by name; links are not followed."""
    found = []
    for folder, folders, names in os.walk(public, followlinks=False):
        folders.sort()
        for name in sorted(names):
            path = Path(folder) / name
            if path.is_symlink() or not path.is_file():
                continue
            kind, suffix = kind_by_name(name), suffix_of(name)
            if kind is FileKind.OTHER:
                kind, suffix = _by_content(path)
            name, state = path.relative_to(public).as_posix(), path.stat()
            found.append(PublicFile(path, name, state.st_size, kind, suffix, state.st_mtime, state.st_mode))
    return sorted(found, key=lambda file: file.name)


def _by_content(path: Path) -> tuple[FileKind, str]:
    try:
        with path.open("rb") as stream:
            suffix = suffix_by_content(stream.read(HEAD_BYTES))
    except OSError as error:
        log.info("%s cannot be read: %s", path, error)
        suffix = None
    return (kind_by_name(f"x.{suffix}"), suffix) if suffix else (FileKind.OTHER, "")


def contents(file: PublicFile, limits: FileLimits) -> Iterator[Content]:
    """A file's content, or those of an archive's members; archives in archives are opened once more.

    Media in archives are named, and their content is left out: see :mod:`generator.verifier.public.packed`.

    Files larger than ``limits.member_bytes`` give nothing, unless they are archives.
    """
    try:
        if file.kind is FileKind.ARCHIVE:
            with file.path.open("rb") as stream:
                yield from _unpacked(file.name, file.suffix, stream, limits, depth=1)
        elif file.size <= limits.member_bytes:
            yield Content(file.name, file.suffix, file.kind, file.path.read_bytes())
        else:
            log.info("%s is too large to be looked at", file.name)
    except OSError as error:
        log.info("%s cannot be read: %s", file.name, error)


def _unpacked(name: str, suffix: str, stream: IO[bytes], limits: FileLimits, depth: int) -> Iterator[Content]:
    # An archive of another name is opened by what it is.
    called = name if suffix_of(name) == suffix else f"{name}.{suffix}"
    for member, data in members(called, stream, limits):
        inner = f"{name}/{member}" if suffix_of(member) or suffix in ("zip", "tar") else unpacked_name(name)
        kind, ending = kind_by_name(member), suffix_of(member)
        if kind is FileKind.OTHER and (by_content := suffix_by_content(data[:HEAD_BYTES])):
            kind, ending = kind_by_name(f"x.{by_content}"), by_content
        if kind is FileKind.ARCHIVE and depth > 0:
            yield from _unpacked(inner, ending, io.BytesIO(data), limits, depth - 1)
        else:
            yield Content(inner, ending, kind, data)
