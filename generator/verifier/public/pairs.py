"""Media files of train or test beside the values of a target: the sample that is opened."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np
import pandas as pd

from generator.verifier.data.labels import visible
from generator.verifier.public.inventory import PublicFile
from generator.verifier.public.kinds import FileKind
from generator.verifier.public.media import Link, test_rows
from generator.verifier.sampling import sampled_rows

if TYPE_CHECKING:
    from generator.verifier.case import Case

Side = Literal["train", "test"]


@dataclass(frozen=True)
class Pairs:
    """Files with the rows they belong to.

    Attributes:
        files: one for each row, the first where a row has a folder of them.
        truth: the target columns of these rows, the same order; ``""`` where a row has no label.
        of: how many rows with such a file there are in all.
    """

    files: Sequence[PublicFile]
    truth: pd.DataFrame
    of: int

    def sampled(self, most: int, most_bytes: int | None = None) -> Pairs:
        """At most that many of them, always the same ones, and no more bytes than may be read."""
        rows = sampled_rows(len(self.files), most)
        if most_bytes is not None:
            total = sum(self.files[row].size for row in rows)
            if total > most_bytes:
                rows = rows[sampled_rows(len(rows), max(1, int(len(rows) * most_bytes / total)))]
        return Pairs([self.files[row] for row in rows], self.truth.iloc[rows].reset_index(drop=True), self.of)


def pairs_of(case: Case, side: Side, kinds: frozenset[FileKind]) -> Pairs | None:
    """The files of these kinds that belong to the rows of a side, or ``None`` when there are none."""
    media = case.media
    if media is None:
        return None
    table = case.train if side == "train" else test_rows(case)
    if table is None:
        return _without_table(case, kinds)
    truth = _truth(case, table, side)
    for link in media.train if side == "train" else media.test:
        rows, files = [], []
        for row, path in enumerate(link.paths):
            first = (
                next((file for file in media.files_of(path) if file.kind in kinds), None) if path else None
            )
            if first is not None:
                rows.append(row)
                files.append(first)
        if files:
            return Pairs(files, truth.iloc[np.array(rows)].reset_index(drop=True), len(files))
    return None


def _without_table(case: Case, kinds: frozenset[FileKind]) -> Pairs | None:
    """Training files that no table names and whose labels are not known: by the names of their folders."""
    if case.media is None:
        return None
    asked = {path for link in case.media.test for path in link.paths}
    files = [
        file
        for name, file in case.media.files.items()
        if file.kind in kinds and "train" in name.rpartition("/")[0].lower() and name not in asked
    ]
    truth = pd.DataFrame("", index=range(len(files)), columns=case.targets, dtype=str)
    return Pairs(files, truth, len(files)) if files else None


def _truth(case: Case, table: pd.DataFrame, side: Side) -> pd.DataFrame:
    if side == "train":
        return training_labels(case, table)
    answers = case.answers.drop_duplicates(case.id_column).set_index(case.id_column)[case.targets]
    return answers.reindex(table[case.id_column]).fillna("").reset_index(drop=True)


def training_labels(case: Case, table: pd.DataFrame) -> pd.DataFrame:
    """The target columns of training rows, the same index; ``""`` where there is no label.

    Where a target is no column (the answers have one column a class, say) the column that holds the labels is
    taken for it.
    """
    found = table.reindex(columns=case.targets, fill_value="")
    for target in case.targets:
        seen = None if target in table.columns else visible(case, target)
        if seen is None or seen.column not in table.columns:
            continue
        cells = table[seen.column]
        if bool((cells == target).any()):
            cells = (cells == target).astype(int).astype(str)
        found[target] = cells
    return found


def media_links(case: Case, side: Side) -> tuple[Link, ...]:
    """The links of a side whose files are images or sounds."""
    if case.media is None:
        return ()
    return case.media.train if side == "train" else case.media.test
