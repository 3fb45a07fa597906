"""The part of the data gate that looks into files: archives, side files, media."""

from __future__ import annotations

from collections.abc import Iterator

from generator.defects.base import Finding
from generator.verifier.case import Case
from generator.verifier.files import (
    answers,
    metadata,
    missing,
    neighbours,
    orphans,
    paths,
    raw,
    shared,
    texts,
    unreadable,
)

_PARTS = (answers, raw, missing, orphans, unreadable, paths, metadata, shared, neighbours, texts)


def check(case: Case) -> Iterator[Finding]:
    """Findings about files under public/, and about texts that all but repeat."""
    for part in _PARTS:
        yield from part.check(case)
