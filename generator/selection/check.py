"""Whether the tasks of a frozen set are still what they were."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

from generator.selection.parts import hash_parts, key_of
from generator.selection.taskset import ChosenTask, TaskSet, is_task_set, names, read_task_set
from harness.errors import InputError, TaskError
from harness.tasks.package import load_task


class State(StrEnum):
    """Of one task of the set."""

    SAME = "same"
    CHANGED = "changed"
    MISSING = "missing"


@dataclass(frozen=True)
class Checked:
    """What became of one task: ``what`` names the files that differ, or what is missing."""

    task: str
    path: Path
    state: State
    what: str = ""


@dataclass(frozen=True)
class Check:
    """The result of :func:`check`."""

    task_set: TaskSet
    tasks: tuple[Checked, ...]

    @property
    def ok(self) -> bool:
        """Whether all tasks are the same."""
        return all(each.state is State.SAME for each in self.tasks)

    def to_document(self) -> dict[str, Any]:
        """The document that ``mlesmith taskset check --json`` prints."""
        return {
            "schema_version": 1,
            "name": self.task_set.name,
            "hash": self.task_set.hash,
            "ok": self.ok,
            "tasks": [
                {"task": each.task, "path": str(each.path), "state": str(each.state), "what": each.what}
                for each in self.tasks
            ],
        }


def check(path: Path) -> Check:
    """Compare the packages that a file names with the hashes in it.

    Raises:
        InputError: the file cannot be read, or is not what was written.
    """
    task_set = read_task_set(path)
    return Check(task_set, tuple(_check(task, path.parent / task.path) for task in task_set.tasks))


def unfrozen(items: Sequence[Path]) -> list[Path]:
    """The items with the task folders of a frozen set in place of its file; other items stay.

    Raises:
        InputError: tasks of a set are missing, or are not what they were.
    """
    found: list[Path] = []
    for item in items:
        if not (item.suffix == ".toml" and is_task_set(item)):
            found.append(item)
            continue
        checked = check(item)
        if not checked.ok:
            others = [f"{each.task} ({each.what})" for each in checked.tasks if each.state is not State.SAME]
            raise InputError(
                f"{item}: {len(others)} of its {checked.task_set.size} tasks are not what was frozen: "
                f"{names(others)}; restore them, or build the set anew"
            )
        found += [each.path for each in checked.tasks]
    return found


def _check(task: ChosenTask, root: Path) -> Checked:
    def is_now(state: State, what: str = "") -> Checked:
        return Checked(task.task, root, state, what)

    if not root.is_dir():
        return is_now(State.MISSING, f"{root} is no folder")
    try:
        found = load_task(root)
    except TaskError as error:
        return is_now(State.CHANGED, str(error))
    if key_of(found) != task.task:
        return is_now(State.CHANGED, f"{root} is {key_of(found)}")
    parts = hash_parts(found)
    if not found.is_prepared:
        return is_now(State.MISSING, f"not prepared; run `mlesmith task prepare {root}`")
    differ = [name for name, digest in parts.items() if digest != task.files.get(name)]
    return is_now(State.CHANGED, ", ".join(differ)) if differ else is_now(State.SAME)
