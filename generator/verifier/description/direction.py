"""Which direction the description says is better."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from generator.defects.base import Finding, Severity
from generator.defects.registry import finding
from generator.verifier.case import Case
from generator.verifier.description.metrics import mentions
from generator.verifier.description.text import Line, Text

_UP, _DOWN = (
    r"higher|highest|larger|largest|greater|greatest|bigger|biggest|more",
    r"lower|lowest|smaller|smallest|less|fewer",
)
_SCORE = r"(?:scores?|values?|metrics?|results?|numbers?|losse?s?|errors?|ones?)"
_PLAIN = re.compile(
    rf"(?i)\b(?P<way>{_UP}|{_DOWN})\b(?:[- ]+{_SCORE}(?: of [\w\- ]{{1,30}}?)?)?,?\s+(?:is|are|"
    rf"means?|indicates?|wins?|"
    r"rank\w* (?:first|higher|better)|=)\s*(?:considered |deemed |always |a |the )?"
    r"(?P<judged>better|best|preferred|desired|good|winn\w+|worse|worst|bad)?"
)
_THE = re.compile(rf"(?i)\bthe (?P<way>{_UP}|{_DOWN})(?: the {_SCORE})?,? the (?P<judged>better|worse)\b")
_BEST = re.compile(
    rf"(?i)\bbest (?:possible )?(?:{_SCORE}|submissions?|models?) (?:is|are|has|have|gets?) (?:the )?"
    r"(?P<way>higher|highest|lower|lowest|largest|smallest)\b"
)
_BETTER = re.compile(
    r"(?i)\bbetter (?:is|when|if)(?: it is| the score is)? (?P<way>higher|lower|larger|smaller)\b"
)
_EXTREME = re.compile(r"(?i)\b(?P<way>maximi[sz]\w*|minimi[sz]\w*)\s+(?P<what>(?:[\w\-]+[ ,]?){1,5})")
_OTHER_LANGUAGES = (
    (re.compile(r"(?i)je höher,? desto besser|höher ist besser|cuanto (?:mayor|más alt\w),? mejor|"
                r"plus (?:élevé|haut|grand)\w* (?:est )?(?:le )?(?:mieux|meilleur)|越高越好|高いほど良い|"
                r"выше\W+лучше"), True),
    (re.compile(r"(?i)je (?:niedriger|kleiner),? desto besser|(?:niedriger|kleiner) ist besser|"
                r"cuanto (?:menor|más baj\w),? mejor|plus (?:faible|bas|petit)\w* (?:est )?(?:le "
                r")?(?:mieux|meilleur)|越低越好|越小越好|低いほど良い|ниже\W+лучше"), False),
)  # fmt: skip
_ABOUT = re.compile(
    r"(?i)\b(?:scor\w+|metrics?|evaluat\w+|error|loss|perfect|rank\w*|submissions?|leaderboard)\b"
)
_SECTION = re.compile(r"(?i)metric|evaluat|scor|goal|objective|overview")


@dataclass(frozen=True)
class _Said:
    """One statement of a direction; ``sure`` when nothing else than the score can be meant."""

    words: str
    higher: bool
    sure: bool


def check(case: Case, text: Text) -> Iterator[Finding]:
    """A finding when the text says the direction that is not declared."""
    declared = case.task.spec.metric.higher_is_better
    columns = {name for table in case.tables.values() for name in table.columns}
    said = list(_statements(text, columns))
    wrong = [each for each in said if each.higher != declared]
    right = [each for each in said if each.higher == declared]
    sure = [each for each in wrong if each.sure]
    if not wrong or (right and not sure):
        return
    yield finding(
        "description_direction",
        f"description.txt says {' and '.join(sorted({repr(each.words) for each in sure or wrong}))}"
        + (f" and also {right[0].words!r}" if right else "")
        + f"; task.toml declares higher_is_better = {str(declared).lower()}",
        "say the direction that is declared",
        None if sure else Severity.WARNING,
    )


def stated(text: Text) -> bool:
    """Whether any direction is said."""
    return next(iter(_statements(text, set())), None) is not None


def _statements(text: Text, columns: set[str]) -> Iterator[_Said]:
    lines = [line for line in text.lines if not line.is_code and not _describes_column(line, columns)]
    paragraphs: dict[tuple[int, str, int], str] = {}
    for number, line in enumerate(lines):
        key = (line.block, line.heading, number if line.is_item else -1)
        paragraphs[key] = f"{paragraphs.get(key, '')} {line.text}".strip()
    for (_, heading, _), paragraph in paragraphs.items():
        for sentence in re.split(r"(?<=[.!?;])\s+", paragraph):
            about = bool(_SECTION.search(heading) or _ABOUT.search(sentence) or mentions(sentence))
            yield from _of_sentence(sentence, about)


def _of_sentence(sentence: str, about: bool) -> Iterator[_Said]:
    for pattern in (_PLAIN, _THE, _BEST, _BETTER):
        for match in pattern.finditer(sentence):
            way, judged = match["way"].lower(), (match.groupdict().get("judged") or "").lower()
            if (
                pattern is _PLAIN
                and not judged
                and "win" not in match[0].lower()
                and "rank" not in match[0].lower()
            ):
                continue
            if re.search(r"(?i)\b(?:not|no)\W+(?:\w+\W+)?$", sentence[: match.start()]):
                continue
            up = re.fullmatch(_UP, way) is not None
            higher = up != judged.startswith(("wors", "bad"))
            general = re.search(rf"(?i)\b{_SCORE}\b", match[0]) or match[0].lower().startswith(way)
            yield _Said(" ".join(match[0].split()), higher, about and bool(general))
    for match in _EXTREME.finditer(sentence):
        named = re.split(r"(?i)\b(?:to|by|with|that|which|and|in|of|on|for)\b", match["what"])[0]
        if mentions(named) or re.match(r"(?i)(?:the |this |your |final )*(?:score|metric)\b", named):
            yield _Said(f"{match['way']} {named.strip()}", match["way"].lower().startswith("max"), about)
    for pattern, higher in _OTHER_LANGUAGES:
        if (found := pattern.search(sentence)) is not None:
            yield _Said(found[0], higher, True)


def _describes_column(line: Line, columns: set[str]) -> bool:
    """Whether a line tells what a column means, where the words are about its values."""
    head = re.match(r"[`*\"'|\s]*([\w.\-]+)", line.text)
    return head is not None and head[1] in columns and not re.match(r"(?i)\W*(?:score|metric)", line.text)
