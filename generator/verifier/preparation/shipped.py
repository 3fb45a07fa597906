"""The data that a package ships, beside what its prepare.py makes."""

from __future__ import annotations

import shutil
import tarfile
import zipfile
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from generator.defects.base import Finding, Severity
from generator.defects.registry import finding
from generator.verifier.preparation.differences import FOLDERS, difference, prepared_files
from harness.tasks.package import Task

_BOARDS = frozenset({"private/public_leaderboard.csv", "private/private_leaderboard.csv"})
_FIX_LINKS = "copy the data instead of linking them"


def check_shipped(shipped: Task, made: Task) -> Iterator[Finding]:
    """Compare what is shipped with what prepare.py makes."""
    if not any((shipped.root / name).is_dir() for name in FOLDERS):
        yield finding(
            "not_prepared", "public/ and private/ are not there; they were made for this check", "none"
        )
        return
    found = difference(shipped.root, made.root, ignore=_BOARDS, names=("shipped", "made now"))
    if found is None:
        return
    yield finding(
        "stale_data",
        f"what is shipped is not what prepare.py makes: {found.words}",
        f"run `mlesmith task prepare {shipped.id}` and ship the result",
        # What differs only as packed holds the same for a participant.
        Severity.INFO if found.packing else None,
    )


def add_extras(shipped: Task, made: Task) -> None:
    """Copy files of ``public/`` that only the shipped package has to what was made: participants see them."""
    known = prepared_files(made.root)
    for name, path in prepared_files(shipped.root).items():
        if name.startswith("public/") and name not in known and not path.is_symlink():
            place = made.root / name
            place.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, place)


def check_links(task: Task) -> Iterator[Finding]:
    """Links that lead out of ``public/`` or ``private/``, and archives that unpack beside themselves."""
    for name in FOLDERS:
        folder = task.root / name
        if folder.is_symlink():
            yield finding("linked_output", f"{name} is a link to {folder.readlink()}", _FIX_LINKS)
            continue
        for path in sorted(folder.rglob("*")) if folder.is_dir() else ():
            where = path.relative_to(task.root).as_posix()
            if path.is_symlink() and not path.resolve().is_relative_to(folder.resolve()):
                yield finding("linked_output", f"{where} is a link to {path.readlink()}", _FIX_LINKS)
                return
            if name == "public" and (escaping := _escaping(path)):
                yield finding(
                    "linked_output",
                    f"{where} holds {escaping}, which unpacks outside the folder",
                    "pack the files with relative paths, without .. and without links",
                )
                return


def _escaping(path: Path) -> str | None:
    """A member of an archive that lies outside of where the archive is unpacked."""
    name = path.name.lower()
    try:
        if name.endswith(".zip"):
            with zipfile.ZipFile(path) as packed:
                return next((member for member in packed.namelist() if _leads_out(member)), None)
        if name.endswith((".tar", ".tar.gz", ".tgz", ".tar.bz2", ".tar.xz")):
            with tarfile.open(path) as rolled:
                return next(
                    (m.name for m in rolled if _leads_out(m.name) or (m.issym() and _leads_out(m.linkname))),
                    None,
                )
    except (OSError, ValueError, EOFError, zipfile.BadZipFile, tarfile.TarError):
        return None
    return None


def _leads_out(name: str) -> bool:
    path = PurePosixPath(name.replace("\\", "/"))
    return path.is_absolute() or ".." in path.parts
