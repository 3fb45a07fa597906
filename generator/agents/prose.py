"""Whether words of a model may stand in a task: they say nothing that was not there before them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from generator.agents.fencing import printable
from generator.rules.naming import stems
from generator.verifier.description.metrics import mentions

_NUMBER = re.compile(r"(?<![\w.])\d+(?:[.,]\d+)*")
#: Words that are written like a name of the data: in backticks or quotes, or joined by underscores.
_NAME = re.compile(r"`([^`\n]+)`|\"([^\"\n]+)\"|“([^”\n]+)”|\b(\w+(?:_\w+)+)\b|\b([\w-]+\.[A-Za-z]{2,5})\b")
#: What a participant is not told, or is told by the rules' own words alone.
_FORBIDDEN = re.compile(
    r"https?://|www\.|\b(?:private|answers?|solution|ground truth|seed|random_state|leak\w*|cheat\w*|"
    r"ignore|instructions?|prompt|previous|grade|score[sd]?|metric|higher is better|lower is better|"
    r"as an ai|language model|assistant|sure(?=[,!])|here is|certainly)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Bounds:
    """How long a text may be, and where it may stand.

    Attributes:
        least, most: characters.
        lines: at most.
    """

    least: int
    most: int
    lines: int = 1


TITLE = Bounds(8, 90)
INTRODUCTION = Bounds(60, 700, lines=4)


@dataclass(frozen=True)
class Known:
    """What the task says without a model.

    Attributes:
        text: all words of it: of the rules' description, or of the card and the columns.
        names: columns, files, labels.
        about: what the text must be about: targets and dataset.
    """

    text: str
    names: Iterable[str]
    about: str


def problems(text: str, known: Known, bounds: Bounds) -> Iterator[str]:
    """What speaks against a text, in words for its author; nothing when it may stand."""
    said = text.strip()
    if not bounds.least <= len(said) <= bounds.most:
        yield f"it has {len(said)} characters; write {bounds.least} to {bounds.most}"
    if said.count("\n") >= bounds.lines:
        yield f"it has more than {bounds.lines} lines"
    if printable(said) != said or (not said.isprintable() and bounds.lines == 1):
        yield "it holds signs that cannot be printed"
    if any(sign in said for sign in "<>{}[]#|*\\"):
        yield "it holds marks of code or markup; write plain sentences"
    numbers = set(_NUMBER.findall(known.text))
    for number in _NUMBER.findall(said):
        if number not in numbers:
            yield f"the number {number} is nowhere in the files"
    names = {name.lower() for name in known.names}
    for match in _NAME.finditer(said):
        name = next(part for part in match.groups() if part)
        if name.lower() not in names:
            yield f"there is no {name!r}"
    for match in _FORBIDDEN.finditer(said):
        yield f"leave out {match[0]!r}: the rest of the description speaks of that"
    if found := mentions(said):
        yield f"leave out {found[0].words!r}: how submissions are scored is told elsewhere"
    if not stems(said) & stems(known.about):
        yield f"it must be about {known.about}"
