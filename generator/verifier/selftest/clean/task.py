"""A clean task: what it is built from, and how its package is written."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

import pandas as pd

from harness.tasks.package import raw_hash
from harness.tasksets.catalogue import reference_task

Alter = Callable[[pd.DataFrame], pd.DataFrame]


class Answers(StrEnum):
    """What the answers of a task hold."""

    LABEL = "label"  #: one of a few classes
    FLAG = "flag"  #: 0 or 1, and submissions hold a probability or a score
    NUMBER = "number"
    LABELS = "labels"  #: a list of labels in a cell


@dataclass(frozen=True)
class Package:
    """The files of a package as its author wrote them.

    Attributes:
        toml: task.toml without ``source.sha256``, for which it has ``{sha256}``.
        prepare, metric, description: the text of the other files.
        table: the raw table, one row for each item.
        write: puts the raw table (and media) into ``raw/``.
    """

    toml: str
    prepare: str
    metric: str
    description: str
    table: Callable[[], pd.DataFrame]
    write: Callable[[pd.DataFrame, Path], None]


@dataclass(frozen=True)
class CleanTask:
    """A task without a defect, and what an injection needs to know of its files.

    Attributes:
        name: the task's id.
        modality: as task.toml has it.
        data: where the data come from, for the report.
        answers: what the answers hold.
        metric: the metric's name, as task.toml has it.
        higher: higher scores are better.
        package: the files; ``None`` for a reference task, which is copied.
        train, test: the tables under ``public/``; ``None`` where folders take their place.
        media: the folder under ``public/`` of the test items' files.
        media_column: the column of the tables that names an item's file.
        text: a column of free text.
        series: the rows are moments of one time series.
        free_ids: ids mean nothing, so any other would do.
        features: columns of the tables that a leak could hide among.
        raw_target: the target's column in the raw table.
        shipped: the package comes with ``public/`` and ``private/``.
        costly: it takes long, and is left out unless everything is asked for.
    """

    name: str
    modality: str
    data: str
    answers: Answers
    metric: str
    higher: bool
    package: Package | None = None
    train: str | None = "train.csv"
    test: str | None = "test.csv"
    media: str | None = None
    media_column: str | None = None
    text: str | None = None
    series: bool = False
    free_ids: bool = True
    features: bool = True
    raw_target: str | None = None
    shipped: bool = False
    costly: bool = False

    @property
    def tables(self) -> bool:
        """Whether training and test data are tables."""
        return self.train is not None and self.test is not None

    def write(self, root: Path, alter: Alter | None = None) -> None:
        """Write the package at ``root``, not prepared; ``alter`` changes the raw table first.

        Raises:
            ValueError: ``alter`` was given for a reference task.
        """
        if self.package is None:
            if alter is not None:
                raise ValueError(f"{self.name}: the raw data of a reference task are not altered")
            shutil.copytree(
                reference_task(self.name), root, ignore=shutil.ignore_patterns("public", "private", "*.json")
            )
            return
        raw = root / "raw"
        raw.mkdir(parents=True)
        table = self.package.table()
        self.package.write(table if alter is None else alter(table), raw)
        toml = self.package.toml.replace("{sha256}", raw_hash(raw))
        (root / "task.toml").write_text(toml, encoding="utf-8")
        (root / "prepare.py").write_text(self.package.prepare, encoding="utf-8")
        (root / "metric.py").write_text(self.package.metric, encoding="utf-8")
        (root / "description.txt").write_text(self.package.description, encoding="utf-8")


def toml(
    name: str,
    title: str,
    modality: str,
    objective: str,
    columns: tuple[str, str],
    source: tuple[str, str],
    metric: str,
    split: str,
) -> str:
    """The text of a task.toml.

    Args:
        name: the task's id.
        title: one line.
        modality: a known word.
        objective: a known word.
        columns: the id column and the target column.
        source: name and licence of the raw data.
        metric: the lines of the table ``[metric]``.
        split: the lines of the table ``[split]``.
    """
    return (
        f'schema_version = 1\nid = "{name}"\ntitle = "{title}"\nset = "reference"\n'
        f'modality = "{modality}"\nobjective = "{objective}"\n'
        f'id_column = "{columns[0]}"\ntarget_columns = ["{columns[1]}"]\ndifficulty = "medium"\n'
        f'[source]\nname = "{source[0]}"\nlicence = "{source[1]}"\nsha256 = "{{sha256}}"\n'
        f"[metric]\n{metric}\n[split]\n{split}\n"
    )
