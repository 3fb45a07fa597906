"""A task package on disk: ``task.toml`` and the files beside it.

<task-id>/
  task.toml description.txt prepare.py metric.py
  raw/       never altered by prepare
  public/    train data, test data without targets, sample_submission.csv, description.txt
  private/   test_answer.csv; optionally public_leaderboard.csv and private_leaderboard.csv
"""

from __future__ import annotations

import hashlib
import logging
import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator

from harness.errors import InputError, TaskError
from harness.sandboxes.network.hosts import check_hosts

log = logging.getLogger(__name__)

MODALITIES = ("tabular", "text", "image", "audio", "time series", "video", "logs", "mixed")
OBJECTIVES = (
    "classification", "regression", "multi-label classification", "ranking", "forecasting",
    "anomaly detection", "structured prediction", "generation",
)  # fmt: skip


class _Table(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


_Words = Annotated[tuple[str, ...], Field(strict=False)]  # TOML has lists only
_Number = Annotated[float, Field(allow_inf_nan=False)]


class Source(_Table):
    """Where the raw data come from. ``sha256`` follows :func:`raw_hash`."""

    name: str
    licence: str
    sha256: str
    url: str | None = None


class Metric(_Table):
    """The declared metric. Direction is always declared, never inferred."""

    name: str
    higher_is_better: bool
    best: _Number
    worst: _Number | None = None


class Split(_Table):
    """How prepare.py separates train from test."""

    kind: Literal["random", "stratified", "group", "time", "given"]
    seed: int | None = None
    group_column: str | None = None
    time_column: str | None = None

    @model_validator(mode="after")
    def _columns_named(self) -> Split:
        if self.kind == "group" and not self.group_column:
            raise ValueError("group_column is required with kind = 'group'")
        if self.kind == "time" and not self.time_column:
            raise ValueError("time_column is required with kind = 'time'")
        return self


class SandboxNeeds(_Table):
    """What participants need of their sandbox beside the usual.

    ``allow_hosts`` follows :func:`harness.sandboxes.network.hosts.check_hosts`; empty means no network. It
    never holds for prepare.py and metric.py.
    """

    allow_hosts: _Words = ()

    @field_validator("allow_hosts")
    @classmethod
    def _hosts_readable(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        try:
            return check_hosts(value)
        except InputError as error:
            raise ValueError(str(error)) from error


class TaskSpec(_Table):
    """The contents of ``task.toml``."""

    schema_version: Literal[1]
    id: str = Field(pattern=r"^[a-z0-9][a-z0-9._-]*$")
    title: str = Field(min_length=1)
    set: str = Field(min_length=1)
    modality: str
    objective: str
    id_column: str = Field(min_length=1)
    target_columns: _Words = Field(min_length=1)
    difficulty: Literal["easy", "medium", "hard"]
    tags: _Words = ()
    source: Source
    metric: Metric
    split: Split
    sandbox: SandboxNeeds = SandboxNeeds()
    provenance: dict[str, Any] | None = None

    @model_validator(mode="after")
    def _columns_distinct(self) -> TaskSpec:
        columns = (self.id_column, *self.target_columns)
        if len(set(columns)) != len(columns):
            raise ValueError("id_column and target_columns must all differ")
        return self


@dataclass(frozen=True)
class Task:
    """A loaded task package. All paths are properties, so that no other place spells them."""

    root: Path
    spec: TaskSpec

    @property
    def id(self) -> str:
        """The task's id, which is its folder's name."""
        return self.spec.id

    @property
    def description_path(self) -> Path:
        """What the participant reads."""
        return self.root / "description.txt"

    @property
    def prepare_path(self) -> Path:
        """The module with ``prepare(raw, public, private)``."""
        return self.root / "prepare.py"

    @property
    def metric_path(self) -> Path:
        """The module with the metric class."""
        return self.root / "metric.py"

    @property
    def raw(self) -> Path:
        """The raw data."""
        return self.root / "raw"

    @property
    def public(self) -> Path:
        """What an agent may see."""
        return self.root / "public"

    @property
    def private(self) -> Path:
        """What an agent must never see."""
        return self.root / "private"

    @property
    def sample_path(self) -> Path:
        """The sample submission."""
        return self.public / "sample_submission.csv"

    @property
    def answer_path(self) -> Path:
        """The answers of the test rows."""
        return self.private / "test_answer.csv"

    @property
    def is_prepared(self) -> bool:
        """Whether the data an agent and the grader need are there."""
        return self.sample_path.is_file() and self.answer_path.is_file()

    def require_prepared(self) -> None:
        """Raise :class:`TaskError` with the remedy when ``public/`` or ``private/`` is missing."""
        if not self.is_prepared:
            missing = self.sample_path if not self.sample_path.is_file() else self.answer_path
            raise TaskError(f"{missing}: not found; run `mlesmith task prepare {self.root}` first")


def load_task(root: Path) -> Task:
    """Read and check ``task.toml``.

    Unknown words for modality and objective are logged as warnings; unknown keys, missing required keys
    and wrong types are errors.

    Raises:
        TaskError: names the file, the key and what is wrong.
    """
    root = root.resolve()
    path = root / "task.toml"
    if not root.is_dir():
        raise TaskError(f"{root}: no such task folder")
    if not path.is_file():
        raise TaskError(f"{path}: not found; a task package needs a task.toml")
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise TaskError(f"{path}: not valid TOML: {error}") from error
    try:
        spec = TaskSpec.model_validate(data)
    except ValidationError as error:
        raise TaskError(f"{path}: {describe_validation(error)}") from error
    if spec.id != root.name:
        raise TaskError(f"{path}: id is {spec.id!r} but the folder is named {root.name!r}; make them equal")
    for key, word, known in (
        ("modality", spec.modality, MODALITIES),
        ("objective", spec.objective, OBJECTIVES),
    ):
        if word not in known:
            log.warning("%s: %s %r is not one of %s", path, key, word, ", ".join(known))
    return Task(root=root, spec=spec)


def find_tasks(folders: Iterable[Path]) -> list[Path]:
    """The task folders among ``folders``: each is one, or holds some.

    Raises:
        TaskError: a folder does not exist, or neither is a task nor holds one.
    """
    found: list[Path] = []
    for folder in folders:
        if not folder.is_dir():
            raise TaskError(f"{folder}: no such folder")
        inner = sorted(path.parent for path in folder.glob("*/task.toml"))
        if (folder / "task.toml").is_file():
            inner = [folder]
        if not inner:
            raise TaskError(f"{folder}: neither a task folder (no task.toml) nor a folder of task folders")
        found.extend(inner)
    return found


_PLAIN = {
    "extra_forbidden": "unknown key",
    "missing": "required key is missing",
    "too_short": "it is empty",
    "tuple_type": "write a list",
    "model_type": "write a table",
    "dict_type": "write a table",
    "int_parsing": "write a whole number",
    "int_type": "write a whole number",
    "int_from_float": "write a whole number",
    "float_parsing": "write a number",
    "float_type": "write a number",
    "string_type": "write a text in quotes",
    "bool_parsing": "write true or false",
    "bool_type": "write true or false",
}
"""What pydantic says in words of Python, by its kind of error."""


def describe_validation(error: ValidationError) -> str:
    """One line for a pydantic error: every offending key with what is wrong about it."""
    parts = []
    for item in error.errors():
        if item["type"] == "too_short" and item["input"]:
            continue  # its items are what is wrong, and are named by themselves
        key = ".".join(str(part) for part in item["loc"]) or "document"
        message = _PLAIN.get(item["type"], item["msg"].removeprefix("Value error, "))
        parts.append(f"{key}: {message}")
    return "; ".join(parts)


def file_hash(path: Path) -> str:
    """SHA-256 of a file's bytes, in hex."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def folder_hash(folder: Path) -> str:
    r"""SHA-256 over the lines ``<relative path>\0<sha256>\n`` of all files, sorted by path."""
    digest = hashlib.sha256()
    files = sorted((p.relative_to(folder).as_posix(), p) for p in folder.rglob("*") if p.is_file())
    for name, path in files:
        digest.update(f"{name}\0{file_hash(path)}\n".encode())
    return digest.hexdigest()


def raw_hash(raw: Path) -> str:
    """The hash that ``source.sha256`` declares: of the one file in ``raw/``, else of the whole folder."""
    files = [path for path in raw.rglob("*") if path.is_file()]
    return file_hash(files[0]) if len(files) == 1 else folder_hash(raw)


def task_hash(task: Task) -> str:
    """Identity of a prepared task: its definition, what agents see and the answers they are graded by."""
    digest = hashlib.sha256()
    for path in (task.root / "task.toml", task.description_path, task.prepare_path, task.metric_path):
        digest.update(f"{path.name}\0{file_hash(path) if path.is_file() else '-'}\n".encode())
    for folder in (task.public, task.private):
        digest.update(f"{folder.name}\0{folder_hash(folder) if folder.is_dir() else '-'}\n".encode())
    return digest.hexdigest()
