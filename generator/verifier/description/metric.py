"""Which metric the description names, against the one that is declared."""

from __future__ import annotations

import re
from collections.abc import Iterator

from generator.defects.base import Finding, Severity
from generator.defects.registry import finding
from generator.verifier.case import Case
from generator.verifier.description.metrics import GENERAL, Mention, agree, canonical, mentions
from generator.verifier.description.text import Text

#: Words after or around which a metric's name says what the score is.
_DEFINES = re.compile(
    r"(?i)\b(?:evaluat\w*|scored?|scores? (?:is|are)|metrics?|judged|measured|ranked|graded|assessed|"
    r"leaderboard|performance|évalu\w*|métrique|bewertet|metrik|métrica|evalu\w*)\b|评估|评价|指标|評価"
)
_SECTION = re.compile(r"(?i)metric|evaluat|scor|métri|bewert|评|評|指标")
_COMPARES = re.compile(
    r"(?i)\b(?:not|no|unlike|instead of|rather than|than|compared (?:to|with)|versus|vs|as opposed "
    r"to|without|"
    r"similar to|like|also|analogous to|besides|nor|never|for reference|optional\w*|"
    r"baseline\w*|benchmark\w*|loss function|train\w*|e\.g\.|example)\b(?:(?!\bbut\b)[^.;:]){0,40}$"
)


def check(case: Case, text: Text) -> Iterator[Finding]:
    """A finding when the text defines the score by another metric than task.toml does."""
    name = case.task.spec.metric.name
    declared = canonical(name)
    defining = [each for sentence in _about_scores(text) for each in _defined_by(sentence)]
    if not defining:
        return
    known = [declared] if declared else _in_code(case)
    if not known or any(agree(each.name, other) for each in defining for other in known):
        yield from _others(defining, declared, name)
        return
    beside = any(
        agree(each.name, other) for said in _about_scores(text) for each in mentions(said) for other in known
    )
    told = ", ".join(sorted({f"{' '.join(each.words.split())!r} ({each.name})" for each in defining}))
    yield finding(
        "description_metric",
        f"description.txt says that submissions are scored by {told}; "
        + (f"task.toml declares {name}" if declared else f"metric.py computes {', '.join(known)}"),
        "name the metric that is computed",
        Severity.WARNING if beside or declared is None else None,
    )


def _others(defining: list[Mention], declared: str | None, name: str) -> Iterator[Finding]:
    """A warning when the text defines the score twice, once as declared and once otherwise."""
    if declared is None:
        return
    strong = [each for each in defining if not agree(each.name, declared)]
    if not strong or len(strong) < len([each for each in defining if agree(each.name, declared)]):
        return
    told = ", ".join(sorted({repr(" ".join(each.words.split())) for each in strong}))
    yield finding(
        "description_metric",
        f"description.txt names {told} beside {name}, the declared metric, as what submissions are scored by",
        "say by which one metric submissions are scored",
        Severity.WARNING,
    )


def _about_scores(text: Text) -> list[str]:
    """What tells how submissions are scored: sentences that say so, and the beginning of their section."""
    known = [sentence for sentence in text.sentences if _DEFINES.search(sentence) and mentions(sentence)]
    section: list[str] = []
    for line in text.lines:
        if (
            _SECTION.search(line.heading) and not line.is_code and not line.is_heading and len(section) < 6
        ) or (line.is_heading and _SECTION.search(line.text)):
            section.append(line.text)
    first = next((part for part in re.split(r"(?<=[.!?])\s", " ".join(section)) if mentions(part)), None)
    # The section may say the same in a sentence that is cut otherwise.
    repeated = first is None or any(first in one or one in first for one in known)
    return known if first is None or repeated else [*known, first]


def _defined_by(sentence: str) -> list[Mention]:
    """The metric by which a sentence says that submissions are scored, if it is not compared with it."""
    found = [each for each in mentions(sentence) if not _COMPARES.search(sentence[: each.start])]
    if not found:
        return []
    # "the F1 measure of each (macro F1)" is about macro F1.
    closer = [each for each in found if each.name in GENERAL.get(found[0].name, ())]
    return (closer or found)[:1]


def _in_code(case: Case) -> list[str]:
    """The metrics that the code of metric.py names."""
    try:
        code = case.task.metric_path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return []
    return list(dict.fromkeys(each.name for each in mentions(re.sub(r"(?<=[a-z])(?=[A-Z])", " ", code))))
