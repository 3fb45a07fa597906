"""JSON as models write it: read where there is only one reading, and an error that says where it breaks.

Accepted beside JSON: raw line breaks in strings, single and typographic quotes, triple quotes around text
without a backslash, keys without quotes, commas before a closing bracket, comments, Python's ``True``,
``False`` and ``None``, and closing brackets that are missing at the very end. Nothing is ever guessed inside
a string, since a program that was repaired wrongly is worse than an error.
"""

from __future__ import annotations

import json
import math
import re
from dataclasses import dataclass
from typing import Any

DEEPEST = 50
"""Nesting beyond this is an error; no action needs more than three levels."""

_SPACE = re.compile(r"(?:\s++|(?://|#)[^\n]{0,1000}+(?=\n|\Z)|/\*(?:[^*]|\*(?!/)){0,1000}+\*/)*+")
_END = re.compile(r"[\s`~]*+(?:</?[\w|]+>[\s`~]*+)*+\Z")
_KEY = re.compile(r"[A-Za-z_]\w*+")
_WORD = re.compile(r"[-+\w.]++")
_TRIPLE = re.compile(r"\"\"\"([^\\]*?)\"\"\"|'''([^\\]*?)'''")
_QUOTED = {
    opening: re.compile(rf"{opening}([^\\{closing}]*+(?:\\.[^\\{closing}]*+)*+){closing}", re.DOTALL)
    for opening, closing in ('""', "''", "“”", "‘’")
}
_WORDS = {"true": True, "True": True, "false": False, "False": False, "null": None, "None": None}


class Broken(ValueError):
    """Where and why a text is no JSON that can be read.

    Args:
        why: what is wrong.
        text: the whole text.
        position: where in it.
    """

    def __init__(self, why: str, text: str, position: int) -> None:
        position = min(position, len(text))
        line = text.count("\n", 0, position) + 1
        column = position - text.rfind("\n", 0, position)
        near = text[max(0, position - 30) : position + 10]
        self.position = position
        super().__init__(f"{why} at line {line}, column {column}, near {near!r}")


def _number(text: str) -> float | str:
    """A float, or its text where no strict JSON could hold it."""
    value = float(text)
    return value if math.isfinite(value) else text


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object; one that names a key twice has two readings, so it has none."""
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a key is there twice")
    return found


_STRICT = json.JSONDecoder(strict=False, parse_float=_number, parse_constant=str, object_pairs_hook=_unique)


def read_object(text: str, start: int = 0, *, may_end: bool = True) -> tuple[dict[str, Any], int]:
    """The object that begins at a position, and where it ends; numbers in it are finite.

    Args:
        text: what a model wrote.
        start: position of the opening brace.
        may_end: brackets still open at the end of the text count as closed. Not for a text that was cut off.

    Raises:
        Broken: it is no object, or there is more than one way to read it.
    """
    try:
        value, end = _STRICT.raw_decode(text, start)
    except (ValueError, RecursionError):
        reader = _Reader(text, start, may_end)
        value = reader.value(0)
        end = reader.at
    if not isinstance(value, dict):
        raise Broken("not a JSON object", text, start)
    if _too_deep(value):
        raise Broken("nested too deep", text, end)
    return value, end


def _too_deep(value: Any) -> bool:
    """Whether a value that was decoded by the library could not be written to a record again."""
    level = [value]
    for _ in range(DEEPEST):
        level = [
            inner
            for outer in level
            if isinstance(outer, dict | list)
            for inner in (outer.values() if isinstance(outer, dict) else outer)
        ]
        if not level:
            return False
    return True


@dataclass
class _Reader:
    """Reads one value from a position on."""

    text: str
    at: int
    may_end: bool

    def value(self, depth: int) -> Any:
        if depth > DEEPEST:
            raise self._broken("nested too deep")
        self._skip()
        match self.text[self.at : self.at + 1]:
            case "{":
                return self._object(depth)
            case "[":
                return self._array(depth)
            case "":
                raise self._broken("it ends where a value is expected")
            case quote if quote in _QUOTED:
                return self._string()
        return self._plain()

    def _object(self, depth: int) -> dict[str, Any]:
        self.at += 1
        found: dict[str, Any] = {}
        while not self._closes("}"):
            key = self._key()
            self._skip()
            if self.text[self.at : self.at + 1] != ":":
                raise self._broken("a ':' is expected")
            self.at += 1
            if key in found:
                raise self._broken(f"{key!r} is there twice")
            found[key] = self.value(depth + 1)
            self._comma("}")
        return found

    def _array(self, depth: int) -> list[Any]:
        self.at += 1
        found: list[Any] = []
        while not self._closes("]"):
            found.append(self.value(depth + 1))
            self._comma("]")
        return found

    def _closes(self, bracket: str) -> bool:
        self._skip()
        if self.text.startswith(bracket, self.at):
            self.at += 1
            return True
        return False

    def _comma(self, bracket: str) -> None:
        """Step over the comma between two items; none is needed before the closing bracket or the end."""
        self._skip()
        if self.text.startswith(",", self.at):
            self.at += 1
        elif self.may_end and _END.match(self.text, self.at):
            self.text = self.text[: self.at] + bracket
        elif not self.text.startswith(bracket, self.at):
            raise self._broken(f"a ',' or '{bracket}' is expected")

    def _key(self) -> str:
        if self.text[self.at : self.at + 1] in _QUOTED:
            return self._string()
        found = _KEY.match(self.text, self.at)
        if not found:
            raise self._broken("a key in double quotes is expected")
        self.at = found.end()
        return found[0]

    def _string(self) -> str:
        if found := _TRIPLE.match(self.text, self.at):
            self.at = found.end()
            return found[1] if found[1] is not None else found[2]
        found = _QUOTED[self.text[self.at]].match(self.text, self.at)
        if not found:
            raise self._broken("the string that begins here does not end")
        body = re.sub(r'\\.|"', _as_json, found[1], flags=re.DOTALL)
        try:
            value = json.loads(f'"{body}"', strict=False)
        except ValueError:
            raise self._broken(
                "the string that begins here holds a backslash that JSON does not know; write it as \\\\"
            ) from None
        self.at = found.end()
        return str(value)

    def _plain(self) -> Any:
        found = _WORD.match(self.text, self.at)
        word = found[0] if found else ""
        if word in _WORDS:
            value: Any = _WORDS[word]
        else:
            try:
                value = _STRICT.decode(word)
            except ValueError:
                raise self._broken("a value in double quotes is expected") from None
        self.at += len(word)
        return value

    def _skip(self) -> None:
        found = _SPACE.match(self.text, self.at)
        self.at = found.end() if found else self.at

    def _broken(self, why: str) -> Broken:
        return Broken(why, self.text, self.at)


def _as_json(found: re.Match[str]) -> str:
    """One escape, or one bare quote, of a string in any quotes as it is written in JSON."""
    return {'"': '\\"', "\\'": "'"}.get(found[0], found[0])
