"""What stands between a client and the network: it writes exchanges down, or gives those written down."""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from harness.errors import InputError, ProviderError
from harness.models.wire.bodies import clean
from harness.models.wire.differing import Difference, request_difference
from harness.models.wire.exchanges import (
    REQUEST_HEADERS,
    RESPONSE_HEADERS,
    Exchange,
    ExchangeWriter,
    Failure,
    headers_to_keep,
)

if TYPE_CHECKING:
    import httpx2

#: Asks the network; raises an ``httpx2.RequestError`` when it gives no answer.
Send = Callable[[], "httpx2.Response"]


class Tape(Protocol):
    """Handles every exchange of one trial, in order."""

    #: Whether it asks the network, and so needs a key.
    live: bool

    def exchange(self, request: httpx2.Request, send: Send) -> httpx2.Response:
        """Answer a request: by ``send``, which asks the network, or from what was recorded.

        Neither the request, which is a copy, nor the response or the error that ``send`` gives holds the key.
        """
        ...


class Recorder:
    """Asks the network, and writes down what came of it, also when that is an error.

    Args:
        path: the file; it is made at the first exchange, so a trial without any has none.
    """

    live = True

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = threading.Lock()
        self._writer: ExchangeWriter | None = None
        self._written = 0
        self._closed = False

    def exchange(self, request: httpx2.Request, send: Send) -> httpx2.Response:
        """Ask the network. See :class:`Tape`."""
        import httpx2

        started, clock = datetime.now(UTC).isoformat(timespec="milliseconds"), time.monotonic()
        response: httpx2.Response | None = None
        failure: Failure | None = None
        try:
            response = send()
        except httpx2.RequestError as error:
            failure = Failure(kind=type(error).__name__, text=str(error))
            raise
        finally:
            if response is not None or failure is not None:
                self._write(request, response, failure, started, time.monotonic() - clock)
        return response

    def close(self) -> None:
        """Close the file; what a call that was given up still brings is not written."""
        with self._lock:
            self._closed = True
            if self._writer is not None:
                self._writer.close()

    def _write(
        self,
        request: httpx2.Request,
        response: httpx2.Response | None,
        failure: Failure | None,
        started: str,
        seconds: float,
    ) -> None:
        with self._lock:
            if self._closed:
                return
            self._written += 1
            self._writer = self._writer or ExchangeWriter(self._path)
            self._writer.write(
                Exchange(
                    number=self._written,
                    time=started,
                    method=request.method,
                    url=str(request.url),
                    request_headers=headers_to_keep(request.headers, REQUEST_HEADERS),
                    request=request.content,
                    status=None if response is None else response.status_code,
                    response_headers={}
                    if response is None
                    else headers_to_keep(response.headers, RESPONSE_HEADERS),
                    response=b"" if response is None else response.content,
                    seconds=round(seconds, 3),
                    failure=failure,
                )
            )


class TapeEnd(ProviderError):
    """A player cannot answer: its exchanges are used up, or a strict one is asked something else."""


class Player:
    """Answers with recorded exchanges, in order and byte for byte, and never asks the network.

    Args:
        exchanges: what was recorded.
        strict: refuse a request that is not the recorded one; otherwise the difference is only kept.
        ignoring: parts of a request's body that may differ.
        at_end: raised when no exchange is left, in place of :class:`TapeEnd`.

    Attributes:
        played: exchanges given so far.
        differences: where requests differed from the recorded ones, at most one for each request.
    """

    live = False

    def __init__(
        self,
        exchanges: Sequence[Exchange],
        *,
        strict: bool = False,
        ignoring: re.Pattern[str] | None = None,
        at_end: Exception | None = None,
    ) -> None:
        self._exchanges = exchanges
        self._strict = strict
        self._ignoring = ignoring
        self._at_end = at_end
        self._lock = threading.Lock()
        self.played = 0
        self.differences: list[Difference] = []

    @property
    def left(self) -> int:
        """Exchanges that have not been given."""
        return len(self._exchanges) - self.played

    def exchange(self, request: httpx2.Request, send: Send) -> httpx2.Response:
        """Give the next recorded response, or raise the recorded error. See :class:`Tape`.

        Raises:
            TapeEnd: no exchange is left, or the request differs and the player is strict.
        """
        with self._lock:
            exchange = self._next(request)
        if exchange.failure is not None:
            raise _error(exchange.failure, exchange.number)
        return _response(exchange)

    def _next(self, request: httpx2.Request) -> Exchange:
        if not self.left:
            raise self._at_end or TapeEnd(
                f"all {len(self._exchanges)} recorded exchanges are played, and another is asked for"
            )
        exchange = self._exchanges[self.played]
        difference = request_difference(
            exchange, request.method, str(request.url), request.content, self._ignoring
        )
        if difference is not None:
            self.differences.append(difference)
            if self._strict:
                raise TapeEnd(str(difference))
        self.played += 1
        return exchange


def _response(exchange: Exchange) -> httpx2.Response:
    import httpx2

    if exchange.status is None:
        raise InputError(f"exchange {exchange.number} has neither a status nor a failure")
    # As bytes: httpx2 itself would write text as ASCII only.
    headers = [
        (clean(name).encode(), clean(text).encode()) for name, text in exchange.response_headers.items()
    ]
    return httpx2.Response(exchange.status, headers=headers, content=exchange.response)


def _error(failure: Failure, number: int) -> httpx2.RequestError:
    import httpx2

    kind = getattr(httpx2, failure.kind, None)
    if not (isinstance(kind, type) and issubclass(kind, httpx2.RequestError)):
        raise InputError(f"exchange {number}: failure.kind {failure.kind!r} is no error of httpx2")
    return kind(failure.text)
