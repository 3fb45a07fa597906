"""The JSON of bodies: read so that whatever came can be written down and sent back."""

from __future__ import annotations

import json
from typing import Any


def read_json(body: bytes) -> Any:
    """The data of a body.

    Raises:
        ValueError: it is no JSON, or has a number that JSON cannot write, or is nested too deeply.
    """
    try:
        data = json.loads(body)
        written = json.dumps(data, ensure_ascii=False, allow_nan=False)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
    sendable = clean(written)
    return data if sendable == written else json.loads(sendable)


def clean(text: str) -> str:
    """A text that can be sent: lone surrogates, which models do write, have no UTF-8."""
    return text.encode("utf-8", "replace").decode()
