"""Gate 6: the description against the real files."""

from __future__ import annotations

from collections.abc import Iterator

from generator.defects.base import Finding
from generator.verifier.case import Case
from generator.verifier.description import (
    columns,
    counts,
    direction,
    files,
    labels,
    metric,
    omits,
    reveals,
    rows,
)
from generator.verifier.description.text import Text


def check(case: Case) -> Iterator[Finding]:
    """Findings about description.txt."""
    text = Text(case.task.description_path.read_text(encoding="utf-8"))
    for part in (columns, omits, files, metric, direction, rows, counts, reveals, labels):
        yield from part.check(case, text)
