"""The task under verification, and what the gates share about it."""

from __future__ import annotations

import functools
import logging
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd

from generator.defects.base import Finding
from generator.verifier.public.folders import class_files
from generator.verifier.public.inventory import PublicFile, inventory
from generator.verifier.public.media import Media, media_of
from generator.verifier.public.packed import Packed, packed
from generator.verifier.public.tables import public_tables
from generator.verifier.reduction import reduced
from generator.verifier.sampling import sampled_rows
from generator.verifier.targets import Kind, kind_of, to_numbers
from generator.verifier.thresholds.config import Thresholds
from harness.sandboxes.base import SandboxProvider
from harness.sandboxes.kernel import leftovers
from harness.tasks.grading import Grader, GradeResult
from harness.tasks.package import Task
from harness.tasks.submission import AnswerKey, read_answer_key, read_strings

log = logging.getLogger(__name__)


class ProbeGrader(Grader):
    """A grader that also scores rows that no submission may have."""

    def grade_loose(self, submission: pd.DataFrame) -> GradeResult:
        """Hand the metric these rows against all answers, past every check that the framework makes."""
        return self.score(self.key.answers, submission)


@dataclass(frozen=True)
class Joined:
    """Test rows with their answers, at most ``limits.sampling.rows`` of them.

    Attributes:
        test: rows of the test table in file order, all columns, cells as strings.
        truth: their answers, the target columns, the same index.
        of: how many test rows with an answer there are in all.
    """

    test: pd.DataFrame
    truth: pd.DataFrame
    of: int


@dataclass
class Case:
    """One verification under way. All tables hold strings; an empty cell is ``""``.

    Attributes:
        task: the package as it was given.
        provider: opens sandboxes.
        scratch: a folder for the gates, removed afterwards.
        limits: the thresholds.
        prepared: the same package with the data that its prepare.py makes now; set by the preparation gate.
        scores: raw scores by name, as the gates learn them.
        findings: what the gates before have found; only to be read.
        exhibits: what a report plots, as plain JSON data by name; see :mod:`generator.verifier.exhibits`.
        say: told what is being done, for progress.
    """

    task: Task
    provider: SandboxProvider
    scratch: Path
    limits: Thresholds
    prepared: Task
    scores: dict[str, float] = field(default_factory=dict)
    findings: list[Finding] = field(default_factory=list)
    exhibits: dict[str, Any] = field(default_factory=dict)
    say: Callable[[str], None] = log.debug

    @functools.cached_property
    def answers(self) -> pd.DataFrame:
        """All answers as the file has them. The preparation gate made sure of ids and columns."""
        return read_strings(self.prepared.answer_path)

    @functools.cached_property
    def tables(self) -> dict[Path, pd.DataFrame]:
        """The tables under ``public/`` by path, at full size; what cannot be read is left out."""
        return public_tables(self.prepared.public)

    @functools.cached_property
    def inventory(self) -> list[PublicFile]:
        """All files under ``public/``, sorted by name."""
        return inventory(self.prepared.public)

    @functools.cached_property
    def packed(self) -> Packed:
        """The members of the archives under ``public/``, as the files that participants unpack."""
        return packed(self.inventory, self.scratch / "unpacked", self.limits.files)

    @functools.cached_property
    def media(self) -> Media | None:
        """The files that belong to training and test rows, or ``None`` when rows have none."""
        return media_of(self)

    @property
    def id_column(self) -> str:
        """The column of the ids."""
        return self.task.spec.id_column

    @property
    def targets(self) -> list[str]:
        """The columns to predict, as task.toml declares them."""
        return list(self.task.spec.target_columns)

    @functools.cached_property
    def kinds(self) -> dict[str, Kind]:
        """What the values of each target are."""
        return {name: kind_of(self.answers[name], self.task.spec.objective) for name in self.targets}

    @functools.cached_property
    def test_path(self) -> Path | None:
        """The file of the test table: the one whose ids overlap most with the answers.

        Of several with the same ids it is the one with most columns beside the targets.
        """
        wanted = set(self.answers[self.id_column])
        best, found = (0.0, 0), None
        for path, table in self.tables.items():
            if path == self.prepared.sample_path or self.id_column not in table.columns:
                continue
            ids = set(table[self.id_column])
            rank = (len(ids & wanted) / len(ids | wanted), len(set(table.columns) - set(self.targets)))
            if rank > best and not (set(self.targets) <= set(table.columns) and "train" in path.stem.lower()):
                best, found = rank, path
        return found if best[0] >= 0.5 else None

    @functools.cached_property
    def train_path(self) -> Path | None:
        """The training table: the longest one, other than sample and test, that holds a column test lacks.

        Without one it is the folder whose folders are the classes, if there is one.
        """
        known = set(self.test.columns if self.test is not None else [self.id_column]) - set(self.targets)
        others = [
            path
            for path, table in self.tables.items()
            if path not in (self.prepared.sample_path, self.test_path) and set(table.columns) - known
        ]
        named = [path for path in others if set(self.targets) <= set(self.tables[path].columns)]
        if not named and self._folders is not None:
            return self.prepared.public / self._folders[0]
        return max(named or others, key=lambda path: len(self.tables[path]), default=None)

    @functools.cached_property
    def _folders(self) -> tuple[str, pd.DataFrame] | None:
        """Training files sorted or named by class, and their table."""
        if len(self.targets) != 1:
            return None
        files = [*self.inventory, *self.packed.files]
        return class_files(files, self.targets[0], self.answers, self.id_column)

    @property
    def test(self) -> pd.DataFrame | None:
        """The test table at full size."""
        return None if self.test_path is None else self.tables[self.test_path]

    @property
    def train(self) -> pd.DataFrame | None:
        """The training table at full size; class folders are one with the columns path and target."""
        if self.train_path is None or self.train_path in self.tables:
            return None if self.train_path is None else self.tables[self.train_path]
        return None if self._folders is None else self._folders[1]

    @functools.cached_property
    def features(self) -> list[str]:
        """Columns that train and test share, but for id and targets, in the order of the test table."""
        if self.test is None or self.train is None:
            return []
        own = {self.id_column, *self.targets}
        return [name for name in self.test.columns if name in self.train.columns and name not in own]

    @functools.cached_property
    def joined(self) -> Joined | None:
        """Test rows beside their answers, when there is a test table whose ids are those of the answers.

        Of several rows of one id, such as the steps of a recording, the first stands for the others.
        """
        if self.test is None:
            return None
        answers = self.answers.drop_duplicates(self.id_column).set_index(self.id_column)[self.targets]
        rows = self.test[self.test[self.id_column].isin(answers.index)].drop_duplicates(self.id_column)
        chosen = rows.iloc[sampled_rows(len(rows), self.limits.sampling.rows)].reset_index(drop=True)
        truth = answers.loc[chosen[self.id_column]].reset_index(drop=True)
        return Joined(chosen, truth, len(rows))

    @functools.cached_property
    def scored(self) -> Task:
        """The prepared task cut to ``scored_rows``, or itself: what metric and ladder work on."""
        return reduced(self.prepared, self)

    @functools.cached_property
    def key(self) -> AnswerKey:
        """The answers of the task that is scored."""
        return read_answer_key(self.scored)

    @functools.cached_property
    def grader(self) -> ProbeGrader:
        """The grader of the task that is scored; :func:`open_case` closes it."""
        return ProbeGrader(self.scored, self.provider)

    def oracle(self) -> pd.DataFrame:
        """The answers in the form of a checked submission."""
        return self.typed(self.key.answers[list(self.key.columns)])

    def sample(self) -> pd.DataFrame:
        """The sample submission in the form of a checked submission, in the order of the answers."""
        sample = read_strings(self.scored.sample_path).set_index(self.key.id_column, drop=False)
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
