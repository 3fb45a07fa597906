"""The audit of a published rating table as a strict JSON document: what ``mlesmith audit --json`` prints."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from harness.errors import InputError
from leaderboards.audit import parse_whole, read_statistics, read_table
from reports.tables import Table

if TYPE_CHECKING:
    from stats.audit.consistency import Audit

SCHEMA_VERSION = 1


def audit_of_files(
    table: Path, statistics: Path | None = None, *, offset: float = 1000.0, wholes: Sequence[str] = ()
) -> dict[str, Any]:
    """Audit a CSV of ratings against a CSV of published statistics, with the places both were printed with.

    Args:
        table, statistics: see :mod:`leaderboards.audit`.
        offset: what the ratings of every set average to.
        wholes: sets that pool others, as ``combined=dojo+smith``.

    Raises:
        InputError: names the file, the line, the column and the fix.
    """
    from stats.audit.consistency import audit

    pooled: dict[str, tuple[str, ...]] = {}
    for name, parts in map(parse_whole, wholes):
        if name in pooled:
            raise InputError(f"--whole: {name} is given twice; keep one")
        pooled[name] = parts
    printed = read_table(table)
    figures = None if statistics is None else read_statistics(statistics, list(printed.ratings.columns))
    try:
        result = audit(
            printed.ratings,
            published=None if figures is None else figures.statistics,
            offset=offset,
            wholes=pooled,
            decimals=printed.decimals,
            statistic_decimals=3 if figures is None else figures.decimals,
        )
    except ValueError as error:
        # What the readers let pass: an unknown statistic, or a whole that is not a set of the table.
        about_wholes = statistics is None or str(error).startswith(("whole ", "offset "))
        path = table if about_wholes else statistics
        raise InputError(f"{path}: {error}; correct that name or value") from error
    return audit_document(result, decimals=printed.decimals)


def audit_document(result: Audit, *, decimals: int) -> dict[str, Any]:
    """An audit as strict JSON data; undefined figures are ``None``.

    Returns:
        Keys schema_version, ok, sets, models, decimals, findings, statistics, pooled, repairs (best first)
        and notes.
    """
    return {
        "schema_version": SCHEMA_VERSION,
        "ok": result.ok,
        "sets": list(result.sets),
        "models": list(result.models),
        "decimals": decimals,
        "findings": [
            {"code": f.code, "severity": str(f.severity), "where": f.where, "evidence": f.evidence}
            for f in result.findings
        ],
        "statistics": [
            {
                "statistic": item.statistic,
                "sets": list(item.sets),
                "published": item.published,
                "recomputed": _number(item.recomputed),
                "reproduced": item.reproduced,
                "low": _number(item.low),
                "high": _number(item.high),
                "within_rounding": item.within_rounding,
            }
            for item in result.statistics
        ],
        "pooled": [
            {
                "whole": item.whole,
                "shares": dict(zip(item.parts, item.shares, strict=True)),
                "deviations": dict(zip(result.models, map(float, item.deviations), strict=True)),
                "tolerance": item.tolerance,
                "within_rounding": item.exact,
            }
            for item in result.pooled
        ],
        "repairs": [
            {
                "kind": repair.kind,
                "model": repair.model,
                "changes": {
                    name: {"printed": before, "repaired": after}
                    for name, (before, after) in repair.changes.items()
                },
                "solved": list(repair.solved),
                "uncertainty": repair.uncertainty,
                "restored": repair.restored,
                "reproduced": repair.reproduced,
                "total": repair.total,
                "means_restored": repair.means_restored,
                "remaining": list(repair.remaining),
            }
            for repair in result.repairs
        ],
        "notes": list(result.notes),
    }


def findings_table(document: Mapping[str, Any], *, title: str) -> Table:
    """The findings of an audit document."""
    columns = ("severity", "code", "where", "evidence")
    rows = [[finding[column] for column in columns] for finding in document["findings"]]
    return Table(title=title, frame=pd.DataFrame(rows, columns=list(columns)))


def repairs_table(
    document: Mapping[str, Any], *, title: str, best: int = 5, notes: Sequence[str] = ()
) -> Table:
    """The best repairs of an audit document, one row each."""
    places = document["decimals"]
    rows = [
        {
            "model": repair["model"],
            "kind": repair["kind"],
            "changes": ", ".join(
                f"{name} {change['printed']:.{places}f} → {change['repaired']:.{places}f}"
                for name, change in repair["changes"].items()
            ),
            "reproduced": f"{repair['reproduced']} of {repair['total']}",
            "means_restored": repair["means_restored"],
            "findings_left": len(repair["remaining"]),
        }
        for repair in document["repairs"][:best]
    ]
    return Table(
        title=title,
        frame=pd.DataFrame(rows),
        formats={"means_restored": ".0f", "findings_left": ".0f"},
        headers={
            "reproduced": "statistics reproduced",
            "means_restored": "means restored",
            "findings_left": "findings left",
        },
        notes=notes,
    )


def _number(value: float) -> float | None:
    return value if math.isfinite(value) else None
