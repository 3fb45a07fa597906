"""Columns that the description names, against those of the tables and of a submission."""

from __future__ import annotations

import re
from collections.abc import Iterator

from generator.defects.base import Finding, Severity
from generator.defects.registry import finding
from generator.verifier.case import Case
from generator.verifier.description.metrics import canonical
from generator.verifier.description.missing import EXCUSES, report
from generator.verifier.description.present import ENDINGS, Present, stem
from generator.verifier.description.text import Line, Text

_LIST = re.compile(
    r"(?i)^\W*(?:the )?(?:columns?|(?:data )?fields?|features|variables|attributes|data dictionary)\b"
)
_TICKED = re.compile(r"`([^`\n]{1,80})`")
_DEFINED = re.compile(
    r"^(?:[*_]{0,2})(?P<quote>[`\"']?)(?P<name>[^\W\d][\w.\-]*)(?P=quote)(?:[*_]{0,2})"
    r"(?:\s*\([^()\n]{0,60}\))?(?:\s*(?::|–|—|=| -(?![\d.])|\|)\s*|\s{2,}|\t)(?=\S)"
)
_SAID = re.compile(
    r"(?i)\b(?:columns?|features?|fields?|variables?|attributes?|colonnes?|spalten?|columnas?)"
    r"(?: (?:named|called|is|are|of|:))?:?\s*[`\"'*]{0,2}(?P<after>[^\W\d]\w*_\w+|"
    r"(?<=[`\"'*])[^\W\d][\w.\-]*)"
    r"|(?:[`\"'*]{1,2})(?P<before>[^\W\d][\w.\-]*)[`\"'*]{1,2}\s+(?:columns?|features?|fields?|"
    r"variables?|attributes?)\b"
)

_SENT = re.compile(r"(?i)\bsample.?submission|\bsubmission (?:file|format|form)\b|\bsubmit a (?:csv|file)\b")


def check(case: Case, text: Text) -> Iterator[Finding]:
    """Findings about columns of a submission that are not named, and about named ones that are not there."""
    yield from _unnamed(case, text)
    present = Present(case)
    yield from report("column", _missing(case, text, present), present)


def _unnamed(case: Case, text: Text) -> Iterator[Finding]:
    columns = (case.id_column, *case.targets)
    unnamed = [column for column in columns if not _is_named(column, text) and not _in_series(column, text)]
    if not unnamed:
        return
    more = f" and {len(unnamed) - 5} more" if len(unnamed) > 5 else ""
    yield finding(
        "description_columns",
        f"description.txt does not name {', '.join(unnamed[:5])}{more}",
        "say which columns a submission has",
        # One who is sent to the sample submission can read the names there.
        Severity.ERROR if len(unnamed) == len(columns) and not _SENT.search(text.plain) else Severity.WARNING,
    )


def _is_named(column: str, text: Text) -> bool:
    """Whether a column is named, in whichever case and with whatever between its words."""
    if text.names(column):
        return True
    words = [re.escape(word) for word in re.split(r"[\W_]+", column) if word]
    return bool(words) and bool(
        re.search(rf"(?i)(?<!\w){r'[ _.-]?'.join(words)}(?!\w)", text.plain.replace("\\_", "_"))
    )


def _in_series(column: str, text: Text) -> bool:
    """``class_01 ... class_14`` names all between."""
    parts = re.fullmatch(r"(.*?)(\d+)", column)
    if parts is None:
        return False
    one = rf"{re.escape(parts[1])}\d+"
    return (
        re.search(rf"(?<!\w){one}\W{{0,6}}(?:\.\.\.|…|to|through|-|–)\W{{0,6}}{one}", text.plain) is not None
    )


def _missing(case: Case, text: Text, present: Present) -> dict[str, bool]:
    """The columns named that are not there, and whether this is sure."""
    found: dict[str, bool] = {}
    for name, line in _listed_columns(text, present):
        if not _is_known(name, case, present):
            found[name] = _surely(name, line.text, present)
    for sentence in text.sentences:
        if EXCUSES.search(sentence):
            continue
        for match in _SAID.finditer(sentence):
            name = (match["after"] or match["before"]).strip(".")
            if not _is_known(name, case, present):
                found[name] = _surely(name, sentence, present)
        for name in _TICKED.findall(sentence):
            named = re.fullmatch(r"[^\W\d]\w*_\w+", name) is not None and name not in found
            if named and not _is_known(name, case, present) and not present.in_sources(name):
                found[name] = False
    return found


def _surely(name: str, sentence: str, present: Present) -> bool:
    """Whether a missing column is promised, and not one of the original data."""
    original = present.in_sources(name)
    return present.has_raw and not present.opaque and not original and not EXCUSES.search(sentence)


def _listed_columns(text: Text, present: Present) -> list[tuple[str, Line]]:
    """Names that lists of columns define: neighbouring lines of which half or more define real columns."""
    lists: list[list[tuple[str, Line, str]]] = []
    before: Line | None = None
    itemised: set[int] = set()
    for line in text.lines:
        if line.is_item:
            itemised.add(line.block)
        # Where items have marks, a line without one goes on with the item before it.
        goes_on = line.block in itemised and not line.is_item
        match = None if line.is_code or line.is_heading or goes_on else _DEFINED.match(line.text)
        if match:
            near = before is not None and lists and line.heading == before.heading
            if not near:
                lists.append([])
            lists[-1].append((match["name"], line, match["quote"]))
            before = line
        elif line.is_heading:
            before = None
    found = []
    for listed in lists:
        listed = [one for one in listed if one[0].rsplit(".", 1)[-1].lower() not in ENDINGS]
        real = [name for name, _, _ in listed if stem(name) in present.plain_columns]
        is_list = len(real) >= 2 and len(real) >= 0.5 * len(listed)
        # Within a list of columns an ordinary word is a column, too; elsewhere only what looks like a name.
        found += [
            (name, line) for name, line, quote in listed
            if is_list or (quote == "`" and "_" in name and (real or _LIST.search(line.heading)))
        ]  # fmt: skip
    return found


def _is_known(name: str, case: Case, present: Present) -> bool:
    """Whether a name is that of something else than a missing column."""
    bare, spec = stem(name), case.task.spec
    if (
        not bare
        or len(bare) < 2
        or bare in present.plain_columns
        or present.has_file(name)
        or name.lower() in present.values
    ):
        return True
    if "." in name and name.rsplit(".", 1)[-1].lower() in ENDINGS:
        return True
    # Att1 ... Att103, or what a joined name of columns begins with.
    if any(column.startswith(bare) and column[len(bare) :].isdigit() for column in present.plain_columns):
        return True
    if canonical(name) is not None or stem(spec.metric.name) == bare:
        return True
    return bare in _WORDS or bare in {
        stem(spec.title),
        stem(spec.source.name),
        stem(spec.id),
        stem(case.task.root.name),
    }


#: First words of lines that define no column.
_WORDS_WORDS = (
    "note notes goal data metric submission files file columns column features feature target targets "
    "id ids train test training sample licence license source evaluation description format example "
    "examples output input score traintestsplit randomstate readcsv ni yi pi ytrue ypred valuecounts "
    "columnname pandas numpy sklearn python where and with for the named called names values label "
    "labels rows row prediction predictions dataset images image class classes types type details "
    "hint important warning baseline scoring objective task testset trainset trainingset testdata "
    "traindata utf8 "
)
_WORDS = frozenset(_WORDS_WORDS.split())
