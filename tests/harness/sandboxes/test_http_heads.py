"""Heads of HTTP messages: whose host is meant, and what a proxy changes on the way."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.sandboxes.network.http_heads import Refused, Request, parse_answer


def request(*lines: str) -> Request:
    return Request.parse("".join(f"{line}\r\n" for line in (*lines, "")).encode())


@pytest.mark.parametrize(
    ("first", "host", "port"),
    [
        ("CONNECT example.org:443 HTTP/1.1", "example.org", 443),
        ("CONNECT Example.ORG.:8443 HTTP/1.0", "example.org", 8443),
        ("CONNECT [FD00::7]:443 HTTP/1.1", "fd00::7", 443),
        ("GET http://example.org HTTP/1.1", "example.org", 80),
        ("GET HTTP://example.org:8080/a HTTP/1.1", "example.org", 8080),
        ("PUT http://10.0.0.7/a?b HTTP/1.1", "10.0.0.7", 80),
        ("M-SEARCH http://example.org?q HTTP/1.0", "example.org", 80),
    ],
)
def test_the_host_that_is_meant(first: str, host: str, port: int) -> None:
    found = request(first, "Host: elsewhere.net")
    assert (found.host, found.port) == (host, port)
    assert bool(found.head) is not first.startswith("CONNECT")


@pytest.mark.parametrize(
    "first",
    [
        "", "GET", "GET / HTTP/1.1", "GET example.org HTTP/1.1", "GET https://example.org/ HTTP/1.1",
        "GET ftp://example.org/ HTTP/1.1", "GET http:///a HTTP/1.1",
        "GET http://user:key@example.org/ HTTP/1.1",
        "GET http://example.org@10.0.0.7/ HTTP/1.1", "GET http://example.org:x/ HTTP/1.1",
        "GET  http://a.org/ HTTP/1.1", "GET http://a.org/ HTTP/2.0", "GET http://a.org/ HTTP/1.1 ",
        "GET http://a.org/ b HTTP/1.1", "GET http://a.org/",
        "GET http://127.1/ HTTP/1.1", "GET http://0x7f000001/ HTTP/1.1", "GET http://a.org\\@b.org/ HTTP/1.1",
        "CONNECT example.org HTTP/1.1", "CONNECT :443 HTTP/1.1", "CONNECT example.org: HTTP/1.1",
        "CONNECT example.org:99999 HTTP/1.1", "CONNECT http://example.org:443 HTTP/1.1",
        "CONNECT ::1:443 HTTP/1.1",
        "CONNECT user@example.org:443 HTTP/1.1", "CONNECT [fe80::1%25eth0]:443 HTTP/1.1",
    ],
)  # fmt: skip
def test_nonsense_is_refused_without_repeating_it(first: str) -> None:
    with pytest.raises(Refused) as caught:
        request(first)
    assert caught.value.status == 400
    assert "key" not in str(caught.value) and "example.org" not in str(caught.value)


@pytest.mark.parametrize(
    "line", ["no colon", ": no name", "a b: c", " folded: line", "a: b\rc: d", "a: b\nc: d", "a: \0", "ä: b"]
)
def test_header_lines_that_two_readers_could_take_differently_are_refused(line: str) -> None:
    with pytest.raises(Refused, match="header line"):
        request("GET http://example.org/ HTTP/1.1", line)


def test_what_is_meant_for_the_proxy_stays_here() -> None:
    found = request(
        "POST http://example.org:8080/a?b=c HTTP/1.1",
        "Host: elsewhere.net",
        "Proxy-Authorization: Basic secret",
        "Proxy-Connection: keep-alive",
        "Connection: X-Once, Keep-Alive, Transfer-Encoding",
        "X-Once: 1",
        "Upgrade: websocket",
        "Authorization: Bearer mine",
        "Transfer-Encoding: chunked",
        "host: elsewhere.net",
    )
    assert found.head.decode().split("\r\n") == [
        "POST /a?b=c HTTP/1.1",
        "Host: example.org:8080",
        "Connection: close",
        "Authorization: Bearer mine",
        "Transfer-Encoding: chunked",
        "",
        "",
    ]


@pytest.mark.parametrize(
    ("url", "path"),
    [("http://a.org", "/"), ("http://a.org/", "/"), ("http://a.org?q", "/?q"), ("http://a.org/é", "/é")],
)
def test_the_host_gets_a_path(url: str, path: str) -> None:
    assert request(f"GET {url} HTTP/1.1").head.decode().startswith(f"GET {path} HTTP/1.1\r\nHost: a.org\r\n")


def test_an_answer_says_that_the_connection_ends() -> None:
    head = b"HTTP/1.1 200 OK\r\nConnection: keep-alive, X-Hop\r\nX-Hop: 1\r\nContent-Length: 2\r\n\r\n"
    assert parse_answer(head) == (
        b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\n",
        False,
    )
    assert parse_answer(b"HTTP/1.1 100 Continue\r\n\r\n") == (b"HTTP/1.1 100 Continue\r\n\r\n", True)
    assert parse_answer(b"HTTP/1.0 204\r\n\r\n")[1] is False


@pytest.mark.parametrize(
    "head", [b"", b"\r\n\r\n", b"SSH-2.0-x\r\n\r\n", b"HTTP/2 200\r\n\r\n", b"HTTP/1.1 OK\r\n\r\n"]
)
def test_what_is_no_answer_is_an_error(head: bytes) -> None:
    with pytest.raises(ValueError, match="HTTP/1"):
        parse_answer(head)


def test_our_own_answer_says_it_in_the_reason_and_in_the_body() -> None:
    head, _, body = Refused(403, "example.org:443 is not allowed here").answer().partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 403 example.org:443 is not allowed here\r\n")
    assert f"Content-Length: {len(body)}\r\n".encode() in head
    assert body == b"mlesmith: example.org:443 is not allowed here\n"


_PARTS = [
    b"GET", b"CONNECT", b" ", b"http://", b"a.org", b":", b"80", b"[", b"::1", b"]", b"/", b"HTTP/1.1",
    b"\r\n", b"\xff",
]  # fmt: skip


@given(st.binary(max_size=60) | st.lists(st.sampled_from(_PARTS)).map(b"".join))
def test_any_bytes_are_a_request_or_a_refusal(data: bytes) -> None:
    try:
        found = Request.parse(data + b"\r\n\r\n")
    except Refused as refused:
        assert refused.status == 400 and str(refused).isprintable()
    else:
        assert found.host and 0 < found.port < 65_536
