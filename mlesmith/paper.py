"""``mlesmith paper``: the paper's tables and figures from its published ratings."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from mlesmith.console import EXIT_FELL_SHORT, Json, emit, say, show_table, shown_path


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(paper)


def paper(
    out: Annotated[Path, typer.Option(help="Where tables and figures go.")] = Path("paper"),
    json: Json = False,
) -> None:
    """Regenerate Table 1 (Overall), Table 2 and the figures, and compare Table 2 with the published figures.

    Example: mlesmith paper --out paper

    Exit code 1 when a statistic does not come out as published.
    """
    from reports.paper import regenerate

    summary = regenerate(out)
    if json:
        emit(summary.document())
    else:
        show_table(
            "Published against regenerated",
            ("statistic", "published", "from the repaired table", "from the printed table", "match"),
            summary.rows(),
            left=1,
        )
        say(f"written to {shown_path(out)}")
    if not summary.all_match:
        raise typer.Exit(EXIT_FELL_SHORT)
