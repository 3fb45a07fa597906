"""``mlesmith task split``: which split a table calls for."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from mlesmith.console import Json, emit, say


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(split)


def split(
    table: Annotated[Path, typer.Argument(help="The raw table: CSV, TSV, JSON, JSON lines or parquet.")],
    target: Annotated[str, typer.Option(help="The column to predict.")],
    without: Annotated[
        list[str] | None, typer.Option(help="A column that participants will not get; may be repeated.")
    ] = None,
    json: Json = False,
) -> None:
    """Say how to separate train from test, why, and the lines of prepare.py and task.toml that do it.

    Example: mlesmith task split raw/passengers.csv --target survived
    """
    from rich.markup import escape

    from generator.splitadvice import advise_split

    advice = advise_split(table, target, leave_out=tuple(without or ()))
    choice = advice.choice
    if json:
        emit(
            {
                "schema_version": 1,
                "kind": choice.kind,
                "columns": list(choice.columns),
                "reason": choice.reason,
                "target_is": "classes" if advice.classes else "numbers",
                "code": advice.code,
                "toml": advice.toml,
            }
        )
        return
    by = f" by {', '.join(choice.columns)}" if choice.columns else ""
    say(f"[bold]{choice.kind}{escape(by)}[/]: {escape(choice.reason)}")
    say(f"\nIn prepare.py, with the raw table as `table`:\n\n{escape(advice.code)}")
    say(f"In task.toml:\n\n{escape(advice.toml)}")
