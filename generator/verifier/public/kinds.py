"""What a file holds, by its name and its first bytes."""

from __future__ import annotations

from enum import StrEnum

_SUFFIXES = {
    "table": "csv tsv tab json jsonl ndjson parquet xlsx sqlite sqlite3 db",
    "array": "npy npz mat pkl pickle",
    "text": "txt md log xml html htm yaml yml toml ini cfg nmea srt tex rst dat ids lst",
    "image": "png jpg jpeg gif bmp tif tiff webp ppm pgm pbm ico",
    "audio": "wav flac ogg mp3 aif aiff au opus",
    "archive": "zip tar tgz tbz2 txz gz bz2 xz",
}
_BY_SUFFIX = {suffix: kind for kind, words in _SUFFIXES.items() for suffix in words.split()}
_PACKED = (".gz", ".bz2", ".xz")
#: First bytes that tell a format, whatever the file is called: the suffix that it should have had.
_MAGIC = (
    (b"PK\x03\x04", "zip"),
    (b"\x1f\x8b", "gz"),
    (b"BZh", "bz2"),
    (b"\xfd7zXZ\x00", "xz"),
    (b"SQLite format 3\x00", "sqlite"),
    (b"\x93NUMPY", "npy"),
    (b"MATLAB 5.0", "mat"),
    (b"PAR1", "parquet"),
    (b"\x89PNG", "png"),
    (b"\xff\xd8\xff", "jpg"),
    (b"GIF8", "gif"),
    (b"RIFF", "wav"),
    (b"fLaC", "flac"),
    (b"OggS", "ogg"),
)
HEAD_BYTES = 4_096


class FileKind(StrEnum):
    """What a file holds."""

    TABLE = "table"
    ARRAY = "array"
    TEXT = "text"
    IMAGE = "image"
    AUDIO = "audio"
    ARCHIVE = "archive"
    OTHER = "other"


MEDIA = frozenset({FileKind.IMAGE, FileKind.AUDIO})


def suffix_of(name: str) -> str:
    """The last suffix of a name, lower case, without the dot."""
    # Asked for hundreds of thousands of members, for which a path object each takes too long.
    stem, _, suffix = name.rpartition("/")[2].rpartition(".")
    return suffix.lower() if stem else ""


def kind_by_name(name: str) -> FileKind:
    """What a file of that name should hold; a packed file is an archive."""
    return FileKind(_BY_SUFFIX.get(suffix_of(name), "other"))


def unpacked_name(name: str) -> str:
    """The name without the suffix of a packer: ``train.csv.gz`` holds ``train.csv``."""
    lowered = name.lower()
    for suffix in _PACKED:
        if lowered.endswith(suffix):
            return name[: -len(suffix)]
    return name


def suffix_by_content(head: bytes) -> str | None:
    """The suffix that fits the first bytes of a file, or ``None``."""
    for magic, suffix in _MAGIC:
        if head.startswith(magic):
            return suffix
    if head[257:262] == b"ustar":
        return "tar"
    if head.lstrip()[:1] in (b"{", b"[") and looks_like_text(head):
        return "json"
    return "txt" if looks_like_text(head) else None


def looks_like_text(head: bytes) -> bool:
    """Whether the first bytes of a file are characters of UTF-8."""
    if not head or b"\0" in head:
        return False
    try:
        head[: max(1, len(head) - 4)].decode("utf-8")
    except UnicodeDecodeError as error:
        return error.start >= len(head) - 8
    return True
