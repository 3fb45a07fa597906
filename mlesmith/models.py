"""``mlesmith models``: the candidates that can be named."""

from __future__ import annotations

import typer

from mlesmith.console import Json, emit, show_table


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(models)


def models(json: Json = False) -> None:
    """List the scripted candidates and the providers of real models.

    Example: mlesmith models
    """
    from harness.models.scripted.model import policy_summaries

    scripted = [(f"scripted/{name}", summary) for name, summary in policy_summaries().items()]
    others = [
        (
            "openai/<model>",
            "any model behind an OpenAI-compatible endpoint: the key in OPENAI_API_KEY, another endpoint "
            "with --base-url or OPENAI_BASE_URL",
        )
    ]
    if json:
        emit(
            {
                "schema_version": 1,
                "models": [{"name": name, "summary": text} for name, text in scripted + others],
            }
        )
        return
    show_table("Candidates", ("name", "what it does"), scripted + others, left=2)
