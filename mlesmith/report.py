"""``mlesmith report``: the static site of a job."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from mlesmith.console import Json, emit, say, shown_path


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(report)


def report(
    jobs: Annotated[list[Path], typer.Argument(metavar="JOB_DIR...", help="Job folders of `mlesmith run`.")],
    html: Annotated[Path, typer.Option(help="Where the site goes.")] = Path("report"),
    prices: Annotated[
        Path | None, typer.Option(metavar="FILE", help="A TOML file of prices that override the table.")
    ] = None,
    json: Json = False,
) -> None:
    """Write the report: boards, agreement, figures and a page per trial, readable without a server.

    Example: mlesmith report runs/demo/job --html report
    """
    from harness.models.pricing import read_price_table
    from reports.site import build_site

    index = build_site(jobs, html, prices=read_price_table(prices))
    if json:
        emit({"schema_version": 1, "index": str(index)})
    else:
        say(shown_path(index))
