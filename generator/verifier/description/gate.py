"""Gate 6: the description against the real files."""

from __future__ import annotations

import re
from collections.abc import Iterator

from generator.defects.base import Finding, Severity
from generator.defects.registry import finding
from generator.verifier.case import Case


def check(case: Case) -> Iterator[Finding]:
    """Findings about description.txt."""
    text = case.task.description_path.read_text(encoding="utf-8")
    columns = (case.id_column, *case.targets)
    unnamed = [column for column in columns if not _names(text, column)]
    if unnamed:
        yield finding(
            "description_columns",
            f"description.txt does not name {', '.join(unnamed[:5])}"
            + (f" and {len(unnamed) - 5} more" if len(unnamed) > 5 else ""),
            "say which columns a submission has",
            Severity.ERROR if len(unnamed) == len(columns) else Severity.WARNING,
        )


def _names(text: str, column: str) -> bool:
    return re.search(rf"(?<!\w){re.escape(column)}(?!\w)", text) is not None
