"""What the SDK raises, as faults."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import httpx2
from google.genai.errors import APIError

from harness.models.faults import Fault, FaultKind
from harness.models.wire.bodies import clean
from harness.models.wire.waits import retry_after

_LONGEST_MESSAGE = 500
_OVERFLOW = re.compile(r"exceeds the maximum number of tokens|payload size exceeds", re.IGNORECASE)
#: The account's money or its limit of the month is used up.
_SPENT = re.compile(r"credits are depleted|spending cap|\blimit: 0(?![\d.])", re.IGNORECASE)


def to_fault(error: Exception) -> Fault:
    """The fault that an exception of the SDK or of its HTTP client means."""
    if isinstance(error, APIError):
        return _refused(error)
    message = _one_line(f"{type(error).__name__}: {error}")
    if isinstance(error, httpx2.TimeoutException):
        return Fault(FaultKind.TIMEOUT, message)
    if isinstance(error, httpx2.TransportError) and not isinstance(error, httpx2.DecodingError):
        return Fault(FaultKind.CONNECTION, message)
    return Fault(FaultKind.GARBLED, message)


def _refused(error: APIError) -> Fault:
    status = error.code
    said = error.message if isinstance(error.message, str) else ""
    word = error.status if isinstance(error.status, str) else ""
    if 300 <= status < 400:
        said = "the endpoint sends us elsewhere; set base_url to where it is"
        return Fault(FaultKind.REQUEST, said, status=status)
    message = _one_line(f"{status} {word}: {said}")
    return Fault(_kind(status, word, said, error.details), message, status=status, retry_after=_wait(error))


def _kind(status: int, word: str, said: str, details: Any) -> FaultKind:
    if status == 400:
        # Google refuses wrong keys, and places and accounts it does not serve, as bad requests.
        if (
            "API_KEY_INVALID" in _values(details, "reason")
            or "API key" in said
            or word == "FAILED_PRECONDITION"
        ):
            return FaultKind.KEY
        return FaultKind.CONTEXT if _OVERFLOW.search(said) else FaultKind.REQUEST
    if status == 429:
        per_day = any("PerDay" in quota for quota in _values(details, "quotaId"))
        nothing = "0" in _values(details, "quotaValue")
        return FaultKind.QUOTA if per_day or nothing or _SPENT.search(said) else FaultKind.RATE_LIMIT
    if status in (401, 403):
        return FaultKind.KEY
    if status == 402:
        return FaultKind.QUOTA
    if status == 404:
        return FaultKind.MODEL
    if status == 413:
        return FaultKind.CONTEXT
    if status in (408, 409, 499) or status >= 500:
        return FaultKind.OVERLOADED
    return FaultKind.REQUEST if 400 <= status < 500 else FaultKind.GARBLED


def _wait(error: APIError) -> float | None:
    """Seconds to wait, from google.rpc.RetryInfo (``38.5s``) or else from the headers."""
    for delay in _values(error.details, "retryDelay"):
        if re.fullmatch(r"\d{1,9}(\.\d+)?s", delay):
            return float(delay[:-1])
    return retry_after(getattr(error.response, "headers", {}))


def _values(tree: Any, name: str) -> list[str]:
    """All strings under a name, anywhere in JSON data."""
    return list(_walk(tree, name))


def _walk(tree: Any, name: str) -> Iterator[str]:
    if isinstance(tree, dict):
        for key, value in tree.items():
            if key == name and isinstance(value, str):
                yield value
            yield from _walk(value, name)
    elif isinstance(tree, list):
        for item in tree:
            yield from _walk(item, name)


def _one_line(text: str) -> str:
    return clean(" ".join(text.split())[:_LONGEST_MESSAGE])
