"""Heads of HTTP/1 messages, as a proxy reads them and sends them on."""

from __future__ import annotations

import re
from dataclasses import dataclass

from harness.sandboxes.network.hosts import join_port, normal_host, split_port

END = b"\r\n\r\n"
TUNNEL_OPEN = b"HTTP/1.1 200 Connection established" + END

_REQUEST = re.compile(rb"([A-Za-z-]{1,32}) ([\x21-\x7e\x80-\xff]+) (HTTP/1\.[01])")
_STATUS = re.compile(rb"HTTP/1\.[01] ([1-5])[0-9][0-9]( .*)?")
_HEADER = re.compile(rb"[!#$%&'*+.^_`|~0-9A-Za-z-]+:[\t\x20-\x7e\x80-\xff]*")
_URL = re.compile(r"http://([^/?#]*)([/?][^#]*)?", re.IGNORECASE)
# What is meant for the next hop only. Not Transfer-Encoding: bodies pass as they are.
_HOP_BY_HOP = {
    b"connection", b"keep-alive", b"proxy-authenticate", b"proxy-authorization", b"proxy-connection", b"te",
    b"upgrade",
}  # fmt: skip
_FRAMING = {b"content-length", b"transfer-encoding"}


class Refused(Exception):
    """The proxy answers a request itself.

    Args:
        status: the HTTP status of the answer.
        text: what it says, in one line; never holds what came with the request but its host and port.
    """

    def __init__(self, status: int, text: str) -> None:
        super().__init__(text)
        self.status = status

    def answer(self) -> bytes:
        """The whole answer. Its reason phrase is the text: of a refused tunnel, clients show only that."""
        body = f"mlesmith: {self}\n".encode()
        return (
            f"HTTP/1.1 {self.status} {self}\r\nContent-Type: text/plain; charset=utf-8\r\n"
            f"Content-Length: {len(body)}\r\nConnection: close\r\n\r\n"
        ).encode() + body


@dataclass(frozen=True)
class Request:
    """A request to a proxy.

    Attributes:
        host: in the normal form of :func:`harness.sandboxes.network.hosts.normal_host`.
        port: from 1 to 65535.
        head: what goes to the host before the rest; empty for a tunnel.
    """

    host: str
    port: int
    head: bytes

    @classmethod
    def parse(cls, head: bytes) -> Request:
        """Read ``CONNECT host:port`` or a request for an ``http://`` URL.

        Args:
            head: up to and with its empty line.

        Raises:
            Refused: it is neither, or no HTTP.
        """
        first, *headers = head.removesuffix(END).split(b"\r\n")
        request = _REQUEST.fullmatch(first)
        if not request:
            raise Refused(400, "this proxy speaks HTTP/1.0 and HTTP/1.1 only")
        if not all(_HEADER.fullmatch(header) for header in headers):
            raise Refused(400, "a header line is not of the form `name: value`")
        method, target, version = request.groups()
        try:
            if method == b"CONNECT":
                host, port = split_port(target.decode())
                if port is None:
                    raise ValueError("the port is missing")
                return cls(normal_host(host), port, b"")
            url = _URL.fullmatch(target.decode())
            if not url:
                raise ValueError("a proxy takes `CONNECT host:port` and `http://` URLs")
            host, port = split_port(url[1])
            host, port = normal_host(host), port or 80
        except ValueError as error:
            raise Refused(400, f"cannot tell which host is meant: {error}") from error
        path = url[2] or "/"
        path = path if path.startswith("/") else f"/{path}"
        kept = [header for header in _end_to_end(headers) if _name(header) != b"host"]
        name = b"Host: " + join_port(host, port).removesuffix(":80").encode()
        start = b" ".join((method, path.encode(), version))
        return cls(host, port, _join([start, name, b"Connection: close", *kept]))


def parse_answer(head: bytes) -> tuple[bytes, bool]:
    """A host's head as the client gets it, and whether it is an interim one before the real.

    The real one says that the connection ends with the answer.

    Raises:
        ValueError: it is no HTTP/1.
    """
    first, *headers = head.removesuffix(END).split(b"\r\n")
    status = _STATUS.fullmatch(first)
    if not status:
        raise ValueError("no status line of HTTP/1")
    interim = status[1] == b"1"
    return _join([first, *_end_to_end(headers), *([] if interim else [b"Connection: close"])]), interim


def _end_to_end(headers: list[bytes]) -> list[bytes]:
    """The header lines that are meant for the other end, not for a proxy on the way."""
    named = {
        word.strip().lower()
        for header in headers
        if _name(header) == b"connection"
        for word in header.partition(b":")[2].split(b",")
    }
    dropped = _HOP_BY_HOP | (named - _FRAMING)
    return [header for header in headers if _name(header) not in dropped]


def _name(header: bytes) -> bytes:
    return header.partition(b":")[0].strip().lower()


def _join(lines: list[bytes]) -> bytes:
    return b"\r\n".join(lines) + END
