"""The encoding of a text file, decided by all of its bytes, and its text piece by piece."""

from __future__ import annotations

import codecs
import gzip
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, cast

SAMPLE_BYTES = 200_000
_PIECE = 1 << 20
_LOST = "\N{REPLACEMENT CHARACTER}"
#: Broken UTF-8 sequences that a file may hold for each sound one before it is taken for another encoding.
_BROKEN_SHARE = 0.1


@dataclass(frozen=True)
class Encoding:
    """How the bytes of a file become characters.

    Attributes:
        name: as Python calls it.
        broken: byte sequences that are no characters and become U+FFFD.
    """

    name: str
    broken: int = 0

    @property
    def errors(self) -> str:
        """What a decoder must do with bytes that are no characters."""
        return "replace" if self.broken else "strict"


@contextmanager
def opened(path: Path) -> Iterator[IO[bytes]]:
    """The bytes of a file, unpacked when it ends in ``.gz``."""
    packed = path.name.lower().endswith(".gz")
    with gzip.open(path, "rb") if packed else path.open("rb") as stream:
        yield cast(IO[bytes], stream)


def head(path: Path, size: int = SAMPLE_BYTES) -> bytes:
    """The first bytes, unpacked."""
    with opened(path) as stream:
        return stream.read(size)


def find_encoding(path: Path) -> Encoding:
    """UTF-8 where all bytes are; else UTF-16 by its marks or zeros, Windows-1252, or Latin-1."""
    start = head(path, 4096)
    if start.startswith(codecs.BOM_UTF8):
        return Encoding("utf-8-sig", _broken(path)[1])
    if start.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return Encoding("utf-16")
    even, odd = start[::2].count(0), start[1::2].count(0)
    if len(start) >= 16 and max(even, odd) > 0.3 * len(start) / 2 and min(even, odd) < 0.02 * len(start):
        return Encoding("utf-16-le" if odd > even else "utf-16-be")
    sound, broken = _broken(path)
    if broken <= _BROKEN_SHARE * sound:
        return Encoding("utf-8", broken)
    return Encoding("cp1252" if _decodes(path, "cp1252") else "latin-1")


def _broken(path: Path) -> tuple[int, int]:
    """Characters beyond ASCII that decode as UTF-8, and sequences that do not."""
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    sound = replaced = written = 0
    end = b""
    with opened(path) as stream:
        while piece := stream.read(_PIECE):
            if piece.isascii() and not decoder.getstate()[0]:
                end = b""
                continue
            text = decoder.decode(piece)
            replaced += text.count(_LOST)
            sound += len(text) - len(text.encode("ascii", "ignore"))
            # Where the file itself holds this character, nothing is broken.
            written += (end + piece).count(_LOST.encode())
            end = piece[-2:]
        replaced += decoder.decode(b"", final=True).count(_LOST)
    broken = replaced - written
    return sound - broken, broken


def _decodes(path: Path, name: str) -> bool:
    decoder = codecs.getincrementaldecoder(name)()
    with opened(path) as stream:
        try:
            while piece := stream.read(_PIECE):
                decoder.decode(piece)
        except UnicodeDecodeError:
            return False
    return True
