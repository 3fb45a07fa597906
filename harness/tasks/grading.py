"""Grading: the framework's checks, then the task's own metric in a sandboxed process.

The grader's sandbox sees the metric, the answers and the submission, and nothing else.
"""

from __future__ import annotations

import json
import math
import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from types import TracebackType
from typing import Any, Self

import pandas as pd

from harness.errors import SandboxLost, TaskError
from harness.sandboxes.base import GIB, ROOT, Limits, Mount, Sandbox, SandboxProvider, SandboxSpec
from harness.tasks.package import Task
from harness.tasks.submission import InvalidSubmission, Reason, Rows, read_answer_key, read_submission

_DRIVER = Path(__file__).with_name("inside")
_GRADER, _METRIC, _EXCHANGE = f"{ROOT}/grader", f"{ROOT}/task/metric.py", f"{ROOT}/exchange"
_RESULT_BYTES = 1 << 20
_MESSAGE = 1_000
_PRELOAD = ("numpy", "pandas", "sklearn.metrics", "scipy.stats")
_LIMITS = Limits(seconds=300.0, memory_bytes=8 * GIB, file_bytes=2 * GIB)


@dataclass(frozen=True)
class GradeResult:
    """What grading one submission gave.

    Attributes:
        valid: the submission can be scored and was.
        raw_score: the metric's value, a finite float, exactly when ``valid``.
        reason: ``ok``, or why not.
        message: one line for the participant; never an answer.
    """

    valid: bool
    raw_score: float | None
    reason: Reason
    message: str

    @property
    def task_defect(self) -> bool:
        """Whether the task, not the submission, is at fault."""
        return self.reason in (Reason.METRIC_FAILED, Reason.METRIC_NOT_FINITE, Reason.METRIC_TIMEOUT)


class Grader:
    """Grades submissions of one task; keeps its sandbox open between them. Safe to share between threads."""

    def __init__(self, task: Task, provider: SandboxProvider, limits: Limits = _LIMITS) -> None:
        self.task = task
        self._key = read_answer_key(task)
        if not task.metric_path.is_file():
            raise TaskError(f"{task.metric_path}: not found; a task package needs a metric.py")
        self._provider = provider
        self._limits = limits
        self._exchange = Path(tempfile.mkdtemp(prefix="mlesmith-grader-"))
        self._lock = Lock()
        self._sandbox: Sandbox | None = None

    def grade(self, submission: Path, rows: Rows = Rows.ALL) -> GradeResult:
        """Grade a submission file on all test rows or a fixed part of them.

        Raises:
            SandboxLost: the grader's sandbox could not be kept alive, twice.
        """
        try:
            frame = read_submission(submission, self._key)
        except InvalidSubmission as error:
            return GradeResult(False, None, error.reason, str(error))
        return self.grade_frame(frame, rows)

    def grade_frame(self, submission: pd.DataFrame, rows: Rows = Rows.ALL) -> GradeResult:
        """Score a checked, aligned submission (see :func:`harness.tasks.submission.read_submission`)."""
        positions = self._key.positions(rows)
        with self._lock:
            # A name that the metric of an earlier run cannot have taken.
            folder = Path(tempfile.mkdtemp(dir=self._exchange))
            try:
                self._key.answers.iloc[positions].to_csv(folder / "answers.csv", index=False)
                submission.iloc[positions].to_csv(folder / "submission.csv", index=False)
                try:
                    return self._run(folder)
                except SandboxLost:
                    return self._run(folder)
            finally:
                shutil.rmtree(folder, ignore_errors=True)

    def close(self) -> None:
        """Close the sandbox and remove the exchange folder."""
        if self._sandbox is not None:
            self._sandbox.close()
            self._sandbox = None
        shutil.rmtree(self._exchange, ignore_errors=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _open(self) -> Sandbox:
        spec = SandboxSpec(
            mounts=(
                Mount(_DRIVER, _GRADER),
                Mount(self.task.metric_path, _METRIC),
                Mount(self._exchange, _EXCHANGE, writable=True),
            ),
            workdir=_EXCHANGE,
            limits=self._limits,
            preload=_PRELOAD,
        )
        return self._provider.open(spec)

    def _run(self, folder: Path) -> GradeResult:
        if self._sandbox is None:
            self._sandbox = self._open()
        inside = self._sandbox.inside
        seen = f"{_EXCHANGE}/{folder.name}"
        kinds = dict.fromkeys(self._key.numeric, "number")
        if self._key.integer_ids:
            kinds[self._key.id_column] = "integer"
        request = {
            "metric": inside(_METRIC),
            "base": inside(f"{_GRADER}/competition_metrics.py"),
            "answers": inside(f"{seen}/answers.csv"),
            "submission": inside(f"{seen}/submission.csv"),
            "types": kinds,
        }
        (folder / "request.json").write_text(json.dumps(request), encoding="utf-8")
        try:
            run = self._sandbox.run_python(
                inside(f"{_GRADER}/grade.py"), [inside(f"{seen}/request.json"), inside(f"{seen}/result.json")]
            )
        except SandboxLost:
            self._sandbox = None
            raise
        if run.timed_out:
            return _defect(Reason.METRIC_TIMEOUT, f"the metric ran longer than {self._limits.seconds:g} s")
        result = read_result(folder / "result.json")
        if result is None:
            return _defect(
                Reason.METRIC_FAILED, f"the metric ended with code {run.exit_code}: {run.output[-500:]}"
            )
        return _judge(result)


def grade(task: Task, submission: Path, provider: SandboxProvider) -> GradeResult:
    """Grade one submission and close the grader again."""
    with Grader(task, provider) as grader:
        return grader.grade(submission)


def _judge(result: dict[str, Any]) -> GradeResult:
    message = str(result.get("message", ""))[-_MESSAGE:]
    if result.get("outcome") == "rejected":
        return GradeResult(False, None, Reason.METRIC_REJECTED, message or "refused by the metric")
    score = result.get("score")
    if result.get("outcome") != "score" or not isinstance(score, float):
        return _defect(Reason.METRIC_FAILED, f"the metric failed: {message.strip()}")
    if not math.isfinite(score):
        return _defect(Reason.METRIC_NOT_FINITE, f"the metric returned {score}, which is not a finite number")
    return GradeResult(True, score, Reason.OK, "valid")


def _defect(reason: Reason, message: str) -> GradeResult:
    return GradeResult(False, None, reason, message)


def read_result(path: Path) -> dict[str, Any] | None:
    """The driver's result, or ``None`` when the metric kept it from being written as agreed."""
    if path.is_symlink() or not path.is_file() or path.stat().st_size > _RESULT_BYTES:
        return None
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return None
    return data if isinstance(data, dict) else None
