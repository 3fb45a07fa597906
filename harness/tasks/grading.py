"""Grading: the framework's checks, then the task's own metric in a sandboxed process.

The grader's sandbox sees the metric, the answers and the submission, and nothing else.
"""

from __future__ import annotations

import json
import math
import pickle
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from types import TracebackType
from typing import Any, Self

import numpy as np
import numpy.typing as npt
import pandas as pd

from harness.errors import SandboxLost, TaskError
from harness.sandboxes.base import (
    GIB,
    MIB,
    ROOT,
    FileRefused,
    Limits,
    Mount,
    RunResult,
    Sandbox,
    SandboxProvider,
    SandboxSpec,
)
from harness.sandboxes.kernel import leftovers
from harness.tasks.labels import task_labels
from harness.tasks.package import Task
from harness.tasks.submission import (
    MAX_BYTES,
    InvalidSubmission,
    Reason,
    Rows,
    read_answer_key,
    read_submission,
)
from harness.tasks.variants import Outcome, Packer, Variant, VariantResult

#: The grader's scripts, and the working folder in which they find their files.
DRIVER = Path(__file__).with_name("inside")
EXCHANGE = f"{ROOT}/exchange"
_GRADER, _METRIC = f"{ROOT}/grader", f"{ROOT}/task/metric.py"
_RESULT_BYTES = MIB
_SPARE_BYTES = 16 * MIB
_TIMES_ANSWERS = 50
_MESSAGE = 1_000
_PRELOAD = ("numpy", "pandas")
#: What takes a second to import, so that only a metric that names it pays for it.
_SLOW = ("sklearn.metrics", "scipy.stats")
_LIMITS = Limits(seconds=300.0, memory_bytes=8 * GIB)
#: A container that holds answers ends after this long, whatever became of us; a grader starts a new one.
_LIFETIME_SECONDS = 24 * 3_600.0
#: How long the variants of one run may take together.
_VARIANT_SECONDS = 60.0


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
    """Grades submissions of one task; keeps its sandbox between them. Safe to share between threads.

    Attributes:
        task: the task.
        key: its answers; do not change them.
        higher_is_better: the direction that the metric itself declares, once it has scored something.
    """

    def __init__(
        self,
        task: Task,
        provider: SandboxProvider,
        limits: Limits = _LIMITS,
        environment: Mapping[str, str] | None = None,
    ) -> None:
        self.task = task
        self.key = read_answer_key(task)
        if not task.metric_path.is_file():
            raise TaskError(f"{task.metric_path}: not found; a task package needs a metric.py")
        self.higher_is_better: bool | None = None
        self._provider = provider
        self._limits = limits
        self._environment = dict(environment or {})
        self._lock = Lock()
        self._sandbox: Sandbox | None = None

    @property
    def max_bytes(self) -> int:
        """The largest submission file that is looked at: far more than the answers take."""
        return min(MAX_BYTES, _SPARE_BYTES + _TIMES_ANSWERS * self.task.answer_path.stat().st_size)

    def grade(self, submission: Path, rows: Rows = Rows.ALL) -> GradeResult:
        """Grade a submission file on all test rows or a fixed part of them.

        Raises:
            SandboxLost: the grader's sandbox could not be kept alive, twice.
        """
        try:
            frame = read_submission(submission, self.key)
        except InvalidSubmission as error:
            return GradeResult(False, None, error.reason, str(error))
        return self.grade_frame(frame, rows)

    def grade_frame(self, submission: pd.DataFrame, rows: Rows = Rows.ALL) -> GradeResult:
        """Score a checked, aligned submission (see :func:`harness.tasks.submission.read_submission`)."""
        positions = self.key.positions(rows)
        return self.score(self.key.answers.iloc[positions], submission.iloc[positions])

    def score(self, answers: pd.DataFrame, submission: pd.DataFrame) -> GradeResult:
        """Hand these rows to the metric, past every check that the framework makes."""
        run, result = self._ask(answers, submission, {})
        if run.timed_out:
            return _defect(Reason.METRIC_TIMEOUT, f"the metric ran longer than {self._limits.seconds:g} s")
        if result is None:
            ended = f"went over its limit of {run.over}" if run.over else f"ended with code {run.exit_code}"
            return _defect(Reason.METRIC_FAILED, f"the metric {ended}: {run.output[-500:]}")
        graded = _judge(result)
        if graded.valid:
            self.higher_is_better = result.get("higher_is_better")
        return graded

    def score_parts(
        self,
        submission: pd.DataFrame,
        parts: Sequence[npt.NDArray[np.intp]],
        answers: pd.DataFrame | None = None,
    ) -> list[float | None]:
        """Score some rows alone, as if the task had no others, and do so for many choices of rows in one run.

        Args:
            submission: as for :meth:`grade_frame`, all rows.
            parts: distinct positions of rows, each of shape (n,).
            answers: rows of the answers to hold it against instead of all.

        Returns:
            A score for each part, ``None`` where the metric gives none.
        """
        answers = self.key.answers if answers is None else answers
        run, result = self._ask(answers, submission, {"parts": [part.tolist() for part in parts]})
        if run.timed_out:  # a slow metric gets its whole time for each part
            return [self.score(answers.iloc[part], submission.iloc[part]).raw_score for part in parts]
        scores = (result or {}).get("scores")
        if not isinstance(scores, list) or len(scores) != len(parts):
            return [None] * len(parts)
        return [score if isinstance(score, float) and math.isfinite(score) else None for score in scores]

    def score_variants(
        self,
        variants: Sequence[Variant],
        *,
        same: bool = False,
        twice: bool = False,
        clock: float = 0.0,
        seconds: float = _VARIANT_SECONDS,
        answers: pd.DataFrame | None = None,
        follow: float = 0.0,
        weigh: bool = False,
    ) -> list[VariantResult]:
        """Hand many submissions to the metric in one run, past every check that the framework makes.

        Args:
            variants: what to score, each on its own.
            same: one instance of the metric scores them all; else each gets a new one, in the same process.
            twice: score the very same tables again, and tell what the metric altered in them.
            clock: by how many seconds the clock of the metric runs ahead.
            seconds: variants that have not begun after so much processor time are ``skipped``.
            answers: rows of the answers that are all there is to predict, instead of all of them.
            follow: count and time the lines of metric.py, and stop it after so much processor time.
            weigh: with ``follow``, weigh its memory instead.

        Returns:
            A result for each variant, all ``lost`` when the run ended before it could tell.
        """
        answers = self.key.answers if answers is None else answers
        base = answers[[column for column in self.key.columns if column in answers.columns]]
        packer = Packer(answers, self.key.numeric)
        pickled = pickle.dumps([packer.packed(variant) for variant in variants])
        asked = {
            "id": self.key.id_column,
            "same": same,
            "twice": twice,
            "seconds": min(seconds, self._limits.seconds / 2),
        }
        if clock:
            asked["clock"] = clock
        if follow:
            asked |= {"follow": follow, "weigh": weigh}
        _, result = self._ask(answers, base, asked, {"variants.pickle": pickled})
        found = (result or {}).get("results")
        if not isinstance(found, list) or len(found) != len(variants):
            message = str((result or {}).get("message", ""))[-_MESSAGE:]
            return [VariantResult(Outcome.LOST, message=message)] * len(variants)
        return [VariantResult.of(each) for each in found]

    def close(self) -> None:
        """Stop the sandbox."""
        if self._sandbox is not None:
            self._sandbox.stop()
            self._sandbox = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _start(self) -> Sandbox:
        return self._provider.start(
            SandboxSpec(
                mounts=(Mount(DRIVER, _GRADER), Mount(self.task.metric_path, _METRIC)),
                workdir=EXCHANGE,
                limits=self._limits,
                environment=self._environment,
                preload=self._preload(),
                labels=task_labels("grader", f"{self.task.spec.set}/{self.task.id}", _LIFETIME_SECONDS),
            )
        )

    def _preload(self) -> tuple[str, ...]:
        text = self.task.metric_path.read_text(encoding="utf-8", errors="replace")
        return (*_PRELOAD, *(name for name in _SLOW if name.partition(".")[0] in text))

    def _ask(
        self,
        answers: pd.DataFrame,
        submission: pd.DataFrame,
        request: Mapping[str, Any],
        more: Mapping[str, bytes] | None = None,
    ) -> tuple[RunResult, dict[str, Any] | None]:
        """Hand rows to the metric; in a new sandbox when the first is lost."""
        files = {"answers.csv": _csv(answers), "submission.csv": _csv(submission), **(more or {})}
        kinds = dict.fromkeys(self.key.numeric, "number") | dict.fromkeys(self.key.boolean, "boolean")
        if self.key.integer_ids:
            kinds[self.key.id_column] = "integer"
        asked = {"types": kinds, **request}
        with self._lock:
            try:
                return ask_metric(self._cleared(), files, asked)
            except SandboxLost:
                self.close()
            try:
                return ask_metric(self._cleared(), files, asked)
            except SandboxLost:
                self.close()
                raise

    def _cleared(self) -> Sandbox:
        if self._sandbox is None:
            self._sandbox = self._start()
        # What the metric left behind when it scored another submission is none of this one's business.
        self._sandbox.clear()
        return self._sandbox


def ask_metric(
    sandbox: Sandbox, files: Mapping[str, bytes], request: Mapping[str, Any]
) -> tuple[RunResult, dict[str, Any] | None]:
    """Run the grader's script in a sandbox that shows :data:`DRIVER` and a metric, and works in EXCHANGE.

    Args:
        sandbox: a started sandbox.
        files: CSV files for the metric by name, and pickled variants; none to only construct it.
        request: further keys for the script, see ``inside/grade.py``.

    Returns:
        How the run ended, and its result, ``None`` when the metric kept it from being written as agreed.
    """
    inside = sandbox.inside
    for name, data in files.items():
        sandbox.put(data, inside(f"{EXCHANGE}/{name}"))
    asked = {
        "metric": inside(_METRIC),
        "base": inside(f"{_GRADER}/competition_metrics.py"),
        **{Path(name).stem: inside(f"{EXCHANGE}/{name}") for name in files},
        **request,
    }
    sandbox.put(json.dumps(asked).encode(), inside(f"{EXCHANGE}/request.json"))
    paths = [inside(f"{EXCHANGE}/{name}.json") for name in ("request", "result")]
    run = sandbox.run_python(inside(f"{_GRADER}/grade.py"), paths)
    with tempfile.TemporaryDirectory(prefix=leftovers.prefix("result")) as folder:
        result = Path(folder) / "result.json"
        try:
            sandbox.get(paths[1], result, max_bytes=_RESULT_BYTES)
            data = json.loads(result.read_text(encoding="utf-8"))
        except (FileRefused, ValueError, RecursionError):
            return run, None
    return run, data if isinstance(data, dict) else None


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


def _csv(frame: pd.DataFrame) -> bytes:
    return str(frame.to_csv(index=False)).encode("utf-8", errors="surrogatepass")
