"""Values as Python source: names and cells of raw data enter generated code only as these literals."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

_WIDTH = 100


def literal(value: Any) -> str:
    """The literal of a string, number, truth value, ``None``, or of a tuple, list or mapping of them."""
    if isinstance(value, str):
        plain = all(not 0xD800 <= ord(character) <= 0xDFFF for character in value)
        return json.dumps(value, ensure_ascii=False) if plain else ascii(value)
    if isinstance(value, Mapping):
        items = ", ".join(f"{literal(key)}: {literal(item)}" for key, item in value.items())
        return f"{{{items}}}"
    if isinstance(value, (tuple, list)):
        return f"[{', '.join(literal(item) for item in value)}]"
    if value is None or isinstance(value, (bool, int, float)):
        return repr(value)
    raise TypeError(f"{type(value).__name__} has no literal here")


def regex(pattern: str) -> str:
    """A regular expression as raw strings where they can hold it; a long one is cut before its groups."""
    if len(pattern) <= _WIDTH:
        return _raw(pattern)
    pieces = [piece for piece in re.split(r"(?=\(\?P<|\(\?:)", pattern) if piece]
    lines = [pieces[0]]
    for piece in pieces[1:]:
        if len(lines[-1]) + len(piece) <= _WIDTH - 40 or lines[-1].endswith("\\"):
            lines[-1] += piece
        else:
            lines.append(piece)
    return "\n".join(_raw(line) for line in lines)


def _raw(pattern: str) -> str:
    quote = "'" if '"' in pattern else '"'
    fits = pattern.isprintable() and quote not in pattern and not pattern.endswith("\\")
    return f"r{quote}{pattern}{quote}" if fits else literal(pattern)


def raw_file(relative: str) -> str:
    """The path of a raw file in a prepare.py, where the raw folder is called ``raw``."""
    return f"raw / {literal(relative)}"


def call(function: str, *arguments: str, **options: Any) -> str:
    """A call with its options as literals; one that is too long for a line has an argument on each."""
    return written(function, [*arguments, *(f"{name}={literal(value)}" for name, value in options.items())])


def written(function: str, parts: list[str]) -> str:
    """A call of parts that are source already."""
    line = f"{function}({', '.join(parts)})"
    if len(line) <= _WIDTH:
        return line
    return "\n".join([f"{function}(", *(f"    {part}," for part in parts), ")"])
