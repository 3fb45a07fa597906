"""Counts of columns and classes that the description states, against the files."""

from __future__ import annotations

import re
from collections.abc import Iterator

from generator.defects.base import Finding, Severity
from generator.defects.registry import finding
from generator.verifier.case import Case
from generator.verifier.description.present import Present
from generator.verifier.description.rows import SUBSET
from generator.verifier.description.stated import NUMBER, is_loose, value
from generator.verifier.description.text import Text
from generator.verifier.targets import Kind

_SPELLED = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen "
    "seventeen eighteen nineteen twenty"
)
_WORDS = {word: number for number, word in enumerate(_SPELLED.split())}
_COLUMNS = re.compile(
    r"(?i)\b(?P<verb>has|have|with|contains?|of|are|holds?|includes?|given|by|from|:)\s+"
    r"(?:the |all |just |only |exactly )?"
    + NUMBER
    + r"\s+(?:[A-Za-z\-]+\s+){0,2}?(?P<noun>features?|columns?|variables?|attributes?|predictors?)\b"
)
_CLASSES = re.compile(
    r"(?i)(?<![\w.,\-/])(?P<number>\d{1,5}|"
    + "|".join(list(_WORDS)[2:])
    + r")\s+(?:[A-Za-z\-]+\s+){0,2}?(?P<noun>classes|labels|categories)\b"
)
_PART = re.compile(
    r"(?i)\b(?:original|raw|missing|new|first|last|other|remaining|more|additional|derived|useful)\b"
)


def check(case: Case, text: Text) -> Iterator[Finding]:
    """At most one finding for columns, and one for classes."""
    yield from _column_findings(case, text)
    yield from _class_findings(case, text)


def _column_findings(case: Case, text: Text) -> Iterator[Finding]:
    if not case.tables:
        return
    widths = {len(table.columns) for table in case.tables.values()}
    allowed = {len(case.features)} | {
        width - less for width in widths for less in range(len(case.targets) + 2)
    }
    widest = max(widths)
    for sentence in text.sentences:
        for match in _COLUMNS.finditer(sentence):
            number = int(value(match))
            if match["unit"] or number in allowed or number < 4 or _PART.search(sentence):
                continue
            if is_loose(match, sentence):
                continue
            whole = number > widest and match["verb"].lower() not in ("from", "of")
            present = Present(case)
            honest = present.opaque or not present.has_raw or number <= len(present.raw_columns)
            if number > widest or match["verb"].lower() in ("has", "have", "contains", "contain"):
                yield finding(
                    "description_counts",
                    f'description.txt says "{" ".join(match[0].split())}"; the widest public table has '
                    f"{widest} columns, {len(case.features)} of them features",
                    "state the columns that the files have",
                    None if whole and not honest else Severity.WARNING,
                )
                return


def _class_findings(case: Case, text: Text) -> Iterator[Finding]:
    if not all(kind is Kind.CLASS for kind in case.kinds.values()):
        return
    allowed = {len(case.targets)} if len(case.targets) > 1 else set[int]()
    train = case.train
    for name in case.targets:
        labels = set(case.answers[name]) - {""}
        allowed.add(len(labels))
        if train is not None and name in train.columns:
            known = set(train[name]) - {""}
            allowed |= {len(known), len(known | labels)}
    others = {
        table[name].nunique()
        for table in case.tables.values()
        for name in table.columns
        if name not in case.targets
    }
    columns = {str(name) for table in case.tables.values() for name in table.columns} - set(case.targets)
    for sentence in text.sentences:
        head = re.match(r"[`*\"'|\s]*([\w.\-]+)", sentence)
        if head and head[1] in columns:
            continue
        for match in _CLASSES.finditer(sentence):
            word = match["number"].lower()
            number = _WORDS.get(word) or int(word)
            if number in allowed or number < 2 or SUBSET.search(sentence):
                continue
            if is_loose(match, sentence):
                continue
            clear = match["noun"].lower() == "classes" or any(name in sentence for name in case.targets)
            yield finding(
                "description_counts",
                f'description.txt says "{" ".join(match[0].split())}"; the answers have {min(allowed)}',
                "state the classes that there are",
                None if clear and number not in others else Severity.WARNING,
            )
            return
