"""The trials of one or several jobs as one table."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

import pandas as pd

from harness.budget import Budget
from harness.errors import InputError
from harness.models.scripted.model import ORACLE
from harness.records import JobPaths, TrialResult, read_job
from leaderboards.scores import COLUMNS

_DTYPES = {
    "job": "str",
    "set": "str",
    "task": "str",
    "task_hash": "str",
    "modality": "str",
    "objective": "str",
    "metric": "str",
    "higher_is_better": "bool",
    "metric_best": "float64",
    "model": "str",
    "agent": "str",
    "attempt": "int64",
    "feedback": "str",
    "budget": "str",
    "sandbox": "str",
    "spec_hash": "str",
    "status": "str",
    "counts": "bool",
    "valid": "bool",
    "score": "float64",
    "last_score": "float64",
    "best_score": "float64",
    "position_score": "float64",
    "steps": "int64",
    "tokens": "int64",
    "hours": "float64",
    "date": "str",
    "error": "str",
}


@dataclass(frozen=True)
class Source:
    """A trial's record and the job folder it was read from."""

    job: Path
    record: TrialResult

    @property
    def path(self) -> Path:
        """Where the record lies."""
        r = self.record
        return JobPaths(self.job).trial(r.task_set, r.task, r.model, r.attempt).result


@dataclass(frozen=True)
class Results:
    """Finished trials, in the order of task set, task, model and attempt.

    Attributes:
        sources: records with their job folders.
        oracle: those of ``scripted/oracle``, which hands in the answers and is no candidate; nothing else
            here counts them.
    """

    sources: tuple[Source, ...]
    oracle: tuple[Source, ...] = ()

    @property
    def records(self) -> tuple[TrialResult, ...]:
        """The records alone."""
        return tuple(source.record for source in self.sources)

    @property
    def jobs(self) -> tuple[Path, ...]:
        """The job folders, sorted."""
        return tuple(sorted({source.job for source in self.sources}))

    @property
    def task_sets(self) -> tuple[str, ...]:
        """The names of the task sets, sorted."""
        return tuple(sorted({record.task_set for record in self.records}))

    @property
    def modalities(self) -> tuple[str, ...]:
        """The modalities, sorted."""
        return tuple(sorted({record.modality for record in self.records}))

    @cached_property
    def trials(self) -> pd.DataFrame:
        """One row per trial; missing numbers are NaN and ``task`` is ``<set>/<task>``.

        ``hours`` is wall time, ``tokens`` are input plus output, ``date`` is that of the trial's end in UTC.
        """
        return pd.DataFrame([_row(s) for s in self.sources], columns=list(_DTYPES)).astype(_DTYPES)

    def select(self, *, task_set: str | None = None, modality: str | None = None) -> Results:
        """The trials of a task set and of a modality; ``None`` takes all."""
        return self._where(
            lambda r: (
                (task_set is None or r.task_set == task_set) and (modality is None or r.modality == modality)
            )
        )

    def counted(self) -> Results:
        """The trials that say something about their candidate: infrastructure failures are left out."""
        return self._where(lambda record: record.counts)

    def left_out(self) -> dict[str, int]:
        """How many trials :meth:`counted` leaves out, by status."""
        return dict(sorted(Counter(r.status.value for r in self.records if not r.counts).items()))

    def scores_frame(self) -> pd.DataFrame:
        """What ratings are made of: the counted trials in the columns of a score file.

        Columns task (``<set>/<task>``), model, attempt, score (NaN when invalid), valid, higher_is_better.
        """
        frame = self.trials
        return frame.loc[frame["counts"], list(COLUMNS)].reset_index(drop=True)

    def _where(self, keep: Callable[[TrialResult], bool]) -> Results:
        return Results(
            tuple(source for source in self.sources if keep(source.record)),
            tuple(source for source in self.oracle if keep(source.record)),
        )


def load_results(jobs: Sequence[Path]) -> Results:
    """Read all finished trials of some job folders.

    A trial that several jobs hold with the same contents is read once.

    Raises:
        InputError: a folder is not a job, a record cannot be read, there is no trial at all, or two different
            trials have the same task set, task, model and attempt; both files are named.
    """
    found: dict[tuple[str, str, str, int], Source] = {}
    for job in jobs:
        for record in read_job(job):
            source = Source(job, record)
            first = found.setdefault((record.task_set, record.task, record.model, record.attempt), source)
            if first.record != record:
                raise InputError(
                    f"{source.path}: another result of attempt {record.attempt} of {record.model} on "
                    f"{record.task_set}/{record.task} is in {first.path}; give one of the two jobs, or run "
                    "the second with other attempts"
                )
            _moment(source, "started")
            _moment(source, "finished")
    if not found:
        listed = ", ".join(str(job) for job in jobs) or "no job"
        raise InputError(f"{listed}: no finished trial; run `mlesmith run` to the end first")
    sources = [found[key] for key in sorted(found)]
    candidates = tuple(source for source in sources if not _is_oracle(source.record.model))
    if not candidates:
        raise InputError(
            f"{', '.join(str(job) for job in jobs)}: only trials of scripted/{ORACLE}, which hands in the "
            "answers and is no candidate; run a model"
        )
    return Results(candidates, tuple(source for source in sources if _is_oracle(source.record.model)))


def budget_text(budget: Budget) -> str:
    """The limits that are set, in one line: ``steps=15 seconds=43200 execution_seconds=3600``."""
    limits = budget.model_dump(exclude_none=True)
    return " ".join(f"{name}={value:.15g}" for name, value in limits.items())


def _is_oracle(model: str) -> bool:
    """Whether a board name is the oracle's, whatever label follows it."""
    return model.partition("@")[0] == f"scripted/{ORACLE}"


def _moment(source: Source, field: Literal["started", "finished"]) -> datetime:
    """When the trial began or ended, in UTC."""
    text = getattr(source.record, field)
    try:
        moment = datetime.fromisoformat(text)
    except ValueError as error:
        raise InputError(f"{source.path}: {field}: {text!r} is not an ISO 8601 time; run it again") from error
    return moment.astimezone(UTC) if moment.tzinfo else moment.replace(tzinfo=UTC)


def _row(source: Source) -> dict[str, Any]:
    r = source.record
    return {
        "job": source.job.name,
        "set": r.task_set,
        "task": f"{r.task_set}/{r.task}",
        "task_hash": r.task_hash,
        "modality": r.modality,
        "objective": r.objective,
        "metric": r.metric,
        "higher_is_better": r.higher_is_better,
        "metric_best": r.metric_best,
        "model": r.model,
        "agent": r.agent,
        "attempt": r.attempt,
        "feedback": r.feedback.value,
        "budget": budget_text(r.budget),
        "sandbox": r.sandbox,
        "spec_hash": r.spec_hash,
        "status": r.status.value,
        "counts": r.counts,
        "valid": r.valid,
        "score": r.score if r.valid else None,
        "last_score": r.last_score,
        "best_score": r.best_score,
        "position_score": r.position_score,
        "steps": len(r.steps),
        "tokens": r.usage.input + r.usage.output,
        "hours": r.timings.total / 3600,
        "date": _moment(source, "finished").date().isoformat(),
        "error": r.error or "",
    }
