"""Taking a key out of whatever may hold it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from html import escape
from urllib.parse import quote

import httpx2

#: What stands where a key stood.
MASK = "[key]"
#: Servers on the own machine take any word for a key, such as ``none``; words are no secrets.
MIN_KEY_LENGTH = 8


class Scrubber:
    """Replaces a key, also as it is written inside JSON, URLs and pages, by :data:`MASK`.

    Args:
        key: the key; ``None``, and what is shorter than :data:`MIN_KEY_LENGTH`, leaves everything as it is.
    """

    def __init__(self, key: str | None) -> None:
        forms = set(_forms(key)) if key and len(key) >= MIN_KEY_LENGTH else set()
        # The longest first: one form can be a part of another.
        self._forms = sorted(forms, key=len, reverse=True)

    def text(self, text: str) -> str:
        """The text without the key."""
        for form in self._forms:
            text = text.replace(form, MASK)
        return text

    def data(self, data: bytes) -> bytes:
        """The bytes without the key."""
        for form in self._forms:
            data = data.replace(form.encode(), MASK.encode())
        return data

    def headers(self, headers: Iterable[tuple[bytes, bytes]]) -> list[tuple[bytes, bytes]]:
        """The headers without the key."""
        return [(self.data(name), self.data(value)) for name, value in headers]

    def request(self, request: httpx2.Request) -> httpx2.Request:
        """A copy of a request without the key."""
        return httpx2.Request(
            request.method,
            self.text(str(request.url)),
            headers=self.headers(request.headers.raw),
            content=self.data(request.read()),
        )


def _forms(key: str) -> Iterator[str]:
    """A key as it is, and in every way in which servers are known to write it down."""
    in_json = json.dumps(key)[1:-1]
    yield from (key, in_json, in_json.replace("/", "\\/"), escape(key), escape(key, quote=False))
    # Go writes < > & so in JSON, and .NET also + and quotes; digits of either case are in use.
    for odd in ("[<>&]", r"[^A-Za-z0-9/._-]", r"[^A-Za-z0-9]"):
        for digits in ("02x", "02X"):
            yield re.sub(odd, lambda sign, digits=digits: f"\\u00{ord(sign[0]):{digits}}", key)
    for safe in ("/", ""):
        quoted = quote(key, safe=safe)
        yield from (quoted, re.sub("%..", lambda code: code[0].lower(), quoted))
