"""What an author decides about a task before writing it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import pandas as pd

from benchmarks.sources import Sources


@dataclass(frozen=True)
class Material:
    """Raw data of a task.

    Attributes:
        table: one row for each case, or for each step of a series; the raw table.
        files: media by their path below raw/, named in the column ``file`` of the table.
        others: further tables for participants, by file name.
    """

    table: pd.DataFrame
    files: dict[str, bytes] = field(default_factory=dict)
    others: dict[str, pd.DataFrame] = field(default_factory=dict)


Load = Callable[[Sources], "pd.DataFrame | Material"]


@dataclass(frozen=True)
class Recipe:
    """The author's decisions.

    Attributes:
        name: the task's id.
        story: what the data are and what is asked for, in one or two sentences.
        load: reads the raw data.
        target: column of the answer in the raw table; several for multi-label tasks.
        metric: a name of :data:`benchmarks.cleantasks.metrics.METRICS`.
        shape: ``table``, ``media`` (files named in the table), ``folders`` (training files in a folder for
            each class), ``arrays`` (npz), ``steps`` (several rows for each case), ``future`` (last steps of
            series).
        ids: ``count``, ``code``, ``hash`` or ``number``; with ``own`` the raw table has the id column.
        split: ``random``, ``stratified``, ``group`` or ``time``.
        by: column of the group or the time.
        sample: ``zeros``, ``mean``, ``majority``, ``uniform`` or ``random``.
        train, test: names of the two public tables; the ending is the format: csv, tsv, jsonl.
        style: ``markdown``, ``prose`` or ``listing``: how the description is written.
        horizon: with ``future``, steps to forecast.
        notes: what columns mean.
    """

    name: str
    story: str
    load: Load
    target: str | list[str]
    metric: str
    source: str
    licence: str = "see the source"
    modality: str = "tabular"
    objective: str = "classification"
    shape: str = "table"
    id: str = "id"
    ids: str = "count"
    split: str = "random"
    by: str = ""
    sample: str = "zeros"
    train: str = "train.csv"
    test: str = "test.csv"
    style: str = "markdown"
    share: float = 0.25
    seed: int = 1
    horizon: int = 12
    notes: dict[str, str] = field(default_factory=dict)

    @property
    def targets(self) -> list[str]:
        return [self.target] if isinstance(self.target, str) else list(self.target)
