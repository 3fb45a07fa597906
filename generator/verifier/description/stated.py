"""Numbers as people write them, and how far they may be off."""

from __future__ import annotations

import re

#: A count: ``1200``, ``1,200``, ``1 200``, ``1.2k``; no percentage, and no part of a word, a date or a path.
NUMBER = (
    r"(?<![\w.,\-–/'’])(?<!\d x )(?<!\d × )(?P<number>\d{1,3}(?:[,'’ \u00a0\u202f]\d{3})+|\d+(?:\.\d+)?)"
    r"\s?(?P<unit>k|K|thousand|million|m|M)?(?![\w.]\d|%|\s?%|\w)"
)
_ABOUT = re.compile(
    r"(?i)(?:about|around|approx\w*\.?|roughly|nearly|almost|over|more than|less than|under|at least|"
    r"up to|some|circa|ca\.|~|≈|several|at most|fewer than|close to|below|above|environ|etwa|"
    r"rund|unos|约|exceed\w*|"
    r"first|last|top|every|each)\s*$"
)
_UNITS = {"k": 1e3, "thousand": 1e3, "m": 1e6, "million": 1e6}
#: How far a number said to be about right may be off.
_ABOUT_SLACK = 0.2


def value(match: re.Match[str]) -> float:
    """The number of a match of :data:`NUMBER`."""
    number = float(re.sub(r"[,'’ \u00a0\u202f]", "", match["number"]))
    return number * _UNITS.get((match["unit"] or "").lower(), 1)


def is_loose(match: re.Match[str], line: str) -> bool:
    """Whether the text calls the number a rough one."""
    return _ABOUT.search(line[max(0, match.start("number") - 16) : match.start("number")]) is not None


def fits(match: re.Match[str], line: str, sizes: set[int]) -> bool:
    """Whether the number is one of the sizes, as far as it is rounded."""
    number, loose = value(match), is_loose(match, line)
    digits = re.sub(r"\D", "", match["number"])
    zeros = len(digits) - len(digits.rstrip("0"))
    rounding = (0.5 * 10**zeros if zeros >= 2 else 0.0) if not match["unit"] else 0.05 * number
    slack = max(rounding, _ABOUT_SLACK * number if loose else 0.0, 1.0 if number > 200 else 0.0)
    return any(abs(number - size) <= slack for size in sizes)
