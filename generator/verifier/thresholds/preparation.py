"""Limits of the preparation gate."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class PreparationLimits:
    """Limits of the preparation gate.

    Attributes:
        seconds: limit of one run of prepare.py, that of an ordinary preparation.
    """

    seconds: float = 1_800.0
