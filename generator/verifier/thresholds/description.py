"""Limits of the description gate."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class DescriptionLimits:
    """Limits of the description gate.

    Attributes:
        fewest_words: a description of fewer words cannot tell goal, data, metric and form of a submission.
        most_missing: so many of goal, metric, direction, form, id column and files may not be missing at
            once: with four of six a participant could not begin.
        told_rows: fewer test rows with their true answers are a guess that happens to be right.
        told_run: fewer answers in a row are found in any list of the same few labels.
        told_share: of neighbouring rows with ids so many must be right to count as told.
        told_chance: the chance at which made-up values hit as many answers: in one of a thousand packages.
        doubted_chance: the same where an author should look.
        most_labels: of more classes nobody lists all.
        listed_share: a text that names a smaller share of the classes gives examples.
    """

    fewest_words: int = 20
    most_missing: int = 4
    told_rows: int = 3
    told_run: int = 8
    told_share: float = 0.8
    told_chance: float = 1e-3
    doubted_chance: float = 0.02
    most_labels: int = 400
    listed_share: float = 0.25
