"""``mlesmith board``: build and check leaderboards."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from mlesmith.console import EXIT_FELL_SHORT, Json, emit, say, shown_path

app = typer.Typer(help="Build and check leaderboards.", no_args_is_help=True, rich_markup_mode=None)


@app.command()
def build(
    jobs: Annotated[list[Path], typer.Argument(metavar="JOB_DIR...", help="Job folders of `mlesmith run`.")],
    out: Annotated[Path, typer.Option(help="Where the files go.")] = Path("boards"),
    seed: Annotated[int, typer.Option(help="Seed of the rank intervals.")] = 0,
    prices: Annotated[
        Path | None, typer.Option(help="A TOML file of prices that override the table.")
    ] = None,
    json: Json = False,
) -> None:
    """Build a board per task set, one of all sets combined, and one per modality; with the scores of each.

    Example: mlesmith board build runs/demo/job --out boards
    """
    from harness.models.pricing import read_price_table
    from leaderboards.board import build_boards

    table = None if prices is None else read_price_table(prices)
    written = build_boards(jobs, out, seed=seed, prices=table)
    if json:
        files = [
            {
                "csv": str(item.csv),
                "json": str(item.json),
                "scores": str(item.scores),
                "unpriced": [row.model for row in item.board.rows if row.n_unpriced],
            }
            for item in written
        ]
        emit({"schema_version": 1, "boards": files})
        return
    from rich.markup import escape

    for item in written:
        say(escape(str(shown_path(item.csv))))
    if unpriced := sorted({row.model for item in written for row in item.board.rows if row.n_unpriced}):
        say(escape(f"unpriced, so without a cost: {', '.join(unpriced)}; --prices FILE gives their prices"))


@app.command()
def check(
    board: Annotated[Path, typer.Argument(metavar="BOARD.csv", help="A board file.")], json: Json = False
) -> None:
    """Check that a board's columns, ranks, ratings and intervals agree with each other.

    Example: mlesmith board check boards/board-smith.csv

    Exit code 1 when something is wrong.
    """
    from leaderboards.check import check_board

    result = check_board(board)
    if json:
        findings = [
            {"code": f.code, "severity": str(f.severity), "evidence": f.evidence} for f in result.findings
        ]
        emit({"schema_version": 1, "ok": result.ok, "findings": findings})
    else:
        from rich.markup import escape

        say(f"{escape(str(shown_path(board)))}: {'ok' if result.ok else 'not ok'}")
        for finding in result.findings:
            say(f"  {finding.severity} {finding.code}: {escape(finding.evidence)}")
    if not result.ok:
        raise typer.Exit(EXIT_FELL_SHORT)
