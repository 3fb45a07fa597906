"""How long an endpoint asks us to wait."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping
from datetime import UTC
from email.utils import parsedate_to_datetime


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds from now by ``retry-after-ms`` or ``retry-after``; ``None`` when neither says it readably.

    A moment counts from the answer's own ``date``, so clocks that differ do no harm.

    Args:
        headers: of an answer, their names in lower case or found in any case.
    """
    for name, unit in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        try:
            seconds = float(headers.get(name, "")) * unit
        except ValueError:
            continue
        if math.isfinite(seconds):
            return max(0.0, seconds)
    until, sent = _moment(headers.get("retry-after", "")), _moment(headers.get("date", ""))
    if until is None:
        return None
    return max(0.0, until - (time.time() if sent is None else sent))


def _moment(text: str) -> float | None:
    """Seconds since 1970 of a date as HTTP writes it."""
    try:
        moment = parsedate_to_datetime(text)
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
    except (TypeError, ValueError, OverflowError):
        return None
