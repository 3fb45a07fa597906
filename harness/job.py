"""A job: many trials, resumable by running the same command again."""

from __future__ import annotations

import logging
import math
import resource
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from harness.candidates import Candidate, Closed, check_candidates, count_trials
from harness.engines.local import LocalEngine
from harness.errors import InputError, Status, policy_of_status
from harness.graders import Graders
from harness.jobconfig import FREE_TO_CHANGE, JobConfig
from harness.jobfolder import exclusive, pin_config, pin_lock, require_space
from harness.models.pricing import read_price_table
from harness.models.registry import ModelConfig
from harness.models.wire.tapes import Recorder
from harness.preflight import Ground, look
from harness.progress import JobProgress, Silent
from harness.records import JobPaths, TrialPaths, TrialResult, read_record
from harness.sandboxes.reuse import Reusing
from harness.tasks.package import Task, load_task, task_hash
from harness.tasks.standing import position_score
from harness.tasks.submission import read_answer_key
from harness.trial import run_trial
from harness.trialspec import TrialSpec

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class JobSummary:
    """How a run of a job ended: trials that belong to it, that were done before, and by final status.

    Attributes:
        closed: the models whose endpoints serve no trial any more.
    """

    out: Path
    ground: Ground
    total: int
    kept: int
    statuses: dict[Status, int]
    closed: tuple[Closed, ...] = ()

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
    prices = read_price_table(config.prices)
    candidates = check_candidates(config, tasks, prices, progress)
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
        pin_config(config, paths, FREE_TO_CHANGE)
        settings = {name: item.settings for name, item in candidates.items()}
        pin_lock(hashes, settings, config.agent.prompts, provider, paths)
        plan = list(_plan(config, tasks, hashes, paths))
        todo = [item for item in plan if not _is_done(item.paths)]
        progress.planned(len(plan), len(plan) - len(todo))
        if gone := provider.sweep():
            log.info("removed what a harness that ended had left behind: %s", ", ".join(gone))
        engine = LocalEngine(ground.workers)
        graders = Graders(provider, (item.task for item in todo))
        count_trials(candidates, (item.model.board_name for item in todo))
        # Programs that ship with this project may follow each other in one sandbox; an agent gets its own.
        shelf = Reusing(provider, keep=ground.workers) if config.scripted else None

        def work(item: _Planned) -> None:
            require_space(out)
            candidate = candidates[item.model.board_name]
            with ground.pool.lease(engine.cancelled) as gpus:
                if not candidate.begin():
                    graders.forgo(item.task)
                    return
                spec = _spec_of(config, item, candidate, out)
                tape = Recorder(item.paths.exchanges)
                with graders.lease(item.task) as grader, closing(tape):
                    result = run_trial(
                        spec,
                        candidate.client(tape, item.task),
                        grader,
                        shelf or provider,
                        item.paths,
                        engine.cancelled,
                        gpus,
                        endpoint=candidate.endpoint,
                        prices=prices,
                    )
            progress.finished(result)
            candidate.tell_if_closed()

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
    closed = tuple(closed for item in candidates.values() if (closed := item.closed))
    return _summary(out, ground, plan, len(plan) - len(todo), closed)


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
                    folder = paths.trial(task.spec.set, task.id, model.board_name, attempt)
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


def _spec_of(config: JobConfig, item: _Planned, candidate: Candidate, out: Path) -> TrialSpec:
    return TrialSpec(
        item.task,
        item.task_hash,
        item.attempt,
        config.budget,
        config.agent,
        config.feedback,
        config.sandbox,
        str(out.resolve()),
        settings=candidate.call_settings,
        priced_as=None if item.model.priced_as == item.model.board_name else item.model.priced_as,
        retries=config.retries,
        profile=None if config.profile is None else Path(config.profile).stem,
    )


def _summary(
    out: Path, ground: Ground, plan: list[_Planned], kept: int, closed: tuple[Closed, ...] = ()
) -> JobSummary:
    records = [read_record(TrialResult, item.paths.result) for item in plan if item.paths.result.is_file()]
    return JobSummary(
        out, ground, len(plan), kept, dict(Counter(record.status for record in records)), closed
    )
