"""How long endpoints ask us to wait (RFC 9110, section 10.2.3)."""

from __future__ import annotations

import email.utils
import time

import pytest

from harness.models.wire.waits import retry_after

NOON = "Wed, 21 Oct 2026 12:00:00 GMT"


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, None),
        ({"retry-after": ""}, None),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "7"}, 7.0),
        ({"retry-after": "0.5"}, 0.5),
        ({"retry-after": "-3"}, 0.0),
        ({"retry-after": "1e300"}, 1e300),  # whoever waits has a cap
        ({"retry-after": "1e309"}, None),
        ({"retry-after": "nan"}, None),
        ({"retry-after-ms": "1500", "retry-after": "9"}, 1.5),
        ({"retry-after-ms": "nan", "retry-after": "9"}, 9.0),
        ({"retry-after": "Wed, 21 Oct 2026 12:01:00 GMT", "date": NOON}, 60.0),
        ({"retry-after": "Wed, 21 Oct 2026 12:01:00 -0000", "date": NOON}, 60.0),
        ({"retry-after": "Wed, 21 Oct 2026 11:00:00 GMT", "date": NOON}, 0.0),
        ({"retry-after": "Wed, 31 Feb 2026 12:01:00 GMT", "date": NOON}, None),
        ({"retry-after": "Wed, 21 Oct 2015 07:28:00 GMT", "date": "nonsense"}, 0.0),
    ],
)
def test_seconds_and_moments_are_read_and_nonsense_is_not(
    headers: dict[str, str], seconds: float | None
) -> None:
    assert retry_after(headers) == seconds


def test_a_moment_at_the_end_of_the_calendar_is_no_error() -> None:
    assert (retry_after({"retry-after": "Fri, 31 Dec 9999 23:59:59 -2359"}) or 0.0) > 1e9


def test_a_moment_counts_from_now_where_the_answer_has_no_date() -> None:
    asked = retry_after({"retry-after": email.utils.formatdate(time.time() + 3600, usegmt=True)})
    assert asked is not None
    assert 3000 < asked <= 3600
