"""Gate 2: prepare.py, run twice in empty folders under different hash seeds, makes what the package ships.

What it makes now is what the later gates look at.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import zip_longest
from pathlib import Path

from generator.defects.base import Finding, Severity
from generator.defects.registry import finding
from generator.verifier.case import Case
from harness.tasks.package import Task, file_hash, raw_hash
from harness.tasks.preparing import Preparation, run_prepare
from harness.tasks.submission import InvalidSubmission, read_strings

_HASH_SEEDS = (1, 2)
_FAILURES = {
    "ran longer": "prepare_timeout",
    "did not write": "missing_output",
    "a link or a special file": "linked_output",
}
_FOLDERS = ("public", "private")
_BOARDS = frozenset({"private/public_leaderboard.csv", "private/private_leaderboard.csv"})


def check(case: Case) -> Iterator[Finding]:
    """Run prepare.py and compare; on success ``case.prepared`` points to what it made."""
    case.say("running prepare.py twice")
    with ThreadPoolExecutor(len(_HASH_SEEDS)) as pool:
        runs = list(pool.map(lambda seed: _run(case, seed), _HASH_SEEDS))
    problems = [problem for _, problem in runs if problem is not None]
    if problems:
        yield problems[0]
        return
    first, second = (task for task, _ in runs)
    difference = _difference(first.root, second.root)
    if difference:
        yield finding(
            "not_deterministic",
            f"two runs in empty folders differ: {difference}",
            "seed every random choice, and sort what comes from sets and folder listings",
        )
    shutil.copyfile(case.task.description_path, first.public / "description.txt")
    yield from _check_shipped(case.task, first)
    case.prepared = first
    yield from _check_submission_files(first)


def _run(case: Case, seed: int) -> tuple[Task, Finding | None]:
    """One run into a folder of its own; a sandbox that isolates nothing is given a copy of ``raw/``."""
    root = case.scratch / f"run-{seed}" / case.task.id
    root.mkdir(parents=True)
    for path in (case.task.prepare_path, case.task.metric_path, case.task.description_path):
        shutil.copyfile(path, root / path.name)
    task = Task(root, case.task.spec)
    if not case.provider.capabilities.isolated:
        shutil.copytree(case.task.raw, task.raw)
    source = case.task if case.provider.capabilities.isolated else task
    report = run_prepare(source, root, case.provider, seconds=case.limits.preparation.seconds, hash_seed=seed)
    if _touched_raw(report, source.raw) or (
        not case.provider.capabilities.isolated and _hash(task.raw) != _hash(case.task.raw)
    ):
        return task, finding(
            "prepare_alters_raw",
            f"raw/ is given read-only: {report.message}" if not report.ok else "raw/ differs after the run",
            "read from raw/ only; write to public/ and private/",
        )
    if report.ok:
        return task, None
    code = next((code for words, code in _FAILURES.items() if words in report.message), "prepare_failed")
    tail = " | ".join(report.output.strip().splitlines()[-3:])
    evidence = report.message if code != "prepare_failed" else f"{report.message} ({tail[-400:]})"
    return task, finding(
        code, evidence, "make prepare(raw, public, private) run alone, offline, in any folder"
    )


def _touched_raw(report: Preparation, raw: Path) -> bool:
    """Whether the run ended because raw/ is mounted read-only; errors name a path, or only a file's name."""
    last = report.output.strip().splitlines()[-1:]
    if report.ok or not last or "Read-only file system" not in last[0]:
        return False
    return "/raw" in last[0] or any(f"'{path.name}'" in last[0] for path in raw.rglob("*"))


def _hash(raw: Path) -> str:
    return raw_hash(raw) if raw.is_dir() else "gone"


def _check_shipped(shipped: Task, made: Task) -> Iterator[Finding]:
    if not any((shipped.root / name).is_dir() for name in _FOLDERS):
        yield finding(
            "not_prepared", "public/ and private/ are not there; they were made for this check", "none"
        )
        return
    difference = _difference(shipped.root, made.root, ignore=_BOARDS, names=("shipped", "made now"))
    if difference:
        yield finding(
            "stale_data",
            f"what is shipped is not what prepare.py makes: {difference}",
            f"run `mlesmith task prepare {shipped.id}` and ship the result",
        )


def _files(root: Path, ignore: frozenset[str]) -> dict[str, Path]:
    found = {
        path.relative_to(root).as_posix(): path
        for name in _FOLDERS
        for path in sorted((root / name).rglob("*"))
        if path.is_file()
    }
    return {name: path for name, path in found.items() if name not in ignore}


def _difference(
    left: Path,
    right: Path,
    ignore: frozenset[str] = frozenset(),
    names: tuple[str, str] = ("first", "second"),
) -> str:
    """The first difference between two prepared roots in words, or nothing."""
    ours, theirs = _files(left, ignore), _files(right, ignore)
    for name in sorted(ours.keys() | theirs.keys()):
        if name not in theirs or name not in ours:
            return f"{name} is only in the {names[0] if name in ours else names[1]}"
        if file_hash(ours[name]) != file_hash(theirs[name]):
            return f"{name}{_first_line(ours[name], theirs[name])}"
    return ""


def _first_line(left: Path, right: Path) -> str:
    with left.open("rb") as ours, right.open("rb") as theirs:
        for number, (one, other) in enumerate(zip_longest(ours, theirs, fillvalue=b""), start=1):
            if one != other:
                return f" from line {number}" if b"\0" not in one + other else " (binary)"
    return ""


def _check_submission_files(task: Task) -> Iterator[Finding]:
    """Sample and answers: readable, with the declared columns and the same ids."""
    frames = {}
    for path in (task.sample_path, task.answer_path):
        try:
            frames[path.name] = read_strings(path)
        except InvalidSubmission as error:
            yield finding(
                "unreadable_table", str(error), f"write {path.name} with pandas' to_csv(index=False)"
            )
            return
    declared = {task.spec.id_column, *task.spec.target_columns}
    wrong = False
    for name, frame in frames.items():
        missing, extra = declared - set(frame.columns), set(frame.columns) - declared
        if missing or extra:
            wrong = wrong or bool(missing)
            parts = [f"lacks {', '.join(sorted(missing))}"] * bool(missing)
            parts += [f"has {', '.join(sorted(extra))} besides"] * bool(extra)
            yield finding(
                "columns_differ",
                f"{name} {' and '.join(parts)}",
                "give both files exactly id_column and target_columns of task.toml",
                # Further columns of the answers are never asked of a submission.
                Severity.WARNING if not missing and name == task.answer_path.name else None,
            )
    if wrong:
        return
    sample, answers = (set(frame[task.spec.id_column]) for frame in frames.values())
    if sample != answers:
        example = sorted(sample ^ answers)[0]
        yield finding(
            "ids_differ",
            f"{len(sample - answers)} ids only in the sample, {len(answers - sample)} only in the answers, "
            f"{task.spec.id_column} {example!r} for one",
            "write both files from the same test rows",
        )
