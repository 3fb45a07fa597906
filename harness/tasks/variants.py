"""Changed submissions that are scored many at a time, to learn what a metric does."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Self

import numpy as np
import numpy.typing as npt
import pandas as pd

#: Columns in which a smaller share of the rows changed are handed over as changes.
_SPARSE = 0.25


class Outcome(StrEnum):
    """What became of one variant."""

    SCORE = "score"
    REJECTED = "rejected"
    FAILED = "failed"
    UNREADABLE = "unreadable"
    SKIPPED = "skipped"
    STOPPED = "stopped"
    LOST = "lost"


@dataclass(frozen=True)
class Variant:
    """A submission to score.

    Attributes:
        submission: rows of the answers in their order, in the form that :meth:`Grader.grade_frame` takes; or
            with ``whole`` any rows and columns.
        answers: others to hold it against, with the same columns as the task's own; ``None`` for those.
        whole: hand over whole tables as CSV files, not their differences from the answers.
        rows: repeat the rows of both tables under new ids until there are so many; 0 leaves them as they are.
    """

    submission: pd.DataFrame
    answers: pd.DataFrame | None = None
    whole: bool = False
    rows: int = 0


class Packer:
    """Writes variants as builtin types, as ``inside/variants.py`` reads them.

    Args:
        answers: what the metric is handed as answers, all cells as strings.
        numeric: the columns that hold numbers.
    """

    def __init__(self, answers: pd.DataFrame, numeric: frozenset[str]) -> None:
        self._answers = answers
        self._numeric = numeric
        self._cells: dict[str, npt.NDArray[Any]] = {}
        for name in answers.columns:
            cells = answers[name]
            if name in numeric:
                cells = pd.to_numeric(cells.replace({"true": "1", "false": "0"}), errors="coerce")
            self._cells[name] = cells.to_numpy(dtype=float if name in numeric else object)

    def packed(self, variant: Variant) -> dict[str, Any]:
        """One variant."""
        if variant.whole:
            known = self._answers if variant.answers is None else variant.answers
            return {"submission": _csv(variant.submission), "answers": _csv(known)}
        packed: dict[str, Any] = {"submission": self._changes(variant.submission), "rows": variant.rows}
        if variant.answers is not None:
            packed["answers"] = self._changes(variant.answers)
        return packed

    def _changes(self, frame: pd.DataFrame) -> dict[str, Any]:
        """Columns that differ, as ``{column: [rows or None, values]}``."""
        changes: dict[str, Any] = {}
        for column in frame.columns:
            numeric = column in self._numeric
            values = frame[column].to_numpy()
            if numeric:
                cells = frame[column]
                if not pd.api.types.is_numeric_dtype(cells):
                    cells = pd.to_numeric(cells.replace({"true": "1", "false": "0"}), errors="coerce")
                values = cells.to_numpy(dtype=float)
            differ = self._cells[column] != (values if numeric else values.astype(object))
            if not differ.any():
                continue
            rows = np.flatnonzero(differ) if differ.mean() < _SPARSE else None
            kept = values if rows is None else values[rows]
            packed = kept.tobytes() if numeric else [str(value) for value in kept]
            changes[column] = [None if rows is None else rows.astype(np.int32).tobytes(), packed]
        return changes


@dataclass(frozen=True)
class Line:
    """What one line of the metric did.

    Attributes:
        began, ended: how often; a metric that is stopped leaves lines that began and did not end.
        seconds: processor time of those that ended, with all that they called.
        longest: of one of them.
    """

    began: int
    ended: int
    seconds: float
    longest: float

    @property
    def each(self) -> float:
        """Mean seconds without the longest time, in which things are often set up for all others."""
        return (self.seconds - self.longest) / (self.ended - 1) if self.ended > 1 else self.seconds


@dataclass(frozen=True)
class VariantResult:
    """What the metric made of a variant.

    Attributes:
        outcome: see :class:`Outcome`.
        score: with the outcome ``score``, and maybe not finite.
        message: of a refusal or an error, one line.
        seconds: processor time that the metric took.
        wall: wall time that it took.
        altered: with ``twice``, what it changed in place, by ``answers`` and ``submission``.
        again: with ``twice``, the score of the same tables, if they got one.
        lines: with ``follow``, what the lines of metric.py did, by number.
        step: with ``follow``, the longest processor time that passed without an event of them.
        peak: with ``weigh``, the most bytes that the metric had in use at once.
    """

    outcome: Outcome
    score: float | None = None
    message: str = ""
    seconds: float = 0.0
    wall: float = 0.0
    altered: Mapping[str, str] = field(default_factory=dict)
    again: float | None = None
    lines: Mapping[int, Line] = field(default_factory=dict)
    step: float = 0.0
    peak: int = 0

    @property
    def finite(self) -> float | None:
        """The score if it is a finite number."""
        return self.score if self.score is not None and math.isfinite(self.score) else None

    @classmethod
    def of(cls, data: Any) -> Self:
        """Read what came out of the sandbox, of which nothing is certain."""
        if not isinstance(data, dict) or data.get("outcome") not in set(Outcome):
            return cls(Outcome.LOST)
        score, again = data.get("score"), data.get("again")
        altered: dict[str, str] = {}
        for part in ("altered", "validated"):
            told = data.get(part)
            for name, what in zip(
                ("answers", "submission"), told if isinstance(told, list) else (), strict=False
            ):
                if isinstance(what, str):
                    altered.setdefault(name, what[:200])
        return cls(
            Outcome(data["outcome"]),
            score if isinstance(score, float) else None,
            str(data.get("message", ""))[:300],
            float(data.get("seconds", 0.0)),
            float(data.get("wall", 0.0)),
            altered,
            again if isinstance(again, float) else None,
            dict(_lines(data.get("lines"))),
            float(data.get("step", 0.0)),
            int(data.get("peak", 0)),
        )


def _lines(told: Any) -> Iterator[tuple[int, Line]]:
    for number, seen in told.items() if isinstance(told, dict) else ():
        if number.isdigit() and isinstance(seen, list) and len(seen) == 4:
            began, ended, seconds, longest = (float(value) for value in seen)
            yield int(number), Line(int(began), int(ended), seconds, longest)


def _csv(frame: pd.DataFrame) -> str:
    return str(frame.to_csv(index=False))
