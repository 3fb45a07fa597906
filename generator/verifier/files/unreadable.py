"""Media files that cannot be opened."""

from __future__ import annotations

from collections.abc import Iterator

from generator.defects.base import Finding, Severity
from generator.defects.registry import finding
from generator.verifier.case import Case
from generator.verifier.files.decoded import Decoded, decoded
from generator.verifier.sampling import told


def check(case: Case) -> Iterator[Finding]:
    """Empty, truncated and mislabelled files among those of the rows."""
    parts = [part for part in (decoded(case, "train"), decoded(case, "test")) if part is not None]
    broken = [name for part in parts for name in part.broken]
    looked_at, of = sum(part.looked_at for part in parts), sum(part.of for part in parts)
    if broken:
        share = len(broken) / looked_at
        yield finding(
            "media_unreadable",
            f"{len(broken)} of {looked_at:,} media files cannot be opened, {broken[0]} for one"
            f"{_reason(parts, broken[0])}{told(looked_at, of, 'files')}",
            "ship whole files, in the format that their names say",
            None if share >= case.limits.files.unreadable_share else Severity.WARNING,
        )


def _reason(parts: list[Decoded], name: str) -> str:
    reason = next((part.broken[name] for part in parts if name in part.broken), "")
    return f" ({reason})" if reason else ""
