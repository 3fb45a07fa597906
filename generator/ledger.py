"""The ledger: every attempt of every agent, with what it took. Statistics and costs are read from it."""

from __future__ import annotations

import csv
import io
import json
import os
import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError

from harness.models.base import Usage
from harness.records import strict_json


class Attempt(BaseModel):
    """One attempt of one agent.

    Attributes:
        dataset: the dataset's name.
        task: the formulation's id; empty for a Brainstormer.
        agent: ``brainstormer``, ``designer``, ``refactor``, ``reviewer`` or ``verifier``.
        number: counted from 1, for this agent and task.
        outcome: ``done``, ``gave_up``, or ``machine`` when something outside got in the way.
        mending: codes of the defects it had to mend.
        seconds: wall time.
        steps: actions of an agent with tools; 0 for rules.
        calls: replies of a model.
        usage: their tokens.
        cost_usd: what they cost; ``None`` where the price is unknown, which is not nothing.
        model: the model, empty for rules.
        transcript: file below the transcripts' folder, empty for rules.
        reason: why it gave up.
        note: what else is worth knowing, such as answers of a model that were not used.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    schema_version: int = 1
    dataset: str
    task: str = ""
    agent: str
    number: int
    outcome: str
    mending: tuple[str, ...] = ()
    seconds: float = 0.0
    steps: int = 0
    calls: int = 0
    usage: Usage = Usage()
    cost_usd: float | None = 0.0
    model: str = ""
    transcript: str = ""
    reason: str = ""
    note: str = ""


@dataclass
class Effort:
    """What one attempt takes, added up while it works. The fields are those of :class:`Attempt`."""

    steps: int = 0
    calls: int = 0
    usage: Usage = field(default_factory=Usage)
    cost_usd: float | None = 0.0
    model: str = ""
    transcript: str = ""
    note: str = ""


class Ledger:
    """The attempts at one dataset, written down as they happen; a file that is only ever added to.

    Args:
        path: the file.
        booked: told every attempt that is added.
    """

    def __init__(self, path: Path, booked: Callable[[Attempt], None] | None = None) -> None:
        self.path = path
        self._booked = booked
        self._lock = threading.Lock()

    def book(self, attempt: Attempt) -> None:
        """Add an attempt; it is on disk when this returns."""
        with self._lock:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with self.path.open("ab+") as stream:
                # A line that a killed run left unfinished must not swallow this one.
                if stream.tell():
                    stream.seek(-1, os.SEEK_END)
                    if stream.read(1) != b"\n":
                        stream.write(b"\n")
                stream.write((strict_json(attempt.model_dump(mode="json"), indent=None) + "\n").encode())
                stream.flush()
        if self._booked is not None:
            self._booked(attempt)

    def attempts(self) -> list[Attempt]:
        """All attempts so far, but for lines that a killed run left unfinished."""
        try:
            lines = self.path.read_text(encoding="utf-8", errors="replace").splitlines()
        except FileNotFoundError:
            return []
        found = []
        for line in lines:
            try:
                found.append(Attempt.model_validate(json.loads(line)))
            except (ValueError, ValidationError):
                continue
        return found


def attempts_csv(attempts: Iterable[Attempt]) -> str:
    """One line for each attempt, usage in columns of its own."""
    text = io.StringIO()
    rows = [_row(attempt) for attempt in attempts]
    columns = list(_row(Attempt(dataset="", agent="", number=1, outcome="")))
    writer = csv.DictWriter(text, fieldnames=columns, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


def _row(attempt: Attempt) -> dict[str, Any]:
    row = attempt.model_dump(mode="json", exclude={"schema_version", "usage"})
    row["mending"] = " ".join(attempt.mending)
    row["seconds"] = round(attempt.seconds, 3)
    return row | {f"{name}_tokens": count for name, count in attempt.usage.model_dump().items()}
