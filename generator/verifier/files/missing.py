"""Files that rows name and that are not there."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pandas as pd

from generator.defects.base import Finding, Severity
from generator.defects.registry import finding
from generator.verifier.case import Case
from generator.verifier.public.kinds import MEDIA, kind_by_name
from generator.verifier.public.media import Link, test_rows
from generator.verifier.sampling import sampled_rows

_LOOKED_AT = 500
_NAMES = 0.9
_NEEDS_FILES = ("image", "audio", "video", "mixed")


def check(case: Case) -> Iterator[Finding]:
    """Rows of train and test without their files."""
    linked: set[str] = set()
    if case.media is not None:
        for side, links in (("training", case.media.train), ("test", case.media.test)):
            for column in dict.fromkeys(link.column for link in links):
                linked.add(column)
                yield from _check_column(case, side, [link for link in links if link.column == column])
    for side, table in (("training", case.train), ("test", test_rows(case))):
        if table is not None:
            yield from _check_unlinked(case, side, table, linked)


def _check_column(case: Case, side: str, links: list[Link]) -> Iterator[Finding]:
    """One column. A pattern that most rows follow holds for all; else any of them is enough."""
    for link in links:
        gone = link.expected.ne("") & link.paths.eq("")
        if len(links) > 1:
            # Rows of one table in several folders or formats follow one pattern each.
            others = [other.paths.ne("") for other in links if other is not link]
            covered = pd.concat(others, axis=1).any(axis=1)
            if link.paths.ne("").mean() < 1 - case.limits.files.linked_share / 2:
                gone &= ~covered
        if gone.any():
            share = float(gone.mean())
            yield finding(
                "media_missing",
                f"{int(gone.sum()):,} of {len(gone):,} {side} rows ({share:.1%}) name by {link.column} a "
                f"file that is not there, {link.expected[gone].iloc[0]} for one",
                "ship every file that a row names, or drop the rows without one",
                None if share >= case.limits.files.missing_share else Severity.WARNING,
            )
            return


def _check_unlinked(case: Case, side: str, table: pd.DataFrame, linked: set[str]) -> Iterator[Finding]:
    """Columns of file names none of which is under public/."""
    for column in table.columns:
        if column in linked:
            continue
        cells = table[column].iloc[sampled_rows(len(table), _LOOKED_AT)]
        named = [cell for cell in cells if "://" not in cell and kind_by_name(cell) in MEDIA]
        if len(cells) and len(named) >= _NAMES * len(cells):
            unread = case.packed.unread
            there = sum(_is_there(case.prepared.public, cell) for cell in named)
            if there >= _NAMES * len(named):
                continue
            yield finding(
                "media_missing",
                f"the {side} rows name files by {column}, {named[0]} for one, and {there} of {len(named)} "
                "looked at are under public/" + (f"; {unread[0]} could not be looked into" if unread else ""),
                "ship the files, or drop the column",
                None if case.task.spec.modality in _NEEDS_FILES and not unread else Severity.WARNING,
            )


def _is_there(public: Path, cell: str) -> bool:
    try:
        return (public / cell.lstrip("/")).is_file()
    except (OSError, ValueError):
        return False
