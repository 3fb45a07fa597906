"""Output of untrusted programs as text that is safe to print."""

from __future__ import annotations

import re

#: Escape sequences after ECMA-48: control sequences, strings to their terminator, and the two-byte ones.
_ESCAPES = re.compile(
    r"\x1b\[[0-?]*[ -/]*[@-~]|\x1b[\]P^_X][^\n]*?(?:\x07|\x1b\\|$)|\x1b[ -/]*[0-~]?|\x9b[0-?]*[ -/]*[@-~]",
    re.MULTILINE,
)
#: Control characters but tab and newline, and those that reorder text.
_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]")


def plain(text: str) -> str:
    """What a plain terminal would show in the end: a line that was overwritten shows its last state.

    Escape sequences and control characters could retitle or clear the terminal of whoever looks at a log, or make
    it show what is not there.
    """
    text = _ESCAPES.sub("", text).replace("\r\n", "\n")
    if "\r" in text:
        text = "\n".join(_overwritten(line) for line in text.split("\n"))
    return _CONTROLS.sub("", text)


def _overwritten(line: str) -> str:
    parts = [part for part in line.split("\r") if part]
    return parts[-1] if parts else ""
