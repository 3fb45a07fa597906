"""What is known of a task before it is chosen or not."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from generator.selection.families import family
from generator.selection.parts import hash_parts, key_of
from generator.verifier.structure.repeats import repeated
from harness.errors import InputError
from harness.tasks.package import Task, load_task


@dataclass(frozen=True)
class Facts:
    """One task of the pool.

    Attributes:
        key: ``<set>/<id>``, by which results name it.
        root: the package's folder.
        parts: SHA-256 of what defines it, see :func:`generator.selection.parts.hash_parts`.
        modality, objective, metric, difficulty: as task.toml says.
        family: of the metric.
        dataset: the source; tasks that share its name or the hash of the raw data share this name.
        twin: tasks with equal ones ask for the same targets of the same raw data.
        barred: why it cannot be chosen; empty when it can.
        ladder: the verification's baselines, see :mod:`generator.verifier.exhibits`.
    """

    key: str
    root: Path
    parts: Mapping[str, str]
    modality: str
    objective: str
    metric: str
    family: str
    difficulty: str
    dataset: str
    twin: str
    barred: str = ""
    ladder: tuple[Mapping[str, Any], ...] = ()

    @property
    def kind(self) -> str:
        """What is asked of what: modality and objective."""
        return f"{self.modality} {self.objective}"

    def without(self, reason: str) -> Facts:
        """The same task, barred for this reason unless it was before."""
        return self if self.barred else replace(self, barred=reason)


def read_facts(roots: Iterable[Path]) -> list[Facts]:
    """The facts that the packages themselves tell, sorted by key.

    A package that is not prepared, and one that repeats another, is barred.

    Raises:
        TaskError: a task.toml that cannot be used.
        InputError: two packages of one set and id.
    """
    tasks = [load_task(root) for root in dict.fromkeys(root.resolve() for root in roots)]
    tasks.sort(key=key_of)
    for one, other in itertools.pairwise(tasks):
        if key_of(one) == key_of(other):
            raise InputError(
                f"{one.root} and {other.root}: both are {key_of(one)}; rename one, or name only one of them"
            )
    again = repeated([task.root for task in tasks])
    facts = []
    for task, dataset in zip(tasks, _datasets(tasks), strict=True):
        told = _read(task, dataset)
        if not task.is_prepared:
            told = told.without(f"not prepared; run `mlesmith task prepare {task.root}`")
        if task.root in again:
            told = told.without(f"repeats another task: {again[task.root].evidence}")
        facts.append(told)
    return facts


def _read(task: Task, dataset: str) -> Facts:
    spec = task.spec
    return Facts(
        key=key_of(task),
        root=task.root,
        parts=hash_parts(task),
        modality=spec.modality,
        objective=spec.objective,
        metric=spec.metric.name,
        family=family(spec.metric.name),
        difficulty=spec.difficulty,
        dataset=dataset,
        twin="\0".join((spec.source.sha256, *sorted(spec.target_columns))),
    )


def _datasets(tasks: Sequence[Task]) -> list[str]:
    """One name for all tasks whose sources have a name or a hash in common, through others too."""
    sources = [{f"name {t.spec.source.name.casefold()}", f"hash {t.spec.source.sha256}"} for t in tasks]
    groups: list[set[str]] = []
    for source in sources:
        joined = source.union(*(group for group in groups if group & source))
        groups = [group for group in groups if not group & source] + [joined]
    first: dict[int, str] = {}
    names = []
    for task, source in zip(tasks, sources, strict=True):
        group = next(i for i, group in enumerate(groups) if group & source)
        names.append(first.setdefault(group, task.spec.source.name))
    return names
