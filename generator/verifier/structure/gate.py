"""Gate 1: the files are there and have the form the framework calls for. Runs nothing of the task."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

from generator.defects.base import Finding, Severity
from generator.defects.registry import finding
from generator.verifier.structure.environment import check_environment
from generator.verifier.structure.licence import check_licence
from generator.verifier.structure.network import check_network
from generator.verifier.structure.paths import check_paths
from generator.verifier.structure.signatures import check_metric, check_prepare
from generator.verifier.structure.syntax import Source
from generator.verifier.structure.truncation import check_truncation
from harness.errors import TaskError
from harness.tasks.package import MODALITIES, OBJECTIVES, Task, load_task, raw_hash

_FILES = ("task.toml", "description.txt", "prepare.py", "metric.py")
_PREPARED = (Path("public") / "sample_submission.csv", Path("private") / "test_answer.csv")

Check = Callable[[Source], Iterator[Finding]]
_CODE: dict[str, tuple[Check, ...]] = {
    "prepare.py": (check_prepare, check_paths, check_network, check_environment, check_truncation),
    "metric.py": (check_metric, check_paths, check_network, check_environment),
}


def check(root: Path) -> Iterator[Finding]:
    """Findings about the package at ``root``, which need not load."""
    has_raw = (root / "raw").is_dir() and any(path.is_file() for path in (root / "raw").rglob("*"))
    as_shipped = not has_raw and all((root / name).is_file() for name in _PREPARED)
    for name in _FILES:
        if not (root / name).is_file() and not (as_shipped and name == "prepare.py"):
            yield finding("missing_file", f"{name} is not there", f"add {name} to the package")
    if as_shipped:
        yield finding(
            "raw_missing",
            "raw/ is not there or holds no file; public/ and private/ are looked at as they are shipped",
            "put the raw data into raw/, so that others can make the data again",
        )
    elif not has_raw:
        yield finding("missing_file", "raw/ is not there or holds no file", "put the raw data into raw/")
    for name, checks in _CODE.items():
        if (root / name).is_file():
            found = _check_code(root / name, checks)
            # A prepare.py that cannot be run here, for want of raw data, spoils nothing.
            yield from _as_warnings(found) if as_shipped and name == "prepare.py" else found
    if (root / "task.toml").is_file():
        yield from _check_task(root, has_raw)


def _check_code(path: Path, checks: tuple[Check, ...]) -> Iterator[Finding]:
    try:
        source = Source(path)
    except (SyntaxError, ValueError) as error:
        yield finding("syntax_error", f"{path.name}: {error}", f"make {path.name} valid Python")
        return
    for each in checks:
        yield from each(source)


def _as_warnings(findings: Iterator[Finding]) -> Iterator[Finding]:
    for found in findings:
        yield replace(found, severity=Severity.WARNING) if found.severity is Severity.ERROR else found


def _check_task(root: Path, has_raw: bool) -> Iterator[Finding]:
    try:
        task = load_task(root)
    except TaskError as error:
        yield finding("bad_task_toml", str(error).replace(f"{root}/", ""), "correct the key that is named")
        return
    yield from _check_words(task)
    yield from check_licence(task)
    if has_raw:
        yield from _check_raw(task)
    yield from _check_network(task)
    if task.description_path.is_file():
        yield from _check_description(task.description_path)


def _check_words(task: Task) -> Iterator[Finding]:
    for key, word, known in (
        ("modality", task.spec.modality, MODALITIES),
        ("objective", task.spec.objective, OBJECTIVES),
    ):
        if word not in known:
            yield finding("unknown_word", f"{key} is {word!r}", f"use one of {', '.join(known)}")


def _check_raw(task: Task) -> Iterator[Finding]:
    found = raw_hash(task.raw)
    if found != task.spec.source.sha256:
        yield finding(
            "raw_hash",
            f"source.sha256 is {task.spec.source.sha256} but raw/ hashes to {found}",
            "restore the raw data, or declare the new hash",
        )


def _check_network(task: Task) -> Iterator[Finding]:
    hosts = task.spec.sandbox.allow_hosts
    if hosts:
        yield finding(
            "asks_for_network",
            f"sandbox.allow_hosts is {', '.join(hosts[:5])}"
            + (f" and {len(hosts) - 5} more" if len(hosts) > 5 else ""),
            "say in description.txt what participants need them for, or drop the key: "
            "what stands there changes from day to day, and may hold the answers",
        )


def _check_description(path: Path) -> Iterator[Finding]:
    try:
        empty = not path.read_text(encoding="utf-8").strip()
    except UnicodeDecodeError:
        yield finding("description_empty", "description.txt is not UTF-8 text", "write it in UTF-8")
        return
    if empty:
        yield finding(
            "description_empty", "description.txt is empty", "describe goal, data, metric, submission"
        )
