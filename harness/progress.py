"""Progress of a job, shown on standard error."""

from __future__ import annotations

from types import TracebackType
from typing import Protocol, Self

from rich.console import Console
from rich.markup import escape
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

from harness.records import TrialResult


class JobProgress(Protocol):
    """What a job tells while it works. Called from worker threads."""

    def planned(self, total: int, done: int) -> None:
        """``total`` trials belong to the job, of which ``done`` need no work."""
        ...

    def finished(self, result: TrialResult) -> None:
        """A trial has ended."""
        ...

    def noted(self, model: str, note: str) -> None:
        """How a model's endpoint is doing; nothing when all is well again."""
        ...


class Silent:
    """Tells nothing."""

    def planned(self, total: int, done: int) -> None:
        """Nothing."""

    def finished(self, result: TrialResult) -> None:
        """Nothing."""

    def noted(self, model: str, note: str) -> None:
        """Nothing."""


class RichProgress:
    """A progress bar with the last result, on standard error; plain lines where that is no terminal."""

    def __init__(self, console: Console | None = None) -> None:
        self._console = console or Console(stderr=True)
        self._progress = Progress(
            TextColumn("trials"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            TimeRemainingColumn(),
            TextColumn("{task.fields[last]}"),
            TextColumn("[yellow]{task.fields[notes]}"),
            console=self._console,
            disable=not self._console.is_terminal,
        )
        self._bar = self._progress.add_task("trials", total=None, last="", notes="")
        self._total = self._done = 0
        self._notes: dict[str, str] = {}

    def planned(self, total: int, done: int) -> None:
        """Set the scale; trials kept from an earlier run count as done."""
        self._total, self._done = total, done
        self._progress.update(self._bar, total=total, completed=done)
        if not self._console.is_terminal:
            trials = f"{total} trial{'s' if total != 1 else ''}"
            self._console.print(f"{trials}, {done} already done" if done else trials)

    def finished(self, result: TrialResult) -> None:
        """Advance by one and show what that trial came to: its score, or why it has none."""
        self._done += 1
        came_to = "invalid" if result.counts else str(result.status)
        if result.score is not None:
            came_to = f"{result.score:.4g}"
        last = f"{result.task} {result.model} {came_to}"
        self._progress.update(self._bar, advance=1, last=last)
        if not self._console.is_terminal and (self._done % 20 == 0 or self._done == self._total):
            done = f"{self._done} of {self._total} trials done"
            self._console.print(escape(f"{done}; last: {last}{self._noted()}"))

    def noted(self, model: str, note: str) -> None:
        """Show what slows a model's trials down, until it is over."""
        first = model not in self._notes
        self._notes[model] = note
        self._progress.update(self._bar, notes=escape(self._noted()))
        if first and note and not self._console.is_terminal:
            self._console.print(escape(f"{model}: {note}"))

    def _noted(self) -> str:
        return "".join(f"; {model}: {note}" for model, note in [*self._notes.items()] if note)

    def __enter__(self) -> Self:
        self._progress.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._progress.stop()
