"""Whether the media of the raw data are the media of the task: none invented, and not many lost."""

from __future__ import annotations

import zipfile
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path, PurePosixPath

import pandas as pd

from generator.defects.base import Finding, Severity
from generator.defects.registry import finding
from generator.verifier.case import Case
from generator.verifier.preparation.raw_tables import RawTable
from generator.verifier.preparation.tracing import same_names

_MEDIA = frozenset(
    {
        *(".png", ".jpg", ".jpeg", ".bmp", ".gif", ".tif", ".tiff", ".webp", ".dcm"),
        *(".wav", ".mp3", ".flac", ".ogg", ".m4a", ".aif", ".aiff", ".mp4", ".avi", ".mov", ".mkv"),
    }
)
#: Fewer files than these are a logo or an example.
_LEAST = 20
#: A column of a raw table names media when so many of its cells do.
_NAMED = 0.9


def check_media(case: Case, tables: Sequence[RawTable]) -> Iterator[Finding]:
    """Media files by content, where most were not converted; then those that no row uses."""
    raw, public = _named(case.task.raw), _named(case.prepared.public)
    if len(raw) < _LEAST or not public:
        return
    findings = list(_check_contents(case, _contents(raw), _contents(public)))
    yield from findings
    if not any(found.code == "rows_lost" for found in findings):
        yield from _check_used(case, tables, raw, public)


def _check_contents(case: Case, raw: dict[str, str], made: dict[str, str]) -> Iterator[Finding]:
    limits = case.limits.preparation
    kept = raw.keys() & made.keys()
    if len(raw) < _LEAST or len(kept) < limits.main_share * len(made):
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


def _check_used(
    case: Case, tables: Sequence[RawTable], raw: dict[str, str], public: dict[str, str]
) -> Iterator[Finding]:
    """Media that train and test use beside those that could be used, converted or not."""
    limits, used = case.limits.preparation, _used(case)
    usable = _labelled(case, tables, raw)
    if usable is None and len(set(raw.values()) & set(public.values())) >= limits.main_share * len(public):
        usable = len(set(raw.values()))
    if used is None or usable is None:
        return
    lost = usable - used
    if lost >= limits.least_rows and lost > limits.lost * usable:
        yield finding(
            "rows_lost",
            f"raw/ has {usable:,} usable media files, of which the rows of train and test use {used:,} "
            f"({lost / usable:.1%} fewer)",
            "use all media that have a target, or say in description.txt which part is used and why",
        )


def _used(case: Case) -> int | None:
    """How many files the rows of train and test name, unless those of one side name none."""
    media, train, count = case.media, case.train, 0
    if media is None or train is None:
        return None
    sides = [media.test]
    if case.train_path in case.tables:
        sides.append(media.train)
    else:
        count += len(train)
    for links in sides:
        each = [{file.name for path in link.paths for file in media.files_of(path)} for link in links]
        if not any(each):
            return None
        count += max(map(len, each))
    return count


def _labelled(case: Case, tables: Sequence[RawTable], raw: dict[str, str]) -> int | None:
    """How many media, twins counted once, the labelled rows of a raw table name; ``None`` where none does."""
    known: dict[str, str] = {}
    for name, content in raw.items():
        path = PurePosixPath(name)
        for word in (
            name,
            path.name,
            path.stem,
            *("/".join(path.parts[at:]) for at in range(len(path.parts))),
        ):
            known.setdefault(word, content)
    for table in tables:
        targets = list(same_names(pd.DataFrame(columns=case.targets), table).values())
        # Under another name the target may be any column: then all must be filled in.
        labelled = table.rows.dropna(subset=targets or None)
        for name in labelled.columns:
            contents = labelled[name].astype(str).map(known)
            if len(contents) >= _LEAST and contents.notna().mean() >= _NAMED:
                return int(contents.nunique())
    return None


def _named(folder: Path) -> dict[str, str]:
    """The contents of media files by name; those in zip archives as well."""
    found: dict[str, str] = {}
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        name = path.relative_to(folder).as_posix()
        if path.suffix.lower() in _MEDIA:
            found[name] = f"{path.stat().st_size}-{_checksum(path)}"
        elif path.suffix.lower() == ".zip":
            found |= {f"{name}/{inner}": content for content, inner in _packed(path)}
    return found


def _contents(named: dict[str, str]) -> dict[str, str]:
    """The first name of each content."""
    found: dict[str, str] = {}
    for name, content in named.items():
        found.setdefault(content, name)
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
