"""``mlesmith run``: candidates on tasks, one record per trial."""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from mlesmith.console import EXIT_FELL_SHORT, Json, SandboxName, emit, fail, say, shown_path

if TYPE_CHECKING:
    from harness.job import JobConfig, JobSummary


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(run)


def run(
    items: Annotated[
        list[Path] | None,
        typer.Argument(metavar="[JOB.toml]", help="A job file; without one, name --tasks and --model."),
    ] = None,
    out: Annotated[Path, typer.Option(help="The job's folder; the same command resumes it.")] = Path(
        "runs/job"
    ),
    tasks: Annotated[
        list[Path] | None, typer.Option(metavar="DIR...", help="Task folders, or folders of task folders.")
    ] = None,
    model: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME...", help="scripted/<policy> or openai/<model>; see `mlesmith models`."),
    ] = None,
    base_url: Annotated[
        str | None, typer.Option(help="The endpoint of an OpenAI-compatible server, for all openai/ models.")
    ] = None,
    key_variable: Annotated[
        str, typer.Option(help="The environment variable that holds the endpoint's key.")
    ] = "OPENAI_API_KEY",
    attempts: Annotated[int, typer.Option(min=1, help="Trials of every model on every task.")] = 1,
    steps: Annotated[int, typer.Option(min=1, help="Actions per trial.")] = 15,
    hours: Annotated[float, typer.Option(min=0.0, help="Wall time per trial; 0 for no limit.")] = 12.0,
    execution_seconds: Annotated[float, typer.Option(min=1.0, help="Wall time of one program.")] = 3600.0,
    tokens: Annotated[int | None, typer.Option(min=1, help="Input and output tokens per trial.")] = None,
    cost_usd: Annotated[float | None, typer.Option(min=0.0, help="Price of a trial's model calls.")] = None,
    feedback: Annotated[str, typer.Option(help="Which score agents are told: test, split or none.")] = "test",
    native_tools: Annotated[
        bool, typer.Option(help="Use the model's tool calls; without, actions are JSON in text.")
    ] = True,
    network: Annotated[bool, typer.Option(help="Let agent code use the network.")] = False,
    sandbox: SandboxName = "auto",
    workers: Annotated[int, typer.Option(min=0, help="Trials at a time; 0 is one per processor.")] = 0,
    shard: Annotated[str, typer.Option(metavar="I/N", help="Run only the I-th of N parts.")] = "1/1",
    dry_run: Annotated[bool, typer.Option(help="Check everything, count the trials, run nothing.")] = False,
    json: Json = False,
) -> None:
    """Run candidate models as agents on tasks; run the same command again to resume.

    Example: mlesmith run --tasks runs/demo/tasks/reference --model scripted/forest --out runs/forest

    Exit code 1 when trials failed for reasons that are not the candidate's.
    """
    from harness.job import read_job_config, run_job
    from harness.progress import RichProgress

    job_files, task_dirs, models = _sort(items or [], tasks or [], model or [])
    if job_files:
        if len(job_files) > 1 or task_dirs or models:
            fail("give either one JOB.toml, or --tasks and --model, not both")
        config = read_job_config(job_files[0])
    else:
        config = _config_of_options(
            task_dirs, models, base_url, key_variable, attempts, steps, hours, execution_seconds, tokens,
            cost_usd, feedback, native_tools, network, sandbox, workers, shard,
        )  # fmt: skip
    with nullcontext() if dry_run else RichProgress() as progress:
        summary = run_job(config, out, progress=progress, dry_run=dry_run)
    if json:
        emit(
            {
                "schema_version": 1,
                "job": str(out),
                "trials": summary.total,
                "kept": summary.kept,
                "statuses": {str(status): count for status, count in summary.statuses.items()},
                "not_run": summary.not_run,
            }
        )
    else:
        _show(summary, dry_run)
    if not dry_run and (summary.infrastructure_failures or summary.not_run):
        raise typer.Exit(EXIT_FELL_SHORT)


def _sort(
    items: list[Path], tasks: list[Path], models: list[str]
) -> tuple[list[Path], list[Path], list[str]]:
    """Tell job files, task folders and models apart: a shell expands ``--tasks DIR...`` into loose words."""
    from harness.models.registry import PROVIDERS

    jobs: list[Path] = []
    for item in items:
        if item.suffix == ".toml":
            jobs.append(item)
        elif not item.exists() and str(item).split("/")[0] in PROVIDERS:
            models = [*models, str(item)]
        else:
            tasks = [*tasks, item]
    return jobs, tasks, models


def _config_of_options(
    tasks: list[Path], models: list[str], base_url: str | None, key_variable: str, attempts: int, steps: int,
    hours: float, execution_seconds: float, tokens: int | None, cost_usd: float | None, feedback: str,
    native_tools: bool, network: bool, sandbox: str, workers: int, shard: str,
) -> JobConfig:  # fmt: skip
    from pydantic import ValidationError

    from harness.job import JobConfig
    from harness.tasks.package import describe_validation, find_tasks

    if not tasks or not models:
        fail("name a JOB.toml, or at least one --tasks folder and one --model")
    try:
        return JobConfig.model_validate(
            {
                "tasks": find_tasks(tasks),
                "models": [
                    {"name": name}
                    if name.startswith("scripted/")
                    else {"name": name, "base_url": base_url, "key_variable": key_variable}
                    for name in models
                ],
                "attempts": attempts,
                "budget": {
                    "steps": steps,
                    "seconds": hours * 3600 or None,
                    "execution_seconds": execution_seconds,
                    "tokens": tokens,
                    "cost_usd": cost_usd,
                },
                "agent": {"settings": {"native_tools": native_tools}},
                "feedback": feedback,
                "network": network,
                "sandbox": sandbox,
                "workers": workers,
                "shard": shard.split("/"),
            }
        )
    except ValidationError as error:
        fail(describe_validation(error))


def _show(summary: JobSummary, dry_run: bool) -> None:
    if dry_run:
        say(f"{summary.total} trials, {summary.kept} done; {summary.total - summary.kept} would run")
        return
    ends = ", ".join(f"{count} {status}" for status, count in sorted(summary.statuses.items()))
    say(f"{summary.total} trials in {shown_path(summary.out)} ({summary.kept} kept from before): {ends}")
    if summary.infrastructure_failures:
        say(f"{summary.infrastructure_failures} failed for reasons that are not the candidate's; run again")
    say(f"next: mlesmith board build {shown_path(summary.out)} --out boards")
