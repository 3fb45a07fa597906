"""Gate 1: the files are there and have the form the framework calls for. Runs nothing of the task."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

from generator.defects.base import Finding
from generator.defects.registry import finding
from harness.errors import TaskError
from harness.tasks.package import MODALITIES, OBJECTIVES, Task, load_task, raw_hash

_BASE = "CompetitionMetrics"
_FILES = ("task.toml", "description.txt", "prepare.py", "metric.py")


def check(root: Path) -> Iterator[Finding]:
    """Findings about the package at ``root``, which need not load."""
    for name in _FILES:
        if not (root / name).is_file():
            yield finding("missing_file", f"{name} is not there", f"add {name} to the package")
    if not (root / "raw").is_dir() or not any(path.is_file() for path in (root / "raw").rglob("*")):
        yield finding("missing_file", "raw/ is not there or holds no file", "put the raw data into raw/")
    if (root / "prepare.py").is_file():
        yield from _check_prepare(root / "prepare.py")
    if (root / "metric.py").is_file():
        yield from _check_metric(root / "metric.py")
    if (root / "task.toml").is_file():
        try:
            task = load_task(root)
        except TaskError as error:
            yield finding(
                "bad_task_toml", str(error).replace(f"{root}/", ""), "correct the key that is named"
            )
        else:
            yield from _check_words(task)
            yield from _check_raw(task)
            yield from _check_network(task)
            if task.description_path.is_file():
                yield from _check_description(task.description_path)


def _parse(path: Path) -> ast.Module | Finding:
    try:
        return ast.parse(path.read_bytes(), filename=path.name)
    except (SyntaxError, ValueError) as error:
        return finding("syntax_error", f"{path.name}: {error}", f"make {path.name} valid Python")


def _check_prepare(path: Path) -> Iterator[Finding]:
    tree = _parse(path)
    if isinstance(tree, Finding):
        yield tree
        return
    fix = "define `def prepare(raw: Path, public: Path, private: Path) -> None` at the top level"
    functions = [node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name == "prepare"]
    if not functions:
        yield finding("prepare_signature", "prepare.py defines no function prepare", fix)
        return
    arguments = functions[-1].args
    positional = len(arguments.posonlyargs) + len(arguments.args)
    required = positional - len(arguments.defaults)
    needed_by_name = [
        a.arg for a, d in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True) if d is None
    ]
    takes_three = required <= 3 and (positional >= 3 or arguments.vararg is not None)
    if not takes_three or needed_by_name:
        yield finding("prepare_signature", f"prepare takes ({ast.unparse(arguments)})", fix)


def _check_metric(path: Path) -> Iterator[Finding]:
    tree = _parse(path)
    if isinstance(tree, Finding):
        yield tree
        return
    parents = {
        node.name: [_last_name(base) for base in node.bases]
        for node in ast.walk(tree)
        if isinstance(node, ast.ClassDef)
    }
    metrics = {_BASE}
    while more := {name for name, bases in parents.items() if metrics & set(bases)} - metrics:
        metrics |= more
    bases_in_use = {base for name in metrics - {_BASE} for base in parents[name]}
    leaves = sorted(metrics - {_BASE} - bases_in_use)
    if len(leaves) != 1:
        yield finding(
            "metric_class",
            f"metric.py has {len(leaves)} such classes{': ' if leaves else ''}{', '.join(leaves)}",
            f"define exactly one class deriving from {_BASE}",
        )


def _last_name(node: ast.expr) -> str:
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def _check_words(task: Task) -> Iterator[Finding]:
    for key, word, known in (
        ("modality", task.spec.modality, MODALITIES),
        ("objective", task.spec.objective, OBJECTIVES),
    ):
        if word not in known:
            yield finding("unknown_word", f"{key} is {word!r}", f"use one of {', '.join(known)}")


def _check_raw(task: Task) -> Iterator[Finding]:
    if not task.raw.is_dir():
        return
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
