"""A competition of mle-bench and its raw data as a task package."""

from __future__ import annotations

import dataclasses
import shutil
from pathlib import Path

from harness.errors import TaskError
from harness.sandboxes.base import SandboxProvider
from harness.tasks.imported import Imported, declare, ids_first
from harness.tasks.mlebench.bundle import bundle
from harness.tasks.mlebench.competition import Competition
from harness.tasks.package import Task
from harness.tasks.preparing import prepare_task
from harness.tasks.submission import InvalidSubmission, read_strings

_STANDINS = Path(__file__).with_name("standins")
_PREPARE = '''\
import shutil
import tempfile
from pathlib import Path


def prepare(raw, public, private):
    """Prepare as mle-bench does, then name answers and sample as task packages do.

    Many competitions unpack into raw, so they get a copy of it.
    """
    with tempfile.TemporaryDirectory() as name:
        copy = shutil.copytree(raw, Path(name) / "raw")
        importlib.import_module({module!r}).prepare(copy, public, private)
    folders = {{"public": public, "private": private}}
    names = {{{answers!r}: private / "test_answer.csv", {sample!r}: public / "sample_submission.csv"}}
    for found, wanted in names.items():
        folder, _, name = found.partition("/")
        if folders[folder] / name != wanted:
            (folders[folder] / name).rename(wanted)
'''
_METRIC = '''\
import pandas as pd

from mledojo.metrics.base import CompetitionMetrics, InvalidSubmissionError


class MleBenchMetrics(CompetitionMetrics):
    """mle-bench's grading function, unmodified."""

    def __init__(self):
        super().__init__(higher_is_better={higher})

    def evaluate(self, y_true, y_pred):
        """The grading function takes the submission first."""
        answers = y_true.copy()
        for column in answers.columns.difference(y_pred.columns):
            numbers = pd.to_numeric(answers[column], errors="coerce")
            if numbers.notna().all():
                answers[column] = numbers
        helpers = importlib.import_module("mlebench.grade_helpers")
        try:
            return float(importlib.import_module({module!r}).grade(y_pred.copy(), answers))
        except helpers.InvalidSubmissionError as error:
            raise InvalidSubmissionError(str(error)) from error

    def validate_submission(self, submission, ground_truth):
        """The grading function refuses what it does not take."""
        return "valid"
'''


def import_competition(
    competition: Competition,
    raw: Path,
    out: Path,
    provider: SandboxProvider,
    *,
    modality: str = "unknown",
    objective: str = "unknown",
    id_column: str | None = None,
    higher_is_better: bool | None = None,
    best: float | None = None,
) -> Task:
    """Make a prepared task package.

    Args:
        competition: from :func:`harness.tasks.mlebench.competition.read_competition`.
        raw: the competition's raw data, as its ``prepare`` wants them; they are copied.
        out: the folder in which the package, named after the competition, is made.
        provider: opens the sandboxes.
        modality: mle-bench does not say it; ``objective`` likewise.
        id_column: the column of the ids; the sample's first when not given.
        higher_is_better: the direction; by the leaderboard when not given.
        best: the metric's best value; measured by grading the answers when not given.

    Returns:
        The loaded task. Nothing is left in ``out`` when it cannot be made.

    Raises:
        TaskError: says what is missing, or why it cannot be prepared or graded.
    """
    higher = competition.higher_is_better() if higher_is_better is None else higher_is_better
    if higher is None:
        raise TaskError(
            f"{competition.root / 'leaderboard.csv'}: no leaderboard, so the direction of the metric "
            f"({competition.metric}) is not known; pass it (a checkout without Git LFS has none)"
        )
    if not raw.is_dir():
        raise TaskError(f"{raw}: no such folder; give the raw data of {competition.id}")
    root = out / competition.id.lower()
    if root.exists():
        raise TaskError(f"{root}: exists already; remove it or choose another folder")
    root.mkdir(parents=True)
    try:
        shutil.copytree(raw, root / "raw")
        _write_code(competition, root, higher)
        shutil.copyfile(competition.description_path, root / "description.txt")
        known = Imported(
            set="mle-bench",
            title=competition.name,
            modality=modality,
            objective=objective,
            columns=("id", "target"),
            metric=competition.metric,
            higher_is_better=higher,
            url=f"https://www.kaggle.com/c/{competition.id}",
            source="mle-bench",
            competition=competition.id,
        )
        # The sample tells the columns of a submission, and only a declared task can be prepared.
        draft = declare(root, known, 0.0, provider)
        prepare_task(draft, provider)
        columns = ids_first(read_strings(draft.sample_path).columns, id_column, draft.sample_path)
        return declare(root, dataclasses.replace(known, columns=columns), best, provider)
    except InvalidSubmission as error:
        shutil.rmtree(root)
        raise TaskError(f"{competition.root}: its sample submission cannot be read: {error}") from error
    except BaseException:
        shutil.rmtree(root)
        raise


def _write_code(competition: Competition, root: Path, higher: bool) -> None:
    name = f"mlebench.competitions.{competition.id}"
    checkout = competition.root.parents[1]
    sources = {
        f"{name}.{path.stem}": path.read_text(encoding="utf-8")
        for path in sorted(competition.root.glob("*.py"))
        if path.stem != "__init__"
    }
    for module, path in (
        ("mlebench.competitions.utils", checkout / "competitions" / "utils.py"),
        ("mlebench.metrics", checkout / "metrics.py"),
        ("mlebench.utils", _STANDINS / "utils.py"),
        ("mlebench.grade_helpers", _STANDINS / "grade_helpers.py"),
        ("tqdm", _STANDINS / "tqdm.py"),
        ("tqdm.auto", _STANDINS / "tqdm.py"),
    ):
        if path.is_file():
            sources[module] = path.read_text(encoding="utf-8")
    prepare = _PREPARE.format(
        module=f"{name}.prepare", answers=competition.answers, sample=competition.sample
    )
    metric = _METRIC.format(module=f"{name}.grade", higher=higher)
    for file, what, ending in (("prepare.py", "preparation", prepare), ("metric.py", "grading", metric)):
        title = f"The {what} of mle-bench's {competition.id}, unmodified, with what it imports."
        (root / file).write_text(bundle(title, sources, ending), encoding="utf-8")
