"""Formulations worth a check: which columns of a table can be asked for, how, and how promising each is."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from generator.columns import Column, Kind, as_numbers
from generator.proposals import Refusal
from generator.rules.context import LEAST_ROWS, MOST_CLASSES, Context
from generator.rules.families import flag_families, measured_together, written_in_columns
from generator.rules.naming import outcome_score, words
from generator.rules.personal import personal

#: Tag of tasks that show only the columns that hold texts.
FROM_TEXT = "from text"
_QUERIES = (20, 400)
_QUERY_WORDS = {
    "year", "neighborhood", "neighbourhood", "city", "state", "county", "region", "district", "country",
    "school", "team", "store", "shop", "user", "customer", "session", "query", "search", "race",
    "group",
}  # fmt: skip
#: Words by which people call what should not happen; a rare flag of such a name is worth detecting.
_ANOMALY_WORDS = {
    "anomaly", "anomalous", "outlier", "fraud", "fraudulent", "fault", "faulty", "failure", "failed",
    "defect", "defective", "attack", "intrusion", "bad", "default", "spam", "error", "abnormal", "alarm",
    "malfunction", "breach", "damage", "damaged", "incident", "accident", "strike",
}  # fmt: skip
#: Words of classes that have no order though they are written as whole numbers.
_NOMINAL = {
    "label",
    "class",
    "target",
    "category",
    "type",
    "kind",
    "species",
    "code",
    "cluster",
    "group",
    "digit",
}
_RAREST, _RARE = 0.005, 0.1
#: Anomalies there must be, so that a quarter of them can be tested.
_ANOMALIES = 100
#: Promise below which a column is not asked for at all: it is a circumstance, not an outcome.
_LEAST_PROMISE = -1.0
#: Names that say nothing: a letter, a letter with a number, a code in capitals.
_CODE = re.compile(r"[A-Za-z]|[A-Za-z]{1,4}[_.-]?\d+|[A-Z0-9]{4,}")
_CODE_MALUS = 1.5
#: A flag of a family is asked for with its family first.
_MEMBER_MALUS = 0.8
#: What all columns tell is asked before what the texts tell alone.
_TEXTS_MALUS = 0.1


@dataclass(frozen=True)
class Candidate:
    """A formulation worth a check.

    Attributes:
        objective: as in ``task.toml``, or ``multi-output``.
        columns: the raw columns of the target.
        promise: how sure it is that people want to know it; more is better.
        classes: labels that are kept, most frequent first.
        query: the column within whose values rows are ranked.
        ordinal: the classes have an order.
        texts: only the columns that hold texts are shown.
    """

    objective: str
    columns: tuple[Column, ...]
    promise: float
    classes: tuple[str, ...] = ()
    query: str | None = None
    ordinal: bool = False
    texts: bool = False

    @property
    def kind(self) -> str:
        """What sets formulations apart beside their target."""
        return f"{self.objective} {FROM_TEXT}" if self.texts else self.objective

    @property
    def name(self) -> str:
        """The target in a word."""
        return " and ".join(column.name for column in self.columns)


def candidates(context: Context) -> tuple[list[Candidate], list[Refusal]]:
    """All formulations by promise, the most promising first, and the columns that are not asked for."""
    found: list[Candidate] = []
    refused: list[Refusal] = []
    time = context.table.time
    # Where a row stands in a series or a curve is no outcome.
    placed = {*context.table.wide_series, *((*time.columns, time.entity) if time is not None else ())}
    placed |= written_in_columns(context.frame, context.table.columns)
    # Nor is the file in which it stood.
    files = {Path(name).name for name in context.table.recipe.files} if context.table.recipe else set()
    placed |= {
        c.name for c in context.table.columns if c.classes and {name for name, _ in c.classes} <= files
    }
    for column in context.table.columns:
        if column.missing > 0.4 * context.table.rows or column.name in placed:
            continue
        own = _of_column(context, column, promise(context, column))
        trait = personal(column) if own else None
        if trait is not None:
            reason = f"it tells the {trait} of a person, which no model should be made to guess"
            refused.append(
                Refusal(target=column.name, objective=own[0].objective, reason=reason, code="personal")
            )
            continue
        found += own
    numbers = [c for c in found if c.objective == "regression" and not c.texts]
    families = _families(context)
    members = {column.name for family in families for column in family.columns}
    found = [replace(c, promise=c.promise - _MEMBER_MALUS * (c.name in members)) for c in found]
    found += families + _measurements(context, numbers) + _rankings(context, numbers)
    found = [candidate for candidate in found if candidate.promise > _LEAST_PROMISE]
    return sorted(found, key=lambda c: (-c.promise, c.objective, c.name)), refused


def promise(context: Context, column: Column) -> float:
    """How much speaks for asking for a column: its name, its place in the table, how complete it is."""
    place = [c.name for c in context.table.columns].index(column.name)
    score = outcome_score(column.name, context.about)
    score += 0.7 if place == len(context.table.columns) - 1 else 0.3 if place == 0 else 0.0
    if _CODE.fullmatch(column.name) and score < 1:
        score -= _CODE_MALUS
    return score - 2.0 * column.missing / context.table.rows


def kept_classes(column: Column, rows: int) -> tuple[str, ...]:
    """The classes frequent enough to be asked for, or nothing when the column is no fit class."""
    few_numbers = column.kind is Kind.INTEGER and column.unique <= 10
    if column.kind not in (Kind.CATEGORY, Kind.BOOLEAN) and not few_numbers:
        return ()
    least = max(class_rows(rows), 0.01 * rows)
    kept = [(name, count) for name, count in column.classes if count >= least][:MOST_CLASSES]
    covered = sum(count for _, count in kept)
    if len(kept) < 2 or covered < LEAST_ROWS or kept[0][1] > 0.95 * covered:
        return ()
    # A column of many values may be cut to its frequent ones, as long as those are many rows.
    if covered < 0.7 * rows and covered < 800:
        return ()
    return tuple(name for name, _ in kept)


def class_rows(rows: int) -> int:
    """Rows that a class needs: 40, in tables below a thousand rows at least 20, so that 5 can be tested."""
    return int(np.clip(rows / 25, 20, 40))


def _of_column(context: Context, column: Column, hope: float) -> list[Candidate]:
    """What can be asked of one column."""
    found: list[Candidate] = []
    classes = kept_classes(column, context.table.rows)
    if column.kind is Kind.LIST:
        found.append(Candidate("multi-label classification", (column,), hope + 1.0))
    if classes:
        few = column.is_number and len(classes) > 2 and not set(words(column.name)) & _NOMINAL
        counts = np.array([dict(column.classes)[name] for name in classes], dtype=float)
        shares = counts / counts.sum()
        bonus = 0.5 * float(-(shares * np.log(shares)).sum() / np.log(len(shares)))
        found.append(Candidate("classification", (column,), hope + bonus, classes, ordinal=few))
    elif column.is_number and column.unique >= 20 and not _clock(context, column):
        found.append(Candidate("regression", (column,), hope + 0.2))
    anomaly = _anomaly(context, column)
    if anomaly:
        found.append(Candidate("anomaly detection", (column,), hope + 1.0, anomaly))
    texts = [c for c in context.table.columns if c.kind is Kind.TEXT and c.name != column.name]
    others = [c for c in context.table.columns if c.kind not in (Kind.TEXT, Kind.ID, Kind.CONSTANT)]
    if texts and len(others) > 1:
        found += [
            replace(c, promise=c.promise - _TEXTS_MALUS, texts=True)
            for c in found
            if c.objective != "anomaly detection"
        ]
    return found


def _clock(context: Context, column: Column) -> bool:
    """Whether whole numbers are times of day, as 1559 before 1600: their differences say nothing."""
    if column.kind is not Kind.INTEGER or column.minimum is None or column.maximum is None:
        return False
    if column.minimum < 0 or not 1_000 < column.maximum <= 2_400:
        return False
    return bool((as_numbers(context.frame[column.name]).dropna() % 100 < 60).all())


def _anomaly(context: Context, column: Column) -> tuple[str, ...]:
    """The usual class and the rare one, when the column flags what should not happen."""
    if column.unique != 2 or column.missing or len(column.classes) != 2:
        return ()
    (usual, _), (rare, count) = column.classes
    named = set(words(column.name)) | set(words(rare))
    share = count / context.table.rows
    if not named & _ANOMALY_WORDS or not _RAREST <= share <= _RARE or count < _ANOMALIES:
        return ()
    return (usual, rare)


def _families(context: Context) -> list[Candidate]:
    """Several flags at once."""
    found = []
    for family in flag_families(context.frame, context.table.columns):
        scores = sorted((promise(context, column) for column in family), reverse=True)
        # A family is said in a word more easily than its members are.
        hope = max(float(np.mean(scores[:3])), 0.0) + 0.8 + (1.0 if _outcomes(family) else 0.0)
        found.append(Candidate("multi-label classification", family, hope))
    return found


def _outcomes(family: Sequence[Column]) -> bool:
    return all(outcome_score(column.name, "") > 0 for column in family)


def _measurements(context: Context, numbers: Sequence[Candidate]) -> list[Candidate]:
    """Two or three measurements of the same thing at once."""
    strong = sorted((c for c in numbers if c.promise > -0.5), key=lambda c: (-c.promise, c.name))
    columns = measured_together(context.frame, [c.columns[0] for c in strong])
    if not columns:
        return []
    hope = {c.name: c.promise for c in strong}
    return [Candidate("multi-output", columns, max(min(hope[c.name] for c in columns) - 0.1, 0.0))]


def _rankings(context: Context, numbers: Sequence[Candidate]) -> list[Candidate]:
    """The most promising number within a year, a city or a shop."""
    query = _query(context)
    hopeful = [c for c in numbers if c.promise > 0 and c.name != query]
    if query is None or not hopeful:
        return []
    best = max(hopeful, key=lambda c: (c.promise, c.name))
    return [Candidate("ranking", best.columns, best.promise - 0.1, query=query)]


def _query(context: Context) -> str | None:
    """A column within whose values rows can be ranked: a year or a category of some size."""
    if context.table.time is not None and context.table.time.series:
        return None
    low, high = _QUERIES
    for column in context.table.columns:
        if column.kind in (Kind.CATEGORY, Kind.INTEGER) and set(words(column.name)) & _QUERY_WORDS:
            sizes = context.frame[column.name].value_counts()
            if low <= column.unique <= high and sizes.median() >= 10 and column.missing == 0:
                return column.name
    return None
