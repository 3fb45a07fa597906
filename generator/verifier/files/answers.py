"""Answers that lie in any file under public/: listed in whatever form, or one by one in side files."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from generator.defects.base import Finding
from generator.defects.registry import finding
from generator.verifier.case import Case
from generator.verifier.files.assets import Assets
from generator.verifier.files.wanted import Told, Wanted
from generator.verifier.public.inventory import PublicFile, contents
from generator.verifier.public.kinds import MEDIA, FileKind
from generator.verifier.public.sheets import Sheet, sheets
from generator.verifier.sampling import sampled_rows, told

#: Tables by their name whose text may also be read in other ways.
_LOOSE = ("txt", "json", "tab")


def check(case: Case) -> Iterator[Finding]:
    """Look for the answers in every file but the sample and the test table, which others look at."""
    wanted, assets = Wanted(case), Assets(case)
    searched, of = _searched(case, assets)
    for file in searched:
        for place, found in _first(case, wanted, assets, file):
            note = told(len(searched), of, "files")
            yield finding(
                "answers_public",
                f"public/{place}: column {found.column} tells {found.target} of the test rows: "
                f"{found.how}{note}",
                f"do not write {file.name} to public/, or leave the answers out of it",
            )
    yield from assets.check(wanted)


def _searched(case: Case, assets: Assets) -> tuple[list[PublicFile], int]:
    """The files that are read, and how many there are that could be; assets are put aside."""
    left_out = {case.test_path, case.prepared.sample_path, case.prepared.public / "description.txt"}
    files = [
        file
        for file in case.inventory
        if file.path not in left_out
        and file.kind not in MEDIA
        and file.kind is not FileKind.OTHER
        and not assets.takes_file(file)
    ]
    rows = sampled_rows(len(files), case.limits.files.scanned_files)
    return [files[row] for row in rows], len(files)


def _first(case: Case, wanted: Wanted, assets: Assets, file: PublicFile) -> Iterator[tuple[str, Told]]:
    """The first column of each file or member that tells the answers, with the place."""
    seen: set[str] = set()
    for origin, sheet in _sheets(case, assets, file):
        if origin in seen:
            continue
        # Training rows are in no order of the test rows.
        found = next(wanted.told_by(sheet.frame, ordered=sheet.frame is not case.train), None)
        if found is not None:
            seen.add(origin)
            yield sheet.name, found


def _sheets(case: Case, assets: Assets, file: PublicFile) -> Iterator[tuple[str, Sheet]]:
    table = case.tables.get(file.path)
    if table is not None:
        yield file.name, Sheet(file.name, table)
        if file.suffix not in _LOOSE:
            return
    for content in contents(file, case.limits.files):
        if content.kind in MEDIA or content.kind is FileKind.OTHER or _is_own(case, file.path, content.name):
            continue
        if assets.takes_member(content):
            continue
        for sheet in sheets(content, case.limits.files.text_bytes):
            yield content.name, sheet


def _is_own(case: Case, archive: Path, member: str) -> bool:
    """Whether a member of an archive is the packed sample or test table, by its name."""
    base = Path(member).name
    names = {case.prepared.sample_path.name, case.test_path.name if case.test_path else ""}
    return archive.name != base and base in names
