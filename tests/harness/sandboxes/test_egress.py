"""The proxy outside a sandbox: allowed hosts are reached and no others; floods and garbage do no harm.

The tests speak to its socket as code inside a sandbox can. The servers are real ones on the loopback of this
machine, reached only since the tests list their address.
"""

from __future__ import annotations

import hashlib
import http.client
import json
import socket
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.errors import InputError
from harness.sandboxes.network import egress as module
from harness.sandboxes.network.egress import Connection, Egress
from harness.sandboxes.warm.inside import relay
from tests.harness.sandboxes.websites import HERE, LARGE, read_all, serve, start_server

SOON = 20.0  # what must not hang ends long before


@pytest.fixture(scope="module")
def site() -> Iterator[int]:
    """The port of an HTTP server."""
    with serve() as port:
        yield port


@pytest.fixture(autouse=True)
def no_trouble_is_logged(caplog: pytest.LogCaptureFixture) -> Iterator[None]:
    """Whatever a client or a host does, nothing fails in the proxy."""
    yield
    assert [record.getMessage() for record in caplog.get_records("call") if record.levelno >= 30] == []


def connect(egress: Egress) -> socket.socket:
    client = socket.socket(socket.AF_UNIX)
    client.connect(str(egress.socket))
    client.settimeout(SOON)
    return client


def ask(egress: Egress, request: bytes, end: bool = False) -> bytes:
    """What comes back until the proxy ends the connection."""
    with connect(egress) as client:
        client.sendall(request)
        if end:
            client.shutdown(socket.SHUT_WR)
        return read_all(client)


def status(answer: bytes) -> int:
    return int(answer.split(b" ", 2)[1])


def get(egress: Egress, url: str, *headers: str) -> bytes:
    lines = "".join(f"{line}\r\n" for line in (f"GET {url} HTTP/1.1", *headers, ""))
    return ask(egress, lines.encode())


class Connected(http.client.HTTPConnection):
    """The standard library's client on the proxy's socket."""

    def __init__(self, egress: Egress) -> None:
        super().__init__("proxy")
        self.sock = connect(egress)


@pytest.mark.parametrize("chunked", [False, True], ids=["with a length", "in chunks"])
def test_large_bodies_pass_unchanged_both_ways(chunked: bool, site: int) -> None:
    with Egress([f"{HERE}:{site}"]) as egress:
        client = Connected(egress)
        body = (LARGE[at : at + 70_000] for at in range(0, len(LARGE), 70_000)) if chunked else LARGE
        client.request("POST", f"http://{HERE}:{site}/sum", body, encode_chunked=chunked,
                       headers={"Transfer-Encoding": "chunked"} if chunked else {})  # fmt: skip
        assert json.load(client.getresponse())["sha256"] == hashlib.sha256(LARGE).hexdigest()
        client.close()
        client = Connected(egress)
        client.request("GET", f"http://{HERE}:{site}/large")
        assert client.getresponse().read() == LARGE
        client.close()


def test_a_slow_reader_gets_all_to_the_end(site: int) -> None:
    with Egress([f"{HERE}:{site}"]) as egress, connect(egress) as client:
        client.sendall(f"GET http://{HERE}:{site}/large HTTP/1.1\r\n\r\n".encode())
        data = b""
        while more := client.recv(1 << 16):
            data += more
            time.sleep(0.01)
        assert data.endswith(LARGE)


def test_a_client_that_waits_for_leave_to_send_gets_it(site: int) -> None:
    with Egress([f"{HERE}:{site}"]) as egress, connect(egress) as client:
        client.sendall(
            f"POST http://{HERE}:{site}/sum HTTP/1.1\r\n".encode()
            + b"Expect: 100-continue\r\nContent-Length: 3\r\n\r\n"
        )
        assert client.recv(1 << 16).startswith(b"HTTP/1.1 100 ")
        client.sendall(b"abc")
        assert hashlib.sha256(b"abc").hexdigest().encode() in read_all(client)


def test_keys_pass_to_the_host_and_nowhere_else(site: int, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(0), Egress([f"{HERE}:{site}"]) as egress:
        client = Connected(egress)
        sent = {"Authorization": "Bearer secret-1", "Proxy-Authorization": "Basic secret-2"}
        client.request("POST", f"http://{HERE}:{site}/sum?key=secret-3", b"secret-4", headers=sent)
        got = json.load(client.getresponse())["headers"]
        client.close()
        assert got["Authorization"] == "Bearer secret-1"
        assert "Proxy-Authorization" not in got
        assert got["Host"] == f"{HERE}:{site}"
        assert b"secret" not in get(egress, "http://other.org/secret-5", "Authorization: Bearer secret-6")
        assert "secret" not in repr(egress.connections) + caplog.text


def test_each_side_of_a_tunnel_can_end_first() -> None:
    """The server answers only once the client has ended its side."""
    port = start_server(lambda connection: connection.sendall(read_all(connection)[::-1]))
    with Egress([f"{HERE}:{port}"]) as egress, connect(egress) as client:
        client.sendall(f"CONNECT {HERE}:{port} HTTP/1.1\r\n\r\nearly ".encode())
        client.sendall(b"late")
        client.shutdown(socket.SHUT_WR)
        assert read_all(client) == b"HTTP/1.1 200 Connection established\r\n\r\netal ylrae"


def test_a_plain_connection_serves_one_request(site: int) -> None:
    """A client may want to keep the connection: it is told that it cannot, and gets no further answer."""
    with Egress([f"{HERE}:{site}"]) as egress:
        one = f"GET http://{HERE}:{site}/ HTTP/1.1\r\n\r\n".encode()
        answer = ask(egress, one + b"GET http://other.org/ HTTP/1.1\r\n\r\n")
        assert answer.count(b"HTTP/1.1 ") == 1 and b"Connection: close" in answer


def test_an_answered_connection_takes_no_place_of_another(site: int) -> None:
    """Not even where its client leaves it open."""
    with Egress([f"{HERE}:{site}"]) as egress:
        clients = [connect(egress) for _ in range(relay.CONNECTIONS)]
        for client in clients:
            client.sendall(f"GET http://{HERE}:{site}/ HTTP/1.1\r\n\r\n".encode())
            assert read_all(client).endswith(b"a page\n")
        assert status(get(egress, f"http://{HERE}:{site}/")) == 200
        for client in clients:
            client.close()


@pytest.mark.parametrize(
    ("said", "expected"),
    [(b"", 502), (b"SSH-2.0-OpenSSH\r\n", 502), (b"\r\n\r\n", 502),
     (b"HTTP/1.1 200 OK\r\n" + b"a: b\r\n" * 20_000, 502),
     (b"HTTP/1.0 200 OK\r\n\r\nto the end", 200)],
    ids=["nothing", "another protocol", "blank", "a head without end", "HTTP/1.0"],
)  # fmt: skip
def test_what_a_host_may_answer(said: bytes, expected: int) -> None:
    def serve_one(connection: socket.socket) -> None:
        connection.recv(1 << 16)
        connection.sendall(said)

    port = start_server(serve_one)
    with Egress([f"{HERE}:{port}"]) as egress:
        assert status(get(egress, f"http://{HERE}:{port}/")) == expected


def test_a_host_that_cannot_be_reached_is_a_bad_gateway() -> None:
    with socket.create_server((HERE, 0)) as taken:
        port = taken.getsockname()[1]
    with Egress([f"{HERE}:{port}", "nowhere.invalid"]) as egress:
        for target in (f"{HERE}:{port}", "nowhere.invalid:443"):
            answer = ask(egress, f"CONNECT {target} HTTP/1.1\r\n\r\n".encode())
            assert status(answer) == 502
            assert f"{target} cannot be reached".encode() in answer


@pytest.mark.parametrize(
    "host",
    ["127.0.0.1", "169.254.169.254", "[::1]", "[fd00:ec2::254]", "[::ffff:127.0.0.1]", "[64:ff9b::7f00:1]",
     "10.0.0.1", "100.64.0.1", "0.0.0.0", "localhost"],
)  # fmt: skip
def test_any_public_host_does_not_mean_this_network(host: str) -> None:
    with Egress(["*", "localhost"]) as egress:
        answer = ask(egress, f"CONNECT {host}:80 HTTP/1.1\r\n\r\n".encode())
        assert status(answer) == 403
        assert b"not public" in answer and b"--allow-host" in answer
        assert [c.allowed for c in egress.connections] == [False]


@pytest.mark.parametrize("host", ["127.1", "0x7f.1", "2130706433", "0177.0.0.1", "127.0.0.1.", "①27.0.0.1"])
def test_an_address_in_disguise_is_no_way_round(host: str) -> None:
    with Egress(["*"]) as egress:
        answer = ask(egress, f"CONNECT {host}:80 HTTP/1.1\r\n\r\n".encode())
        assert status(answer) in (400, 403)
        assert not any(c.allowed for c in egress.connections)


def test_the_address_that_was_checked_is_the_one_connected_to(
    site: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A name server that answers differently the second time gains nothing: there is one look-up."""
    answers = iter([[HERE], ["169.254.169.254"], ["169.254.169.254"]])
    asked = []

    def getaddrinfo(host: str, port: int, *_: Any, **__: Any) -> list[Any]:
        asked.append(host)
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, port)) for address in next(answers)]

    monkeypatch.setattr(socket, "getaddrinfo", getaddrinfo)
    with Egress([f"rebind.example:{site}", f"{HERE}:{site}"]) as egress:
        assert status(get(egress, f"http://rebind.example:{site}/")) == 200
        assert asked == ["rebind.example"]
        assert status(get(egress, f"http://rebind.example:{site}/")) == 403


def test_of_several_addresses_only_the_allowed_ones_are_tried(
    site: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    def getaddrinfo(host: str, port: int, *_: Any, **__: Any) -> list[Any]:
        return [(0, 0, 0, "", (address, port)) for address in ("10.0.0.1", "127.0.0.2", "::1", HERE)]

    monkeypatch.setattr(socket, "getaddrinfo", getaddrinfo)
    with Egress([f"many.example:{site}", f"{HERE}:{site}", f"[::1]:{site}"]) as egress:
        assert status(get(egress, f"http://many.example:{site}/")) == 200  # after ::1 took no connection


NASTY = [
    b"", b"\r\n\r\n", b"\0" * 1000, b"\xff" * 1000, b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
    b"\x05\x01\x00", b"GET", b"GET /\r\n\r\n", b"CONNECT :: HTTP/1.1\r\n\r\n", b"CONNECT [ HTTP/1.1\r\n\r\n",
    b"GET http://[/ HTTP/1.1\r\n\r\n", b"CONNECT " + b"a" * 60_000 + b":1 HTTP/1.1\r\n\r\n",
    b"GET http://a\0b/ HTTP/1.1\r\n\r\n", b"GET http://a.org:99999999999999999999/ HTTP/1.1\r\n\r\n",
    b"CONNECT \xc3\xa9" + b".x" * 200 + b":443 HTTP/1.1\r\n\r\n",
    b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", b"GET http://a.org/ HTTP/1.1\r\n" + b":\r\n" * 100 + b"\r\n",
]  # fmt: skip


def test_garbage_gets_an_error_and_harms_nothing(site: int) -> None:
    with Egress([f"{HERE}:{site}"]) as egress:

        @settings(max_examples=60, deadline=None)
        @given(st.sampled_from(NASTY) | st.binary(max_size=400))
        def throw(data: bytes) -> None:
            answer = ask(egress, data, end=True)
            assert status(answer) in (400, 403)
            assert b"Traceback" not in answer

        throw()
        assert status(get(egress, f"http://{HERE}:{site}/")) == 200


def test_a_head_without_end_is_cut_off() -> None:
    with Egress(["example.org"]) as egress:
        head = b"GET http://example.org/ HTTP/1.1\r\n" + b"a: b\r\n" * 20_000
        assert status(ask(egress, head)) == 431


def test_who_is_silent_for_long_is_dropped(site: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Before the request, within it, and in a tunnel."""
    monkeypatch.setattr(module, "HEAD_SECONDS", 0.2)
    monkeypatch.setattr(module, "IDLE_SECONDS", 0.2)
    with Egress([f"{HERE}:{site}"]) as egress:
        for sent in (b"", b"GET http://"):
            assert status(ask(egress, sent)) == 408
        tunnel = ask(egress, f"CONNECT {HERE}:{site} HTTP/1.1\r\n\r\n".encode())
        assert tunnel == b"HTTP/1.1 200 Connection established\r\n\r\n"


def test_who_is_slow_is_not_dropped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "IDLE_SECONDS", 1.0)
    port = start_server(lambda connection: connection.sendall(read_all(connection)))
    with Egress([f"{HERE}:{port}"]) as egress, connect(egress) as client:
        client.sendall(f"CONNECT {HERE}:{port} HTTP/1.1\r\n\r\n".encode())
        for _ in range(8):
            client.sendall(b".")
            time.sleep(0.2)
        client.shutdown(socket.SHUT_WR)
        assert read_all(client).endswith(b"........")


def test_a_refusal_reaches_who_is_still_sending() -> None:
    with Egress(["example.org"]) as egress:
        head = f"POST http://example.net/ HTTP/1.1\r\nContent-Length: {len(LARGE)}\r\n\r\n".encode()
        assert status(ask(egress, head + LARGE)) == 403


def test_a_flood_of_connections_is_served_a_few_at_a_time(site: int) -> None:
    def descriptors() -> int:
        return len(list(Path("/proc/self/fd").iterdir()))

    flood = relay.CONNECTIONS + 80
    with Egress([f"{HERE}:{site}"]) as egress:
        before = descriptors()
        clients = [connect(egress) for _ in range(flood)]
        time.sleep(1.0)
        assert descriptors() - before - flood <= relay.CONNECTIONS
        for client in clients:
            client.close()
        assert status(get(egress, f"http://{HERE}:{site}/")) == 200
    assert descriptors() <= before


def test_many_clients_at_once_all_get_their_page(site: int) -> None:
    with Egress([f"{HERE}:{site}"]) as egress, ThreadPoolExecutor(40) as pool:
        answers = list(pool.map(lambda _: get(egress, f"http://{HERE}:{site}/large"), range(80)))
        assert all(answer.endswith(LARGE) for answer in answers)
        assert egress.connections == (Connection(HERE, site, allowed=True, count=80),)


def test_the_record_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_RECORDED", 2)
    with Egress(["a.org"]) as egress:
        for host in ("b.org", "c.org", "d.org", "e.org", "b.org"):
            get(egress, f"http://{host}/")
        assert egress.connections == (
            Connection("(others)", 0, allowed=False, count=2),
            Connection("b.org", 80, allowed=False, count=2),
            Connection("c.org", 80, allowed=False, count=1),
        )
    assert len(egress.connections) == 3, "the record outlives the proxy"


def test_only_the_harness_and_what_it_shows_the_socket_to_can_connect() -> None:
    with Egress(["a.org"]) as egress:
        assert egress.socket.parent.stat().st_mode & 0o777 == 0o700
        assert egress.socket.stat().st_mode & 0o777 == 0o666
        assert len(str(egress.socket)) < 100


def test_closing_ends_connections_and_threads_and_removes_the_socket() -> None:
    port = start_server(lambda connection: connection.sendall(read_all(connection)))
    before = set(threading.enumerate())
    egress = Egress([f"{HERE}:{port}", "nowhere.invalid"]).start()
    folder = egress.socket.parent
    idle, tunnel = connect(egress), connect(egress)
    tunnel.sendall(f"CONNECT {HERE}:{port} HTTP/1.1\r\n\r\n".encode())
    assert status(tunnel.recv(1 << 16)) == 200
    ask(egress, b"CONNECT nowhere.invalid:443 HTTP/1.1\r\n\r\n")
    egress.close()
    egress.close()
    assert read_all(idle) == read_all(tunnel) == b""
    assert not folder.exists()
    with pytest.raises(RuntimeError, match="not open"):
        _ = egress.socket
    deadline = time.monotonic() + SOON
    while set(threading.enumerate()) - before and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not set(threading.enumerate()) - before


def test_a_pattern_that_cannot_be_read_is_an_error_before_anything_starts() -> None:
    with pytest.raises(InputError, match=r"https://a\.org"):
        Egress(["https://a.org"])
