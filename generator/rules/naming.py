"""Names for people: task ids, titles and words from column names."""

from __future__ import annotations

import re

#: Words that name what people usually want to know, by how surely they do.
_WORDS_BY_WEIGHT: dict[float, str] = {
    3.0: "target class label outcome",
    2.5: "status price attrition churn survived diagnosis genre sentiment death purchase spam anomaly",
    2.0: (
        "category default response result score rating quality strength progression disease species "
        "sales ridership demand glucose salary cost risk topic grade delay wage expectancy"
    ),
    1.5: "weight artist author season inventory median duration tip mortality",
    1.2: "income amount",
    1.0: "condition cond temperature pressure role length performance meter",
    0.8: "level value count",
    0.6: "type",
    0.5: "department",
}
_OUTCOME = {word: weight for weight, words in _WORDS_BY_WEIGHT.items() for word in words.split()}
_CIRCUMSTANCE = {
    "year", "month", "day", "hour", "minute", "date", "lat", "latitude", "long", "lon",
    "longitude", "id", "index", "name", "zip", "street", "sex", "gender", "age", "x", "y", "row", "col",
    "column", "position", "week", "weekof", "weekday", "dow", "quarter", "store", "previous", "prior", "past",
    "historical", "grp", "bin", "decile", "quartile", "bucket", "zipcode", "postcode", "phone", "address",
    "flight", "tailnum", "trend",
}  # fmt: skip
_ID_WORDS = 6
#: Words at which an id must not end.
_JOINTS = {"of", "the", "and", "in", "by", "to", "per", "within", "is", "has", "was"}
#: First words of a dataset's name that say nothing without the next.
_VAGUE = {"new", "old", "free", "full", "used", "raw", "the", "my", "our", "data", "dataset", "all"}


def words(name: str) -> list[str]:
    """The words of a column or dataset name, lower case: ``Gr_Liv_Area`` and ``grLivArea`` alike."""
    spaced = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name)
    return [word.lower() for word in re.findall(r"[A-Za-z]+|\d+", spaced)]


def plain(name: str) -> str:
    """A column's name as people would write it within a sentence, without its unit."""
    bare = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", re.sub(r"[(\[].*?[)\]]", "", name))
    # A short name with a number is one word: co2, f1, m3.
    return " ".join(re.findall(r"\b[a-z]{1,3}\d+\b|[a-z]+|\d+", bare.lower().replace("_", " "))) or name


def slug(text: str) -> str:
    """Lower-case words joined by dashes."""
    return "-".join(words(text))


def snake(text: str) -> str:
    """Lower-case words joined by underscores."""
    return "_".join(words(text))


def task_id(dataset: str, target: str, suffix: str = "") -> str:
    """A short id: the dataset's first telling word, the target's words, and what sets the task apart."""
    own = words(dataset)
    parts = own[: 2 if own and own[0] in _VAGUE else 1]
    parts += [word for word in words(plain(target)) if word not in parts]
    ending = words(suffix)
    parts = parts[: _ID_WORDS - len(ending)]
    while parts[-1] in _JOINTS:
        parts.pop()
    return "-".join([*parts, *ending])


def stems(text: str) -> set[str]:
    """Words of four letters or more without a plural's s, cut to their first six, to compare inflections."""
    return {(word[:-1] if word[-1] == "s" else word)[:6] for word in words(text) if len(word) >= 4}


#: What a column is called that has no name.
_NAMELESS = re.compile(r"column_\d+")


def outcome_score(name: str, about: str) -> float:
    """How much a column's name says that it is what people want to know: 0 for nothing, 3 and more for much.

    Args:
        name: the column.
        about: the dataset's name and title; a column that they mention is probably its point.
    """
    if _NAMELESS.fullmatch(name):
        return 0.0
    own = words(plain(name))
    score = max((_OUTCOME.get(word, 0.0) for word in own), default=0.0)
    if stems(name) & stems(about):
        score += 2.0
    # A time of day is a circumstance, the time that something takes is not.
    if own and (own == ["time"] or own[0] in _CIRCUMSTANCE or own[-1] in _CIRCUMSTANCE):
        score = (2.0 if stems(name) & stems(about) else 0.0) - 3.0
    return score


def duration(seconds: float) -> str:
    """``90 minutes``, ``6 hours``, ``7 days``: a length of time in the largest unit that keeps it whole."""
    for size, unit in ((86_400, "day"), (3_600, "hour"), (60, "minute")):
        if seconds >= size and seconds % size == 0:
            count = int(seconds // size)
            return f"{count} {unit}{'s' if count != 1 else ''}"
    return f"{seconds:g} seconds"


def succession(seconds: float) -> str:
    """``from one week to the next``, or ``within 15 minutes`` for a distance that has no name."""
    named = {3_600: "hour", 86_400: "day", 7 * 86_400: "week"}
    named |= {days * 86_400: "month" for days in range(28, 32)} | {
        days * 86_400: "year" for days in (365, 366)
    }
    return (
        f"from one {named[int(seconds)]} to the next" if seconds in named else f"within {duration(seconds)}"
    )
