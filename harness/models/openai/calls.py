"""One call through the openai SDK: its client, and every way in which it can go wrong."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import openai
from httpx2 import DecodingError, Response
from pydantic import ValidationError

from harness.models.addresses import is_openai
from harness.models.base import Reply
from harness.models.faults import Fault, FaultKind
from harness.models.openai.errors import Complaint, garbled, outcome_of
from harness.models.registry import ModelConfig
from harness.models.wire.bodies import read_json
from harness.models.wire.client import open_client
from harness.models.wire.tapes import Tape

_BASE_URL = "https://api.openai.com/v1"


def make_client(config: ModelConfig, tape: Tape | None) -> openai.OpenAI:
    """The SDK's client for a model; it asks once and never again by itself.

    Raises:
        InputError: the key is missing, or cannot be one.
    """
    key, url = config.key(tape), config.endpoint_url or _BASE_URL
    client = openai.OpenAI(
        # A local server wants no key, but the SDK insists on one.
        api_key=key or "none",
        base_url=url,
        max_retries=0,
        http_client=open_client(url, key, tape),
    )
    # The SDK takes these from the environment. Headers can hold other secrets, which nobody would take out of
    # what comes back, and the account is no business of another endpoint.
    client._custom_headers = {}
    if not is_openai(url):
        client.organization = client.project = None
    return client


def answer(
    client: openai.OpenAI,
    path: str,
    request: dict[str, Any],
    seconds: float,
    read: Callable[[dict[str, Any]], Reply | Fault],
) -> Reply:
    """Make one call.

    Args:
        client: made by :func:`make_client`.
        path: of the API, for example ``/responses``.
        request: the body.
        seconds: how long the call may take.
        read: makes a reply of the body of a success, or tells a fault; may raise ``ValidationError``.

    Raises:
        Fault: there is no reply. It has no cause or context, for the SDK's errors hold the key in the headers
            of their requests.
    """
    outcome = _ask(client, path, request, seconds)
    if isinstance(outcome, bytes):
        outcome = _read(outcome, read)
    if isinstance(outcome, Fault):
        raise outcome
    return outcome


def tool_name(name: str) -> str:
    """A name that a call can be sent back by: models make up names that the APIs refuse in a conversation."""
    return re.sub(r"[^A-Za-z0-9_-]", "_", name)[:64] or "unnamed"


def _ask(client: openai.OpenAI, path: str, request: dict[str, Any], seconds: float) -> bytes | Reply | Fault:
    try:
        # The SDK's way for bodies of one's own. Its named methods spend a third of a second on matching a
        # long conversation against their types, and would take an answer of any form without a word.
        return client.post(path, cast_to=Response, body=request, options={"timeout": seconds}).content
    except openai.APIStatusError as error:
        response = error.response
        if response.is_redirect:
            where = response.headers.get("location", "elsewhere")
            return Fault(FaultKind.REQUEST, f"the endpoint sends us to {where}; set base_url to where it is")
        # Not error.body, which is only a part of it.
        return outcome_of(Complaint.read(error.status_code, _parsed(response.content)), response.headers)
    except openai.APITimeoutError:
        return Fault(FaultKind.TIMEOUT, f"no whole answer within {seconds:g} s")
    except openai.APIConnectionError as error:
        why = error.__cause__
        if isinstance(why, DecodingError):
            return garbled(str(why))
        return Fault(FaultKind.CONNECTION, f"{type(why).__name__}: {why}" if why else str(error))
    except openai.OpenAIError as error:
        return garbled(f"{type(error).__name__}: {error}")


def _parsed(content: bytes) -> Any:
    try:
        return read_json(content)
    except ValueError:
        text = content.decode(errors="replace")
        title = re.search(r"<title>(.*?)</title>", text, re.DOTALL | re.IGNORECASE)
        return title[1] if title else text


def _read(content: bytes, read: Callable[[dict[str, Any]], Reply | Fault]) -> Reply | Fault:
    try:
        body = read_json(content)
    except ValueError as error:
        if content.lstrip()[:1] == b"<":
            return garbled("the endpoint answered with a page for browsers; is base_url right?")
        return garbled(f"the answer is not JSON: {error}")
    if not isinstance(body, dict):
        return garbled("the answer is no JSON object")
    try:
        return read(body)
    except ValidationError as error:
        first = error.errors(include_input=False, include_url=False)[0]
        where = ".".join(str(part) for part in first["loc"])
        return garbled(f"the answer has another form than the API's: {where}: {first['msg']}")
