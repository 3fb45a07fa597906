"""``mlesmith run``: candidates on tasks, one record per trial."""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mlesmith import modeloptions as models
from mlesmith import runoptions as options
from mlesmith.console import EXIT_FELL_SHORT, Grouped, Json, SandboxName, Trust, emit, fail, say, shown_path

if TYPE_CHECKING:
    from harness.job import JobSummary
    from harness.jobconfig import JobConfig
    from harness.models.outlook import Outlook

#: Options that say what this run uses, not what a trial is; a job file leaves them open.
_OF_A_RUN = frozenset({"workers", "shard", "gpus", "trust", "retries", "prices"})
_BESIDE_A_JOB = _OF_A_RUN | {"items", "out", "dry_run", "json"}


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command(cls=Grouped)(run)


def run(
    ctx: typer.Context,
    items: Annotated[
        list[Path] | None,
        typer.Argument(metavar="JOB.toml", help="A job file; without one, name --tasks and --model."),
    ] = None,
    out: Annotated[Path, typer.Option(help="The job's folder; the same command resumes it.")] = Path(
        "runs/job"
    ),
    tasks: options.Tasks = None,
    model: options.ModelNames = None,
    attempts: options.Attempts = None,
    agent: options.AgentProfile = None,
    feedback: options.FeedbackName = None,
    base_url: models.BaseUrl = None,
    key_variable: models.KeyVariable = None,
    api: models.ApiName = None,
    prices: models.Prices = None,
    temperature: models.Temperature = None,
    effort: models.Effort = None,
    max_output_tokens: models.MaxOutputTokens = None,
    max_input_tokens: models.MaxInputTokens = None,
    context_window: models.ContextWindow = None,
    action_format: models.ActionFormatName = None,
    steps: options.Steps = None,
    hours: options.Hours = None,
    working_hours: options.WorkingHours = None,
    execution_seconds: options.ExecutionSeconds = None,
    tokens: options.Tokens = None,
    input_tokens: options.InputTokens = None,
    output_tokens: options.OutputTokens = None,
    cost_usd: options.CostUsd = None,
    sandbox: SandboxName = "auto",
    image: options.Image = None,
    memory_gb: options.MemoryGb = None,
    disk_gb: options.DiskGb = None,
    cpus: options.Cpus = None,
    processes: options.Processes = None,
    gpus: options.Gpus = None,
    gpus_per_trial: options.GpusPerTrial = None,
    allow_host: options.AllowHost = None,
    network: options.Network = None,
    warm: options.Warm = None,
    trust: Trust = False,
    retries: options.Retries = None,
    workers: options.Workers = None,
    shard: options.Shard = None,
    dry_run: Annotated[
        bool,
        typer.Option("--dry-run", help="Check everything, show it, count the trials, and run nothing."),
    ] = False,
    json: Json = False,
) -> None:
    """Run candidate models as agents on tasks; run the same command again to resume.

    Example: mlesmith run --tasks runs/demo/tasks/reference --model scripted/forest --out runs/forest

    Beside a JOB.toml only --workers, --shard, --gpus, --trust, --retries and --prices may be given.

    Exit code 1 when trials failed for reasons that are not the candidate's.
    """
    from generator.selection.check import unfrozen
    from harness.job import run_job
    from harness.progress import RichProgress

    document = _given(
        attempts=attempts,
        agent=agent,
        feedback=feedback,
        budget=_given(
            steps=steps,
            execution_seconds=execution_seconds,
            tokens=tokens,
            input_tokens=input_tokens,
            output_tokens=output_tokens,
            cost_usd=cost_usd,
        )
        | _seconds(seconds=hours, working_seconds=working_hours),
        sandbox=_given(
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
        network=network,
        retries=None if retries is None else {"attempts": retries + 1},
        prices=prices,
        workers=workers,
        shard=None if shard is None else _shard(shard),
    )
    given = unfrozen([*(tasks or []), *(items or [])])
    jobs, folders, names = models.split_items(given, model or [])
    if jobs:
        if len(jobs) > 1 or folders or names:
            fail(f"{jobs[0]} is taken for a job file: give one alone, or --tasks FOLDER and --model NAME")
        config = _config_of_file(jobs[0], document, _said(ctx))
    else:
        settings = models.settings_document(
            temperature=temperature,
            effort=effort,
            max_output_tokens=max_output_tokens,
            max_input_tokens=max_input_tokens,
            context_window=context_window,
            action_format=action_format,
        )
        named = models.name_models(names, settings, base_url=base_url, key_variable=key_variable, api=api)
        config = _config_of_options(document, folders, named)
    with nullcontext() if dry_run else RichProgress() as progress:
        summary = run_job(config, out, progress=progress, dry_run=dry_run)
    outlooks = _outlooks(config) if dry_run else []
    if json:
        emit(_document(summary, outlooks))
    else:
        _show(summary, outlooks, config.prices)
    if not dry_run and (summary.infrastructure_failures or summary.not_run):
        raise typer.Exit(EXIT_FELL_SHORT)


def _given(**values: Any) -> dict[str, Any]:
    """What has a value."""
    return {name: value for name, value in values.items() if value is not None}


def _seconds(**hours: float | None) -> dict[str, float | None]:
    """Limits in seconds; 0 hours are no limit."""
    return {name: value * 3600 or None for name, value in hours.items() if value is not None}


def _shard(text: str) -> tuple[int, int]:
    part, _, parts = text.partition("/")
    if not (part.isdecimal() and parts.isdecimal() and 1 <= int(part) <= int(parts)):
        fail(f"--shard {text}: write I/N, such as 2/4 for the second of four parts")
    return int(part), int(parts)


def _said(ctx: typer.Context) -> set[str]:
    """The options that were written on the command line."""
    sources = {name: ctx.get_parameter_source(name) for name in ctx.params}
    return {name for name, source in sources.items() if source and source.name == "COMMANDLINE"}


def _config_of_file(path: Path, document: dict[str, Any], said: set[str]) -> JobConfig:
    """The job of a file, with what this run adds to it."""
    from generator.selection.check import unfrozen
    from harness.jobconfig import read_job_config

    config = read_job_config(path)
    if misplaced := sorted(said - _BESIDE_A_JOB):
        fail(f"--{misplaced[0].replace('_', '-')}: write it into {path}, or leave out the job file")
    asked = config.model_dump(exclude_unset=True)
    asked["tasks"] = unfrozen(config.tasks)
    for name in said & _OF_A_RUN:
        if name in ("gpus", "trust"):
            asked["sandbox"] = {**asked.get("sandbox", {}), name: document["sandbox"][name]}
        elif name == "retries":
            asked["retries"] = {**asked.get("retries", {}), **document["retries"]}
        else:
            asked[name] = document[name]
    return _validated(asked)


def _config_of_options(document: dict[str, Any], tasks: list[Path], named: list[Any]) -> JobConfig:
    from harness.tasks.package import find_tasks

    if not tasks or not named:
        fail("name a JOB.toml, or at least one --tasks folder and one --model")
    return _validated({"tasks": find_tasks(tasks), "models": named, **document})


def _validated(document: dict[str, Any]) -> JobConfig:
    from pydantic import ValidationError

    from harness.jobconfig import JobConfig
    from harness.tasks.package import describe_validation

    try:
        return JobConfig.model_validate(document)
    except ValidationError as error:
        fail(describe_validation(error))


def _outlooks(config: JobConfig) -> list[Outlook]:
    """How each candidate would be called."""
    from harness.models.outlook import look_ahead
    from harness.models.pricing import read_price_table
    from harness.models.registry import resolve_settings

    prices = read_price_table(config.prices)
    profile = config.agent.settings
    return [look_ahead(model, resolve_settings(profile, model), prices) for model in config.models]


def _document(summary: JobSummary, outlooks: list[Outlook]) -> dict[str, Any]:
    return {
        "schema_version": 1,
        "job": str(summary.out),
        "trials": summary.total,
        "kept": summary.kept,
        "statuses": {str(status): count for status, count in summary.statuses.items()},
        "not_run": summary.not_run,
        "closed": [
            {"model": closed.model, "reason": closed.reason, "not_run": closed.not_run}
            for closed in summary.closed
        ],
        "sandbox": summary.ground.to_document(),
        **({"models": [outlook.to_document() for outlook in outlooks]} if outlooks else {}),
    }


def _show(summary: JobSummary, outlooks: list[Outlook], prices: Path | None) -> None:
    from rich.markup import escape

    from reports.templating import count

    trials = count(summary.total, "trial")
    if outlooks:
        say(f"{trials}, {summary.kept} done; {summary.total - summary.kept} would run")
        for line in (*(outlook.line() for outlook in outlooks), *summary.ground.lines()):
            say(escape(line))
        return
    ends = ", ".join(f"{count} {status}" for status, count in sorted(summary.statuses.items()))
    say(escape(f"{trials} in {shown_path(summary.out)} ({summary.kept} kept from before): {ends}"))
    if summary.infrastructure_failures:
        say(f"{summary.infrastructure_failures} failed for reasons that are not the candidate's; run again")
    if summary.not_run:
        say(f"{summary.not_run} not begun; run again")
    if summary.total == summary.infrastructure_failures + summary.not_run:
        return
    priced = f" --prices {shown_path(prices)}" if prices else ""
    say(escape(f"next: mlesmith board build {shown_path(summary.out)} --out boards{priced}"))
