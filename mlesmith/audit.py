"""``mlesmith audit``: whether a published rating table can be true."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from mlesmith.console import EXIT_FELL_SHORT, Json, emit, number, say, show_table, shown_path

SHOWN = 5


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(audit)


def audit(
    table: Annotated[
        Path, typer.Argument(metavar="TABLE.csv", help="The column model, and one column of Elo per set.")
    ],
    statistics: Annotated[
        Path | None,
        typer.Option(
            help="Published statistics: columns sets (joined by +), statistic, value; or pair (a-b) and one "
            "column per statistic."
        ),
    ] = None,
    offset: Annotated[
        float, typer.Option(min=-1e6, max=1e6, help="What the ratings of every set average to.")
    ] = 1000.0,
    whole: Annotated[
        list[str] | None, typer.Option(metavar="WHOLE=A+B", help="A set that pools others; repeatable.")
    ] = None,
    json: Json = False,
) -> None:
    """Find what cannot be true of a published rating table, and which small error would explain it.

    Example: mlesmith audit table.csv --statistics agreement.csv --whole combined=dojo+smith

    A repair is an inference from the figures, never a correction. Exit code 1 when something was found.
    """
    from reports.audit import audit_of_files

    document = audit_of_files(table, statistics, offset=offset, wholes=whole or ())
    if json:
        emit(document)
    else:
        show(table, document)
    if not document["ok"]:
        raise typer.Exit(EXIT_FELL_SHORT)


def show(path: Path, document: dict[str, Any]) -> None:
    """Print the audit document for people."""
    from rich.markup import escape

    from reports.templating import count

    findings, statistics, repairs = (document[key] for key in ("findings", "statistics", "repairs"))
    verdict = "consistent" if document["ok"] else count(len(findings), "finding")
    reproduced = sum(item["reproduced"] for item in statistics)
    of = (
        f"; {reproduced} of {len(statistics)} published statistics follow from the ratings"
        if statistics
        else ""
    )
    say(f"{escape(shown_path(path))}: {verdict}{of}")
    if findings:
        show_table(
            "Findings",
            ("severity", "code", "where", "evidence"),
            ((f["severity"], f["code"], escape(f["where"]), escape(f["evidence"])) for f in findings),
            left=4,
        )
    if repairs:
        show_table(
            "Repairs that would explain them, best first: inferences, not corrections",
            ("model", "kind", "changes", "statistics", "restored", "findings left"),
            (
                (
                    escape(repair["model"]),
                    repair["kind"],
                    ", ".join(
                        f"{escape(name)} {number(c['printed'], document['decimals'])} -> "
                        f"{number(c['repaired'], document['decimals'])}"
                        for name, c in repair["changes"].items()
                    ),
                    f"{repair['reproduced']} of {repair['total']}",
                    str(repair["restored"]),
                    str(len(repair["remaining"])),
                )
                for repair in repairs[:SHOWN]
            ),
            left=3,
        )
    for line in document["notes"]:
        say(f"note: {escape(line)}")
