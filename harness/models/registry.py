"""Models by name: ``scripted/<policy>`` or ``openai/<model>``."""

from __future__ import annotations

import difflib

from pydantic import BaseModel, ConfigDict, Field

from harness.errors import InputError
from harness.models.base import Model
from harness.models.scripted.model import ScriptedModel, policy_names

PROVIDERS = ("scripted", "openai")


class ModelConfig(BaseModel):
    """A candidate as a job names it.

    Attributes:
        name: ``scripted/<policy>`` or ``openai/<model>``.
        base_url: the endpoint of a compatible server.
        key_variable: the environment variable that holds its key.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str = Field(min_length=1)
    base_url: str | None = None
    key_variable: str = "OPENAI_API_KEY"


def make_model(config: ModelConfig) -> Model:
    """Build a model client.

    Raises:
        InputError: unknown provider or policy, or a missing key; the message says what is known.
    """
    provider, _, model = config.name.partition("/")
    if provider not in PROVIDERS or not model:
        raise InputError(
            f"unknown model {config.name!r}: write scripted/<policy> or openai/<model>"
            + _suggestion(config.name)
        )
    if provider == "scripted":
        return ScriptedModel(model)
    from harness.models.openai import OpenAIModel

    return OpenAIModel(model, config.base_url, config.key_variable)


def scripted_names() -> list[str]:
    """The board names of all scripted candidates, weakest first."""
    return [f"scripted/{name}" for name in policy_names()]


def _suggestion(name: str) -> str:
    close = difflib.get_close_matches(name, [*scripted_names(), *policy_names()], n=1, cutoff=0.5)
    if not close:
        return ""
    best = close[0] if "/" in close[0] else f"scripted/{close[0]}"
    return f"; did you mean {best}?"
