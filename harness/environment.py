"""The environment an agent acts in: actions in, observations out, after MLE-Dojo.

Agent code sees ``public/`` read-only and one writable folder. Nothing that an agent writes makes
:meth:`Environment.step` raise: only limits, a lost sandbox and an explicit ``submit`` end a trial.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import Self

from harness.actions import INFO_TYPES, SUBMISSION, TOOLS, Action, Observation, Scores
from harness.budget import BudgetMeter
from harness.errors import SandboxLost, Submitted
from harness.information import describe_folder, overview, sample
from harness.records import Feedback, TrialPaths
from harness.sandboxes.base import (
    GIB,
    ROOT,
    FileRefused,
    Limits,
    Mount,
    Refusal,
    RunResult,
    Sandbox,
    SandboxProvider,
    SandboxSpec,
)
from harness.sandboxes.network.egress import Connection
from harness.tasks.grading import Grader, GradeResult
from harness.tasks.package import Task
from harness.tasks.submission import InvalidSubmission, Reason, Rows

log = logging.getLogger(__name__)

PUBLIC, WORK = f"{ROOT}/public", f"{ROOT}/work"
SHOWN_OUTPUT = 8_000
SHOWN_INFORMATION = 20_000
"""Characters; a description's middle may hold what its end does not repeat."""
_PRELOAD = (
    "numpy",
    "pandas",
    "sklearn.compose",
    "sklearn.ensemble",
    "sklearn.feature_extraction.text",
    "sklearn.linear_model",
    "sklearn.model_selection",
    "sklearn.neighbors",
    "sklearn.pipeline",
)
_REASONS = {
    Refusal.MISSING: Reason.MISSING_FILE,
    Refusal.NOT_A_FILE: Reason.NOT_A_FILE,
    Refusal.UNREADABLE: Reason.NOT_A_FILE,
    Refusal.TOO_LARGE: Reason.TOO_LARGE,
}


class BadAction(Exception):
    """An action that cannot be carried out; the message says what is allowed."""


class Environment:
    """One trial's environment. A context manager: leaving it closes the sandbox.

    Args:
        task: a prepared task.
        grader: grades its submissions; shared by trials of the task.
        provider: opens the agent's sandbox.
        paths: where steps are kept.
        meter: the budget; the environment reads it, the agent's loop spends it.
        feedback: which score the agent is told.
        limits: bounds of the sandbox; ``seconds`` is taken from the budget.
        allow_hosts: the hosts that agent code may reach.
        gpus: the devices leased for this trial.
        warm: fork executions from a process that has imported the usual modules.
        labels: job, trial and attempt.
    """

    def __init__(
        self,
        task: Task,
        grader: Grader,
        provider: SandboxProvider,
        paths: TrialPaths,
        meter: BudgetMeter,
        feedback: Feedback,
        limits: Limits | None = None,
        allow_hosts: tuple[str, ...] = (),
        gpus: tuple[str, ...] = (),
        warm: bool = True,
        labels: Mapping[str, str] | None = None,
    ) -> None:
        self.task = task
        self.meter = meter
        self.feedback = feedback
        self._grader = grader
        self._provider = provider
        self._paths = paths
        self._spec = SandboxSpec(
            mounts=(Mount(task.public, PUBLIC),),
            workdir=WORK,
            limits=replace(limits or Limits(), seconds=meter.budget.execution_seconds),
            allow_hosts=allow_hosts,
            gpus=gpus,
            preload=_PRELOAD,
            warm=warm,
            labels=labels or {},
        )
        self._sandbox: Sandbox | None = None
        self.connections: tuple[Connection, ...] = ()
        self._best_shown: float | None = None
        self._history: list[str] = []
        self.seconds_executing = 0.0
        self.seconds_grading = 0.0
        self._handlers: dict[str, Callable[..., tuple[bool, str, Scores | None]]] = {
            "request_info": self._request_info,
            "validate_code": self._validate_code,
            "execute_code": self._execute_code,
            "get_history": self._get_history,
            "reset": self._reset,
            "submit": self._submit,
        }

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stop()

    @property
    def sandbox_spec(self) -> SandboxSpec:
        """What agent code runs in: its limits, its devices and the hosts it may reach."""
        return self._spec

    @property
    def data_path(self) -> str:
        """Where agent code finds the public data."""
        return self._started().inside(PUBLIC)

    @property
    def output_path(self) -> str:
        """Where agent code writes its submission."""
        return self._started().inside(WORK)

    def step(self, action: Action, number: int) -> Observation:
        """Carry out one action.

        Args:
            action: what the agent asks for.
            number: the step's number, which names its folder.

        Raises:
            Submitted: the agent ended the trial.
            TimeLimit, WorkingTimeLimit: the trial's time ran out before the action.
            SandboxLost: the sandbox died, and a new one does not start.
        """
        started = time.monotonic()
        try:
            ok, text, scores = self._dispatch(action, number)
        except BadAction as error:
            ok, text, scores = False, bounded(str(error)), None
        told = "" if scores is None or scores.shown is None else f", score {scores.shown:.6g}"
        self._history.append(f"{number}. {action.name}: {'ok' if ok else 'error'}{told}")
        seconds = time.monotonic() - started
        return Observation(action.name, ok, text, scores, self.meter.describe(), seconds)

    def _dispatch(self, action: Action, number: int) -> tuple[bool, str, Scores | None]:
        handler = self._handlers.get(action.name)
        if handler is None:
            raise BadAction(f"Unknown action {action.name!r}. Allowed: {', '.join(self._handlers)}.")
        tool = next(tool for tool in TOOLS if tool.name == action.name)
        allowed = list(tool.parameters["properties"])
        unknown = sorted(set(action.params) - set(allowed))
        missing = [name for name in allowed if name not in action.params]
        if unknown or missing:
            raise BadAction(
                f"{action.name} takes {allowed or 'no parameters'}; "
                + "; ".join(
                    part
                    for part in (
                        f"missing {missing}" if missing else "",
                        f"unknown {unknown}" if unknown else "",
                    )
                    if part
                )
                + "."
            )
        for name, value in action.params.items():
            if not isinstance(value, str):
                raise BadAction(f"{action.name}: {name} must be a string, not {type(value).__name__}.")
        return handler(number=number, **action.params)

    def information(self, info_type: str) -> str:
        """What is told of the task, bounded: one of :data:`harness.actions.INFO_TYPES`."""
        tell: dict[str, Callable[[], str]] = {
            "overview": lambda: overview(self.task),
            "data_structure": lambda: "\n".join(describe_folder(self.task.public)),
            "sample_submission": lambda: sample(self.task),
            "data_path": lambda: self.data_path,
            "output_path": lambda: self.output_path,
        }
        return bounded(tell[info_type](), SHOWN_INFORMATION)

    def _request_info(self, number: int, info_type: str) -> tuple[bool, str, Scores | None]:
        if info_type not in INFO_TYPES:
            raise BadAction(f"Unknown info_type {info_type!r}. Allowed: {', '.join(INFO_TYPES)}.")
        return True, self.information(info_type), None

    def _validate_code(self, number: int, code: str) -> tuple[bool, str, Scores | None]:
        run = self._run(code, number)
        self._remove_submission()
        return run.ok, self._describe_run(run), None

    def _execute_code(self, number: int, code: str) -> tuple[bool, str, Scores | None]:
        # A submission of an earlier run must never be graded as this run's.
        self._remove_submission()
        run = self._run(code, number)
        text = self._describe_run(run)
        try:
            scores = self._grade(self._collect(number))
        except InvalidSubmission as error:
            if error.reason is Reason.MISSING_FILE:
                return False, f"{text}\nNo {SUBMISSION} was written to {self.output_path}.", None
            scores = Scores(GradeResult(False, None, error.reason, str(error)), None, None, self._best_shown)
        return run.ok and scores.grade.valid, f"{text}\n{self._describe_scores(scores)}", scores

    def _get_history(self, number: int) -> tuple[bool, str, Scores | None]:
        return True, bounded("\n".join(self._history) or "Nothing yet."), None

    def _reset(self, number: int) -> tuple[bool, str, Scores | None]:
        self._stop()
        return True, f"{self.output_path} is empty again. What you have submitted still counts.", None

    def _submit(self, number: int) -> tuple[bool, str, Scores | None]:
        raise Submitted("the agent submitted")

    def _grade(self, submission: Path) -> Scores:
        started = time.monotonic()
        shown_rows, counted_rows = {
            Feedback.TEST: (Rows.ALL, Rows.ALL),
            Feedback.SPLIT: (Rows.FEEDBACK, Rows.HELD_BACK),
            Feedback.NONE: (Rows.ALL, Rows.ALL),
        }[self.feedback]
        grade = self._grader.grade(submission, shown_rows)
        counted = grade if counted_rows is shown_rows else self._grader.grade(submission, counted_rows)
        self.seconds_grading += time.monotonic() - started
        if grade.task_defect or counted.task_defect:
            log.error("%s: %s", self.task.metric_path, grade.message)
        valid = grade.valid and counted.valid
        shown = grade.raw_score if valid and self.feedback is not Feedback.NONE else None
        if shown is not None and (self._best_shown is None or self._better(shown, self._best_shown)):
            self._best_shown = shown
        return Scores(
            grade if valid or not grade.valid else counted,
            counted.raw_score if valid else None,
            shown,
            self._best_shown,
        )

    def _better(self, a: float, b: float) -> bool:
        return a > b if self.task.spec.metric.higher_is_better else a < b

    def _describe_scores(self, scores: Scores) -> str:
        grade = scores.grade
        if grade.task_defect:
            return "The submission could not be graded: the task's metric failed. Your code is not at fault."
        if not grade.valid:
            return f"Invalid submission ({grade.reason}): {grade.message}"
        if scores.shown is None:
            return "Valid submission. Scores are not shown."
        direction = "higher" if self.task.spec.metric.higher_is_better else "lower"
        return f"Score: {scores.shown:.6g} ({direction} is better). Best so far: {scores.best_shown:.6g}."

    def _run(self, code: str, number: int) -> RunResult:
        """Run a program in the working folder, within what is left of the trial's time."""
        try:
            program = code.encode("utf-8")
        except UnicodeEncodeError as error:
            raise BadAction(f"The program is not valid Unicode: {error}") from error
        folder = self._paths.step(number)
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "code.py").write_bytes(program)
        seconds = min(self.meter.budget.execution_seconds, self.meter.time_left())
        if seconds <= 0:
            self.meter.check_time()
        limits = replace(self._spec.limits, seconds=seconds)
        started = time.monotonic()
        try:
            sandbox = self._started()
            path = sandbox.inside(f"{WORK}/main.py")
            sandbox.put(program, path)
            # Not even compiled out here: a few kilobytes of Python can crash a compiler, or fill the memory.
            run = sandbox.run_python(path, limits=limits)
        except FileRefused as error:
            raise BadAction(f"{error}. The working folder may be full; reset empties it.") from error
        except SandboxLost as error:
            self.meter.check_cancelled()
            # The program's own doing, unless a new sandbox cannot run anything either.
            self._stop()
            self._started().run(["true"])
            said = f"The program ended its own sandbox ({error}); the working folder is empty again."
            run = RunResult(1, said, 0, time.monotonic() - started)
        self.seconds_executing += time.monotonic() - started
        (folder / "output.txt").write_text(run.output, encoding="utf-8")
        return run

    def _collect(self, number: int) -> Path:
        """Copy the submission out of the sandbox.

        Raises:
            InvalidSubmission: there is none, or it is no file that can be looked at.
        """
        sandbox = self._started()
        kept = self._paths.step(number) / SUBMISSION
        try:
            sandbox.get(sandbox.inside(f"{WORK}/{SUBMISSION}"), kept, max_bytes=self._grader.max_bytes)
        except FileRefused as error:
            raise InvalidSubmission(_REASONS[error.reason], str(error)) from error
        return kept

    def _describe_run(self, run: RunResult) -> str:
        limits = self._spec.limits
        if run.timed_out:
            head = f"The program was stopped after {run.seconds:.1f} s, its time limit."
        elif run.over == "memory":
            head = (
                f"The program was killed for using more than {limits.memory_bytes / GIB:.3g} GiB of memory."
            )
        elif run.over is not None:
            head = (
                f"The program was stopped for writing more than {limits.disk_bytes / GIB:.3g} GiB or "
                f"{limits.files} files; reset empties the working folder."
            )
        elif run.exit_code == -9:
            head = "The program was killed, most likely for using more memory than there is."
        elif run.ok:
            head = f"The program ended without an error after {run.seconds:.1f} s."
        else:
            head = f"The program failed with exit code {run.exit_code} after {run.seconds:.1f} s."
        shown = bounded(run.output.strip())
        return f"{head}\nOutput:\n{shown}" if shown else f"{head}\nIt printed nothing."

    def _remove_submission(self) -> None:
        if self._sandbox is None:
            return
        try:
            self._sandbox.remove(self._sandbox.inside(f"{WORK}/{SUBMISSION}"))
        except SandboxLost:
            self._stop()  # with the folder that held it

    def _started(self) -> Sandbox:
        if self._sandbox is None:
            self._sandbox = self._provider.start(self._spec)
        return self._sandbox

    def _stop(self) -> None:
        if self._sandbox is not None:
            self._sandbox.stop()
            self.connections += self._sandbox.connections
            self._sandbox = None


def bounded(text: str, limit: int = SHOWN_OUTPUT) -> str:
    """Cut the middle out of a long text; a traceback's last lines always survive."""
    if len(text) <= limit:
        return text
    head, tail = limit // 3, limit - limit // 3
    left_out = len(text) - head - tail
    return f"{text[:head]}\n... {left_out} characters left out ...\n{text[-tail:]}"
