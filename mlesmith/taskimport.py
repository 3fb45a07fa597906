"""``mlesmith task import``: tasks of other benchmarks as packages of ours."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from mlesmith.console import Grouped, Json, SandboxName, Trust, emit, say
from mlesmith.task import provider_for


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("import", cls=Grouped)(import_one)


def import_one(
    definition: Annotated[
        Path,
        typer.Argument(
            help="A checkout's mledojo/competitions/NAME (MLE-Dojo) or mlebench/competitions/ID (mle-bench)."
        ),
    ],
    data: Annotated[
        Path,
        typer.Option(
            help="MLE-Dojo: the folder with public/ and private/. mle-bench: the folder of raw data."
        ),
    ],
    out: Annotated[Path, typer.Option(help="Where the package goes.")] = Path("tasks"),
    modality: Annotated[
        str | None, typer.Option(help="tabular, text, image, audio, ...", show_default=False)
    ] = None,
    objective: Annotated[
        str | None, typer.Option(help="classification, regression, ...", show_default=False)
    ] = None,
    id_column: Annotated[
        str | None, typer.Option(help="The column of the ids.", show_default="the sample's first")
    ] = None,
    higher: Annotated[
        bool | None,
        typer.Option(
            "--higher-is-better/--lower-is-better",
            help="The metric's direction, where a checkout of mle-bench has no leaderboard.",
            show_default=False,
        ),
    ] = None,
    best: Annotated[
        float | None, typer.Option(help="The metric's best value.", show_default="measured on the answers")
    ] = None,
    sandbox: SandboxName = "auto",
    trust: Trust = False,
    json: Json = False,
) -> None:
    """Make a task package from a competition of MLE-Dojo or mle-bench.

    Example: mlesmith task import mlebench/competitions/spaceship-titanic --data raw --higher-is-better
    """
    from harness.tasks.dojo import definition_of, import_task
    from harness.tasks.mlebench.competition import read_competition
    from harness.tasks.mlebench.importing import import_competition

    provider = provider_for(sandbox, trust, [definition])
    words = {"modality": modality, "objective": objective, "id_column": id_column}
    given = {key: word for key, word in words.items() if word is not None}
    if (definition / "utils" / "metric.py").is_file():
        task = import_task(definition_of(definition), data, out, provider, best=best, **given)
    else:
        competition = read_competition(definition)
        task = import_competition(
            competition, data, out, provider, higher_is_better=higher, best=best, **given
        )
    if json:
        emit({"schema_version": 1, "task": task.id, "folder": str(task.root), "best": task.spec.metric.best})
    else:
        say(f"{task.id}: imported to {task.root}; the answers score {task.spec.metric.best:.6g}")
