"""``mlesmith run``: candidates on tasks, one record per trial."""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mlesmith.console import EXIT_FELL_SHORT, Grouped, Json, SandboxName, Trust, emit, fail, say, shown_path

if TYPE_CHECKING:
    from harness.job import JobConfig, JobSummary


#: Options that say what this run does, not what a trial is; a job file leaves them open.
_OF_A_RUN = frozenset({"workers", "shard", "gpus", "trust"})
_BESIDE_A_JOB = _OF_A_RUN | {"items", "out", "dry_run", "json"}

_TRIAL, _BUDGET, _SANDBOX = "Trials", "Budget of a trial", "Sandbox"


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command(cls=Grouped)(run)


def run(
    ctx: typer.Context,
    items: Annotated[
        list[Path] | None,
        typer.Argument(metavar="[JOB.toml]", help="A job file; without one, name --tasks and --model."),
    ] = None,
    out: Annotated[Path, typer.Option(help="The job's folder; the same command resumes it.")] = Path(
        "runs/job"
    ),
    tasks: Annotated[
        list[Path] | None,
        typer.Option(
            metavar="DIR...", help="Task folders, or folders of task folders.", rich_help_panel=_TRIAL
        ),
    ] = None,
    model: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME...",
            help="scripted/<policy> or openai/<model>; see `mlesmith models`.",
            rich_help_panel=_TRIAL,
        ),
    ] = None,
    base_url: Annotated[
        str | None,
        typer.Option(
            help="The endpoint of an OpenAI-compatible server, for all openai/ models.",
            rich_help_panel=_TRIAL,
        ),
    ] = None,
    key_variable: Annotated[
        str,
        typer.Option(help="The environment variable that holds the endpoint's key.", rich_help_panel=_TRIAL),
    ] = "OPENAI_API_KEY",
    attempts: Annotated[
        int, typer.Option(min=1, help="Trials of every model on every task.", rich_help_panel=_TRIAL)
    ] = 1,
    feedback: Annotated[
        str,
        typer.Option(help="Which score agents are told: test, split or none.", rich_help_panel=_TRIAL),
    ] = "test",
    native_tools: Annotated[
        bool,
        typer.Option(
            help="Use the model's tool calls; without, actions are JSON in text.", rich_help_panel=_TRIAL
        ),
    ] = True,
    steps: Annotated[int, typer.Option(min=1, help="Actions per trial.", rich_help_panel=_BUDGET)] = 15,
    hours: Annotated[
        float,
        typer.Option(min=0.0, help="Wall time per trial; 0 for no limit.", rich_help_panel=_BUDGET),
    ] = 12.0,
    execution_seconds: Annotated[
        float, typer.Option(min=1.0, help="Wall time of one program.", rich_help_panel=_BUDGET)
    ] = 3600.0,
    tokens: Annotated[
        int | None,
        typer.Option(min=1, help="Input and output tokens per trial.", rich_help_panel=_BUDGET),
    ] = None,
    cost_usd: Annotated[
        float | None,
        typer.Option(min=0.0, help="Price of a trial's model calls.", rich_help_panel=_BUDGET),
    ] = None,
    sandbox: SandboxName = "auto",
    image: Annotated[
        str | None,
        typer.Option(
            help="Image of docker's containers; the project's own when left out.", rich_help_panel=_SANDBOX
        ),
    ] = None,
    memory_gb: Annotated[
        float,
        typer.Option(
            help="Memory of a trial in GiB, files in its folder included.", rich_help_panel=_SANDBOX
        ),
    ] = 8.0,
    disk_gb: Annotated[
        float, typer.Option(help="Files in a trial's working folder, in GiB.", rich_help_panel=_SANDBOX)
    ] = 4.0,
    cpus: Annotated[int, typer.Option(min=1, help="Processors of a trial.", rich_help_panel=_SANDBOX)] = 1,
    processes: Annotated[
        int, typer.Option(min=1, help="Processes and threads of a trial.", rich_help_panel=_SANDBOX)
    ] = 256,
    gpus: Annotated[
        str | None,
        typer.Option(
            metavar="all|ID,...",
            help="GPUs to lease to trials, by index, UUID or MIG name; none when left out.",
            rich_help_panel=_SANDBOX,
        ),
    ] = None,
    gpus_per_trial: Annotated[
        int | None, typer.Option(min=1, help="GPUs of each trial; 1 with --gpus.", rich_help_panel=_SANDBOX)
    ] = None,
    allow_host: Annotated[
        list[str] | None,
        typer.Option(
            metavar="HOST",
            help="A host that agent code may reach, such as example.org; may be repeated.",
            rich_help_panel=_SANDBOX,
        ),
    ] = None,
    network: Annotated[
        bool,
        typer.Option(
            "--network", help="Short for --allow-host '*': any public host.", rich_help_panel=_SANDBOX
        ),
    ] = False,
    warm: Annotated[
        bool,
        typer.Option(
            "--warm/--cold",
            help="Fork each program from a warm process with the usual modules, or start Python anew.",
            rich_help_panel=_SANDBOX,
        ),
    ] = True,
    trust: Trust = False,
    workers: Annotated[
        int,
        typer.Option(min=0, help="Trials at a time; 0 is one per lease of GPUs, else one per processor."),
    ] = 0,
    shard: Annotated[str, typer.Option(metavar="I/N", help="Run only the I-th of N parts.")] = "1/1",
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Check everything, count the trials, run nothing.")
    ] = False,
    json: Json = False,
) -> None:
    """Run candidate models as agents on tasks; run the same command again to resume.

    Example: mlesmith run --tasks runs/demo/tasks/reference --model scripted/forest --out runs/forest

    Beside a JOB.toml only --workers, --shard, --gpus and --trust may be given.

    Exit code 1 when trials failed for reasons that are not the candidate's.
    """
    from harness.job import run_job
    from harness.progress import RichProgress

    document = {
        "attempts": attempts,
        "budget": {
            "steps": steps,
            "seconds": hours * 3600 or None,
            "execution_seconds": execution_seconds,
            "tokens": tokens,
            "cost_usd": cost_usd,
        },
        "agent": {"settings": {"action_format": "tools" if native_tools else "json"}},
        "feedback": feedback,
        "sandbox": _given(
            kind=sandbox,
            image=image,
            memory_gb=memory_gb,
            disk_gb=disk_gb,
            cpus=cpus,
            processes=processes,
            gpus=gpus,
            gpus_per_trial=gpus_per_trial,
            allow_hosts=allow_host,
            warm=warm,
            trust=trust,
        ),
        "workers": workers,
        "shard": shard.split("/"),
        **_given(network=network or None),
    }
    job_files, task_dirs, models = _sort(items or [], tasks or [], model or [])
    if job_files:
        if len(job_files) > 1 or task_dirs or models:
            fail("give either one JOB.toml, or --tasks and --model, not both")
        config = _config_of_file(job_files[0], document, _said(ctx))
    else:
        config = _config_of_options(document, task_dirs, models, base_url, key_variable)
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
                "sandbox": summary.ground.to_document(),
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


def _given(**options: Any) -> dict[str, Any]:
    """The options that have a value."""
    return {name: value for name, value in options.items() if value is not None}


def _said(ctx: typer.Context) -> set[str]:
    """The options that were written on the command line."""
    sources = {name: ctx.get_parameter_source(name) for name in ctx.params}
    return {name for name, source in sources.items() if source and source.name == "COMMANDLINE"}


def _config_of_file(path: Path, document: dict[str, Any], said: set[str]) -> JobConfig:
    """The job of a file, with what this run adds to it."""
    from harness.job import read_job_config

    config = read_job_config(path)
    if misplaced := sorted(said - _BESIDE_A_JOB):
        fail(f"--{misplaced[0].replace('_', '-')}: write it into {path}, or leave out the job file")
    asked = config.model_dump(exclude_unset=True)
    for name in said & _OF_A_RUN:
        if name in ("gpus", "trust"):
            asked["sandbox"] = {**asked.get("sandbox", {}), name: document["sandbox"][name]}
        else:
            asked[name] = document[name]
    return _validated(asked)


def _config_of_options(
    document: dict[str, Any], tasks: list[Path], models: list[str], base_url: str | None, key_variable: str
) -> JobConfig:
    from harness.tasks.package import find_tasks

    if not tasks or not models:
        fail("name a JOB.toml, or at least one --tasks folder and one --model")
    named = [
        {"name": name}
        if name.startswith("scripted/")
        else {"name": name, "base_url": base_url, "key_variable": key_variable}
        for name in models
    ]
    return _validated({"tasks": find_tasks(tasks), "models": named, **document})


def _validated(document: dict[str, Any]) -> JobConfig:
    from pydantic import ValidationError

    from harness.job import JobConfig
    from harness.tasks.package import describe_validation

    try:
        return JobConfig.model_validate(document)
    except ValidationError as error:
        fail(describe_validation(error))


def _show(summary: JobSummary, dry_run: bool) -> None:
    from rich.markup import escape

    if dry_run:
        say(f"{summary.total} trials, {summary.kept} done; {summary.total - summary.kept} would run")
        for line in summary.ground.lines():
            say(escape(line))
        return
    ends = ", ".join(f"{count} {status}" for status, count in sorted(summary.statuses.items()))
    say(f"{summary.total} trials in {shown_path(summary.out)} ({summary.kept} kept from before): {ends}")
    if summary.infrastructure_failures:
        say(f"{summary.infrastructure_failures} failed for reasons that are not the candidate's; run again")
    say(f"next: mlesmith board build {shown_path(summary.out)} --out boards")
