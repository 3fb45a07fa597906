"""The assertions between Designer and Refactor: the draft is whole, runs, and can be scored."""

from __future__ import annotations

import math
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pandas as pd

from generator.defects.base import Finding, has_errors
from generator.defects.registry import finding
from generator.verifier.public.tables import public_tables
from generator.verifier.structure import gate as structure
from harness.errors import TaskError
from harness.sandboxes.base import SandboxProvider
from harness.sandboxes.kernel import leftovers
from harness.tasks.grading import Grader, GradeResult
from harness.tasks.package import Task, load_task
from harness.tasks.preparing import Preparation, run_prepare
from harness.tasks.submission import AnswerKey, Reason, read_answer_key, read_strings

#: A prepare.py that takes longer is not worth a second look before it is quicker.
_SECONDS = 900.0
#: Answers that differ from the declared best by less are as good: metrics are sums of floats.
_CLOSE = 1e-6
#: Share of the test rows whose target a public table tells, from which on it tells the answers.
_TOLD = 0.5
_ENDS = {
    "ran longer": "prepare_timeout",
    "did not write": "missing_output",
    "a link or a special file": "linked_output",
}


def check(root: Path, provider: SandboxProvider) -> Iterator[Finding]:
    """What keeps a package from being worth more work; nothing in ``root`` is changed."""
    found = [each for each in structure.check(root) if has_errors([each])]
    yield from found
    if found:
        return
    with tempfile.TemporaryDirectory(prefix=leftovers.prefix("draft")) as folder:
        place = Path(folder) / root.name
        place.mkdir()
        task = load_task(root)
        made = run_prepare(task, place, provider, seconds=_SECONDS)
        if not made.ok:
            yield failed_preparation(made)
            return
        for path in (task.metric_path, task.prepare_path, root / "task.toml"):
            shutil.copyfile(path, place / path.name)
        yield from _check_made(Task(place, task.spec), provider)


def failed_preparation(made: Preparation) -> Finding:
    """The finding for a run of prepare.py that made nothing of use."""
    code = next((code for words, code in _ENDS.items() if words in made.message), "prepare_failed")
    tail = " | ".join(made.output.strip().splitlines()[-6:])[-800:]
    evidence = f"{made.message} ({tail})" if code == "prepare_failed" else made.message
    return finding(code, evidence, "make prepare(raw, public, private) run alone, offline, in empty folders")


def _check_made(task: Task, provider: SandboxProvider) -> Iterator[Finding]:
    columns = {task.spec.id_column, *task.spec.target_columns}
    for path in (task.sample_path, task.answer_path):
        try:
            have = set(read_strings(path).columns)
        except TaskError as error:
            yield finding(
                "unreadable_table", str(error).replace(f"{task.root}/", ""), "write a plain CSV file"
            )
            return
        if columns - have:
            yield finding(
                "columns_differ",
                f"{path.name} lacks {', '.join(sorted(columns - have))}, and has "
                f"{', '.join(sorted(have))[:300]}",
                "let it hold the id column and the target columns that were handed in",
            )
            return
    ids = [read_strings(path)[task.spec.id_column] for path in (task.sample_path, task.answer_path)]
    if set(ids[0]) != set(ids[1]):
        yield finding(
            "ids_differ",
            f"{len(set(ids[0]) - set(ids[1]))} ids only in the sample, {len(set(ids[1]) - set(ids[0]))} only "
            "in the answers",
            "write one row for each test row to both",
        )
        return
    try:
        key = read_answer_key(task)
    except TaskError as error:
        yield finding(
            "unreadable_table", str(error).replace(f"{task.root}/", ""), "make the data fit task.toml"
        )
        return
    yield from _check_public(task, key)
    yield from _check_metric(task, provider)


def _check_public(task: Task, key: AnswerKey) -> Iterator[Finding]:
    """No public table may tell the targets of the test rows."""
    answers = key.answers.set_index(task.spec.id_column)
    for path, table in public_tables(task.public).items():
        if path == task.sample_path or task.spec.id_column not in table.columns:
            continue
        rows = table[table[task.spec.id_column].isin(answers.index)].set_index(task.spec.id_column)
        for name in task.spec.target_columns:
            if name not in rows.columns or not len(rows):
                continue
            same = float((rows[name] == answers[name].reindex(rows.index)).mean())
            if same >= _TOLD:
                where = path.relative_to(task.public).as_posix()
                code = "target_in_test" if "test" in path.stem.lower() else "answers_public"
                yield finding(
                    code,
                    f"public/{where} tells {name} of {len(rows)} test rows ({same:.0%} as in the answers)",
                    f"write the test rows without {name}",
                )


def _check_metric(task: Task, provider: SandboxProvider) -> Iterator[Finding]:
    """The metric scores the answers as the declared best, and the sample with a number."""
    with Grader(task, provider) as grader:
        sample = grader.grade(task.sample_path)
        if not sample.valid:
            yield _unscored(sample, "the sample submission")
            return
        perfect = grader.grade(task.answer_path)
        if not perfect.valid or perfect.raw_score is None:
            yield _unscored(perfect, "the answers themselves")
            return
        declared = task.spec.metric
        if grader.higher_is_better is not None and grader.higher_is_better != declared.higher_is_better:
            yield finding(
                "direction_mismatch",
                f"higher_is_better was handed in as {str(declared.higher_is_better).lower()}, metric.py says "
                f"{str(grader.higher_is_better).lower()}",
                "make them agree with the metric",
            )
        if not math.isclose(perfect.raw_score, declared.best, rel_tol=_CLOSE, abs_tol=_CLOSE):
            yield finding(
                "oracle_not_best",
                f"the answers score {perfect.raw_score:g}, the best was handed in as {declared.best:g}",
                "correct the metric, or the declared best",
            )


def _unscored(result: GradeResult, what: str) -> Finding:
    codes = {
        Reason.METRIC_FAILED: "metric_failed",
        Reason.METRIC_NOT_FINITE: "metric_not_finite",
        Reason.METRIC_TIMEOUT: "metric_timeout",
        Reason.METRIC_REJECTED: "valid_rejected",
    }
    code = codes.get(result.reason, "sample_invalid")
    return finding(code, f"{what}: {result.message[:500]}", "let the metric score every valid submission")


def public_facts(public: Path) -> list[str]:
    """What lies under ``public/``, a line each: what a description has to agree with."""
    tables = public_tables(public)
    lines = []
    files = sorted(path for path in public.rglob("*") if path.is_file())
    for path in files[:60]:
        told = f"{path.relative_to(public).as_posix()}: {path.stat().st_size:,} bytes"
        if path in tables:
            told += f", {len(tables[path])} rows, columns {_columns(tables[path])}"
        lines.append(told)
    if len(files) > 60:
        lines.append(f"and {len(files) - 60:,} more files")
    return lines


def _columns(table: pd.DataFrame) -> str:
    names = [str(name) for name in table.columns]
    more = f" and {len(names) - 60} more" if len(names) > 60 else ""
    return ", ".join(names[:60]) + more
