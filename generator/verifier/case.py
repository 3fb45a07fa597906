"""The task under verification, and what the gates share about it."""

from __future__ import annotations

import functools
import logging
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pandas as pd

from generator.defects import Finding
from generator.verifier.thresholds import Thresholds
from harness.sandboxes.base import SandboxProvider
from harness.sandboxes.kernel import leftovers
from harness.tasks.grading import Grader, GradeResult
from harness.tasks.package import Task
from harness.tasks.submission import AnswerKey, InvalidSubmission, read_answer_key, read_strings

log = logging.getLogger(__name__)

#: A column of cells, all strings.
Column = pd.Series


class ProbeGrader(Grader):
    """A grader that also scores rows that no submission may have."""

    def grade_loose(self, submission: pd.DataFrame) -> GradeResult:
        """Hand the metric these rows against all answers, past every check that the framework makes."""
        return self.score(self.key.answers, submission)


@dataclass
class Case:
    """One verification under way.

    Attributes:
        task: the package as it was given.
        provider: opens sandboxes.
        scratch: a folder for the gates, removed afterwards.
        limits: the thresholds.
        prepared: the same package with the data that its prepare.py makes now; set by the preparation gate.
        scores: raw scores by name, as the gates learn them.
        say: told what is being done, for progress.
    """

    task: Task
    provider: SandboxProvider
    scratch: Path
    limits: Thresholds
    prepared: Task
    scores: dict[str, float] = field(default_factory=dict)
    say: Callable[[str], None] = log.debug

    @functools.cached_property
    def key(self) -> AnswerKey:
        """The answers of the prepared task."""
        return read_answer_key(self.prepared)

    @functools.cached_property
    def grader(self) -> ProbeGrader:
        """The grader of the prepared task; :func:`open_case` closes it."""
        return ProbeGrader(self.prepared, self.provider)

    @functools.cached_property
    def tables(self) -> dict[Path, pd.DataFrame]:
        """The CSV tables under ``public/`` by path, cells as strings; what cannot be read is left out."""
        tables = {}
        for path in sorted(self.prepared.public.rglob("*.csv")):
            try:
                tables[path] = read_strings(path)
            except InvalidSubmission as error:
                log.info("not looked at as a table: %s: %s", path, error)
        return tables

    @property
    def targets(self) -> list[str]:
        """The columns to predict, as task.toml declares them."""
        return list(self.task.spec.target_columns)

    @functools.cached_property
    def test(self) -> pd.DataFrame | None:
        """The table of the test rows: the one whose ids overlap most with the answers."""
        wanted = set(self.key.answers[self.key.id_column])
        best, found = 0.0, None
        for path, table in self.tables.items():
            if path == self.prepared.sample_path or self.key.id_column not in table.columns:
                continue
            ids = set(table[self.key.id_column])
            share = len(ids & wanted) / len(ids | wanted)
            if share > best and not (
                set(self.targets) <= set(table.columns) and "train" in path.stem.lower()
            ):
                best, found = share, table
        return found if best >= 0.5 else None

    @functools.cached_property
    def train(self) -> pd.DataFrame | None:
        """The training table: the longest one, other than sample and test, that holds a column test lacks."""
        known = set(self.test.columns if self.test is not None else [self.key.id_column]) - set(self.targets)
        others = [
            table
            for path, table in self.tables.items()
            if path != self.prepared.sample_path and table is not self.test and set(table.columns) - known
        ]
        named = [table for table in others if set(self.targets) <= set(table.columns)]
        return max(named or others, key=len, default=None)

    def oracle(self) -> pd.DataFrame:
        """The answers in the form of a checked submission."""
        return self.typed(self.key.answers[list(self.key.columns)])

    def sample(self) -> pd.DataFrame:
        """The sample submission in the form of a checked submission, in the order of the answers."""
        sample = read_strings(self.prepared.sample_path).set_index(self.key.id_column, drop=False)
        return self.typed(sample.loc[self.key.answers[self.key.id_column]].reset_index(drop=True))

    def typed(self, frame: pd.DataFrame) -> pd.DataFrame:
        """A copy with the numeric columns as floats, as :func:`read_submission` gives them."""
        frame = frame.copy()
        for column in self.key.numeric:
            frame[column] = to_numbers(frame[column])
        return frame


@contextmanager
def open_case(task: Task, provider: SandboxProvider, limits: Thresholds) -> Iterator[Case]:
    """A case with its scratch folder; both end with the context."""
    with tempfile.TemporaryDirectory(prefix=leftovers.prefix("verify")) as name:
        case = Case(task, provider, Path(name), limits, prepared=task)
        try:
            yield case
        finally:
            if "grader" in case.__dict__:
                case.grader.close()


def to_numbers(column: Column) -> Column:
    """Strings as floats, ``true`` and ``false`` as 1 and 0; what is no number becomes NaN."""
    lowered = column.astype(str).str.strip().str.lower()
    truth = lowered.map({"true": "1", "false": "0"})
    return pd.to_numeric(truth.fillna(lowered), errors="coerce").astype(float)


def has_errors(findings: list[Finding]) -> bool:
    """Whether a finding rejects the task."""
    return any(found.severity == "error" for found in findings)
