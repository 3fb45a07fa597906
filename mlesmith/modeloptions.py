"""The options that say which models are meant, and what is asked of their calls."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mlesmith.console import fail

if TYPE_CHECKING:
    from generator.verifier.review.reviewer import Reviewer
    from harness.models.registry import ModelConfig

_MODELS, _ASKED = "Models", "What is asked of every model call"

BaseUrl = Annotated[
    str | None,
    typer.Option(
        metavar="URL",
        help="Another endpoint than the provider's own, for models of one provider.",
        rich_help_panel=_MODELS,
    ),
]
KeyVariable = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="The environment variable that holds the key; the provider's own when left out.",
        rich_help_panel=_MODELS,
    ),
]
ApiName = Annotated[
    str | None,
    typer.Option(
        "--api",
        metavar="responses|chat",
        help="How openai/ models are reached; responses, or chat where the base URL is not OpenAI's.",
        rich_help_panel=_MODELS,
    ),
]
ReviewerName = Annotated[
    str | None,
    typer.Option(
        "--reviewer",
        metavar="PROVIDER/MODEL",
        help="A language model that reviews each task; none unless named.",
        show_default=False,
        rich_help_panel=_MODELS,
    ),
]
Prices = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE", help="A TOML file of prices that override the table.", rich_help_panel=_MODELS
    ),
]
Temperature = Annotated[
    str | None,
    typer.Option(
        metavar="NUMBER|default",
        help="Sampling temperature; the agent profile's, else the provider's own.",
        rich_help_panel=_ASKED,
    ),
]
Effort = Annotated[
    str | None,
    typer.Option(
        metavar="WORD",
        help="How much a reasoning model thinks, in its provider's words.",
        rich_help_panel=_ASKED,
    ),
]
MaxOutputTokens = Annotated[
    int | None,
    typer.Option(min=1, help="Tokens of one reply, reasoning included.", rich_help_panel=_ASKED),
]
MaxInputTokens = Annotated[
    int | None,
    typer.Option(
        min=1, help="Tokens of one call's input; a longer history is compacted.", rich_help_panel=_ASKED
    ),
]
ContextWindow = Annotated[
    int | None,
    typer.Option(min=1, help="Tokens that the model holds; looked up when left out.", rich_help_panel=_ASKED),
]
ActionFormatName = Annotated[
    str | None,
    typer.Option(
        "--action-format",
        metavar="tools|json|schema",
        help="Native tool calls (the default), JSON in text, or JSON that the endpoint holds to a schema.",
        rich_help_panel=_ASKED,
    ),
]


def reviewer_of(name: str | None, *, prices: Path | None, **endpoint: Any) -> Reviewer | None:
    """The reviewer that was asked for, if one was."""
    if name is None:
        return None
    from generator.verifier.review.model import LanguageModelReviewer
    from harness.models.pricing import read_price_table

    return LanguageModelReviewer(name_models([name], {}, **endpoint)[0], prices=read_price_table(prices))


def split_items(items: Sequence[Path], models: Sequence[str]) -> tuple[list[Path], list[Path], list[str]]:
    """Tell job files, folders and models apart: a shell expands ``--tasks DIR...`` into loose words."""
    from harness.models.registry import PROVIDERS

    jobs: list[Path] = []
    folders: list[Path] = []
    names: list[str] = list(models)
    for item in items:
        if item.suffix == ".toml":
            jobs.append(item)
        elif not item.exists() and str(item).split("/")[0] in PROVIDERS:
            names.append(str(item))
        else:
            folders.append(item)
    return jobs, folders, names


def settings_document(**options: Any) -> dict[str, Any]:
    """The settings that were given, as a job file would say them."""
    given = {name: value for name, value in options.items() if value is not None}
    temperature = given.get("temperature")
    if temperature is not None and temperature != "default":
        try:
            given["temperature"] = float(temperature)
        except ValueError:
            fail(f"--temperature {temperature}: write a number, or default for the provider's own")
    return given


def name_models(names: Sequence[str], settings: dict[str, Any], **endpoint: Any) -> list[ModelConfig]:
    """The candidates of a command line.

    Args:
        names: ``<provider>/<model>``.
        settings: what is asked of their calls; scripted candidates make none, but mind the action format.
        endpoint: ``base_url``, ``key_variable`` and ``api``, where they were given.
    """
    from pydantic import ValidationError

    from harness.models.registry import ModelConfig
    from harness.tasks.package import describe_validation

    given = {key: value for key, value in endpoint.items() if value is not None}
    called = [name for name in names if not name.startswith("scripted/")]
    heeded = {key: value for key, value in settings.items() if key == "action_format"}
    providers = sorted({name.partition("/")[0] for name in called})
    if given and len(providers) > 1:
        option = next(iter(given)).replace("_", "-")
        fail(
            f"--{option} would go to models of {' and '.join(providers)}: write a JOB.toml, where each model "
            "has its own"
        )
    try:
        return [
            ModelConfig.model_validate({"name": name, "settings": settings, **given})
            if name in called
            else ModelConfig.model_validate({"name": name, "settings": heeded})
            for name in names
        ]
    except ValidationError as error:
        fail(describe_validation(error))
