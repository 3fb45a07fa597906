"""``mlesmith generate``: raw datasets to verified tasks."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

from mlesmith.console import (
    EXIT_FELL_SHORT,
    Grouped,
    Json,
    SandboxName,
    Trust,
    emit,
    fail,
    note,
    say,
    show_table,
    shown_path,
)


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command(cls=Grouped)(generate)


def generate(
    datasets: Annotated[
        list[str] | None,
        typer.Argument(metavar="DATASET...", help="Folders or files of raw data, or names of the catalogue."),
    ] = None,
    out: Annotated[Path, typer.Option(help="Where the verified tasks go.")] = Path("tasks"),
    max_tasks: Annotated[int, typer.Option(min=1, max=3, help="Tasks per dataset at most.")] = 3,
    catalogue: Annotated[
        bool, typer.Option("--catalogue", help="List the embedded datasets and exit.")
    ] = False,
    workers: Annotated[int, typer.Option(min=0, help="Datasets at a time; 0 is one per processor.")] = 0,
    sandbox: SandboxName = "auto",
    trust: Trust = False,
    json: Json = False,
) -> None:
    """Turn raw datasets into verified, competition-style tasks.

    Example: mlesmith generate diabetes my-data/ --out tasks

    Exit code 1 when a dataset gave no verified task.
    """
    from generator.datasets.catalogue import list_datasets

    if catalogue:
        cards = list_datasets()
        if json:
            emit({"schema_version": 1, "datasets": [card.model_dump(mode="json") for card in cards]})
        else:
            show_table(
                f"{len(cards)} embedded datasets",
                ("name", "modality", "licence", "title"),
                ((card.name, card.modality or "-", card.licence, card.title) for card in cards),
                left=4,
            )
        return
    if not datasets:
        fail("name at least one DATASET; `mlesmith generate --catalogue` lists the embedded ones")

    from generator.pipeline.generation import Options
    from generator.pipeline.generation import generate as run_pipeline
    from harness.sandboxes.choose import choose_sandbox

    generation = run_pipeline(
        datasets,
        out,
        provider=choose_sandbox(sandbox, trusted=trust),
        options=Options(max_tasks=max_tasks, workers=workers or os.cpu_count() or 1),
        progress=note_stage,
    )
    if json:
        emit(generation.to_document())
    else:
        for result in generation.results:
            say(f"{result.dataset}: {len(result.verified)} verified, {len(result.rejected)} not")
            for task in result.verified:
                say(f"  verified {task.name}")
            for rejection in result.rejected:
                say(f"  not {rejection.task}: {rejection.stage}: {rejection.reason}")
            if result.error:
                say(f"  {result.error}")
        say(f"verified tasks are in {shown_path(out)}, the funnel in {shown_path(out / 'funnel.md')}")
    if not generation.complete:
        raise typer.Exit(EXIT_FELL_SHORT)


def note_stage(dataset: str, stage: str, text: str) -> None:
    """Tell what happens to a dataset, on standard error."""
    note(f"  {dataset}: {stage}: {text}")
