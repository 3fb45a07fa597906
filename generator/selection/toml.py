"""TOML text of plain values."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any


def to_toml(document: Mapping[str, Any]) -> str:
    """A document of plain values, tables, and lists of tables; inner tables of these are written inline.

    Raises:
        ValueError: NaN or infinity.
        TypeError: a value that TOML has no word for.
    """
    tables = {key: value for key, value in document.items() if isinstance(value, Mapping)}
    lists = {key: value for key, value in document.items() if _is_list_of_tables(value)}
    lines = _pairs({key: value for key, value in document.items() if key not in tables | lists})
    for key, table in tables.items():
        lines += ["", f"[{_key(key)}]", *_pairs(table)]
    for key, entries in lists.items():
        for entry in entries:
            lines += ["", f"[[{_key(key)}]]", *_pairs(entry)]
    return "\n".join(lines) + "\n"


def _is_list_of_tables(value: Any) -> bool:
    return (
        isinstance(value, list | tuple) and bool(value) and all(isinstance(each, Mapping) for each in value)
    )


def _pairs(table: Mapping[str, Any]) -> list[str]:
    return [f"{_key(key)} = {_value(value)}" for key, value in table.items()]


def _key(key: str) -> str:
    bare = key.isascii() and key.replace("-", "").replace("_", "").isalnum()
    return key if bare else _text(key)


def _text(text: str) -> str:
    """JSON's escapes are TOML's, but for DEL, which JSON leaves as it is."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def _value(value: Any) -> str:
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        if not math.isfinite(value):
            raise ValueError(f"{value} has no place in the file")
        return repr(value)
    if isinstance(value, Mapping):
        return f"{{ {', '.join(_pairs(value))} }}"
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_value, value))}]"
    raise TypeError(f"TOML has no {type(value).__name__}")
