"""The text of a description: its lines without markup, sentences, and blocks of example rows."""

from __future__ import annotations

import html
import re
from dataclasses import dataclass
from functools import cached_property

_TAG = re.compile(r"</?[A-Za-z][^<>]{0,300}>")
_BREAK = re.compile(r"(?i)<(?:br|/p|/li|/tr|/h[1-6]|/div|/ul|/ol|/table)\b[^<>]{0,100}>")
_ITEM = re.compile(r"(?i)<li\b[^<>]{0,100}>")
_CODE = re.compile(r"(?i)</?code\b[^<>]{0,100}>")
_PICTURE = re.compile(r"!\[[^\[\]]{0,300}\]\([^()\s]{0,500}\)")
_LINK = re.compile(r"\[([^\[\]]{0,300})\]\([^()\s]{0,500}\)")
_URL = re.compile(r"(?i)\b(?:https?://|www\.)[^\s<>()\[\]\"']+")
_FENCE = re.compile(r"^\s*(?:```|~~~)")
_HEADING = re.compile(r"^\s{0,3}#{1,6}\s+(.{1,200}?)\s*#*$")
_RULED = re.compile(r"^[=\-~]{3,}$")
_MARK = re.compile(r"^\s*(?:[-*+•–]|\d{1,2}[.)])\s+")
_END = re.compile(r"(?<=[.!?;。！？])\s+|\n\s*\n")


@dataclass(frozen=True)
class Line:
    """One line.

    Attributes:
        text: without HTML, addresses and the marks of headings and items.
        heading: the title of the section that it stands in, or its own when it is one.
        is_heading: it is a title itself.
        is_item: it began with the mark of a list.
        is_code: it stands in a block of code or of example rows.
        block: the number of its paragraph; lines of one list may have an empty line between them.
    """

    text: str
    heading: str
    is_heading: bool
    is_item: bool
    is_code: bool
    block: int


@dataclass(frozen=True)
class Text:
    """A description, plain, Markdown or HTML.

    Attributes:
        raw: as it is in the file.
    """

    raw: str

    @cached_property
    def plain(self) -> str:
        """Without HTML and addresses; code of HTML is in backticks."""
        text = _ITEM.sub("\n- ", _BREAK.sub("\n", _CODE.sub("`", self.raw)))
        text = html.unescape(_TAG.sub(" ", text)) if "<" in text else html.unescape(text)
        return _URL.sub(" ", _LINK.sub(r"\1", _PICTURE.sub(" ", text.replace("\r\n", "\n"))))

    @cached_property
    def lines(self) -> list[Line]:
        """The lines that hold something."""
        rows = self.plain.split("\n")
        found: list[Line] = []
        heading, fenced, block = "", False, 0
        for number, row in enumerate(rows):
            if _FENCE.match(row):
                fenced = not fenced
                continue
            bare = row.strip()
            below = rows[number + 1].strip() if number + 1 < len(rows) else ""
            if not bare or _RULED.fullmatch(bare):
                block += not bare
                continue
            titled = None if fenced else _HEADING.match(row)
            named = titled is not None or (not fenced and bool(_RULED.fullmatch(below)))
            named = named or (not fenced and _is_title(bare))
            if named:
                heading = (titled.group(1) if titled else bare).strip("*_:` ")
            code = fenced or (row.startswith(("    ", "\t")) and _is_row(bare))
            found.append(Line(_MARK.sub("", bare), heading, named, bool(_MARK.match(row)), code, block))
        return found

    @cached_property
    def sentences(self) -> list[str]:
        """Sentences and items on one line each, without code."""
        parts: list[str] = []
        before: Line | None = None
        for line in self.lines:
            if line.is_code:
                before = None
                continue
            goes_on = before is not None and before.block == line.block and not before.is_heading
            if goes_on and not line.is_heading and not line.is_item and parts:
                parts[-1] += " " + line.text
            else:
                parts.append(line.text)
            before = line
        return [piece.strip() for part in parts for piece in _END.split(part) if piece.strip()]

    @cached_property
    def words(self) -> int:
        """How many words there are."""
        return len(re.findall(r"\w+", self.plain))

    def names(self, word: str) -> bool:
        """Whether a name stands in it as a word of its own."""
        # Markdown writers put a backslash before an underscore.
        text = self.plain.replace("\\_", "_")
        return word in text and re.search(rf"(?<!\w){re.escape(word)}(?!\w)", text) is not None


def _is_title(bare: str) -> bool:
    """A short line without a full stop such as ``Evaluation`` or ``**Submission Format**``."""
    words = bare.strip("*_: ").split()
    return 0 < len(words) <= 4 and bare.strip("*_: ")[:1].isupper() and bool(_TITLES.search(bare))


_TITLES = re.compile(
    r"(?i)^[*_]*(?:description|overview|goal|objective|evaluation|metric|metrics|scoring|data|dataset|files?|"
    r"columns?|fields?|features|submission|labels|classes|target|(?:data|dataset|file|submission|"
    r"data fields?|"
    r"evaluation) (?:description|format|file|metric|fields?|overview|descriptions))[*_:]*$"
)


def _is_row(bare: str) -> bool:
    """Whether an indented line looks like a row of a table or like code."""
    return bool(re.search(r"\S[,;|\t=]\S", bare)) and not re.search(r"[a-z]{2,} [a-z]{2,} [a-z]{2,} ", bare)
