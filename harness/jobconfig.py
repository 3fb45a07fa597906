"""What a job asks for, and the file that says it."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from harness.agents.profiles import load_profile
from harness.agents.react import AgentConfig
from harness.budget import Budget
from harness.errors import InputError
from harness.models.calling import Retries
from harness.models.registry import ModelConfig
from harness.records import Feedback
from harness.sandboxes.settings import SandboxConfig
from harness.tasks.package import describe_validation


class JobConfig(BaseModel):
    """What a job asks for; the same keys as in JOB.toml.

    Attributes:
        tasks: task folders.
        models: the candidates.
        attempts: how often every candidate tries every task.
        budget: per trial.
        agent: how the ReAct agent works. ``agent = "paper"``, or ``profile = "paper"`` in the table, begins
            with a profile of :mod:`harness.agents.profiles`, by name or file; what the job says stands.
        profile: the agent's profile, which has been merged into the rest.
        retries: how patiently failed model calls are repeated.
        prices: a price file for the cost limit, over the published prices.
        feedback: which score agents are told.
        sandbox: the table of :class:`harness.sandboxes.settings.SandboxConfig`, or its ``kind`` alone.
        workers: trials at a time; 0 is one for each lease of GPUs, or without these one for each processor.
        shard: ``(i, n)`` runs the i-th of n equal parts only, counted from 1.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    schema_version: Literal[1] = 1
    tasks: tuple[Path, ...] = Field(min_length=1)
    models: tuple[ModelConfig, ...] = Field(min_length=1)
    attempts: int = Field(default=1, ge=1)
    budget: Budget = Budget()
    agent: AgentConfig = AgentConfig.model_validate({})
    profile: str | None = None
    retries: Retries = Retries()
    prices: Path | None = None
    feedback: Feedback = Feedback.TEST
    sandbox: SandboxConfig = SandboxConfig.model_validate({})
    workers: int = Field(default=0, ge=0)
    shard: tuple[int, int] = (1, 1)

    @model_validator(mode="before")
    @classmethod
    def _short_forms(cls, data: Any) -> Any:
        """``sandbox = "docker"``; profiles; and ``network`` of older job files, which opened any host."""
        if not isinstance(data, dict):
            return data
        data = _with_profile(dict(data))
        if isinstance(data.get("sandbox"), str):
            data["sandbox"] = {"kind": data["sandbox"]}
        if "network" in data:
            network, sandbox = data.pop("network"), data.get("sandbox", {})
            if not isinstance(network, bool):
                raise ValueError("network: true or false; sandbox.allow_hosts opens single hosts")
            if not isinstance(sandbox, dict) or "allow_hosts" in sandbox:
                raise ValueError("network and sandbox.allow_hosts exclude each other; keep allow_hosts")
            data["sandbox"] = {**sandbox, "allow_hosts": ["*"] if network else []}
        return data

    @property
    def scripted(self) -> bool:
        """Whether all agent code comes from scripted candidates, which ship with this project."""
        return all(model.name.startswith("scripted/") for model in self.models)


#: What may differ between two runs of one job: it says what to do, not what a trial is.
FREE_TO_CHANGE = frozenset(
    {"tasks", "models", "attempts", "workers", "shard", "sandbox.gpus", "sandbox.warm", "sandbox.trust"}
    | {"profile", "prices", "retries.attempts", "retries.first_seconds", "retries.longest_seconds"}
)


def read_job_config(path: Path) -> JobConfig:
    """Read JOB.toml; task folders, price file and profile file in it are relative to the file.

    Raises:
        InputError: names the file and the key.
    """
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise InputError(f"{path}: not found") from error
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}; name a TOML file") from error
    except (UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise InputError(f"{path}: not valid TOML: {error}") from error
    if "profile" in data:
        raise InputError(
            f'{path}: profile: it belongs into the table agent; write agent = "{data["profile"]}"'
        )
    if isinstance(data.get("models"), list):
        data["models"] = [{"name": m} if isinstance(m, str) else m for m in data["models"]]
    agent = data.get("agent")
    if isinstance(agent, str):
        data["agent"] = agent = {"profile": agent}
    if isinstance(agent, dict) and str(agent.get("profile", "")).endswith(".toml"):
        agent["profile"] = str(path.parent / agent["profile"])
    try:
        config = JobConfig.model_validate(data)
    except ValidationError as error:
        raise InputError(f"{path}: {describe_validation(error)}") from error
    except InputError as error:  # of the profile, which has a file of its own
        raise InputError(f"{path}: agent.profile: {error}") from error
    paths: dict[str, Any] = {"tasks": tuple(path.parent / task for task in config.tasks)}
    if config.prices is not None:
        paths["prices"] = path.parent / config.prices
    return config.model_copy(update=paths)


def _with_profile(data: dict[str, Any]) -> dict[str, Any]:
    """The job's tables, with those of the agent's profile under them."""
    agent = data.get("agent")
    if isinstance(agent, str):
        agent = {"profile": agent}
    if not isinstance(agent, dict) or "profile" not in agent:
        return data
    name = agent["profile"]
    if not isinstance(name, str):
        raise ValueError("agent.profile: write the name of a profile or the path of its TOML file")
    data["agent"] = {key: value for key, value in agent.items() if key != "profile"}
    return {**data, **_merged(load_profile(name), data), "profile": name}


def _merged(under: dict[str, Any], over: dict[str, Any]) -> dict[str, Any]:
    """The keys of one document, with what the other says of them."""
    merged = dict(under)
    for key in under.keys() & over.keys():
        new = over[key]
        if isinstance(new, BaseModel):
            new = new.model_dump(exclude_unset=True)
        if isinstance(under[key], dict) and isinstance(new, dict):
            new = {**new, **_merged(under[key], new)}
        merged[key] = new
    return merged
