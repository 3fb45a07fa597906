"""Which models work as which agents, and what each may use."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from harness.budget import Budget
from harness.errors import InputError
from harness.models.base import ActionFormat, Settings
from harness.models.presets import Api
from harness.models.pricing import PriceTable
from harness.models.registry import ModelConfig, make_model, resolve_settings
from harness.tasks.package import describe_validation

AGENTS = ("brainstormer", "designer", "refactor")
#: Waiting for an endpoint is not the agent's time, so the limit is on working time. The paper's Designer is
#: done within 15 steps in 92 % of its tasks, its Refactor after 13 to 23.
_BUDGET = Budget(steps=30, seconds=None, working_seconds=3_600.0, execution_seconds=300.0)
#: A program of a few hundred lines, with the thinking before it.
_OUTPUT_TOKENS = 16_384


class Staff(BaseModel):
    """One agent.

    Attributes:
        model: the model that works as it.
        budget: what one attempt may use.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    model: ModelConfig
    budget: Budget = _BUDGET


class AgentsConfig(BaseModel):
    """All three agents.

    Attributes:
        brainstormer, designer, refactor: who they are.
        rounds: how often an answer that does not hold may be mended within one attempt.
        max_format_errors: replies in a row that cannot be read, and end an attempt.
        recent_steps: replies that stay whole when a conversation becomes too long.
        observation_characters: of one observation at most.
        settings: what is asked of every call, but for what a model's own settings say.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    brainstormer: Staff
    designer: Staff
    refactor: Staff
    rounds: int = Field(default=3, ge=1)
    max_format_errors: int = Field(default=3, ge=1)
    recent_steps: int = Field(default=8, ge=1)
    observation_characters: int = Field(default=12_000, ge=500)
    settings: Settings = Settings(max_output_tokens=_OUTPUT_TOKENS)

    @classmethod
    def of(cls, model: ModelConfig, budget: Budget | None = None, **options: Any) -> Self:
        """One model for all three."""
        staff = Staff(model=model, budget=budget or _BUDGET)
        return cls(brainstormer=staff, designer=staff, refactor=staff, **options)

    def within(self, **limits: Any) -> Self:
        """The same agents, each attempt within these limits of :class:`harness.budget.Budget`."""
        told = {
            agent: self.staff(agent).model_copy(
                update={"budget": self.staff(agent).budget.model_copy(update=limits)}
            )
            for agent in AGENTS
        }
        return self.model_copy(update=told)

    def staff(self, agent: str) -> Staff:
        """The agent of that name, one of :data:`AGENTS`."""
        found = getattr(self, agent)
        assert isinstance(found, Staff)
        return found


def read_agents(path: Path) -> AgentsConfig:
    """The agents of a TOML file.

    Its tables ``brainstormer``, ``designer`` and ``refactor`` each hold a ``model`` as in a job file and
    perhaps a ``budget``; what they leave out is taken from the table ``all``.

    Raises:
        InputError: names the file, the key and what is wrong.
    """
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise InputError(f"{path}: cannot be read: {error}") from error
    every = data.pop("all", {})
    tables = {agent: data.pop(agent, {}) for agent in AGENTS}
    if isinstance(every, dict) and all(isinstance(table, dict) for table in tables.values()):
        tables = {agent: every | table for agent, table in tables.items()}
    data |= tables
    try:
        return AgentsConfig.model_validate(data)
    except ValidationError as error:
        raise InputError(f"{path}: {describe_validation(error)}") from error


def settings_of(profile: Settings, model: ModelConfig) -> Settings:
    """What is asked of a model's calls: native tool calls where nobody says another action format.

    Raises:
        InputError: settings that the provider does not take.
    """
    if ActionFormat.TOOLS not in model.preset.action_formats:
        profile = profile.model_copy(update={"action_format": ActionFormat.JSON})
    return resolve_settings(profile, model)


def check_staff(model: ModelConfig, budget: Budget, profile: Settings, prices: PriceTable) -> None:
    """Refuse, before anything runs, what cannot work.

    Raises:
        InputError: no such model, no key, settings that are not taken, or a cost limit without a price.
    """
    if model.preset.api is Api.SCRIPTED:
        raise InputError(f"{model.board_name}: scripted candidates make no tasks; name a language model")
    settings_of(profile, model)
    if budget.cost_usd is not None and prices.per_million(model.priced_as) is None:
        raise InputError(
            f"{model.board_name}: its price is unknown, so cost_usd cannot be held; "
            "leave it out, or give its price in a price file"
        )
    make_model(model)


def described(staff: Staff) -> dict[str, Any]:
    """All of an agent that its work depends on, as plain data."""
    return {
        "model": staff.model.board_name,
        "endpoint": staff.model.endpoint_url,
        "settings": staff.model.settings.model_dump(mode="json"),
        "budget": staff.budget.model_dump(mode="json"),
    }
