"""What the strict servers share: how they refuse a request, in OpenAI's words."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Set
from typing import Any

from tests.harness.models.loopback import Asked, Said

#: Names that models call tools by though no tool may have them, and how they are sent back.
ODD_NAMES = [
    ("run code!", "run_code_"),
    ("functions.execute_code", "functions_execute_code"),
    ("执行", "__"),
    ("", "unnamed"),
    ("x" * 65, "x" * 64),
]


class Refused(Exception):
    """A request is wrong, as an API would say it."""

    def __init__(self, message: str, param: str | None = None, code: str | None = None) -> None:
        super().__init__(message)
        self.param = param
        self.code = code


def said_error(
    status: int,
    message: str,
    *,
    code: str | int | None = None,
    type: str = "invalid_request_error",
    param: str | None = None,
    headers: Mapping[str, str] | None = None,
) -> Said:
    """An error body as OpenAI words it; underscores in the names of headers are hyphens on the wire."""
    body = {"error": {"message": message, "type": type, "param": param, "code": code}}
    sent = {name.replace("_", "-"): value for name, value in (headers or {}).items()}
    return Said(body, status, sent)


def judge(asked: Asked, path: str, key: str | None, check: Callable[[Any], None]) -> Said | None:
    """The refusal of a request, or ``None`` for a good one.

    Args:
        asked: the request.
        path: the only one that is served.
        key: the only one that is taken; ``None`` for a server that wants none.
        check: raises :class:`Refused`, or ``KeyError`` for what is missing, by the body.
    """
    if asked.path != path:
        return said_error(404, f"Invalid URL (POST {asked.path})")
    if key is not None and asked.headers.get("authorization") != f"Bearer {key}":
        return said_error(401, "Incorrect API key provided.", code="invalid_api_key")
    try:
        check(asked.body)
    except Refused as refused:
        return said_error(400, str(refused), code=refused.code, param=refused.param)
    except KeyError as missing:
        return said_error(400, f"Missing required parameter: {missing}.", param=str(missing.args[0]))
    return None


def require(holds: bool, message: str, param: str | None) -> None:
    """Refuse unless something holds."""
    if not holds:
        raise Refused(message if param is None else f"Invalid '{param}': {message}", param)


def only(given: Any, known: Set[str], where: str = "") -> None:
    """Refuse what is no object, or has keys that are not known."""
    require(isinstance(given, dict), "expected an object", where or None)
    for key in sorted(set(given) - known):
        name = f"{where}.{key}" if where else key
        raise Refused(f"Unknown parameter: '{name}'.", name, "unknown_parameter")


def check_tool_name(name: Any, where: str) -> None:
    """Refuse a name that no tool may have."""
    fits = isinstance(name, str) and re.fullmatch(r"[A-Za-z0-9_-]{1,64}", name) is not None
    require(fits, "string does not match pattern '^[a-zA-Z0-9_-]+$'", where)


def check_schema(schema: Any, where: str) -> None:
    """Refuse a schema that strict structured output does not take."""
    require(isinstance(schema, dict), "expected an object", where)
    for branch in schema.get("anyOf", ()):
        check_schema(branch, where)
    if schema.get("type") != "object":
        return
    fits = schema.get("additionalProperties") is False
    require(fits, "'additionalProperties' is required to be supplied and to be false", where)
    fits = set(schema.get("required", ())) == set(schema.get("properties", ()))
    require(fits, "'required' is required to be an array including every key in properties", where)
    for name, part in schema.get("properties", {}).items():
        check_schema(part, f"{where}.{name}")
