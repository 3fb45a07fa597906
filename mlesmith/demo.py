"""``mlesmith demo``: the whole line, offline, on the embedded data."""

from __future__ import annotations

import os
import shutil
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from mlesmith.console import (
    EXIT_FELL_SHORT,
    Grouped,
    Json,
    SandboxName,
    emit,
    note,
    number,
    say,
    show_table,
    shown_path,
)

if TYPE_CHECKING:
    from harness.jobconfig import JobConfig
    from harness.sandboxes.base import SandboxProvider
    from leaderboards.board import WrittenBoard

#: The quick selection, frozen: varied in modality and objective, and small enough for a few minutes. What
#: takes long comes first, so that all processors are still busy at the end.
QUICK_REFERENCE = (
    "gene-functions",
    "bird-strike-phase",
    "handwritten-digits",
    "vowel-speakers",
    "leaf-outlines",
    "titanic-survival",
    "atmospheric-co2",
    "health-spending",
    "fuel-economy",
    "penguin-measurements",
    "travel-mode-choice",
    "party-identification",
)
QUICK_DATASETS = (
    "ames-housing",
    "credit-applications",
    "employee-attrition",
    "digit-images",
    "hpc-jobs",
    "power-demand",
    "tate-artworks",
    "image-segments",
    "concrete",
    "diabetes",
)
CANDIDATES = ("nop", "constant", "tree", "neighbours", "linear", "forest", "boosting", "blended")
STEPS = 10
SECONDS = 600.0
EXECUTION_SECONDS = 120.0
#: Most tasks of one dataset in the quick selection.
QUICK_TASKS = 2


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command(cls=Grouped)(demo)


def demo(
    full: Annotated[
        bool, typer.Option("--full", help="All tasks of both sets, not the quick selection.")
    ] = False,
    out: Annotated[Path, typer.Option(help="Where everything goes; run again to go on.")] = Path("runs/demo"),
    workers: Annotated[int, typer.Option(min=0, help="Trials at a time; 0 is one per processor.")] = 0,
    sandbox: SandboxName = "auto",
    json: Json = False,
) -> None:
    """Run the main job end to end, with no key, no Docker and no network.

    Raw datasets become verified tasks; scripted candidates of graded skill run on these and on the hand-made
    reference tasks; the result is rated, the two sets are compared, and a report is written.

    Example: mlesmith demo
    """
    from generator.datasets.catalogue import list_datasets
    from generator.pipeline.generation import Options, generate
    from harness.job import run_job
    from harness.progress import RichProgress
    from harness.sandboxes.choose import choose_sandbox
    from leaderboards.board import build_boards
    from mlesmith import agree
    from mlesmith.generate import note_stage
    from reports.agreement import agreement_of_files
    from reports.site import build_site

    provider = choose_sandbox(sandbox, trusted=True)
    count = workers or os.cpu_count() or 1
    note("1/5 preparing the reference tasks")
    reference = _prepare_reference(out / "tasks" / "reference", full, provider, count)
    note("2/5 generating and verifying the smith tasks")
    datasets = [card.name for card in list_datasets()] if full else list(QUICK_DATASETS)
    generation = generate(
        datasets,
        out / "tasks" / "smith",
        provider=provider,
        options=Options(
            max_tasks=Options.max_tasks if full else QUICK_TASKS,
            execution=False,  # agents work on every task below
            workers=count,
        ),
        progress=note_stage,
    )
    smith = [folder for result in generation.results for folder in result.verified]
    note(f"3/5 running {len(CANDIDATES)} candidates on {len(reference)} + {len(smith)} tasks")
    job = out / ("job-full" if full else "job")
    with RichProgress() as progress:
        summary = run_job(_config([*reference, *smith], provider, workers), job, progress=progress)
    note("4/5 rating and comparing")
    boards = build_boards([job], out / "boards")
    by_set = {item.board.name: item for item in boards}
    agreement = agreement_of_files([by_set["reference"].scores, by_set["smith"].scores])
    note("5/5 writing the report")
    index = build_site([job], out / "report")

    if json:
        emit(
            {
                "schema_version": 1,
                "trials": summary.total,
                "boards": [str(item.csv) for item in boards],
                "agreement": agreement,
                "report": str(index),
            }
        )
    else:
        _show_board(by_set["combined"])
        agree.show(agreement)
        say()
        for item in boards:
            say(f"board   {shown_path(item.csv)}")
        say(f"report  {shown_path(index)}")
    if summary.infrastructure_failures or summary.not_run:
        raise typer.Exit(EXIT_FELL_SHORT)


def _prepare_reference(out: Path, full: bool, provider: SandboxProvider, workers: int) -> list[Path]:
    """The hand-made tasks, several prepared at a time."""
    from harness.tasksets.catalogue import list_tasks

    names = list_tasks() if full else QUICK_REFERENCE
    with ThreadPoolExecutor(workers, thread_name_prefix="prepare") as pool:
        return list(pool.map(lambda name: _prepared(name, out, provider), names))


def _prepared(name: str, out: Path, provider: SandboxProvider) -> Path:
    """Copy a task to where it can be prepared, and prepare it, unless that has been done."""
    from harness.tasks.package import load_task
    from harness.tasks.preparing import prepare_task
    from harness.tasksets.catalogue import reference_task

    folder = out / name
    if not folder.is_dir():
        # Copied aside first, so that a copy that was interrupted is never taken for a task.
        aside = out / f".{name}"
        shutil.rmtree(aside, ignore_errors=True)
        shutil.copytree(reference_task(name), aside)
        aside.rename(folder)
    task = load_task(folder)
    if not task.is_prepared:
        prepare_task(task, provider)
    return folder


def _config(tasks: list[Path], provider: SandboxProvider, workers: int) -> JobConfig:
    from harness.jobconfig import JobConfig

    return JobConfig.model_validate(
        {
            "tasks": tasks,
            "models": [{"name": f"scripted/{name}"} for name in CANDIDATES],
            "budget": {"steps": STEPS, "seconds": SECONDS, "execution_seconds": EXECUTION_SECONDS},
            # Candidates, reference tasks, and the rules that wrote the others ship with this project.
            "sandbox": {"kind": provider.name, "trust": True},
            "workers": workers,
        }
    )


def _show_board(item: WrittenBoard) -> None:
    show_table(
        f"Board: {item.board.name}",
        ("rank", "model", "elo", "95 % interval", "tasks", "valid", "score", "hours"),
        (
            (
                str(row.rank),
                row.model,
                number(row.elo, 1),
                "-" if row.elo_low is None else f"{row.elo_low:.0f} to {number(row.elo_high, 0)}",
                str(row.n_tasks),
                number(row.valid_rate, 2),
                number(row.mean_normalised_score),
                number(row.hours, 3),
            )
            for row in item.board.rows
        ),
        left=2,
    )
