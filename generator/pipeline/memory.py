"""How far the work on a dataset has come, on disk, so that a run that was killed goes on where it was.

.generate/<dataset>/
  brainstorm.json        the rounds of the Brainstormer
  ledger.jsonl           every attempt of every agent
  transcripts/           what models were asked and answered
  <task-id>/
    state.json           the step that comes next, written when one is done
    draft/<task-id>/     what the Designer made
    package/<task-id>/   what the Refactor made of it, until it is moved to where it belongs
"""

from __future__ import annotations

import json
import shutil
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from generator.defects.base import Finding, Gate, Severity
from generator.pipeline.funnel import Stage
from generator.proposals import Refusal
from harness.records import strict_json, write_atomically


class Next(StrEnum):
    """What has to be done next for a formulation."""

    DESIGN = "design"
    REFACTOR = "refactor"
    VERIFY = "verify"
    NOTHING = "nothing"


class State(BaseModel):
    """How far one formulation has come.

    Attributes:
        key: hash of all that the work depends on; a state of another key is forgotten.
        next: the step that comes next.
        formulation: as it was designed last.
        findings: what the next step has to mend.
        attempts: attempts of each agent so far.
        reached: the last stage that was passed.
        code: why it ended, for the funnel; empty for a task without fault.
        reason: the same for people.
        kept: there is a package, verified or not.
        seconds: wall time spent on it, over all runs.
    """

    model_config = ConfigDict(extra="forbid")

    schema_version: int = 1
    key: str
    next: Next = Next.DESIGN
    formulation: dict[str, Any]
    findings: list[dict[str, str]] = Field(default_factory=list)
    attempts: dict[str, int] = Field(default_factory=dict)
    reached: Stage = Stage.PROPOSED
    code: str = ""
    reason: str = ""
    kept: bool = False
    seconds: float = 0.0

    def given(self) -> tuple[Finding, ...]:
        """What has to be mended, as findings."""
        return tuple(
            Finding(
                each["code"], Severity(each["severity"]), Gate(each["stage"]), each["evidence"], each["fix"]
            )
            for each in self.findings
        )


class Round(BaseModel):
    """One round of the Brainstormer: what had been tried before, and what it found."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    tried: tuple[str, ...]
    formulations: tuple[dict[str, Any], ...]
    refusals: tuple[Refusal, ...]


@dataclass(frozen=True)
class Places:
    """Where the work on one formulation lies."""

    home: Path

    @property
    def state(self) -> Path:
        """How far it has come."""
        return self.home / "state.json"

    @property
    def draft(self) -> Path:
        """The Designer's package; its folder has the task's name, as a package's must."""
        return self.home / "draft" / self.home.name

    @property
    def package(self) -> Path:
        """The Refactor's package, likewise."""
        return self.home / "package" / self.home.name

    def forget(self) -> None:
        """Remove everything."""
        shutil.rmtree(self.home, ignore_errors=True)


def read_state(places: Places, key: str) -> State | None:
    """The state of that key, or ``None`` where work has to begin anew."""
    try:
        state = State.model_validate_json(places.state.read_bytes())
    except (OSError, ValidationError):
        return None
    return state if state.key == key and state.schema_version == 1 else None


def write_state(places: Places, state: State) -> None:
    """Write a state, atomically."""
    write_atomically(places.state, strict_json(state.model_dump(mode="json")) + "\n")


def read_rounds(path: Path, identity: str) -> list[Round]:
    """The Brainstormer's rounds so far, when they are of that identity."""
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
        if document["schema_version"] != 1 or document["identity"] != identity:
            return []
        return [Round.model_validate(each) for each in document["rounds"]]
    except (OSError, ValueError, KeyError, TypeError):
        return []


def write_rounds(path: Path, identity: str, rounds: list[Round]) -> None:
    """Write them, atomically."""
    document = {
        "schema_version": 1,
        "identity": identity,
        "rounds": [each.model_dump(mode="json") for each in rounds],
    }
    write_atomically(path, strict_json(document) + "\n")
