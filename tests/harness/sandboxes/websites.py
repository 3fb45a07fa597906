"""Real servers on the loopback of this machine, for tests of the way out of a sandbox."""

from __future__ import annotations

import contextlib
import hashlib
import http.server
import json
import socket
import ssl
import threading
from collections.abc import Callable, Iterator
from typing import Any

HERE = "127.0.0.1"
LARGE = bytes(range(256)) * 12_000  # 3 MB


class Site(http.server.BaseHTTPRequestHandler):
    """``/`` is a page, ``/large`` 3 MB; what is posted to ``/sum`` comes back as its hash and the headers."""

    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        served = {"/": b"a page\n", "/large": LARGE, **self.server.files}  # type: ignore[attr-defined]
        found = served.get(self.path)
        self._answer(200 if found is not None else 404, found or b"none")

    def do_POST(self) -> None:
        if self.headers["Transfer-Encoding"] == "chunked":
            body = b""
            while size := int(self.rfile.readline(), 16):
                body += self.rfile.read(size)
                self.rfile.readline()
            self.rfile.readline()
        else:
            body = self.rfile.read(int(self.headers["Content-Length"]))
        seen = {"sha256": hashlib.sha256(body).hexdigest(), "headers": dict(self.headers)}
        self._answer(200, json.dumps(seen).encode())

    def _answer(self, status: int, body: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *arguments: Any) -> None:
        pass


@contextlib.contextmanager
def serve(files: dict[str, bytes] | None = None, context: ssl.SSLContext | None = None) -> Iterator[int]:
    """The port of a server of pages, and of further files by their path."""
    server = http.server.ThreadingHTTPServer((HERE, 0), Site)
    server.files = files or {}  # type: ignore[attr-defined]
    if context:
        server.socket = context.wrap_socket(server.socket, server_side=True)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    yield server.server_port
    server.shutdown()
    server.server_close()
    thread.join()


def start_server(serve_one: Callable[[socket.socket], None]) -> int:
    """The port of a server that hands each of its connections to a function; it ends with the tests."""
    listener = socket.create_server((HERE, 0))

    def loop() -> None:
        while True:
            connection, _ = listener.accept()
            with connection:
                serve_one(connection)

    threading.Thread(target=loop, daemon=True).start()
    return int(listener.getsockname()[1])


def read_all(client: socket.socket) -> bytes:
    """What comes until the other side ends."""
    data = b""
    try:
        while more := client.recv(1 << 16):
            data += more
    except ConnectionError:
        pass
    return data
