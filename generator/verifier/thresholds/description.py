"""Limits of the description gate."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class DescriptionLimits:
    """Limits of the description gate.

    Attributes:
        fewest_words: a description of fewer words cannot tell goal, data, metric and form of a submission.
    """

    fewest_words: int = 20
