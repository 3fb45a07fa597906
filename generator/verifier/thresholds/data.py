"""Limits of the data gate, but for its leaks and files."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class DataLimits:
    """Limits of the data gate, but for its leaks and files.

    Attributes:
        few_rows: below this many test rows the standard error of an accuracy near 0.7 exceeds 0.08, which is
            more than most candidates differ by.
        shared_ids: share of test ids also used in the training table that is worth a word; row numbers
            that start anew in each file are common and harmless.
    """

    few_rows: int = 30
    shared_ids: float = 0.01
