"""Whether the media of the raw data are the media of the task: none invented, and not many lost."""

from __future__ import annotations

import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path

from generator.defects.base import Finding, Severity
from generator.defects.registry import finding
from generator.verifier.case import Case

_MEDIA = frozenset(
    {
        *(".png", ".jpg", ".jpeg", ".bmp", ".gif", ".tif", ".tiff", ".webp", ".dcm"),
        *(".wav", ".mp3", ".flac", ".ogg", ".m4a", ".aif", ".aiff", ".mp4", ".avi", ".mov", ".mkv"),
    }
)
#: Fewer files than these are a logo or an example.
_LEAST = 20


def check_media(case: Case) -> Iterator[Finding]:
    """Media files by content; nothing is said where most were converted, or hardly any are there."""
    limits = case.limits.preparation
    raw, made = _contents(case.task.raw), _contents(case.prepared.public)
    if len(raw) < _LEAST or not made:
        return
    kept = raw.keys() & made.keys()
    if len(kept) < limits.main_share * len(made):
        return
    invented = sorted(made[key] for key in made.keys() - kept)
    if len(invented) >= max(limits.least_rows, limits.invented * len(made)):
        yield finding(
            "rows_invented",
            f"{len(invented):,} of {len(made):,} media files under public/ have no counterpart in raw/, "
            f"{invented[0]} for one",
            "copy media from raw/ only, or describe in description.txt how others were made",
        )
    lost = [key for key in raw if key not in kept]
    if len(lost) >= limits.least_rows and len(lost) > limits.lost * len(raw):
        order = sorted(raw, key=lambda key: raw[key])
        cut = set(order[: len(kept)]) == kept
        yield finding(
            "rows_lost",
            f"{len(lost):,} of {len(raw):,} media files of raw/ ({len(lost) / len(raw):.1%}) are not under "
            "public/" + (f"; what is there are the first {len(kept):,} by name" if cut else ""),
            "use all media, or say in description.txt which part is used and why",
            Severity.ERROR if cut and len(lost) > limits.most_lost * len(raw) else None,
        )


def _contents(folder: Path) -> dict[str, str]:
    """Media files by content, each with the first name it has; those in zip archives as well."""
    found: dict[str, str] = {}
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        name = path.relative_to(folder).as_posix()
        if path.suffix.lower() in _MEDIA:
            found.setdefault(f"{path.stat().st_size}-{_checksum(path)}", name)
        elif path.suffix.lower() == ".zip":
            for content, inner in _packed(path):
                found.setdefault(content, f"{name}/{inner}")
    return found


def _packed(archive: Path) -> list[tuple[str, str]]:
    try:
        with zipfile.ZipFile(archive) as packed:
            return [
                (f"{member.file_size}-{member.CRC:08x}", member.filename)
                for member in packed.infolist()
                if Path(member.filename).suffix.lower() in _MEDIA
            ]
    except (OSError, ValueError, zipfile.BadZipFile):
        return []


def _checksum(path: Path) -> str:
    """The checksum that zip archives hold of their members, so that both can be compared."""
    total = 0
    with path.open("rb") as stream:
        while piece := stream.read(1 << 20):
            total = zlib.crc32(piece, total)
    return f"{total:08x}"
