"""Counts of rows that the description states, against the files."""

from __future__ import annotations

import re
from collections.abc import Iterator

from generator.defects.base import Finding, Severity
from generator.defects.registry import finding
from generator.verifier.case import Case
from generator.verifier.description.present import stem
from generator.verifier.description.sizes import Sizes, sizes_of
from generator.verifier.description.stated import NUMBER, fits, is_loose, value
from generator.verifier.description.text import Line, Text

_ROWS = (
    r"rows?|samples?|examples?|records?|instances?|observations?|data ?points?|entries|cases|items|images?|"
    r"pictures?|photos?|recordings?|clips?|documents?|texts?|lines|filas|zeilen|lignes|行|строк\w*|ids"
)
_COUNT = re.compile(
    NUMBER + rf"\s+(?P<more>(?:[A-Za-z\-]+\s+){{0,2}}?)(?P<noun>{_ROWS})\b"
    r"(?!\s*(?:per|of each|for each|each|in each|by each|every|long|wide|apart|/"
    r"|(?:an?|one|in one|in an?) (?:milli)?(?:second|minute|hour|day|night|week|month|season|year)))",
    re.IGNORECASE,
)
_FILE_FIRST = re.compile(
    r"^[`*\"']*(?P<file>[\w\-/]+\.(?:csv|tsv|json|jsonl|parquet|txt)(?:\.gz)?)"
    r"[`*\"']*[\s:\-–—(|]+"
    r"(?:the |all |holds? |contains? |has |with )*"
    + NUMBER
    + r"\s+(?P<noun>[^\W\d][\w\-]*(?:\s+[^\W\d][\w\-]*)?)"
)
_NO_ROWS = re.compile(
    r"(?i)^(?:years?|months?|weeks?|days?|hours?|minutes?|seconds?|gb|mb|kb|bytes?|%|percent|pixels?|columns?|"
    r"features?|different|unique|distinct|classes|types|kinds|categories|of|and|to|or|by|in|x)\b"
)
_TRAIN = re.compile(r"(?i)\btrain\w*|labell?ed")
_TEST = re.compile(r"(?i)\btest\b|\btest[_.]\w+|to predict|evaluation set")
#: Words by which a number is that of a part, of something else, or of the data before they were prepared.
SUBSET = re.compile(
    r"(?i)\b(?:original|raw|source|per|each(?! of the)|every|whose|missing|duplicate\w*|removed|"
    r"dropped|belong\w*|"
    r"positive|negative|where|example|for instance|e\.g\.|leaderboard|hidden|public|private|batch\w*|"
    r"window|fold\w*|first|last|neighbou?rs?|teams?|participants?|limit\w*|at least|at most)\b"
)
_FEWEST = 20


def check(case: Case, text: Text) -> Iterator[Finding]:
    """A finding when a stated count of rows is none that the files have."""
    sizes = sizes_of(case)
    wrong = list(_wrong_rows(text, sizes))
    sure = [told for told, certain in wrong if certain]
    if not wrong:
        return
    told = "; ".join(dict.fromkeys(sure or [words for words, _ in wrong]))
    there = ", ".join(f"{name} has {rows:,}" for name, rows in list(sizes.tables.items())[:4])
    yield finding(
        "description_counts",
        f"description.txt says {told}; {there}",
        "state the rows that the files have",
        None if sure else Severity.WARNING,
    )


def _wrong_rows(text: Text, sizes: Sizes) -> Iterator[tuple[str, bool]]:
    for line in text.lines:
        if line.is_code:
            continue
        first = _FILE_FIRST.match(line.text)
        if first and stem(first["file"]) in {stem(name) for name in sizes.tables}:
            yield from _of_file(line, first, sizes)
            continue
        for match in _COUNT.finditer(line.text):
            sentence = _around(line.text, match.start(), match.end())
            number = value(match)
            if number < _FEWEST or _is_year(match) or SUBSET.search(sentence):
                continue
            near = match["more"] + line.text[max(0, match.start() - 50) : match.start()]
            trained, tested = _sides(near, line, match)
            one_side = trained != tested
            wanted = sizes.all if not one_side else sizes.train if trained else sizes.test
            if not wanted or fits(match, line.text, wanted):
                continue
            if not one_side and fits(match, line.text, sizes.groups | sizes.raw):
                continue
            raw = sizes.raw
            honest = raw | sizes.groups | (sizes.all if _media(match["noun"]) else set())
            plain = (one_side or not match["more"].strip()) and not is_loose(match, line.text)
            yield f'"{_shown(line.text, match)}"', plain and bool(raw) and not fits(match, line.text, honest)


def _of_file(line: Line, first: re.Match[str], sizes: Sizes) -> Iterator[tuple[str, bool]]:
    """The number that stands first behind the name of a table."""
    rows = next(rows for name, rows in sizes.tables.items() if stem(name) == stem(first["file"]))
    if (
        value(first) < _FEWEST
        or _NO_ROWS.match(first["noun"])
        or (_is_year(first) and first["noun"].lower() not in _ROWS)
    ):
        return
    if fits(first, line.text, {rows} | sizes.groups):
        return
    certain = bool(sizes.raw) and not fits(first, line.text, sizes.raw)
    yield f'"{" ".join(first[0].split())}"', certain


def _sides(near: str, line: Line, match: re.Match[str]) -> tuple[bool, bool]:
    """Whether the number is about training rows, and about test rows."""
    after = line.text[match.end() : match.end() + 30]
    after = re.split(r"[,;.()]|\band\b", after)[0]
    words = near + " " + match[0] + " " + after
    trained, tested = _TRAIN.search(words) is not None, _TEST.search(words) is not None
    if trained and tested:
        inner = match[0] + " " + after
        trained, tested = _TRAIN.search(inner) is not None, _TEST.search(inner) is not None
    return trained, tested


def _is_year(match: re.Match[str]) -> bool:
    return re.fullmatch(r"(?:1[89]|20)\d\d", match["number"]) is not None and not re.search(
        r"(?i)row|sample|record", match["noun"]
    )


def _media(noun: str) -> bool:
    return re.match(r"(?i)imag|pict|phot|record|clip|doc|text|item", noun) is not None


def _around(line: str, start: int, end: int) -> str:
    left = max(line.rfind(mark, 0, start) for mark in (". ", "; ", "("))
    right = min(
        (place for mark in (". ", "; ", ")") if (place := line.find(mark, end)) >= 0), default=len(line)
    )
    return line[left + 1 : right]


def _shown(line: str, match: re.Match[str]) -> str:
    return " ".join(line[max(0, match.start() - 20) : match.end() + 15].split())
