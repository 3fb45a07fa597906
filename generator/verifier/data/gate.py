"""Gate 3: the prepared tables, part by part, then leaks and files."""

from __future__ import annotations

from collections.abc import Iterator

from generator.defects.base import Finding, has_errors
from generator.verifier.case import Case
from generator.verifier.data import (
    answers,
    categories,
    classes,
    columns,
    drift,
    exhibit,
    ids,
    orders,
    privacy,
    sample,
    shift,
    side_tables,
    types,
)
from generator.verifier.files import gate as files
from generator.verifier.leaks import gate as leaks

_PARTS = (
    ids.check_tables,
    answers.check,
    sample.check,
    columns.check,
    classes.check,
    shift.check,
    types.check,
    categories.check,
    drift.check,
    side_tables.check,
    privacy.check,
    orders.check,
)


def check(case: Case) -> Iterator[Finding]:
    """Findings about the data that prepare.py makes."""
    repeated = list(ids.check(case))
    yield from repeated
    if has_errors(repeated):
        return
    for part in _PARTS:
        yield from part(case)
    exhibit.show(case)
    yield from leaks.check(case)
    yield from files.check(case)
