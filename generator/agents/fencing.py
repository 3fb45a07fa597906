"""Text of data, files and programs, marked so that a model can tell it from what it is told."""

from __future__ import annotations

import hashlib


def printable(text: str) -> str:
    """Without signs that cannot be printed, which could hide words from people or end a mark."""
    return "".join(sign for sign in text if sign.isprintable() or sign in "\n\t")


def fenced(name: str, text: str) -> str:
    """The text between marks that nothing in it can end, since they hold its own hash."""
    text, name = printable(text).rstrip("\n"), " ".join(printable(name).split())
    mark = hashlib.sha256(f"{name}\0{text}".encode("utf-8", "backslashreplace")).hexdigest()[:12]
    return f"<<<DATA {mark} {name}\n{text}\nEND {mark}>>>"


def clipped(text: str, most: int) -> str:
    """Head and tail of a long text, with a note of how much is left out between them."""
    if len(text) <= most:
        return text
    half = max(1, (most - 60) // 2)
    left_out = len(text) - 2 * half
    return f"{text[:half]}\n[... {left_out:,} characters left out ...]\n{text[-half:]}"
