"""A server on this machine that answers as it is told, and can fail in every way a real endpoint does."""

from __future__ import annotations

import json
import socket
import struct
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self


@dataclass(frozen=True)
class Said:
    """One answer.

    Attributes:
        body: what is sent: bytes as they are, anything else as JSON.
        status: the HTTP status.
        headers: beside content-type and content-length.
        delay: seconds before the first byte.
        cut: bytes of the body after which the connection is reset.
        drip: seconds between single bytes of the body.
        hang_up: close the connection without a word.
    """

    body: Any = b""
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    delay: float = 0.0
    cut: int | None = None
    drip: float = 0.0
    hang_up: bool = False

    @property
    def data(self) -> bytes:
        """The body as bytes."""
        return self.body if isinstance(self.body, bytes) else json.dumps(self.body).encode()


@dataclass(frozen=True)
class Asked:
    """One request: path with query, headers in lower case, and the body as JSON."""

    path: str
    headers: dict[str, str]
    body: Any


#: Answers a request, or lets the queue answer by ``None``.
Judge = Callable[[Asked], Said | None]


class Loopback:
    """Answers with what is queued, the last answer for ever, and keeps the requests.

    Attributes:
        judge: looks at every request before the queue does; refuses what the provider would.
        pages: bodies for GET requests by path; any other is not found. They are no part of ``asked``.
    """

    def __init__(self, judge: Judge | None = None) -> None:
        self.judge = judge
        self.asked: list[Asked] = []
        self.pages: dict[str, Any] = {}
        self._answers: list[Said] = []
        self._lock = threading.Lock()
        loopback = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            disable_nagle_algorithm = True  # else a body waits 40 ms for the headers before it

            def do_POST(self) -> None:
                raw = self.rfile.read(int(self.headers.get("content-length", 0)))
                headers = {name.lower(): value for name, value in self.headers.items()}
                loopback._answer(self, Asked(self.path, headers, json.loads(raw) if raw else None))

            def do_GET(self) -> None:
                page = loopback.pages.get(self.path)
                loopback._say(self, Said({"error": "not found"}, 404) if page is None else Said(page))

            def log_message(self, format: str, *args: Any) -> None:
                """Keep the test's output clean."""

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.root = f"http://127.0.0.1:{self.server.server_port}"
        self.url = f"{self.root}/v1"

    def __enter__(self) -> Self:
        self._thread = threading.Thread(target=self.server.serve_forever, args=(0.02,), daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *exc: object) -> None:
        self.server.shutdown()
        self.server.server_close()
        self._thread.join()

    @property
    def bodies(self) -> list[Any]:
        """The bodies of all requests."""
        return [asked.body for asked in self.asked]

    def queue(self, *answers: Any) -> None:
        """Add answers: a :class:`Said`, or the body of a success."""
        self._answers += [answer if isinstance(answer, Said) else Said(answer) for answer in answers]

    def _answer(self, handler: BaseHTTPRequestHandler, asked: Asked) -> None:
        with self._lock:
            self.asked.append(asked)
            said = self.judge(asked) if self.judge else None
            if said is None:
                said = self._answers.pop(0) if len(self._answers) > 1 else self._answers[0]
        self._say(handler, said)

    def _say(self, handler: BaseHTTPRequestHandler, said: Said) -> None:
        time.sleep(said.delay)
        if said.hang_up:
            return self._reset(handler)
        data = said.data
        handler.send_response(said.status)
        for name, value in {"content-type": "application/json", **said.headers}.items():
            handler.send_header(name, value)
        handler.send_header("content-length", str(len(data)))
        handler.end_headers()
        try:
            if said.drip:
                for byte in data:
                    handler.wfile.write(bytes([byte]))
                    time.sleep(said.drip)
                return None
            handler.wfile.write(data[: said.cut])
        except OSError:  # the client has given up
            handler.close_connection = True
            return None
        if said.cut is not None:
            self._reset(handler)
        return None

    @staticmethod
    def _reset(handler: BaseHTTPRequestHandler) -> None:
        handler.wfile.flush()
        handler.close_connection = True
        handler.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        handler.connection.close()


@contextmanager
def loopback(judge: Judge | None = None) -> Iterator[Loopback]:
    """A running server; it ends with the block."""
    with Loopback(judge) as opened:
        yield opened
