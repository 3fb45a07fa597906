"""Limits of the preparation gate."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class PreparationLimits:
    """Limits of the preparation gate.

    Attributes:
        seconds: limit of one run of prepare.py, that of an ordinary preparation.
        rerun_seconds: a prepare.py that takes longer is not run again and again to learn which condition
            matters; that two runs differ is enough to reject it.
        leftover_bytes: a run on top of older output needs a copy of it; above this size it is left out.
        raw_bytes: the second run gets a writable copy of raw/ up to this size, which also shows writes whose
            errors prepare.py swallows; a larger one is given read-only again.
        table_bytes: raw and prepared tables of more bytes in all are not compared; they would fill memory.
        matching: share of a prepared column's cells that must occur in the raw column for it to count as
            kept. Below 1, for the cells that cleaning changed; a column that was transformed lies far below.
        unique: a key of kept columns identifies rows when its distinct values are at least this share of the
            raw rows. At half, chance matches are still rare beside the invented rows they would hide.
        main_share: a raw table is what the task was made from when at least this share of the prepared rows
            is found in it; otherwise (joins, aggregates, long to wide) nothing is said.
        lost: share of usable raw rows that may be in neither train nor test: cleaning drops some.
        most_lost: above this share an unbroken first part of the raw rows is a truncation, an error.
        least_rows: so few rows of any kind are never worth a finding.
        invented: share of prepared rows without counterpart above which they are an error; fewer may come of
            a cell that was corrected in every column of the key.
        fabricated: share of a column's cells, aligned with the raw row, that differ without a rule.
        fabricated_values: distinct values among them; a constant that fills gaps is one.
        foreign_words: a text shares less than this share of its words with all raw texts when it is new.
        origin_rows: fewer numbers than these in a column without a raw column cannot show that they have
            nothing to do with the raw rows.
        origin_pair: standard errors by which one fact of the raw rows must tell of such numbers. Some hundred
            facts are tried, of which the best reaches 3 by chance.
        origin_all: standard errors for all facts together, of which there is one trial.
        misread: share of cells that must hold the delimiter as often as the header does.
    """

    seconds: float = 1_800.0
    rerun_seconds: float = 60.0
    leftover_bytes: int = 1 << 30
    raw_bytes: int = 1 << 30
    table_bytes: int = 1 << 30
    matching: float = 0.98
    unique: float = 0.5
    main_share: float = 0.5
    lost: float = 0.1
    most_lost: float = 0.5
    least_rows: int = 5
    invented: float = 0.005
    fabricated: float = 0.02
    fabricated_values: int = 10
    foreign_words: float = 0.5
    origin_rows: int = 100
    origin_pair: float = 4.0
    origin_all: float = 2.5
    misread: float = 0.95
