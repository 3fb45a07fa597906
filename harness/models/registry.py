"""Models by name, ``<provider>/<model>``: what a job says of one, and the client it gets."""

from __future__ import annotations

import difflib
import os
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, Field, field_validator

from harness.errors import InputError
from harness.models.addresses import Url, is_local, is_openai, url_in_environment
from harness.models.base import Model, Settings
from harness.models.presets import PRESETS, Api, Preset
from harness.models.scripted.model import ScriptedModel, policy_names
from harness.models.wire.tapes import Tape
from harness.tasks.package import Task

PROVIDERS = tuple(PRESETS)

_LEAST_OUTPUT = 16
"""The lowest bound of output tokens that the Responses API takes."""


class ModelConfig(BaseModel):
    """A candidate as a job names it.

    Attributes:
        name: ``<provider>/<model>``; the providers are those of :mod:`harness.models.presets`.
        label: tells apart two candidates of one model, such as two efforts: the board shows
            ``<provider>/<model>@<label>``.
        base_url: another endpoint than the provider's own.
        key_variable: the environment variable that holds the key, where it is not the provider's own.
        api: ``responses`` or ``chat``, for ``openai`` models; elsewhere than at OpenAI it is ``chat``.
        settings: what is asked of this model's calls, over what the agent's profile asks.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str = Field(min_length=1, max_length=200)
    label: str | None = Field(default=None, pattern=r"^[A-Za-z0-9._-]+$")
    base_url: Url | None = None
    key_variable: str | None = None
    api: Api | None = None
    settings: Settings = Settings()

    @field_validator("name")
    @classmethod
    def _printable(cls, name: str) -> str:
        """A name is written to records and is a folder's, so what cannot be in these is no part of it."""
        if not name.isprintable():
            raise ValueError("it holds line breaks or other signs that cannot be printed")
        return name

    @field_validator("key_variable")
    @classmethod
    def _a_name(cls, variable: str | None) -> str | None:
        """A key written here by mistake would reach records; the message does not repeat it."""
        if variable is not None and not re.fullmatch(r"[A-Z_][A-Z0-9_]*", variable):
            raise ValueError(
                "write the name of an environment variable, in capitals such as MY_API_KEY, never the key"
            )
        return variable

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
    def priced_as(self) -> str:
        """The name by which price tables know it, whatever its label.

        At another endpoint than the provider's own it is ``<provider>@<host>/<model>``: the provider's prices
        say nothing about that endpoint.
        """
        url, own = self.endpoint_url, self.preset.base_url
        at_openai = self.provider == "openai" and is_openai(url)
        if url is None or at_openai or (own is not None and url.rstrip("/") == own):
            return self.name
        return f"{self.provider}@{urlsplit(url).netloc}/{self.model}"

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
        """Where it is reached; ``None`` is the SDK's default.

        Raises:
            InputError: OPENAI_BASE_URL counts for it and is no address.
        """
        if self.base_url is None and self.provider == "openai":
            return url_in_environment("OPENAI_BASE_URL")
        return self.base_url or self.preset.base_url

    @property
    def is_local(self) -> bool:
        """Whether its endpoint is on this machine."""
        return self.endpoint_url is not None and is_local(self.endpoint_url)

    @property
    def spoken_api(self) -> Api:
        """The API it is reached by.

        Raises:
            InputError: the provider does not speak the one asked for.
        """
        preset = self.preset
        if self.api is None:
            return Api.CHAT if self.provider == "openai" and not is_openai(self.endpoint_url) else preset.api
        if self.api not in (preset.api, *preset.also):
            known = " or ".join((preset.api, *preset.also))
            raise InputError(
                f"{self.board_name}: api = {self.api}: {self.provider} is reached by {known}; leave api out"
            )
        return self.api

    @property
    def key_name(self) -> str | None:
        """The environment variable that holds the key; ``None`` when the endpoint wants none."""
        if self.key_variable is not None:
            return self.key_variable
        own, other = self.preset.key_variable, self.preset.other_key_variable
        return other if other and os.environ.get(other) and not os.environ.get(own or "") else own

    def key(self, tape: Tape | None = None) -> str | None:
        """The key, from the environment; none is needed where a tape answers in the network's place.

        Raises:
            InputError: it is not set although the endpoint wants one, or it cannot be a key; the message
                names the variable and never the key.
        """
        if tape is not None and not tape.live:
            return None
        variable = self.key_name
        key = os.environ.get(variable, "").strip() if variable else ""
        if variable and not key and not self.is_local:
            where = self.endpoint_url or f"{self.provider}'s API"
            raise InputError(f"{variable} is not set; export the key of {where} in it")
        if not all("!" <= sign <= "~" for sign in key):
            # Such a key cannot be sent in a header, and the error of whoever tries would show it.
            raise InputError(
                f"{variable} holds spaces, line breaks or letters that no key has; export it anew"
            )
        return key or None


def check_models(configs: Iterable[ModelConfig], profile: Settings) -> None:
    """Refuse, before anything runs, candidates that cannot be told apart or called as asked.

    Args:
        configs: the candidates of a job.
        profile: the settings of the agent's profile, which are asked of all of them.

    Raises:
        InputError: names the model, the key, the value and what is taken instead.
    """
    configs = list(configs)
    # Trials are kept in folders, whose names cannot have slashes.
    folders = Counter(config.board_name.replace("/", "--") for config in configs)
    for name in dict.fromkeys(config.board_name for config in configs):
        if folders[name.replace("/", "--")] > 1:
            raise InputError(
                f"model {name} is named twice: give each its own label to compare two settings of one model, "
                "or use attempts to repeat trials"
            )
    for config in configs:
        if config.preset.api is Api.SCRIPTED and (config.base_url or config.key_variable or config.api):
            raise InputError(
                f"{config.board_name}: scripted candidates call no endpoint; "
                "leave out base_url, key_variable and api"
            )
        resolve_settings(profile, config)
        _ = config.spoken_api


def resolve_settings(profile: Settings, config: ModelConfig) -> Settings:
    """What is asked of a model's calls: the profile's settings, with the model's own over them.

    Scripted candidates call no model, so nothing is refused for them.

    Raises:
        InputError: values the provider does not take; the message names each with its key, and what is taken.
    """
    own = {name: getattr(config.settings, name) for name in config.settings.model_fields_set}
    settings = profile.model_copy(update=own)
    if config.preset.api is Api.SCRIPTED:
        return settings
    refused = list(_refused(settings, config))
    if refused:
        fixes = sorted({f"settings.{key}" for key, _ in refused if key not in own})
        raise InputError(
            f"{config.board_name}: "
            + "; ".join(f"settings.{key} = {getattr(settings, key)}: {why}" for key, why in refused)
            + (
                f"; the agent's settings ask this of all models, so set {', '.join(fixes)} for that model"
                * bool(fixes)
            )
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
        return ScriptedModel(config.model, task)
    # The SDKs take half a second to import each, so only for those who use them.
    if api is Api.GOOGLE:
        from harness.models.google.model import GoogleModel

        return GoogleModel(config, tape)
    if api is Api.RESPONSES:
        from harness.models.openai.responses import ResponsesModel

        return ResponsesModel(config, tape)
    from harness.models.openai.chat import ChatModel

    return ChatModel(config, tape)


def scripted_names() -> list[str]:
    """The board names of all scripted candidates, weakest first."""
    return [f"scripted/{name}" for name in policy_names()]


def _refused(settings: Settings, config: ModelConfig) -> Iterator[tuple[str, str]]:
    """Each setting the provider does not take, and what it takes instead."""
    preset, effort = config.preset, settings.effort
    if effort is not None and preset.efforts is not None and effort not in preset.efforts:
        yield "effort", f"{config.provider} takes {', '.join(preset.efforts) or 'none'}"
    elif effort is not None and config.spoken_api is Api.GOOGLE:
        from harness.models.google.thinking import thinking_config

        try:
            thinking_config(config.model, effort)
        except InputError as error:
            yield "effort", str(error)
    temperature = settings.sent_temperature
    if temperature is not None and temperature > preset.max_temperature:
        yield "temperature", f'{config.provider} takes 0 to {preset.max_temperature:g}, or "default"'
    bound, window = settings.max_output_tokens, settings.context_window
    if bound is not None and bound < _LEAST_OUTPUT and config.spoken_api is Api.RESPONSES:
        yield "max_output_tokens", f"the Responses API takes {_LEAST_OUTPUT} or more"
    if bound is not None and window is not None and bound >= window:
        yield "max_output_tokens", f"it must leave room in the context window of {window} tokens"
    if settings.max_input_tokens is not None and window is not None and settings.max_input_tokens > window:
        yield "max_input_tokens", f"the context window holds {window} tokens"
    if settings.action_format not in preset.action_formats:
        yield "action_format", f"{config.provider} takes {', '.join(preset.action_formats)}"


def _suggestion(name: str) -> str:
    provider, _, model = name.partition("/")
    known = [*scripted_names(), *policy_names()]
    if close := difflib.get_close_matches(name, known, n=1, cutoff=0.7):
        return f"; did you mean {close[0] if '/' in close[0] else f'scripted/{close[0]}'}?"
    if model and (close := difflib.get_close_matches(provider.lower(), PROVIDERS, n=1, cutoff=0.6)):
        return f"; did you mean {close[0]}/{model}?"
    if not model and provider in PROVIDERS:
        return f"; the model is missing after {provider}/"
    if model:
        return f"; models of many others are reached as openrouter/{name}"
    return ""
