"""Where what is asked or done now differs from what was recorded."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any

from harness.models.wire.exchanges import Exchange

#: Characters shown before and after the place where two texts part.
_BEFORE, _AFTER = 20, 40
_MISSING = object()


@dataclass(frozen=True)
class Difference:
    """The first difference of one request.

    Attributes:
        number: of the recorded exchange.
        place: ``method``, ``url``, or a place in the body such as ``messages[3].content, character 120``.
        recorded: what was recorded there, in short.
        now: what is there now, in short.
    """

    number: int
    place: str
    recorded: str
    now: str

    def __str__(self) -> str:
        return f"exchange {self.number} differs at {self.place}: recorded {self.recorded}, now {self.now}"


def request_difference(
    exchange: Exchange, method: str, url: str, body: bytes, ignoring: re.Pattern[str] | None = None
) -> Difference | None:
    """The first difference between a recorded request and another; ``None`` when they are equal.

    Args:
        exchange: the recorded one.
        method: of the other, as its ``url`` and ``body``.
        ignoring: parts of a body that may differ.
    """
    for place, recorded, now in (("method", exchange.method, method), ("url", exchange.url, url)):
        if recorded != now:
            return Difference(exchange.number, place, repr(recorded), repr(now))
    if exchange.request == body:
        return None
    one, other = (
        masked(data.decode("utf-8", "backslashreplace"), ignoring) for data in (exchange.request, body)
    )
    if one == other:
        return None
    try:
        found = value_difference(json.loads(one), json.loads(other))
    except (ValueError, RecursionError):
        found = None
    # Equal data can be written differently; then only the text tells.
    return Difference(exchange.number, *(found or _in_texts(one, other, "the body")))


def masked(text: str, ignoring: re.Pattern[str] | None) -> str:
    """A text with ``#`` for each part that may differ."""
    return text if ignoring is None else ignoring.sub("#", text)


def value_difference(recorded: Any, now: Any, place: str = "") -> tuple[str, str, str] | None:
    """The first place where two JSON values differ, and what each has there, in short.

    Args:
        recorded: the one.
        now: the other.
        place: where both are, if they are part of something.
    """
    if isinstance(recorded, dict) and isinstance(now, dict):
        for key in {**recorded, **now}:
            inner = f"{place}.{key}" if place else key
            if found := value_difference(recorded.get(key, _MISSING), now.get(key, _MISSING), inner):
                return found
        return None
    if isinstance(recorded, list) and isinstance(now, list):
        for index, (one, other) in enumerate(zip_longest(recorded, now, fillvalue=_MISSING)):
            if found := value_difference(one, other, f"{place}[{index}]"):
                return found
        return None
    if type(recorded) is type(now) and recorded == now:
        return None
    if isinstance(recorded, str) and isinstance(now, str) and max(len(recorded), len(now)) > _BEFORE + _AFTER:
        return _in_texts(recorded, now, place)
    return place or "the body", _shown(recorded), _shown(now)


def _in_texts(recorded: str, now: str, place: str) -> tuple[str, str, str]:
    """The first character where two texts part, and their words around it."""
    pairs = zip_longest(recorded, now)
    at = next((index for index, (one, other) in enumerate(pairs) if one != other), 0)
    start, end = max(0, at - _BEFORE), at + _AFTER
    return f"{place}, character {at + 1}", repr(recorded[start:end]), repr(now[start:end])


def _shown(value: Any) -> str:
    if value is _MISSING:
        return "nothing"
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _BEFORE + _AFTER else f"{text[: _BEFORE + _AFTER]}..."
