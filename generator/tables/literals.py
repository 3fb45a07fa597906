"""Values as Python source: names and cells of raw data enter generated code only as these literals."""

from __future__ import annotations

import json
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
    """A regular expression as a raw string where one can hold it."""
    raw = pattern.isprintable() and '"' not in pattern and not pattern.endswith("\\")
    return f'r"{pattern}"' if raw else literal(pattern)


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
