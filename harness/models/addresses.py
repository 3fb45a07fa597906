"""Addresses of endpoints, which are written to records and asked with a key."""

from __future__ import annotations

import os
import re
from typing import Annotated
from urllib.parse import urlsplit

from pydantic import AfterValidator

from harness.errors import InputError

_LOCAL = ("localhost", "127.0.0.1", "::1")


def checked_url(url: str) -> str:
    """The URL, if it is one that can be called and holds no secret.

    Raises:
        ValueError: it is not; the message does not repeat it.
    """
    try:
        parts = urlsplit(url)
        host = (parts.hostname or "").encode("idna")
        whole = parts.scheme in ("http", "https") and bool(host) and parts.port != 0
    except ValueError:
        whole = False
    if not whole or re.search(r"[\s\x00-\x1f\x7f]", url):
        raise ValueError("write a whole URL, such as http://localhost:8000/v1")
    if parts.username or parts.password or parts.query or parts.fragment:
        raise ValueError("no user, password or query may be in it; keys come from the environment")
    return url


Url = Annotated[str, AfterValidator(checked_url)]
"""Such a URL in a file or a command."""


def url_in_environment(variable: str) -> str | None:
    """The URL in an environment variable; ``None`` when it is not set.

    Raises:
        InputError: it cannot be called, or holds a secret.
    """
    url = os.environ.get(variable, "").strip()
    try:
        return checked_url(url) if url else None
    except ValueError as error:
        raise InputError(f"{variable}: {error}") from None


def is_local(url: str) -> bool:
    """Whether an address is on this machine."""
    return urlsplit(url).hostname in _LOCAL


def is_openai(url: str | None) -> bool:
    """Whether an address is OpenAI's own; ``None`` is, as the default of its SDK."""
    return url is None or (urlsplit(url).hostname or "").endswith(".openai.com")


def hosts_openai_models(url: str | None) -> bool:
    """Whether an address serves OpenAI's models as OpenAI does: its own, and Azure's."""
    return url is None or is_openai(url) or (urlsplit(url).hostname or "").endswith(".azure.com")
