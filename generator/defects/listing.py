"""The list of all defects, as data and as a page."""

from __future__ import annotations

from typing import Any

from generator.defects.base import Gate
from generator.defects.registry import DEFECTS

SCHEMA_VERSION = 1


def listing() -> dict[str, Any]:
    """The document that ``mlesmith verifier codes --json`` prints."""
    return {
        "schema_version": SCHEMA_VERSION,
        "defects": [
            {
                "code": code,
                "gate": str(defect.gate),
                "severity": str(defect.severity),
                "meaning": defect.meaning,
                "example": defect.example,
            }
            for code, defect in DEFECTS.items()
        ],
    }


def listing_page() -> str:
    """The same as a page of Markdown, a table for each gate."""
    lines = [
        "# What can the verifier report?",
        "",
        "This page is written by `mlesmith verifier codes --markdown docs/defects.md`. Codes stay the same "
        "from release to release. `error` rejects the task, `warning` asks its author to look, `info` "
        "explains; the severities are the usual ones, from which a gate may depart where it knows better. "
        "How well defects are found is shown in [verifier-selftest.md](verifier-selftest.md).",
    ]
    for gate in Gate:
        defects = {code: defect for code, defect in DEFECTS.items() if defect.gate is gate}
        if not defects:
            continue
        lines += [
            "",
            f"## {gate}",
            "",
            "| code | severity | meaning | example of evidence |",
            "|---|---|---|---|",
        ]
        for code, defect in defects.items():
            lines.append(
                f"| `{code}` | {defect.severity} | {_cell(defect.meaning)} | {_cell(defect.example)} |"
            )
    return "\n".join(lines) + "\n"


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ").replace("<", "&lt;")
