"""Counts of tokens as endpoints tell them."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from harness.models.base import Usage

#: A count that can be one; no call has had a thousandth of the most.
Tokens = Annotated[int, Field(ge=0, le=10**12)]


def usage_of(
    input: int, output: int, *, cache_read: int = 0, cache_write: int = 0, reasoning: int = 0
) -> Usage:
    """The usage of a call. A part that is larger than its whole was counted beside it, and is added to it."""
    cached = cache_read + cache_write
    return Usage(
        input=input if cached <= input else input + cached,
        cache_read=cache_read,
        cache_write=cache_write,
        output=output if reasoning <= output else output + reasoning,
        reasoning=reasoning,
    )
