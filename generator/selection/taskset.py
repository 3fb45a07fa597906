"""A frozen set of tasks, and the file that holds it.

schema_version = 1
name size hash             the hash is that of the set, see :func:`set_hash`
[method]                   how it was chosen, in words
[options]                  ... and with which options
[quality.<measure>]        the set beside random ones, see :mod:`generator.selection.comparison`
[[tasks]]                  the chosen ones, with their hashes, what is known of them, and the reason
[[left_out]]               the others, with the reason
"""

from __future__ import annotations

import hashlib
import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from generator.selection.parts import joined_hash
from generator.selection.toml import to_toml
from harness.errors import InputError
from harness.records import write_atomically
from harness.tasks.package import describe_validation

_Hash = Field(pattern=r"^[0-9a-f]{64}$")


class _Table(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class ChosenTask(_Table):
    """One task of the set.

    Attributes:
        task: ``<set>/<id>``.
        path: the package's folder, from the file's folder.
        hash: of the prepared task, as in a job's lock and records; see
            :func:`harness.tasks.package.task_hash`.
        files: hashes of the files and folders behind ``hash``, so that a change can be named.
        discrimination: see :mod:`generator.selection.ladder` and ``items``.
        measured: what it comes from.
    """

    task: str = Field(min_length=1)
    path: str = Field(min_length=1)
    hash: str = _Hash
    modality: str
    objective: str
    metric: str
    family: str
    difficulty: str
    dataset: str
    discrimination: float = Field(allow_inf_nan=False)
    measured: str
    reason: str
    files: dict[str, str]


class LeftOut(_Table):
    """One task that is not in the set."""

    task: str
    reason: str


class Quality(_Table):
    """A measure of the set, with its mean and central 95 % among random sets of its size."""

    chosen: float = Field(allow_inf_nan=False)
    random: float = Field(allow_inf_nan=False)
    random_low: float = Field(allow_inf_nan=False)
    random_high: float = Field(allow_inf_nan=False)


class TaskSet(_Table):
    """The contents of the file."""

    schema_version: Literal[1] = 1
    name: str = Field(min_length=1)
    size: int = Field(ge=1)
    hash: str = _Hash
    method: dict[str, str]
    options: dict[str, Any]
    quality: dict[str, Quality] = Field(default_factory=dict)
    tasks: tuple[ChosenTask, ...] = Field(min_length=1)
    left_out: tuple[LeftOut, ...] = ()

    @model_validator(mode="after")
    def _fits_itself(self) -> TaskSet:
        names = [task.task for task in self.tasks]
        if len(set(names)) < len(names):
            raise ValueError("tasks: one is listed twice")
        if len(names) != self.size:
            raise ValueError(f"size is {self.size}, but {len(names)} tasks are listed")
        if set_hash({task.task: task.hash for task in self.tasks}) != self.hash:
            raise ValueError(
                "hash: it is not that of the listed tasks; the list was edited, so build it anew"
            )
        for task in self.tasks:
            if joined_hash(task.files) != task.hash:
                raise ValueError(f"tasks: hash of {task.task} is not that of its files; build the set anew")
        return self

    def to_document(self) -> dict[str, Any]:
        """The file as plain data."""
        return self.model_dump(mode="json")


def set_hash(hashes: Mapping[str, str]) -> str:
    r"""SHA-256 over the sorted lines ``<set>/<id>\0<hash of the task>\n``: of what is asked, and of nothing
    else: neither paths, nor order, nor why."""
    lines = "".join(f"{task}\0{digest}\n" for task, digest in sorted(hashes.items()))
    return hashlib.sha256(lines.encode()).hexdigest()


def write_task_set(task_set: TaskSet, path: Path) -> None:
    """Write the file; whoever calls has asked before it replaces one."""
    document = task_set.to_document()
    quality = document.pop("quality")
    tasks, left_out = document.pop("tasks"), document.pop("left_out")
    document |= {"quality": quality, "tasks": tasks}
    if left_out:
        document["left_out"] = left_out
    write_atomically(path, to_toml(document))


def read_task_set(path: Path) -> TaskSet:
    """Read the file.

    Raises:
        InputError: names the file and the key.
    """
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(
            f"{path}: cannot be read: {error.strerror}; name a file that `mlesmith taskset build` wrote"
        ) from error
    except (UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise InputError(f"{path}: not valid TOML: {error}") from error
    version = data.get("schema_version")
    if version != 1:
        raise InputError(f"{path}: schema_version is {version!r}; this version reads 1")
    try:
        return TaskSet.model_validate(data)
    except ValidationError as error:
        raise InputError(f"{path}: {describe_validation(error)}") from error


def is_task_set(path: Path) -> bool:
    """Whether a file seems to be one of these, and not a job's, say."""
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return False
    return isinstance(data.get("tasks"), list) and {"hash", "size", "method"} <= data.keys()


def names(tasks: Iterable[str], most: int = 5) -> str:
    """Some names, and how many more there are."""
    listed = list(tasks)
    more = f" and {len(listed) - most} more" if len(listed) > most else ""
    return ", ".join(listed[:most]) + more
