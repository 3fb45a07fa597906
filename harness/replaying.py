"""A recorded trial run again, with its model's recorded answers in place of the network."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path
from threading import Event
from typing import Any

from harness.errors import POLICIES, InputError, Status
from harness.jobconfig import JobConfig
from harness.models.base import Message, Model, Reply, Settings, Tool
from harness.models.calling import ABANDONED
from harness.models.presets import Api
from harness.models.registry import ModelConfig, make_model, resolve_settings
from harness.models.wire.differing import Difference, masked, value_difference
from harness.models.wire.exchanges import Exchange, read_exchanges
from harness.models.wire.tapes import Player
from harness.preflight import look
from harness.records import JobPaths, TrialPaths, TrialResult, read_record
from harness.tasks.grading import Grader
from harness.tasks.package import Task, load_task, task_hash
from harness.trajectories.events import EndEvent, FaultEvent, OtherEvent, StartEvent
from harness.trajectories.events import Event as Happening
from harness.trajectories.reading import read_events
from harness.trial import run_trial
from harness.trialspec import TrialSpec

PREFIX = "replay/"
"""What the names of replayed models begin with, so that no board takes their trials for real ones."""

#: Differences that are told; a trial that took another way differs everywhere from there on.
MOST_DIFFERENCES = 20
#: How long something took, or how much time is left, which is never the same twice.
TIMES = re.compile(r"\d+(?:\.\d+)?(?= (?:s|min|h)\b)")

#: Ends that the clock decides; in a replay they come when the recorded calls are used up.
_CLOCK = (Status.TIME_LIMIT, Status.WORKING_TIME_LIMIT, Status.CANCELLED)
_TIME_FIELDS = {"time", "seconds", "wait", "waited", "budget_left", "prompt_sha256"}
_OUTCOME = {"status", "valid", "score", "score_step", "last_score", "best_score", "usage"}


@dataclass(frozen=True)
class Replay:
    """What a replay showed. Times are left out of all comparisons.

    Attributes:
        trial: the recorded trial's folder.
        out: the replay's folder, which is a trial's folder too.
        recorded: exchanges of the recorded trial.
        played: how many of them the replay asked for.
        requests: those that differed from the recorded ones, by their first differences.
        differences: what came out otherwise, at most :data:`MOST_DIFFERENCES`: in the prompt, in replies,
            actions and observations, in submissions, and in the outcome.
    """

    trial: Path
    out: Path
    recorded: int
    played: int
    requests: tuple[Difference, ...]
    differences: tuple[str, ...]

    @property
    def same(self) -> bool:
        """Whether everything came out as recorded."""
        return not self.differences


def replay_trial(trial: Path, out: Path, *, strict: bool = False) -> Replay:
    """Run a recorded trial again, in the sandbox it had, and compare. Nothing waits for retries, and no key
    is needed.

    Args:
        trial: its folder, inside its job's folder.
        out: the folder of the new trial; it must not exist, or be empty.
        strict: end at the first request that differs from the recorded one in more than times.

    Raises:
        InputError: the trial cannot be replayed; the message says why and what to do.
    """
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise InputError(f"{out}: exists already; choose another --out")
    paths, replayed = TrialPaths(trial), TrialPaths(out)
    record = _finished(paths)
    exchanges = _recorded(paths, record)
    config = _job_of(trial)
    candidate = _candidate(config, record, trial, exchanges)
    task = _task(config, record, trial)
    log = read_events(paths.trajectory)
    start, end = log.first(StartEvent), log.first(EndEvent)
    player = Player(exchanges, strict=strict, ignoring=TIMES, at_end=_clocks_end(record, end))
    sandbox = config.sandbox.model_copy(update={"kind": record.sandbox})
    ground = look(sandbox, [task], scripted=False, workers=1, out=out)
    spec = TrialSpec(
        task,
        record.task_hash,
        record.attempt,
        config.budget,
        config.agent,
        config.feedback,
        config.sandbox,
        settings=Settings.model_validate(start.settings)
        if start and start.settings
        else resolve_settings(config.agent.settings, candidate),
        # A cost limit counts as it did; without one a replay costs nothing.
        priced_as=None if config.budget.cost_usd is None else record.priced_as or record.model,
        retries=config.retries.model_copy(update={"first_seconds": 0.0, "longest_seconds": 0.0}),
        profile=record.profile,
    )
    model = _Renamed(make_model(candidate, player, task))
    with ground.pool.lease(Event()) as gpus, Grader(task, ground.provider) as grader:
        result = run_trial(spec, model, grader, ground.provider, replayed, gpus=gpus)
    differences: list[str] = []
    for difference in _differences(paths, record, replayed, result):
        if len(differences) == MOST_DIFFERENCES:
            break
        differences.append(difference)
    if player.left and not differences:
        differences.append(f"{player.left} of {len(exchanges)} recorded exchanges were not asked for")
    return Replay(trial, out, len(exchanges), player.played, tuple(player.differences), tuple(differences))


class _Renamed:
    """A model under the name of its replay."""

    def __init__(self, model: Model) -> None:
        self.name = PREFIX + model.name
        self._model = model

    def complete(self, messages: Sequence[Message], tools: Sequence[Tool], settings: Settings) -> Reply:
        """What the model answers."""
        return self._model.complete(messages, tools, settings)


def _finished(paths: TrialPaths) -> TrialResult:
    if not paths.trajectory.is_file():
        raise InputError(
            f"{paths.root}: not a trial folder (no trajectory.jsonl); "
            "pass <job>/trials/<set>/<task>/<model>/<attempt>"
        )
    if not paths.result.is_file():
        raise InputError(f"{paths.root}: the trial is not finished (no result.json); run its job again first")
    return read_record(TrialResult, paths.result)


def _recorded(paths: TrialPaths, record: TrialResult) -> list[Exchange]:
    if record.model.startswith("scripted/"):
        raise InputError(
            f"{paths.root}: {record.model} calls no model, so there is nothing to play back; "
            "run it again with `mlesmith run`, it does the same every time"
        )
    if record.model.startswith(PREFIX):
        raise InputError(f"{paths.root}: is a replay itself; replay the trial that was recorded")
    if not paths.exchanges.is_file():
        raise InputError(
            f"{paths.root}: no exchanges.jsonl, so nothing to play back: "
            "its model was never called, or an older version ran the trial"
        )
    return read_exchanges(paths.exchanges)


def _job_of(trial: Path) -> JobConfig:
    """The configuration of the job that a trial's folder lies in."""
    parts = trial.resolve()
    job = parts.parents[4] if len(parts.parents) > 4 else parts
    if parts.parents[3].name != "trials" or not JobPaths(job).config.is_file():
        raise InputError(
            f"{trial}: not inside its job's folder, whose config.json says how it was run; "
            "pass <job>/trials/<set>/<task>/<model>/<attempt>"
        )
    return read_record(JobConfig, JobPaths(job).config)


def _candidate(
    config: JobConfig, record: TrialResult, trial: Path, exchanges: Sequence[Exchange]
) -> ModelConfig:
    """The model as the job names it, at the endpoint it was recorded at."""
    for candidate in config.models:
        if candidate.board_name != record.model:
            continue
        if candidate.provider == "openai" and candidate.base_url is None and exchanges:
            # The environment may have named another endpoint then than now, and with it another API.
            for api, ending in ((Api.RESPONSES, "/responses"), (Api.CHAT, "/chat/completions")):
                if exchanges[0].url.endswith(ending):
                    url = exchanges[0].url.removesuffix(ending)
                    return candidate.model_copy(update={"base_url": url, "api": api})
        return candidate
    raise InputError(f"{trial}: its job's config.json no longer names {record.model}; add it there again")


def _task(config: JobConfig, record: TrialResult, trial: Path) -> Task:
    """The task of the trial, unchanged since."""
    missing = [root for root in config.tasks if not root.is_dir()]
    tasks = (load_task(root) for root in config.tasks if root not in missing)
    for task in tasks:
        if (task.spec.set, task.id) != (record.task_set, record.task):
            continue
        if task_hash(task) != record.task_hash:
            raise InputError(f"{task.root}: the task has changed since {trial} was recorded; bring it back")
        return task
    where = f"; {missing[0]} is not there: begin in the folder where the job was begun" if missing else ""
    raise InputError(f"{trial}: its job's config.json names no task {record.task_set}/{record.task}{where}")


def _clocks_end(record: TrialResult, recorded: EndEvent | None) -> Exception | None:
    """The recorded end, if the clock decided it."""
    for end, policy in POLICIES.items():
        if policy.status is record.status and record.status in _CLOCK and issubclass(end, Exception):
            return end(recorded.reason if recorded else "as recorded")
    return None


def _differences(
    then: TrialPaths, record: TrialResult, now: TrialPaths, result: TrialResult
) -> Iterator[str]:
    """What came out otherwise, in the order in which it happened, and the outcome at last."""
    before, after = (_told(read_events(paths.trajectory).events) for paths in (then, now))
    for number, (one, other) in enumerate(zip_longest(before, after), start=1):
        if one is None or other is None or one["event"] != other["event"]:
            yield f"event {number}: recorded {_happened(one)}, now {_happened(other)}"
            break
        if found := value_difference(one, other):
            step = f"step {one['step']}, " if "step" in one else ""
            yield f"{step}{one['event']}: {_sentence(found)}"
    files = [_submissions(paths) for paths in (then, now)]
    for name in sorted({*files[0], *files[1]}):
        contents = [found.get(name) for found in files]
        if contents[0] != contents[1]:
            words = [f"{len(data)} bytes" if data is not None else "none" for data in contents]
            yield f"{name}: recorded {words[0]}, now {words[1]}"
    ended, ends = (item.model_dump(mode="json", include=_OUTCOME) for item in (record, result))
    if found := value_difference(ended, ends):
        yield f"result: {_sentence(found)}"


def _told(events: Sequence[Happening]) -> list[dict[str, Any]]:
    """Events without what never comes out the same: names of replays, times, and calls that were cut off."""
    known = [event for event in events if not isinstance(event, OtherEvent)]
    return [
        {
            key: _without_times(value)
            for key, value in event.model_dump(mode="json").items()
            if key not in _TIME_FIELDS and not (event.event == "start" and key == "model")
        }
        for event in known
        if not (isinstance(event, FaultEvent) and event.kind == ABANDONED)
    ]


def _happened(event: dict[str, Any] | None) -> str:
    """An event in a few words."""
    if event is None:
        return "nothing more"
    match event["event"]:
        case "end":
            return f"the end ({event['reason']})"
        case "fault":
            return f"a fault ({event['message']})"
    return str(event["event"])


def _without_times(value: Any) -> Any:
    if isinstance(value, str):
        return masked(value, TIMES)
    if isinstance(value, dict):
        return {key: _without_times(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_without_times(item) for item in value]
    return value


def _submissions(paths: TrialPaths) -> dict[str, bytes]:
    """The submissions by their paths in the trial's folder."""
    found = sorted(paths.root.glob("steps/*/submission.csv"))
    return {str(path.relative_to(paths.root)): path.read_bytes() for path in found}


def _sentence(found: tuple[str, str, str]) -> str:
    place, recorded, now = found
    return f"{place}: recorded {recorded}, now {now}"
