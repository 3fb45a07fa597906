"""Profiles of the agent: TOML files that a job can begin with, by name or as a file of one's own."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from harness.agents.react import AgentConfig
from harness.budget import Budget
from harness.errors import InputError
from harness.records import Feedback
from harness.tasks.package import describe_validation

_FOLDER = Path(__file__).parent


class Profile(BaseModel):
    """What a profile may say; what it leaves out is as without a profile.

    Attributes:
        summary: what it is for, in a line.
        agent: how the loop works, and the settings of the model's calls.
        budget: of one trial.
        feedback: which score agents are told.
        attempts: how often every candidate tries every task.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    schema_version: Literal[1] = 1
    summary: str = Field(min_length=1)
    agent: AgentConfig | None = None
    budget: Budget | None = None
    feedback: Feedback | None = None
    attempts: int | None = Field(default=None, ge=1)


def profile_names() -> list[str]:
    """Names of the profiles that ship with this project."""
    return sorted(path.stem for path in _FOLDER.glob("*.toml"))


def load_profile(name_or_path: str) -> dict[str, Any]:
    """The keys that a profile sets, as in a job's file.

    Args:
        name_or_path: one of :func:`profile_names`, or the path of a TOML file.

    Raises:
        InputError: there is no such profile, or a key or a value of it is wrong; the message names both.
    """
    path = _FOLDER / f"{name_or_path}.toml" if name_or_path in profile_names() else Path(name_or_path)
    profile = _read(path)
    return profile.model_dump(mode="json", exclude_unset=True, exclude={"schema_version", "summary"})


def _read(path: Path) -> Profile:
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        known = ", ".join(profile_names())
        raise InputError(
            f"{path}: there is no such profile; known: {known}, or the path of a file"
        ) from error
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}; name a TOML file") from error
    except (UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise InputError(f"{path}: not valid TOML: {error}") from error
    try:
        # As JSON, so that words are taken for enumerations and nothing else is taken for what it is not.
        return Profile.model_validate_json(json.dumps(data, default=str), strict=True)
    except ValidationError as error:
        raise InputError(f"{path}: {describe_validation(error)}") from error
