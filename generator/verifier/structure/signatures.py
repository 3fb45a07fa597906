"""Whether prepare.py and metric.py define what the framework calls."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from generator.defects.base import Finding
from generator.defects.registry import finding
from generator.verifier.structure.syntax import Source, last_name

_BASE = "CompetitionMetrics"
_FIX = "define `def prepare(raw: Path, public: Path, private: Path) -> None` at the top level"


def check_prepare(source: Source) -> Iterator[Finding]:
    """Whether there is a function ``prepare`` that takes three folders."""
    functions = [
        node for node in source.tree.body if isinstance(node, ast.FunctionDef) and node.name == "prepare"
    ]
    if not functions:
        imported = any(name.rpartition(".")[2] == "prepare" for name, _ in source.modules())
        assigned = any(
            isinstance(node, ast.Assign)
            and any(isinstance(target, ast.Name) and target.id == "prepare" for target in node.targets)
            for node in source.tree.body
        )
        if not imported and not assigned:
            yield finding("prepare_signature", "prepare.py defines no function prepare", _FIX)
        return
    arguments = functions[-1].args
    positional = len(arguments.posonlyargs) + len(arguments.args)
    required = positional - len(arguments.defaults)
    needed_by_name = [
        a.arg for a, d in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True) if d is None
    ]
    takes_three = required <= 3 and (positional >= 3 or arguments.vararg is not None)
    if not takes_three or needed_by_name:
        yield finding("prepare_signature", f"prepare takes ({ast.unparse(arguments)})", _FIX)


def check_metric(source: Source) -> Iterator[Finding]:
    """Whether there is exactly one class that derives from the base class, directly or not."""
    parents = {
        node.name: [last_name(base) for base in node.bases]
        for node in ast.walk(source.tree)
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
