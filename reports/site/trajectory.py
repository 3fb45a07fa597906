"""A trial's event log as turns to show: what the agent thought, did and saw."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from harness.errors import InputError
from harness.trajectories.events import (
    EndEvent,
    InternalErrorEvent,
    OtherEvent,
    PromptEvent,
    ReplyEvent,
    StartEvent,
)
from harness.trajectories.reading import Log, read_events
from harness.trajectories.turns import Turn, turns_of

LONGEST = 20_000
"""Characters of any one text on a page; the rest stays in the trial's folder."""


@dataclass(frozen=True)
class TrajectoryView:
    """A whole log.

    Attributes:
        prompt: what the agent was told first.
        turns: in their order.
        settings: what was asked of the model's calls.
        versions: the model's exact versions, as the endpoint named them.
        errors: failures of the harness itself.
        others: events of kinds that this version does not know.
        end: why the trial ended.
        notes: what could not be read.
    """

    prompt: PromptEvent | None
    turns: tuple[Turn, ...]
    settings: dict[str, object]
    versions: tuple[str, ...]
    errors: tuple[InternalErrorEvent, ...]
    others: tuple[OtherEvent, ...]
    end: str
    notes: tuple[str, ...]


def read_trajectory(path: Path) -> TrajectoryView:
    """Read ``trajectory.jsonl`` as far as it can be read: whatever cannot becomes a note."""
    try:
        log = read_events(path)
    except InputError as error:
        # The path of this machine does not belong on a page.
        reason = str(error).removeprefix(f"{path}: ")
        log = Log(0, (), (f"the log {path.name} cannot be read: {reason}",))
    start, end = log.first(StartEvent), log.first(EndEvent)
    return TrajectoryView(
        prompt=log.first(PromptEvent),
        turns=tuple(turns_of(log.events)),
        settings=start.settings if start else {},
        versions=tuple(dict.fromkeys(reply.version for reply in log.all(ReplyEvent) if reply.version)),
        errors=log.all(InternalErrorEvent),
        others=log.all(OtherEvent),
        end=end.reason if end else "",
        notes=log.notes,
    )
