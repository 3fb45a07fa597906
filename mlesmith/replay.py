"""``mlesmith trial replay``: a recorded trial run again without its model."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from mlesmith.console import EXIT_FELL_SHORT, Json, emit, say, shown_path

#: Requests that are named one by one; the others are counted.
_NAMED = 3


def register(app: typer.Typer) -> None:
    """Add the command to those of ``mlesmith trial``."""
    app.command()(replay)


def replay(
    folder: Annotated[
        Path,
        typer.Argument(
            metavar="TRIAL_DIR", help="A trial's folder: <job>/trials/<set>/<task>/<model>/<attempt>."
        ),
    ],
    out: Annotated[Path, typer.Option(help="The folder of the new trial; it must not exist yet.")],
    strict: Annotated[
        bool,
        typer.Option("--strict", help="End at the first request that differs in more than times."),
    ] = False,
    json: Json = False,
) -> None:
    """Run a trial again with its model's recorded answers: no network, no key, no cost; tell what differs.

    Example: mlesmith trial replay runs/mine/trials/reference/iris/vllm--small/1 --out /tmp/replayed

    Exit code 1 when something came out otherwise than recorded.
    """
    from rich.markup import escape

    from harness.replaying import replay_trial

    done = replay_trial(folder, out, strict=strict)
    if json:
        emit(
            {
                "schema_version": 1,
                "trial": str(done.trial),
                "out": str(done.out),
                "same": done.same,
                "exchanges": {"recorded": done.recorded, "played": done.played},
                "requests": [
                    {"exchange": d.number, "place": d.place, "recorded": d.recorded, "now": d.now}
                    for d in done.requests
                ],
                "differences": list(done.differences),
            }
        )
    else:
        for line in done.differences:
            say(escape(f"  {line}"))
        for difference in done.requests[:_NAMED]:
            say(escape(f"  {difference}"))
        if len(done.requests) > _NAMED:
            say(f"  and {len(done.requests) - _NAMED} more requests differ")
        word = "the same" if done.same else "not the same"
        say(
            escape(
                f"{word}: {done.played} of {done.recorded} recorded exchanges played; "
                f"the new trial is in {shown_path(done.out)}"
            )
        )
    if not done.same:
        raise typer.Exit(EXIT_FELL_SHORT)
