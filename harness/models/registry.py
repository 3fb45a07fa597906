"""Models by name, ``<provider>/<model>``: what a job says of one, and the client it gets."""

from __future__ import annotations

import difflib
import os
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, Field, field_validator

from harness.errors import InputError
from harness.models.base import Model, Settings
from harness.models.presets import PRESETS, Api, Preset
from harness.models.scripted.model import ScriptedModel, policy_names
from harness.models.wire.tapes import Tape
from harness.tasks.package import Task

PROVIDERS = tuple(PRESETS)


class ModelConfig(BaseModel):
    """A candidate as a job names it.

    Attributes:
        name: ``<provider>/<model>``; the providers are those of :mod:`harness.models.presets`.
        label: tells apart two candidates of one model, such as two efforts: the board shows
            ``<provider>/<model>@<label>``.
        base_url: another endpoint than the provider's own.
        key_variable: the environment variable that holds the key, where it is not the provider's own.
        api: ``responses`` or ``chat``, for ``openai`` models; with a base URL it is ``chat``.
        settings: what is asked of this model's calls, over what the agent's profile asks.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str = Field(min_length=1)
    label: str | None = Field(default=None, pattern=r"^[A-Za-z0-9._-]+$")
    base_url: str | None = None
    key_variable: str | None = None
    api: Api | None = None
    settings: Settings = Settings()

    @field_validator("base_url")
    @classmethod
    def _no_secrets(cls, url: str | None) -> str | None:
        """A base URL is written to records, so it must not hold a password or a key."""
        if url is None:
            return None
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ValueError("write a whole URL, such as http://localhost:8000/v1")
        if parts.username or parts.password or parts.query:
            raise ValueError("no user, password or query may be in it; keys come from the environment")
        return url

    @property
    def provider(self) -> str:
        """The part of the name before the first slash."""
        return self.name.partition("/")[0]

    @property
    def model(self) -> str:
        """The provider's own name of the model."""
        return self.name.partition("/")[2]

    @property
    def board_name(self) -> str:
        """The name shown on boards."""
        return self.name if self.label is None else f"{self.name}@{self.label}"

    @property
    def preset(self) -> Preset:
        """What is known of its provider.

        Raises:
            InputError: there is no such provider, or the name has no model; the message says what is known.
        """
        if self.provider not in PRESETS or not self.model:
            raise InputError(
                f"unknown model {self.name!r}: write <provider>/<model>, with a provider of "
                f"{', '.join(PROVIDERS)}{_suggestion(self.name)}"
            )
        return PRESETS[self.provider]

    @property
    def endpoint_url(self) -> str | None:
        """Where it is reached; ``None`` is the SDK's default."""
        if self.base_url is None and self.provider == "openai":
            return os.environ.get("OPENAI_BASE_URL") or None
        return self.base_url or self.preset.base_url

    @property
    def spoken_api(self) -> Api:
        """The API it is reached by.

        Raises:
            InputError: the provider does not speak the one asked for.
        """
        preset = self.preset
        if self.api is None:
            return Api.CHAT if self.provider == "openai" and self.endpoint_url else preset.api
        if self.api is not preset.api and {self.api, preset.api} != {Api.RESPONSES, Api.CHAT}:
            raise InputError(f"{self.name}: {self.provider} does not speak {self.api}; leave api out")
        return self.api

    def key(self) -> str | None:
        """The key, from the environment.

        Raises:
            InputError: it is not set, and the endpoint is not on this machine.
        """
        variable = self.key_variable or self.preset.key_variable
        key = os.environ.get(variable, "").strip() if variable else None
        if not key and not _is_local(self.endpoint_url) and self.spoken_api is not Api.SCRIPTED:
            where = self.endpoint_url or f"{self.provider}'s API"
            raise InputError(
                f"{variable} is not set; export the key of {where} in it"
                if variable
                else f"{self.name}: name the variable that holds the key of {where} in key_variable"
            )
        return key or None


def resolve_settings(profile: Settings, config: ModelConfig) -> Settings:
    """What is asked of a model's calls: the profile's settings, with the model's own over them.

    Raises:
        InputError: a value the provider does not take; the message names it and what it takes.
    """
    own = {name: getattr(config.settings, name) for name in config.settings.model_fields_set}
    settings = profile.model_copy(update=own)
    preset = config.preset
    if settings.effort is not None and preset.efforts is not None and settings.effort not in preset.efforts:
        # A profile's effort may be no word of a provider; only the model's own settings are held to it.
        known = ", ".join(preset.efforts) or "none"
        raise InputError(f"{config.name}: effort {settings.effort!r} is unknown there; it takes {known}")
    temperature = settings.sent_temperature
    if temperature is not None and temperature > preset.max_temperature:
        raise InputError(
            f"{config.name}: temperature {temperature:g} is above {preset.max_temperature:g}, its highest"
        )
    return settings


def make_model(config: ModelConfig, tape: Tape | None = None, task: Task | None = None) -> Model:
    """Build a model client.

    Args:
        config: which model.
        tape: records the exchanges with the endpoint, or answers in its place.
        task: what it will work on; only ``scripted/oracle`` looks at it.

    Raises:
        InputError: unknown provider or policy, or a missing key; the message says what is known.
    """
    api = config.spoken_api
    if api is Api.SCRIPTED:
        return ScriptedModel(config.model)
    # The SDKs take half a second to import each, so only for those who use them.
    if api is Api.GOOGLE:
        from harness.models.google import GoogleModel

        return GoogleModel(config, tape)
    if api is Api.RESPONSES:
        from harness.models.openai.responses import ResponsesModel

        return ResponsesModel(config, tape)
    from harness.models.openai.chat import ChatModel

    return ChatModel(config, tape)


def scripted_names() -> list[str]:
    """The board names of all scripted candidates, weakest first."""
    return [f"scripted/{name}" for name in policy_names()]


def _is_local(url: str | None) -> bool:
    return url is not None and urlsplit(url).hostname in ("localhost", "127.0.0.1", "::1")


def _suggestion(name: str) -> str:
    close = difflib.get_close_matches(name, [*scripted_names(), *policy_names()], n=1, cutoff=0.5)
    if not close:
        return ""
    best = close[0] if "/" in close[0] else f"scripted/{close[0]}"
    return f"; did you mean {best}?"
