"""``mlesmith models``: the candidates that can be named, and whether their endpoints work."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from mlesmith.console import EXIT_FELL_SHORT, Grouped, Json, emit, fail, say, show_table
from mlesmith.modeloptions import (
    ActionFormatName,
    ApiName,
    BaseUrl,
    ContextWindow,
    Effort,
    KeyVariable,
    MaxOutputTokens,
    Prices,
    Temperature,
    name_models,
    settings_document,
    split_items,
)

if TYPE_CHECKING:
    from harness.models.base import Settings
    from harness.models.checking import EndpointCheck
    from harness.models.pricing import PriceTable
    from harness.models.registry import ModelConfig

app = typer.Typer(rich_markup_mode=None)

_COLOURS = {"ok": "green", "note": "yellow", "fail": "red"}


@app.callback(invoke_without_command=True)
def _models(ctx: typer.Context, json: Json = False) -> None:
    """List candidates, and check their endpoints.

    Example: mlesmith models
    """
    if ctx.invoked_subcommand is None:
        list_models(json)
    elif json:
        fail(f"write --json after {ctx.invoked_subcommand}")


@app.command("list")
def list_models(json: Json = False) -> None:
    """List the scripted candidates and the providers of real models.

    Example: mlesmith models list
    """
    from rich.markup import escape

    from harness.models.presets import PRESETS
    from harness.models.scripted.model import policy_summaries

    scripted = [(f"scripted/{name}", summary) for name, summary in policy_summaries().items()]
    providers = [(name, preset) for name, preset in PRESETS.items() if name != "scripted"]
    if json:
        listed = [(f"{name}/<model>", preset.summary) for name, preset in providers]
        emit(
            {
                "schema_version": 1,
                "models": [{"name": name, "summary": text} for name, text in scripted + listed],
                "providers": [
                    {
                        "name": name,
                        "api": str(preset.api),
                        "base_url": preset.base_url,
                        "key_variable": preset.key_variable,
                        "key_set": _is_set(preset.key_variable) if preset.key_variable else None,
                    }
                    for name, preset in providers
                ],
            }
        )
        return
    show_table("Scripted candidates", ("name", "what it does"), scripted, left=2)
    show_table(
        "Providers of models",
        ("name", "what it reaches", "endpoint", "key"),
        [
            (
                escape(f"{name}/<model>"),
                preset.summary,
                preset.base_url or "its own",
                f"{preset.key_variable}, {'set' if _is_set(preset.key_variable) else 'not set'}"
                if preset.key_variable
                else "none",
            )
            for name, preset in providers
        ],
        left=4,
    )
    say("next: mlesmith models check openai/gpt-4o-mini")


@app.command(cls=Grouped)
def check(
    items: Annotated[
        list[Path],
        typer.Argument(metavar="NAME|JOB.toml", help="Models, such as openai/gpt-4o-mini, or job files."),
    ],
    base_url: BaseUrl = None,
    key_variable: KeyVariable = None,
    api: ApiName = None,
    temperature: Temperature = None,
    effort: Effort = None,
    max_output_tokens: MaxOutputTokens = None,
    context_window: ContextWindow = None,
    action_format: ActionFormatName = None,
    prices: Prices = None,
    json: Json = False,
) -> None:
    """Prove that endpoints work, by one tiny call each: key, answer, tool calls, settings, usage, price.

    A call has about a hundred tokens, and a model that reasons adds some hundred: a fraction of a cent. It is
    repeated at most twice, when the endpoint is busy or cannot be reached.

    Example: mlesmith models check openai/gpt-4o-mini --effort low

    Exit code 1 when something a trial needs is missing.
    """
    from concurrent.futures import ThreadPoolExecutor

    from rich.console import Console

    from harness.models.base import Settings
    from harness.models.checking import check_endpoint
    from harness.models.pricing import read_price_table
    from harness.models.registry import check_models

    jobs, folders, names = split_items(items, ())
    names += [str(folder) for folder in folders]
    settings = settings_document(
        temperature=temperature,
        effort=effort,
        max_output_tokens=max_output_tokens,
        context_window=context_window,
        action_format=action_format,
    )
    endpoint = {"base_url": base_url, "key_variable": key_variable, "api": api}
    if jobs and (settings or any(endpoint.values())):
        fail(f"options about models go with names only: write them into {jobs[0]}")
    named = name_models(names, settings, **endpoint)
    check_models(named, Settings())
    table = read_price_table(prices)
    asked = [(config, config.settings, table) for config in named]
    for job in jobs:
        asked += _asked_by(job, prices)

    def ask(item: tuple[ModelConfig, Settings, PriceTable]) -> EndpointCheck:
        return check_endpoint(*item)

    waiting = Console(stderr=True).status(f"asking {len(asked)} model{'s' if len(asked) > 1 else ''}")
    with waiting, ThreadPoolExecutor(max_workers=8) as pool:
        checks = list(pool.map(ask, asked))
    if json:
        emit(
            {
                "schema_version": 1,
                "ok": all(checked.ok for checked in checks),
                "models": [checked.to_document() for checked in checks],
            }
        )
    else:
        _show(checks)
    if not all(checked.ok for checked in checks):
        raise typer.Exit(EXIT_FELL_SHORT)


def _asked_by(job: Path, prices: Path | None) -> list[tuple[ModelConfig, Settings, PriceTable]]:
    """The models of a job, each with its resolved settings."""
    from harness.jobconfig import read_job_config
    from harness.models.pricing import read_price_table
    from harness.models.registry import check_models, resolve_settings

    config = read_job_config(job)
    profile = config.agent.settings
    check_models(config.models, profile)
    table = read_price_table(prices or config.prices)
    return [(model, resolve_settings(profile, model), table) for model in config.models]


def _is_set(variable: str | None) -> bool:
    import os

    return bool(variable and os.environ.get(variable, "").strip())


def _show(checks: Sequence[EndpointCheck]) -> None:
    from rich.markup import escape

    for checked in checks:
        rows = [
            (
                finding.what,
                f"[{_COLOURS[finding.state]}]{finding.state}[/]",
                escape(finding.text),
                escape(finding.fix),
            )
            for finding in checked.findings
        ]
        show_table(escape(checked.model), ("", "", "seen", "what to do"), rows, left=4)
    failed = [checked.model for checked in checks if not checked.ok]
    say(f"{escape(', '.join(failed))}: not ready for trials" if failed else "ready for trials")
