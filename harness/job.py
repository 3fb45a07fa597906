"""A job: many trials, resumable by running the same command again."""

from __future__ import annotations

import logging
import math
import resource
import tomllib
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from harness.agents.react import AgentConfig
from harness.budget import Budget
from harness.engines.local import LocalEngine
from harness.errors import InputError, Status, policy_of_status
from harness.jobfolder import exclusive, pin_config, pin_lock, require_space
from harness.models.base import Usage
from harness.models.pricing import PriceTable
from harness.models.registry import ModelConfig, make_model
from harness.preflight import Ground, look
from harness.progress import JobProgress, Silent
from harness.records import (
    Feedback,
    JobPaths,
    TrialPaths,
    TrialResult,
    read_record,
)
from harness.sandboxes.base import SandboxProvider
from harness.sandboxes.reuse import Reusing
from harness.sandboxes.settings import SandboxConfig
from harness.tasks.grading import Grader
from harness.tasks.package import Task, describe_validation, load_task, task_hash
from harness.tasks.standing import position_score
from harness.tasks.submission import read_answer_key
from harness.trial import TrialSpec, run_trial

log = logging.getLogger(__name__)


class JobConfig(BaseModel):
    """What a job asks for; the same keys as in JOB.toml.

    Attributes:
        tasks: task folders.
        models: the candidates.
        attempts: how often every candidate tries every task.
        budget: per trial.
        agent: how the ReAct agent works.
        feedback: which score agents are told.
        sandbox: the table of :class:`harness.sandboxes.settings.SandboxConfig`, or its ``kind`` alone.
        workers: trials at a time; 0 is one for each lease of GPUs, or without these one for each processor.
        shard: ``(i, n)`` runs the i-th of n equal parts only, counted from 1.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    schema_version: Literal[1] = 1
    tasks: tuple[Path, ...] = Field(min_length=1)
    models: tuple[ModelConfig, ...] = Field(min_length=1)
    attempts: int = Field(1, ge=1)
    budget: Budget = Budget.model_validate({})
    agent: AgentConfig = AgentConfig.model_validate({})
    feedback: Feedback = Feedback.TEST
    sandbox: SandboxConfig = SandboxConfig.model_validate({})
    workers: int = Field(0, ge=0)
    shard: tuple[int, int] = (1, 1)

    @model_validator(mode="before")
    @classmethod
    def _short_forms(cls, data: Any) -> Any:
        """``sandbox = "docker"``; and ``network`` of older job files, which opened any host."""
        if not isinstance(data, dict):
            return data
        data = dict(data)
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
_FREE_TO_CHANGE = frozenset(
    {"tasks", "models", "attempts", "workers", "shard", "sandbox.gpus", "sandbox.warm", "sandbox.trust"}
)


@dataclass(frozen=True)
class JobSummary:
    """How a run of a job ended: trials that belong to it, that were done before, and by final status."""

    out: Path
    ground: Ground
    total: int
    kept: int
    statuses: dict[Status, int]

    @property
    def not_run(self) -> int:
        """Trials without a record."""
        return self.total - sum(self.statuses.values())

    @property
    def infrastructure_failures(self) -> int:
        """Trials that say nothing about their candidate and are tried again by the next run."""
        return sum(n for status, n in self.statuses.items() if policy_of_status(status).retry)


@dataclass(frozen=True)
class _Planned:
    task: Task
    task_hash: str
    model: ModelConfig
    attempt: int
    paths: TrialPaths


def read_job_config(path: Path) -> JobConfig:
    """Read JOB.toml; relative task folders are relative to the file.

    Raises:
        InputError: names the file and the key.
    """
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise InputError(f"{path}: not found") from error
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise InputError(f"{path}: not valid TOML: {error}") from error
    if isinstance(data.get("models"), list):
        data["models"] = [{"name": m} if isinstance(m, str) else m for m in data["models"]]
    try:
        config = JobConfig.model_validate(data)
    except ValidationError as error:
        raise InputError(f"{path}: {describe_validation(error)}") from error
    return config.model_copy(update={"tasks": tuple(path.parent / task for task in config.tasks)})


def run_job(
    config: JobConfig, out: Path, *, progress: JobProgress | None = None, dry_run: bool = False
) -> JobSummary:
    """Run all trials of a job that are not done yet.

    Args:
        config: what to run.
        out: the job's folder; created when missing, resumed when it holds the same job.
        progress: told of the plan and of every trial that ends.
        dry_run: check everything and count, but run nothing and write nothing.

    Raises:
        InputError: a task, a model or the folder cannot be used; nothing has been run then.
        KeyboardInterrupt: interrupted; finished trials are kept.
    """
    progress = progress or Silent()
    tasks = _load_tasks(config)
    _check_models(config)
    ground = look(config.sandbox, tasks, scripted=config.scripted, workers=config.workers, out=out)
    provider = ground.provider
    paths = JobPaths(out)
    hashes = {f"{task.spec.set}/{task.id}": task_hash(task) for task in tasks}
    if dry_run:
        plan = list(_plan(config, tasks, hashes, paths))
        return _summary(out, ground, plan, kept=sum(_is_done(item.paths) for item in plan))
    require_space(out)
    raise_open_files()
    with exclusive(out):
        pin_config(config, paths, _FREE_TO_CHANGE)
        pin_lock(hashes, provider, paths)
        plan = list(_plan(config, tasks, hashes, paths))
        todo = [item for item in plan if not _is_done(item.paths)]
        progress.planned(len(plan), len(plan) - len(todo))
        if gone := provider.sweep():
            log.info("removed what a harness that ended had left behind: %s", ", ".join(gone))
        engine = LocalEngine(ground.workers)
        graders = _Graders(provider, todo)
        # Programs that ship with this project may follow each other in one sandbox; an agent gets its own.
        shelf = Reusing(provider, keep=ground.workers) if config.scripted else None

        def work(item: _Planned) -> None:
            require_space(out)
            spec = TrialSpec(
                item.task,
                item.task_hash,
                item.attempt,
                config.budget,
                config.agent,
                config.feedback,
                config.sandbox,
                str(out.resolve()),
            )
            with ground.pool.lease(engine.cancelled) as gpus, graders.lease(item.task) as grader:
                model = make_model(item.model)
                result = run_trial(spec, model, grader, shelf or provider, item.paths, engine.cancelled, gpus)
            progress.finished(result)

        def work_off(line: list[_Planned]) -> None:
            for item in line:
                if not engine.cancelled.is_set():
                    work(item)

        try:
            engine.run(_lines(todo, ground.workers if config.scripted else None), work_off)
        finally:
            graders.close()
            if shelf is not None:
                shelf.close()
    return _summary(out, ground, plan, kept=len(plan) - len(todo))


@dataclass
class _Shared:
    """The grader of one task: how many trials still need it, and itself while it is open."""

    left: int
    grader: Grader | None = None
    lock: Lock = field(default_factory=Lock)


class _Graders:
    """One grader per task, opened by the first trial that needs it and closed after the last."""

    def __init__(self, provider: SandboxProvider, todo: list[_Planned]) -> None:
        self._provider = provider
        self._shared = {root: _Shared(n) for root, n in Counter(item.task.root for item in todo).items()}

    @contextmanager
    def lease(self, task: Task) -> Iterator[Grader]:
        """The task's grader, for one trial. Trials of other tasks never wait for it."""
        shared = self._shared[task.root]
        with shared.lock:
            if shared.grader is None:
                shared.grader = Grader(task, self._provider)
            grader = shared.grader
        try:
            yield grader
        finally:
            with shared.lock:
                shared.left -= 1
                last = shared.left == 0
                if last:
                    shared.grader = None
            if last:
                grader.close()

    def close(self) -> None:
        """Close what is still open."""
        for shared in self._shared.values():
            if shared.grader is not None:
                shared.grader.close()
                shared.grader = None


def raise_open_files() -> None:
    """Let this process open as many files as it may: every sandbox takes some, its proxy up to 130."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    except (OSError, ValueError) as error:  # the kernel refuses "unlimited"
        log.debug("open files stay limited to %d: %s", soft, error)
    else:
        log.debug("open files may be %d now, were %d", hard, soft)


def _load_tasks(config: JobConfig) -> list[Task]:
    tasks: dict[tuple[str, str], Task] = {}
    for root in config.tasks:
        task = load_task(root)
        # A broken task is refused now, and not in the middle of the job.
        read_answer_key(task)
        position_score(task, 0.0)
        key = (task.spec.set, task.id)
        if key in tasks and tasks[key].root != task.root:
            raise InputError(f"two tasks are named {'/'.join(key)}: {tasks[key].root} and {task.root}")
        tasks[key] = task
    return list(tasks.values())


def _check_models(config: JobConfig) -> None:
    names = [model.name for model in config.models]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise InputError(f"model {twice[0]} is named twice; use --attempts to repeat trials")
    for model in config.models:
        made = make_model(model)
        if config.budget.cost_usd is not None and PriceTable().price(made.name, Usage()) is None:
            raise InputError(
                f"budget.cost_usd is set but the price of {made.name} is unknown; "
                "limit tokens instead, or choose a model with a known price"
            )


def _plan(
    config: JobConfig, tasks: list[Task], hashes: dict[str, str], paths: JobPaths
) -> Iterator[_Planned]:
    """All trials of this shard, task by task, so that a task's grader is open only while it is needed."""
    index, count = config.shard
    if not 1 <= index <= count:
        raise InputError(f"--shard {index}/{count}: the first number must lie between 1 and the second")
    number = 0
    for task in tasks:
        digest = hashes[f"{task.spec.set}/{task.id}"]
        for attempt in range(1, config.attempts + 1):
            for model in config.models:
                if number % count == index - 1:
                    folder = paths.trial(task.spec.set, task.id, model.name, attempt)
                    yield _Planned(task, digest, model, attempt, folder)
                number += 1


def _lines(todo: list[_Planned], sharing: int | None) -> list[list[_Planned]]:
    """What a worker does one after the other: a trial, or trials of a task that then share a sandbox.

    Args:
        todo: the trials, task by task.
        sharing: the number of workers, each of which should have something to do; ``None`` not to share.
    """
    if sharing is None:
        return [[item] for item in todo]
    tasks: dict[Path, list[_Planned]] = {}
    for item in todo:
        tasks.setdefault(item.task.root, []).append(item)
    lines = max(1, math.ceil(sharing / max(1, len(tasks))))
    return [line for items in tasks.values() for part in range(lines) if (line := items[part::lines])]


def _is_done(paths: TrialPaths) -> bool:
    """Whether a trial needs no work: it has a record, and running it again would not help."""
    if not paths.result.is_file():
        return False
    return not policy_of_status(read_record(TrialResult, paths.result).status).retry


def _summary(out: Path, ground: Ground, plan: list[_Planned], kept: int) -> JobSummary:
    records = [read_record(TrialResult, item.paths.result) for item in plan if item.paths.result.is_file()]
    return JobSummary(out, ground, len(plan), kept, dict(Counter(record.status for record in records)))
