"""``exchanges.jsonl``: what went over HTTP during a trial, every body in full.

The first line says the schema version, each further one an exchange. A request repeats the conversation so
far, so only what differs from the body of the request before is written, and the file grows as the
conversation does.
"""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO

from pydantic import BaseModel, ConfigDict, ValidationError

from harness.errors import InputError
from harness.tasks.package import describe_validation

SCHEMA_VERSION = 1

#: The headers that are written down, since any other may hold a secret; ``x-ratelimit-`` is a beginning.
REQUEST_HEADERS = ("accept", "content-type", "user-agent")
RESPONSE_HEADERS = (
    "content-type",
    "date",
    "openai-model",
    "openai-processing-ms",
    "openai-version",
    "request-id",
    "retry-after",
    "retry-after-ms",
    "x-ratelimit-",
    "x-request-id",
)


class Failure(BaseModel):
    """Why there was no response: the name of a class of httpx2, and its text."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    kind: str
    text: str


@dataclass(frozen=True)
class Exchange:
    """One request and what came of it. Nothing in it holds a key.

    Attributes:
        number: counted from 1.
        time: when it began, UTC, ISO 8601.
        url: with its query.
        request_headers: those of :data:`REQUEST_HEADERS`.
        request: the body.
        status: the HTTP status; ``None`` without a response.
        response_headers: those of :data:`RESPONSE_HEADERS`.
        response: the body, decoded.
        seconds: from the start of the request to the last byte of the response.
        failure: why there was no response.
    """

    number: int
    time: str
    method: str
    url: str
    request_headers: dict[str, str]
    request: bytes
    status: int | None
    response_headers: dict[str, str]
    response: bytes
    seconds: float
    failure: Failure | None = None


class _Body(BaseModel):
    """Bytes: ``same`` first and ``tail`` last ones of the body before, and between these what is new.

    That is ``text``, or ``base64`` where it is no UTF-8.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    same: int = 0
    tail: int = 0
    text: str = ""
    base64: str | None = None

    @classmethod
    def of(cls, data: bytes, before: bytes = b"") -> _Body:
        same = _equal_bytes(data, before)
        while 0 < same < len(data) and _inside_character(data[same]):
            same -= 1
        tail = _equal_bytes(data[same:][::-1], before[same:][::-1])
        while tail and _inside_character(data[-tail]):
            tail -= 1
        rest = data[same : len(data) - tail]
        try:
            return cls(same=same, tail=tail, text=rest.decode())
        except UnicodeDecodeError:
            return cls(same=same, tail=tail, base64=base64.b64encode(rest).decode())

    def data(self, before: bytes = b"") -> bytes:
        """The whole body.

        Raises:
            ValueError: it is not one, or the body before is another.
        """
        if self.same < 0 or self.tail < 0 or self.same + self.tail > len(before):
            raise ValueError(f"repeats {self.same} + {self.tail} bytes of {len(before)}")
        rest = self.text.encode() if self.base64 is None else base64.b64decode(self.base64, validate=True)
        return before[: self.same] + rest + before[len(before) - self.tail :]


class _Line(BaseModel):
    """One exchange as it is written."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    number: int
    time: str
    method: str
    url: str
    request_headers: dict[str, str]
    request: _Body
    status: int | None
    response_headers: dict[str, str]
    response: _Body
    seconds: float
    failure: Failure | None


class ExchangeWriter:
    """Appends exchanges to a new file, each flushed at once.

    Args:
        path: the file; one that is there is replaced.
    """

    def __init__(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self._stream: TextIO = path.open("w", encoding="utf-8")
        self._before = b""
        self._put({"schema_version": SCHEMA_VERSION})

    def write(self, exchange: Exchange) -> None:
        """Append one exchange."""
        fields = {name: getattr(exchange, name) for name in _Line.model_fields}
        fields["request"] = _Body.of(exchange.request, self._before)
        fields["response"] = _Body.of(exchange.response)
        self._put(_Line.model_validate(fields).model_dump(mode="json", exclude_defaults=True))
        self._before = exchange.request

    def close(self) -> None:
        """Close the file."""
        self._stream.close()

    def _put(self, document: object) -> None:
        self._stream.write(json.dumps(document, allow_nan=False) + "\n")
        self._stream.flush()


def read_exchanges(path: Path) -> list[Exchange]:
    """The exchanges of a trial, in order. A last line that a crash has torn is left out.

    Raises:
        InputError: names the file, the line and what is wrong with it.
    """
    try:
        lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    except FileNotFoundError as error:
        raise InputError(f"{path}: not found") from error
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: not UTF-8: {error}") from error
    if lines and not lines[-1].endswith("\n"):
        del lines[-1]
    exchanges: list[Exchange] = []
    before = b""
    for number, text in enumerate(lines, start=1):
        where = f"{path}, line {number}"
        try:
            document = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise InputError(f"{where}: not valid JSON: {error}") from error
        if number == 1:
            version = document.get("schema_version") if isinstance(document, dict) else None
            if version != SCHEMA_VERSION:
                raise InputError(
                    f"{where}: schema_version {version!r} is unknown; this version reads {SCHEMA_VERSION}"
                )
            continue
        try:
            line = _Line.model_validate(document)
            whole = {"request": line.request.data(before), "response": line.response.data()}
        except ValidationError as error:
            raise InputError(f"{where}: {describe_validation(error)}") from error
        except (ValueError, binascii.Error) as error:
            raise InputError(f"{where}: a body {error}") from error
        before = whole["request"]
        exchanges.append(Exchange(**{name: getattr(line, name) for name in _Line.model_fields} | whole))
    return exchanges


def headers_to_keep(headers: Mapping[str, str], allowed: tuple[str, ...]) -> dict[str, str]:
    """Those headers that may be written down; an allowed name that ends with ``-`` allows all that go on."""
    exact, starts = set(allowed), tuple(name for name in allowed if name.endswith("-"))
    named = {name.lower(): value for name, value in headers.items()}
    return {name: text for name, text in sorted(named.items()) if name in exact or name.startswith(starts)}


def _equal_bytes(one: bytes, other: bytes) -> int:
    """How many first bytes are equal, by halves: bodies are long, and comparing slices is quick."""
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        if one[low:middle] == other[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def _inside_character(byte: int) -> bool:
    """Whether a byte of UTF-8 goes on with a character, so that cutting before it would break one."""
    return byte & 0xC0 == 0x80
