"""What the rules look at while they propose tasks from one table, and the numbers they judge by."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import pandas as pd

from generator.columns import Column, Kind
from generator.profile import Table
from generator.proposals import Evidence, Proposal, Refusal

#: Skill a target must reach to be worth proposing: below it the gain drowns in a usual test set's noise.
LEAST_SKILL = 0.1
#: Skill above which nothing is left to do.
MOST_SKILL = 0.97
#: The same for a ranking, where only the first places count, so that large differences are enough.
MOST_RANKING_SKILL = 0.85
#: Skill of one feature alone from which it is the target in another form.
PROXY_SKILL = 0.95
#: R² of the product or ratio of two features from which it is the target in another form.
PAIR_FIT = 0.98
#: As MOST_SKILL, for numbers: a skill (R²) of 0.99 still leaves a tenth of the usual error, in which the best
#: methods differ.
MOST_NUMBER_SKILL = 0.99
#: Rows a table needs: two fifths of them are 60 test rows, with which a share is known to 6 points.
LEAST_ROWS = 150
#: Rows below which a target must be learned surely, as few test rows cannot tell a small gain from luck.
SURE_ROWS = 300
SURE_SKILL = 0.3
#: Files of one class that a task of media needs.
CLASS_ROWS = 40
MOST_CLASSES = 20
#: Skill above which a classification is given few labelled rows, so that the best methods still differ.
EASY_SKILL = 0.93
#: Labelled rows for each class in that case.
FEW_ROWS = 30
#: Anomalies among the training rows: they are seldom known in advance.
KNOWN_ANOMALIES = 30


@dataclass(frozen=True)
class Context:
    """One raw table with what is known about its dataset.

    Attributes:
        dataset: the dataset's name.
        title: the dataset's title, empty when it has no card.
        modality: what the card says the data are, if it does.
        table: the profile of the table.
        frame: the table itself.
        probed: whether targets are proven learnable and not given away.
    """

    dataset: str
    title: str
    modality: str | None
    table: Table
    frame: pd.DataFrame
    probed: bool = True

    @property
    def about(self) -> str:
        """Name and title in one string."""
        return f"{self.dataset} {self.title}"

    def unfit(self, evidence: Evidence, most: float) -> tuple[str, str] | None:
        """The :func:`verdict`; ``None`` where nothing is probed."""
        return verdict(evidence, most) if self.probed else None


@dataclass(frozen=True)
class Outcome:
    """What one family of rules found."""

    proposals: tuple[Proposal, ...]
    refusals: tuple[Refusal, ...]


def usable(context: Context) -> tuple[list[Column], list[tuple[str, str]]]:
    """The columns fit to be features, and the others with the reason."""
    kept, left = [], []
    for column in context.table.columns:
        if column.kind is Kind.CONSTANT:
            left.append((column.name, "it holds a single value"))
        elif column.kind is Kind.ID and column.name not in context.table.groups:
            left.append((column.name, "it only numbers the rows"))
        elif column.kind is Kind.PATH:
            left.append((column.name, "it names files that are not given"))
        elif column.missing > 0.8 * context.table.rows:
            left.append((column.name, "it is missing in most rows"))
        else:
            kept.append(column)
    return kept, left


def verdict(evidence: Evidence, most: float = MOST_SKILL) -> tuple[str, str] | None:
    """Why a target with this evidence is not proposed, as ``code, reason``; ``None`` when it is fit.

    Args:
        evidence: what a quick check found.
        most: the skill above which the features give the target away.
    """
    least = SURE_SKILL if evidence.rows < SURE_ROWS else LEAST_SKILL
    if evidence.skill < least or evidence.skill < 2 * evidence.spread:
        few = f"with {evidence.rows} rows " if least == SURE_SKILL else ""
        return "unlearnable", (
            f"the features hardly help: skill {evidence.skill:.2f} ± {evidence.spread:.2f} "
            f"({evidence.measure}, {few}at least {least} is needed)"
        )
    if evidence.skill > most:
        return "given_away", f"the features give it away: skill {evidence.skill:.2f} (at most {most})"
    return None


def few_rows(evidence: Evidence, classes: int) -> int | None:
    """How many labelled rows an easy classification gets; ``None`` for all."""
    return FEW_ROWS * classes if classes and evidence.skill > EASY_SKILL else None


def difficulty(evidence: Evidence) -> Literal["easy", "medium", "hard"]:
    """Hard where a quick forest explains little, easy where it explains nearly all."""
    return "hard" if evidence.skill < 0.4 else "medium" if evidence.skill < 0.8 else "easy"
