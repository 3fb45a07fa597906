"""Reading a trial's event log, of this and of the older schema."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar, cast

from pydantic import ValidationError

from harness.errors import InputError
from harness.tasks.package import describe_validation
from harness.trajectories.events import KINDS, Event, OtherEvent
from harness.trajectories.writing import SCHEMA_VERSION

E = TypeVar("E", bound=Event)


@dataclass(frozen=True)
class Log:
    """The events of a trial.

    Attributes:
        schema_version: that of the file; events of older files are given as those of the newest schema.
        events: in the order in which they happened.
        notes: what could not be read, one line each.
    """

    schema_version: int
    events: tuple[Event, ...]
    notes: tuple[str, ...] = ()

    def all(self, kind: type[E]) -> tuple[E, ...]:
        """The events of one kind."""
        return tuple(event for event in self.events if isinstance(event, kind))

    def first(self, kind: type[E]) -> E | None:
        """The first event of one kind, if there is any."""
        return next(iter(self.all(kind)), None)


def read_events(path: Path) -> Log:
    """Read ``trajectory.jsonl``.

    A line that is torn or is no event becomes a note: a trial killed while it wrote can still be read.

    Raises:
        InputError: there is no such file, it is no trajectory, or its schema is unknown.
    """
    try:
        # No other separator ends a line: a model may write any of them.
        first, *lines = path.read_text(encoding="utf-8", errors="replace").split("\n")
    except FileNotFoundError as error:
        raise InputError(
            f"{path}: not found; pass the folder of a trial that has started, which writes it first"
        ) from error
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}") from error
    version = _schema_version(path, first)
    events: list[Event] = []
    notes: list[str] = []
    for number, line in enumerate(lines, start=2):
        if not line:
            continue
        try:
            events.append(_event(_document(line), version))
        except ValidationError as error:
            notes.append(f"line {number} is left out: {describe_validation(error)}")
        except ValueError as error:
            torn = number == len(lines) + 1
            notes.append(
                f"line {number} is torn: the trial was stopped while it wrote"
                if torn
                else f"line {number} is left out: {error}"
            )
    return Log(version, tuple(events), tuple(notes))


def _schema_version(path: Path, line: str) -> int:
    try:
        version = _document(line).get("schema_version")
    except ValueError as error:
        raise InputError(
            f"{path}: not a trajectory, whose first line gives its schema_version: {error}"
        ) from error
    if type(version) is not int or not 1 <= version <= SCHEMA_VERSION:
        raise InputError(
            f"{path}: schema_version {version!r} is unknown; this version reads 1 to {SCHEMA_VERSION}; "
            "read it with the version of mlesmith that wrote it"
        )
    return version


def _document(line: str) -> dict[str, Any]:
    """A line as a JSON object.

    Raises:
        ValueError: it is none.
    """
    try:
        document = json.loads(line)
    except RecursionError as error:
        raise ValueError("JSON nested too deeply") from error
    if not isinstance(document, dict):
        raise ValueError("not a JSON object")
    return document


def _event(document: dict[str, Any], version: int) -> Event:
    if version == 1:
        document = _upgraded(document)
    kind = document.get("event")
    if not isinstance(kind, str):
        raise ValueError("no event: it names no kind")
    if kind in KINDS:
        return cast(Event, KINDS[kind].model_validate(document))
    time = document.get("time")
    return OtherEvent(event=kind, time=time if isinstance(time, str) else "", fields=document)


def _upgraded(document: dict[str, Any]) -> dict[str, Any]:
    """An event of schema 1 as one of schema 2.

    The older agent put the result's word before an observation and the budget after it, and began with the
    user turn ``Begin.``; neither was logged. The budget after a format error was not logged at all.
    """
    kind, text = document.get("event"), document.get("text")
    if not isinstance(text, str):
        return document
    if kind == "prompt":
        return {**document, "system": text, "user": "Begin."}
    if kind == "observation":
        word = "ok" if document.get("ok") is True else "error"
        return {**document, "text": f"{word}: {text}\n\n[left: {document.get('budget_left', '')}]"}
    if kind == "format_error":
        return {**document, "text": f"error: {text}"}
    return document
