"""``mlesmith generate``: raw datasets to verified tasks."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mlesmith import modeloptions as models
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

if TYPE_CHECKING:
    from generator.backend import Backend
    from generator.pipeline.generation import Generation

_LINE, _BUDGET = "The line", "What one attempt of an agent may use"


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command(cls=Grouped)(generate)


def generate(
    datasets: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="DATASET...",
            help="Folders, archives or files of raw data, or names of embedded datasets.",
        ),
    ] = None,
    out: Annotated[Path, typer.Option(help="Where the verified tasks go.")] = Path("tasks"),
    max_tasks: Annotated[int, typer.Option(min=1, max=10, help="Tasks per dataset at most.")] = 3,
    catalogue: Annotated[
        bool, typer.Option("--catalogue", help="List the embedded datasets and exit.")
    ] = False,
    dry_run: Annotated[
        bool,
        typer.Option(
            "--dry-run", help="Show what the data hold and what the rules would propose; write nothing."
        ),
    ] = False,
    resume: Annotated[
        bool,
        typer.Option("--resume/--no-resume", help="Go on with what is in --out, or make it all anew."),
    ] = True,
    html: Annotated[
        Path | None, typer.Option(help="Write a report with figures to this folder.", show_default=False)
    ] = None,
    workers: Annotated[int, typer.Option(min=0, help="Datasets at a time; 0 is one per processor.")] = 0,
    verify: Annotated[
        bool, typer.Option("--verify/--no-verify", help="Verify what is made.", rich_help_panel=_LINE)
    ] = True,
    quick: Annotated[
        bool,
        typer.Option("--quick", help="Verify without training baselines.", rich_help_panel=_LINE),
    ] = False,
    without: Annotated[
        list[str] | None,
        typer.Option(
            metavar="PART",
            help="Leave out a part of the line, to measure what it is good for: probe, diversity, "
            "assertions, refactor, repair, or a gate. May be repeated.",
            rich_help_panel=_LINE,
        ),
    ] = None,
    model: Annotated[
        str | None,
        typer.Option(
            metavar="PROVIDER/MODEL",
            help="A language model that works as Brainstormer, Designer and Refactor; rules when left out.",
            rich_help_panel="Models",
        ),
    ] = None,
    mixed: Annotated[
        bool,
        typer.Option(
            "--mixed",
            help="Rules for code, the model for choices and prose: serves small models.",
            rich_help_panel="Models",
        ),
    ] = False,
    agents: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="A TOML file that gives each agent its own model and budget, instead of --model.",
            rich_help_panel="Models",
        ),
    ] = None,
    reviewer: models.ReviewerName = None,
    base_url: models.BaseUrl = None,
    key_variable: models.KeyVariable = None,
    api: models.ApiName = None,
    prices: models.Prices = None,
    steps: Annotated[
        int | None, typer.Option(min=1, help="Actions.", show_default="30", rich_help_panel=_BUDGET)
    ] = None,
    tokens: Annotated[
        int | None, typer.Option(min=1, help="Input and output tokens.", rich_help_panel=_BUDGET)
    ] = None,
    cost_usd: Annotated[float | None, typer.Option(min=0.0, help="Money.", rich_help_panel=_BUDGET)] = None,
    temperature: models.Temperature = None,
    effort: models.Effort = None,
    max_output_tokens: models.MaxOutputTokens = None,
    max_input_tokens: models.MaxInputTokens = None,
    context_window: models.ContextWindow = None,
    action_format: models.ActionFormatName = None,
    sandbox: SandboxName = "auto",
    trust: Trust = False,
    json: Json = False,
) -> None:
    """Turn raw datasets into verified, competition-style tasks.

    Example: mlesmith generate diabetes my-data/ --out tasks

    Exit code 1 when a dataset gave no verified task.
    """
    if catalogue:
        _show_catalogue(json)
        return
    if not datasets:
        fail("name at least one DATASET; `mlesmith generate --catalogue` lists the embedded ones")
    if dry_run:
        _show_plans(datasets, max_tasks, json)
        return

    from generator.pipeline.generation import Options
    from generator.pipeline.generation import generate as run_pipeline
    from generator.pipeline.tally import Tally
    from harness.sandboxes.choose import choose_sandbox

    endpoint = {"base_url": base_url, "key_variable": key_variable, "api": api}
    settings = models.settings_document(
        temperature=temperature, effort=effort, max_output_tokens=max_output_tokens,
        max_input_tokens=max_input_tokens, context_window=context_window, action_format=action_format,
    )  # fmt: skip
    budget = {
        key: value
        for key, value in {"steps": steps, "tokens": tokens, "cost_usd": cost_usd}.items()
        if value is not None
    }
    if model is None and reviewer is None and (prices is not None or any(endpoint.values())):
        fail("--base-url, --key-variable, --api and --prices belong to --model or --reviewer")
    backend = _backend(model, agents, mixed, settings, endpoint, prices, budget)
    tally = Tally(len(datasets))
    generation = run_pipeline(
        datasets,
        out,
        provider=choose_sandbox(sandbox, trusted=trust),
        backend=backend,
        options=Options(
            max_tasks=max_tasks,
            verify=verify,
            deep=not quick,
            reviewer=models.reviewer_of(reviewer, prices=prices, **endpoint),
            without=frozenset(without or ()),
            workers=workers or os.cpu_count() or 1,
            resume=resume,
        ),
        progress=lambda dataset, stage, text: note(f"  {tally.told(dataset, stage, text)}"),
        booked=tally.booked,
    )
    if html is not None:
        from generator.pipeline.written import read_generation
        from reports.generation.pages import write_generation

        note(f"the report is {write_generation(read_generation(out), html)}")
    if json:
        emit(generation.to_document())
    else:
        _tell(generation, out)
    if not generation.complete:
        raise typer.Exit(EXIT_FELL_SHORT)


def note_stage(dataset: str, stage: str, text: str) -> None:
    """Tell what happens to a dataset, on standard error."""
    note(f"  {dataset}: {stage}: {text}")


def _tell(generation: Generation, out: Path) -> None:
    for result in generation.results:
        say(f"{result.dataset}: {len(result.verified)} verified, {len(result.rejected)} not")
        for task in result.verified:
            say(f"  verified {task.name}")
        for rejection in result.rejected:
            say(f"  not {rejection.task}: {rejection.stage}: {rejection.reason}")
        if result.error:
            say(f"  {result.error}")
    say(f"verified tasks are in {shown_path(out)}, the funnel in {shown_path(out / 'funnel.md')}")


def _show_catalogue(json: bool) -> None:
    from generator.datasets.catalogue import list_datasets

    cards = list_datasets()
    if json:
        emit({"schema_version": 1, "datasets": [card.model_dump(mode="json") for card in cards]})
        return
    show_table(
        f"{len(cards)} embedded datasets",
        ("name", "modality", "licence", "title"),
        ((card.name, card.modality or "-", card.licence, card.title) for card in cards),
        left=4,
    )


def _show_plans(datasets: Sequence[str], max_tasks: int, json: bool) -> None:
    from generator.pipeline.preview import preview

    plans = preview(datasets, max_tasks)
    if json:
        emit({"schema_version": 1, "datasets": [plan.to_dict() for plan in plans]})
        return
    for plan in plans:
        for line in plan.lines():
            say(line)


def _backend(
    model: str | None,
    agents: Path | None,
    mixed: bool,
    settings: dict[str, Any],
    endpoint: dict[str, Any],
    prices: Path | None,
    budget: dict[str, Any],
) -> Backend | None:
    """The agents that were asked for; ``None`` for the rules."""
    if model is None and agents is None:
        if mixed or settings or budget:
            fail("--mixed, budgets and settings of calls belong to --model PROVIDER/MODEL or --agents FILE")
        return None
    if model is not None and agents is not None:
        fail("--model and --agents say the same thing; give one of them")
    if agents is not None and (settings or budget or any(endpoint.values())):
        fail(f"{agents} says how its models are called and what they may use; write it there")
    from generator.agents.backend import LanguageModelBackend
    from generator.agents.config import AgentsConfig, read_agents
    from generator.agents.mixed import MixedBackend
    from harness.models.pricing import read_price_table

    if agents is not None:
        config = read_agents(agents)
    else:
        assert model is not None
        config = AgentsConfig.of(models.name_models([model], settings, **endpoint)[0]).within(**budget)
    table = read_price_table(prices)
    return (MixedBackend if mixed else LanguageModelBackend)(config, prices=table)
