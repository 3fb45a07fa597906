"""Output of untrusted programs as text that is safe to print."""

from __future__ import annotations

import re

#: Escape sequences after ECMA-48: control sequences, strings to their terminator, and the two-byte ones.
_ESCAPES = re.compile(
    r"\x1b\[[0-?]*[ -/]*[@-~]|\x1b[\]P^_X][^\n]*?(?:\x07|\x1b\\|$)|\x1b[ -/]*[0-~]?|\x9b[0-?]*[ -/]*[@-~]",
    re.MULTILINE,
)
#: Control characters but tab and newline, and characters that reorder text, break lines or cannot be seen.
_CONTROLS = re.compile(
    r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff\U000e0000-\U000e007f]"
)


def plain(text: str) -> str:
    """What a plain terminal would show in the end: a line that was overwritten shows its last state.

    Escape sequences and control characters could retitle or clear the terminal of whoever looks at a log, or
    make it show what is not there.
    """
    text = _ESCAPES.sub("", text).replace("\r\n", "\n")
    if "\r" in text:
        text = "\n".join(_overwritten(line) for line in text.split("\n"))
    # Half a character, which JSON can hold, is none that could be written to a file.
    return _CONTROLS.sub("", text).encode("utf-8", errors="replace").decode("utf-8")


def _overwritten(line: str) -> str:
    parts = [part for part in line.split("\r") if part]
    return parts[-1] if parts else ""
