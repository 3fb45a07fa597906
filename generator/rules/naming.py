"""Names for people: task ids, titles and words from column names."""

from __future__ import annotations

import re

_OUTCOME = {
    "target": 3.0, "class": 3.0, "label": 3.0, "outcome": 3.0, "status": 2.5, "category": 2.0, "price": 2.5,
    "attrition": 2.5, "churn": 2.5, "default": 2.0, "survived": 2.5, "response": 2.0, "result": 2.0,
    "score": 2.0, "rating": 2.0, "quality": 2.0, "condition": 1.0, "cond": 1.0, "strength": 2.0,
    "progression": 2.0, "diagnosis": 2.5, "disease": 2.0, "species": 2.0, "genre": 2.5, "type": 0.6,
    "sales": 2.0, "ridership": 2.0, "demand": 2.0, "temperature": 1.0, "glucose": 2.0, "pressure": 1.0, "income": 1.2,
    "salary": 2.0, "weight": 1.5, "amount": 1.2, "artist": 1.5, "author": 1.5, "role": 1.0, "level": 0.8,
    "season": 1.5, "inventory": 1.5, "median": 1.5, "value": 0.8, "count": 0.8, "duration": 1.5, "length": 1.0,
    "cost": 2.0, "risk": 2.0, "sentiment": 2.5, "topic": 2.0, "grade": 2.0, "performance": 1.0, "department": 0.5,
    "meter": 1.0,
}  # fmt: skip
_CIRCUMSTANCE = {
    "year", "month", "day", "hour", "minute", "date", "time", "lat", "latitude", "long", "lon", "longitude",
    "id", "index", "name", "zip", "street", "sex", "gender", "age", "x", "y", "row", "col", "column", "position",
}  # fmt: skip


def words(name: str) -> list[str]:
    """The words of a column or dataset name, lower case: ``Gr_Liv_Area`` and ``grLivArea`` alike."""
    spaced = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name)
    return [word.lower() for word in re.findall(r"[A-Za-z]+|\d+", spaced)]


def plain(name: str) -> str:
    """A column's name as people would write it within a sentence, without its unit."""
    return " ".join(words(re.sub(r"[(\[].*?[)\]]", "", name))) or name


def slug(text: str) -> str:
    """Lower-case words joined by dashes."""
    return "-".join(words(text))


def snake(text: str) -> str:
    """Lower-case words joined by underscores."""
    return "_".join(words(text))


def task_id(dataset: str, target: str, suffix: str = "") -> str:
    """A short, telling id: the dataset's first word, the target's words, and what sets the task apart."""
    parts = words(dataset)[:1]
    parts += [word for word in words(plain(target)) if word not in parts]
    return "-".join([*parts, *words(suffix)][:6])


def stems(text: str) -> set[str]:
    """Words of four letters or more cut to their first six, to compare across inflections."""
    return {word[:6] for word in words(text) if len(word) >= 4}


def outcome_score(name: str, about: str) -> float:
    """How much a column's name says that it is what people want to know: 0 for nothing, 3 and more for much.

    Args:
        name: the column.
        about: the dataset's name and title; a column that they mention is probably its point.
    """
    own = words(plain(name))
    score = max((_OUTCOME.get(word, 0.0) for word in own), default=0.0)
    if stems(name) & stems(about):
        score += 2.0
    if own and (own[0] in _CIRCUMSTANCE or own[-1] in _CIRCUMSTANCE):
        score -= 3.0
    return score


def duration(seconds: float) -> str:
    """``90 minutes``, ``6 hours``, ``7 days``: a length of time in the largest unit that keeps it whole."""
    for size, unit in ((86_400, "day"), (3_600, "hour"), (60, "minute")):
        if seconds >= size and seconds % size == 0:
            count = int(seconds // size)
            return f"{count} {unit}{'s' if count != 1 else ''}"
    return f"{seconds:g} seconds"
