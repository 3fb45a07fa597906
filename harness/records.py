"""The durable files of a job, their paths, and how to read and write them.

Every document starts with ``schema_version``; unknown versions are refused. All JSON is strict.
"""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from harness.budget import Budget
from harness.errors import InputError, Status, policy_of_status
from harness.models.base import Settings, Usage
from harness.resources import Resources
from harness.tasks.package import describe_validation

R = TypeVar("R", bound=BaseModel)


class Feedback(StrEnum):
    """The feedback policy: which score the agent is told after an execution.

    ``test``: the score on all test rows, as MLE-Dojo does. ``split``: the score on a fixed part of the test
    rows, while the trial's result is the score on the rest. ``none``: no score.
    """

    TEST = "test"
    SPLIT = "split"
    NONE = "none"


@dataclass(frozen=True)
class TrialPaths:
    """Paths of one trial.

    <attempt>/
      trajectory.jsonl   one event per line, flushed as it happens
      exchanges.jsonl    what went over HTTP; none for candidates without a model
      steps/NNN/         code.py, output.txt, submission.csv
      work/              the agent's working folder
      result.json        written last, atomically: its presence means the trial is done
    """

    root: Path

    @property
    def trajectory(self) -> Path:
        """The event log."""
        return self.root / "trajectory.jsonl"

    @property
    def exchanges(self) -> Path:
        """What went over HTTP; see :mod:`harness.models.wire.exchanges`."""
        return self.root / "exchanges.jsonl"

    @property
    def work(self) -> Path:
        """The agent's writable folder."""
        return self.root / "work"

    @property
    def result(self) -> Path:
        """The final record."""
        return self.root / "result.json"

    def step(self, number: int) -> Path:
        """The folder of one step."""
        return self.root / "steps" / f"{number:03d}"


@dataclass(frozen=True)
class JobPaths:
    """Paths of a job.

    <job>/
      config.json        what was asked
      lock.json          what was resolved: task hashes, versions, git commit
      trials/<set>/<task>/<model>/<attempt>/
    """

    root: Path

    @property
    def config(self) -> Path:
        """What was asked."""
        return self.root / "config.json"

    @property
    def lock(self) -> Path:
        """What was resolved."""
        return self.root / "lock.json"

    @property
    def trials(self) -> Path:
        """The folder of all trials."""
        return self.root / "trials"

    def trial(self, task_set: str, task: str, model: str, attempt: int) -> TrialPaths:
        """The paths of one trial; slashes in a model's name become ``--``."""
        return TrialPaths(self.trials / task_set / task / model.replace("/", "--") / str(attempt))


class _Record(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class StepRecord(_Record):
    """One step of a trial.

    Attributes:
        step: 1-based number.
        action: the action's name, or ``format_error``.
        ok: whether the action did what it was asked.
        seconds: wall time of the action.
        model_seconds: wall time of the model call before it.
        waited_seconds: wall time waited for the model's endpoint before it: for room, for failed calls, and
            for the next attempt.
        submitted: whether a submission file was found and graded.
        valid: whether that submission was valid.
        score: its raw score on the rows that count for the result; never shown under ``split`` and ``none``.
        feedback_score: the raw score the agent was told.
        reason_code: the grader's reason code.
        usage: tokens of the model call.
    """

    step: int
    action: str
    ok: bool
    seconds: float
    model_seconds: float
    waited_seconds: float = 0.0
    submitted: bool = False
    valid: bool | None = None
    score: float | None = None
    feedback_score: float | None = None
    reason_code: str | None = None
    usage: Usage = Usage()


class Timings(_Record):
    """Wall seconds of a trial by phase.

    Attributes:
        total: all of it.
        model: model calls that were answered.
        execution: programs.
        grading: grading their submissions.
        waiting: for the model's endpoint: for room at it, for failed calls, and for the next attempt.
        working: all but waiting; ``None`` in records older than this field.
    """

    total: float
    model: float
    execution: float
    grading: float
    waiting: float = 0.0
    working: float | None = None


class TrialResult(_Record):
    """``result.json``: everything boards and reports need of one trial.

    Attributes:
        score: the raw score that counts: of the step with the best feedback score (policies ``test`` and
            ``split``) or of the last valid step (``none``); ``None`` without a valid submission.
        score_step: the step it comes from.
        last_score: the raw score of the last valid step.
        best_score: the best raw score of any step, on the rows that count.
        position_score: HumanRank of ``score``, mean over the leaderboards the task has; ``None`` without any.
        cost_usd: filled for providers that are free by construction; others are priced at report time.
        resources: what its programs had to work with; ``None`` in records older than this field.
        spec_hash: identity of agent, budget, feedback policy, open hosts and GPUs per trial: rows of
            different hashes are not pooled.
        error: one line about how an unhappy trial ended.
        profile: the name of the agent's profile, if it had one.
        settings: what was asked of every model call; ``None`` in records older than this field.
        model_version: the model's exact version, as the endpoint named it last.
        priced_as: the model in price tables, where ``model`` is another name.
        calls: requests made to the model's endpoint, failed ones included; ``None`` in older records.
        faults: requests without a reply by kind (:class:`harness.models.faults.FaultKind`); one that was
            still unanswered when the trial ended is ``abandoned``, and what it cost is unknown.
    """

    schema_version: Literal[1] = 1
    task_set: str
    task: str
    task_hash: str
    modality: str
    objective: str
    metric: str
    higher_is_better: bool
    metric_best: float
    model: str
    agent: str
    attempt: int
    feedback: Feedback
    budget: Budget
    sandbox: str
    resources: Resources | None = None
    spec_hash: str
    status: Status
    valid: bool
    score: float | None
    score_step: int | None
    last_score: float | None
    best_score: float | None
    position_score: float | None
    steps: tuple[StepRecord, ...]
    usage: Usage
    cost_usd: float | None
    timings: Timings
    started: str
    finished: str
    error: str | None = None
    profile: str | None = None
    settings: Settings | None = None
    model_version: str | None = None
    priced_as: str | None = None
    calls: int | None = None
    faults: dict[str, int] = Field(default_factory=dict)

    @property
    def counts(self) -> bool:
        """Whether the result says something about the candidate (see :mod:`harness.errors`)."""
        return policy_of_status(self.status).candidates_failure


def read_record(kind: type[R], path: Path) -> R:
    """Read a JSON document of a known kind.

    Raises:
        InputError: names the file and the field.
    """
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise InputError(f"{path}: not found") from error
    except (json.JSONDecodeError, UnicodeDecodeError) as error:
        raise InputError(f"{path}: not valid JSON: {error}") from error
    known = kind.model_fields["schema_version"].default
    version = data.get("schema_version") if isinstance(data, dict) else None
    if version != known:
        raise InputError(f"{path}: schema_version {version!r} is unknown; this version reads {known}")
    try:
        return kind.model_validate(data)
    except ValidationError as error:
        raise InputError(f"{path}: {describe_validation(error)}") from error


def write_atomically(path: Path, text: str) -> None:
    """Write a file so that readers see the whole new text or the old state, even after a crash."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as stream:
            stream.write(text)
            stream.flush()
            os.fsync(stream.fileno())
        Path(name).chmod(0o644)
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def strict_json(data: Any, *, indent: int | None = 2) -> str:
    """JSON text that refuses NaN and infinities."""
    return json.dumps(data, indent=indent, allow_nan=False, ensure_ascii=False)


def write_record(path: Path, record: BaseModel) -> None:
    """Write a document atomically."""
    write_atomically(path, strict_json(record.model_dump(mode="json")) + "\n")


def find_results(job: Path) -> Iterator[Path]:
    """All ``result.json`` files of a job folder, in a stable order."""
    yield from sorted(JobPaths(job).trials.glob("*/*/*/*/result.json"))


def read_job(job: Path) -> list[TrialResult]:
    """All finished trials of a job.

    Raises:
        InputError: the folder is not a job, or a record cannot be read.
    """
    if not JobPaths(job).config.is_file():
        raise InputError(f"{job}: not a job folder (no config.json); pass the --out folder of `mlesmith run`")
    return [read_record(TrialResult, path) for path in find_results(job)]
