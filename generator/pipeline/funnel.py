"""The funnel: how many formulations reach each stage, and why the others did not."""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any


class Stage(StrEnum):
    """The stages in order. A formulation is recorded at the last one it reached.

    ``refactored``: structure and preparation are without error. ``reviewed``: so are the gates that look at
    data, metric, baselines and description, with the review. ``executed``: an agent could work on it.
    """

    CONSIDERED = "considered"
    PROPOSED = "proposed"
    DESIGNED = "designed"
    REFACTORED = "refactored"
    REVIEWED = "reviewed"
    EXECUTED = "executed"
    VERIFIED = "verified"


STAGES = tuple(Stage)


@dataclass(frozen=True)
class Passage:
    """How far one formulation came.

    Attributes:
        dataset: the dataset's name.
        task: the task's id, or the target that was considered.
        reached: the last stage that was passed.
        code: a short word for why it stopped there; empty for verified tasks.
        reason: the same for people.
        seconds: wall time spent on it.
        modality: of the task, empty before it was proposed; ``objective`` and ``metric`` likewise.
    """

    dataset: str
    task: str
    reached: Stage
    code: str = ""
    reason: str = ""
    seconds: float = 0.0
    modality: str = ""
    objective: str = ""
    metric: str = ""


@dataclass(frozen=True)
class Funnel:
    """All passages of one generation."""

    passages: tuple[Passage, ...]

    def counts(self) -> dict[str, int]:
        """How many formulations passed each stage."""
        return {
            str(stage): sum(STAGES.index(passage.reached) >= number for passage in self.passages)
            for number, stage in enumerate(STAGES)
        }

    def reasons(self) -> dict[str, dict[str, int]]:
        """For each stage that was not passed, the reasons' codes with their counts, most frequent first."""
        found: dict[str, Counter[str]] = {}
        for passage in self.passages:
            if passage.reached is not Stage.VERIFIED:
                missed = STAGES[STAGES.index(passage.reached) + 1]
                found.setdefault(missed, Counter())[passage.code] += 1
        return {
            str(stage): dict(sorted(found[stage].items(), key=lambda item: (-item[1], item[0])))
            for stage in STAGES
            if stage in found
        }

    def as_json(self) -> dict[str, Any]:
        """Counts, reasons and every passage, as plain data."""
        return {
            "counts": self.counts(),
            "reasons": self.reasons(),
            "passages": [_row(passage) for passage in self.passages],
        }

    def as_csv(self) -> str:
        """One line for each formulation."""
        text = io.StringIO()
        writer = csv.DictWriter(text, fieldnames=list(_row(_EMPTY)), lineterminator="\n")
        writer.writeheader()
        writer.writerows(_row(passage) for passage in self.passages)
        return text.getvalue()

    def as_markdown(self) -> str:
        """Two tables: the stages with their counts, and the reasons for stopping."""
        counts = self.counts()
        lines = ["| stage | passed | of those considered |", "|---|---:|---:|"]
        first = max(1, counts[Stage.CONSIDERED])
        lines += [f"| {stage} | {count} | {count / first:.0%} |" for stage, count in counts.items()]
        lines += ["", "| not | because | count |", "|---|---|---:|"]
        for stage, codes in self.reasons().items():
            lines += [f"| {stage} | {code} | {count} |" for code, count in codes.items()]
        return "\n".join(lines) + "\n"


_EMPTY = Passage("", "", Stage.CONSIDERED)


def _row(passage: Passage) -> dict[str, Any]:
    return {
        "dataset": passage.dataset,
        "task": passage.task,
        "reached": str(passage.reached),
        "code": passage.code,
        "reason": passage.reason,
        "seconds": round(passage.seconds, 3),
        "modality": passage.modality,
        "objective": passage.objective,
        "metric": passage.metric,
    }


def merge(passages: Sequence[Sequence[Passage]]) -> Funnel:
    """One funnel of several datasets' passages, in the order given."""
    return Funnel(tuple(passage for each in passages for passage in each))
