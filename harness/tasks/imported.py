"""What packages made from tasks of other benchmarks declare; the best score is measured."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from harness.errors import TaskError
from harness.sandboxes.base import SandboxProvider
from harness.sandboxes.kernel import leftovers
from harness.tasks.grading import Grader
from harness.tasks.package import Task, load_task, raw_hash
from harness.tasks.submission import InvalidSubmission, read_strings


@dataclass(frozen=True)
class Imported:
    """What is known of a task of another benchmark.

    Attributes:
        set: the task set's name.
        title: of the task.
        modality: a word of task.toml, or ``unknown``; ``objective`` likewise.
        columns: of a submission, the id first.
        metric: the metric's name there.
        higher_is_better: its direction.
        url: of the data's source.
        source: the benchmark.
        competition: the task's name there.
    """

    set: str
    title: str
    modality: str
    objective: str
    columns: Sequence[str]
    metric: str
    higher_is_better: bool
    url: str
    source: str
    competition: str


def declare(root: Path, known: Imported, best: float | None, provider: SandboxProvider) -> Task:
    """Write task.toml into a package whose other files are there.

    Args:
        root: the package.
        known: what it declares.
        best: the metric's best value; measured by grading the answers when not given.
        provider: opens the grader's sandbox.

    Raises:
        TaskError: the answers cannot be graded as a submission, and ``best`` is not given.
    """
    path = root / "task.toml"
    path.write_text(_toml(root, known, 0.0 if best is None else best), encoding="utf-8")
    if best is None:
        measured = _score_of_answers(load_task(root), known.columns, provider)
        path.write_text(_toml(root, known, measured), encoding="utf-8")
    return load_task(root)


def ids_first(columns: Iterable[str], id_column: str | None, path: Path) -> list[str]:
    """The columns of a sample submission with that of the ids before the others.

    Args:
        columns: as in the sample.
        id_column: the first one when not given.
        path: of the sample, for the message.

    Raises:
        TaskError: there is no such column, or another column is no target, since test.csv shows it.
    """
    names = [str(column) for column in columns]
    first = names[0] if id_column is None else id_column
    if first not in names:
        raise TaskError(f"{path}: no column {first!r} for the ids; columns are {', '.join(names[:10])}")
    targets = [name for name in names if name != first]
    given = _given(path.with_name("test.csv"), targets)
    if given:
        raise TaskError(
            f"{path}: column {given[0]!r} also stands in test.csv, so it is no target; a task whose "
            "submissions repeat given columns cannot be imported"
        )
    return [first, *targets]


def _given(test: Path, columns: Sequence[str]) -> list[str]:
    """Those of the columns that the test table shows, filled in."""
    try:
        table = read_strings(test)
    except InvalidSubmission:
        return []
    return [name for name in columns if name in table.columns and (table[name].str.strip() != "").any()]


def _toml(root: Path, known: Imported, best: float) -> str:
    """JSON strings and lists are TOML, too."""

    def quoted(value: object) -> str:
        return json.dumps(value, ensure_ascii=False)

    return f"""\
schema_version = 1
id = {quoted(root.name)}
title = {quoted(known.title)}
set = {quoted(known.set)}
modality = {quoted(known.modality)}
objective = {quoted(known.objective)}
id_column = {quoted(known.columns[0])}
target_columns = {quoted(list(known.columns[1:]))}
difficulty = "medium"
[source]
name = {quoted(known.competition)}
licence = "rules of the competition"
url = {quoted(known.url)}
sha256 = {quoted(raw_hash(root / "raw"))}
[metric]
name = {quoted(known.metric)}
higher_is_better = {quoted(known.higher_is_better)}
best = {best!r}
[split]
kind = "given"
[provenance]
imported_from = {quoted(known.source)}
competition = {quoted(known.competition)}
"""


def _score_of_answers(task: Task, columns: Sequence[str], provider: SandboxProvider) -> float:
    """The score of the answers themselves, handed in as a submission."""
    with (
        tempfile.TemporaryDirectory(prefix=leftovers.prefix("imported")) as name,
        Grader(task, provider) as grader,
    ):
        answers = read_strings(task.answer_path)
        missing = [column for column in columns if column not in answers.columns]
        said = f"no column {missing[0]!r}" if missing else ""
        if not missing:
            path = Path(name) / "submission.csv"
            answers[list(columns)].to_csv(path, index=False)
            result = grader.grade(path)
            if result.raw_score is not None:
                return result.raw_score
            said = result.message
    raise TaskError(f"{task.answer_path}: the answers cannot be graded as a submission ({said}); pass best")
