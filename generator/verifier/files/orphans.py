"""Media files that belong to no row."""

from __future__ import annotations

from collections.abc import Iterator

from generator.defects.base import Finding
from generator.defects.registry import finding
from generator.verifier.case import Case
from generator.verifier.public.kinds import MEDIA

_FEWEST = 3


def check(case: Case) -> Iterator[Finding]:
    """Files in the folders of the rows' files that no row of train or test names."""
    media = case.media
    if media is None:
        return
    used: set[str] = set()
    folders: set[str] = set()
    for link in (*media.train, *media.test):
        for path in link.paths:
            if not path:
                continue
            for file in media.files_of(path) or ():
                used.add(file.name)
            if not link.is_folder:
                folders.add(path.rpartition("/")[0])
    suffixes = {name.rpartition(".")[2] for name in used}
    alone = [
        name
        for name, file in media.files.items()
        if file.kind in MEDIA
        and name not in used
        and name.rpartition("/")[0] in folders
        and name.rpartition(".")[2] in suffixes
    ]
    if len(alone) >= max(_FEWEST, case.limits.files.orphaned_share * len(used)):
        yield finding(
            "media_orphaned",
            f"{len(alone):,} files lie among the {len(used):,} of the rows and belong to none, "
            f"{alone[0]} for one",
            "drop them, or the rows' ids are not the files' names",
        )
