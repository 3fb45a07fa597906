"""Trials as they lie in folders: the record, where there is one yet, and the event log."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from pathlib import Path
from typing import Any

from harness.actions import TOOLS
from harness.agents.turns import clean
from harness.errors import InputError
from harness.models.base import Tool, Usage
from harness.models.pricing import PriceTable
from harness.records import JobPaths, TrialPaths, TrialResult, find_results, read_record
from harness.trajectories.events import LoggedTool, PromptEvent, StartEvent
from harness.trajectories.reading import Log, read_events


@dataclass(frozen=True)
class RecordedTrial:
    """One trial's folder, read.

    Attributes:
        record: ``None`` while the trial runs, and after an interrupted one.
    """

    paths: TrialPaths
    record: TrialResult | None
    log: Log

    @cached_property
    def start(self) -> StartEvent:
        """Which trial it is; for logs of schema 1 the record says it, or at last the folder's path."""
        if start := self.log.first(StartEvent):
            return start
        if record := self.record:
            return StartEvent(
                event="start",
                task_set=record.task_set,
                task=record.task,
                model=record.model,
                attempt=record.attempt,
                agent=record.agent,
                spec_hash=record.spec_hash,
            )
        task_set, task, model = self.paths.root.resolve().parts[-4:-1]
        return StartEvent(event="start", task_set=task_set, task=task, model=model.replace("--", "/", 1))

    @property
    def id(self) -> str:
        """``<set>/<task>/<model>/<attempt>``."""
        start = self.start
        return f"{start.task_set}/{start.task}/{start.model}/{start.attempt}"


def read_trial(folder: Path) -> RecordedTrial:
    """Read a trial's folder.

    Raises:
        InputError: it is none, or its files cannot be read.
    """
    paths = TrialPaths(folder)
    if not folder.is_dir() or not (paths.trajectory.exists() or paths.result.exists()):
        job = " (it is a job's folder)" if JobPaths(folder).config.is_file() else ""
        raise InputError(
            f"{folder}: not a trial folder{job}: neither trajectory.jsonl nor result.json is in it; "
            "pass <job>/trials/<set>/<task>/<model>/<attempt>"
        )
    record = read_record(TrialResult, paths.result) if paths.result.exists() else None
    return RecordedTrial(paths, record, read_events(paths.trajectory))


def find_finished(folder: Path) -> list[Path]:
    """The folders of the finished trials in a job's or a trial's folder.

    Raises:
        InputError: there is none.
    """
    if JobPaths(folder).config.is_file():
        found = [path.parent for path in find_results(folder)]
        if not found:
            raise InputError(f"{folder}: no trial of this job is finished; run `mlesmith run` again")
        return found
    if (folder / "result.json").is_file():
        return [folder]
    if (folder / "trajectory.jsonl").is_file():
        raise InputError(f"{folder}: the trial is not finished (no result.json); run its job again")
    raise InputError(
        f"{folder}: neither a job folder (no config.json) nor a trial folder (no result.json); "
        "pass the --out folder of `mlesmith run`, or <job>/trials/<set>/<task>/<model>/<attempt>"
    )


def tool_definitions(log: Log) -> list[dict[str, object]]:
    """The tools that were offered, in OpenAI's function calling schema.

    Logs of schema 1 do not name them: for those, the tools of today.
    """
    prompt = log.first(PromptEvent)
    tools: Sequence[Tool | LoggedTool] = (prompt.tools if prompt else ()) or TOOLS
    return [
        {
            "type": "function",
            "function": {"name": t.name, "description": t.description, "parameters": t.parameters},
        }
        for t in tools
    ]


def encodable(data: Any) -> Any:
    """JSON data whose texts other tools can read: half a character, which they refuse, is written out."""
    if isinstance(data, str):
        return clean(data)
    if isinstance(data, dict):
        return {encodable(key): encodable(value) for key, value in data.items()}
    if isinstance(data, list | tuple):
        return [encodable(value) for value in data]
    return data


def call_cost(record: TrialResult, usage: Usage, prices: PriceTable) -> float | None:
    """USD of one model call at the prices of the trial's day; ``None`` when they are unknown."""
    return prices.price(record.priced_as or record.model, usage, datetime.fromisoformat(record.started))
