"""The HTTP client over real HTTP: bounded in time and size, and no key in anything that comes back."""

from __future__ import annotations

import gzip
import json
import os
import socket
import subprocess
import sys
import threading
import time
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import httpx2
import pytest

from harness.errors import InputError
from harness.models.registry import ModelConfig, make_model
from harness.models.wire import client as wire
from harness.models.wire.client import open_client
from harness.models.wire.secrets import Scrubber
from harness.models.wire.tapes import Player
from tests.harness.models.loopback import Said, loopback

KEY = "sk-canary/5+7=12"
FORMS = [
    KEY,
    KEY.replace("/", "\\/"),  # JSON of PHP
    "sk-canary%2F5%2B7%3D12",
    "sk-canary%2f5%2b7%3d12",
    "sk-canary/5%2B7%3D12",
    "sk-canary/5\\u002b7\\u003d12",  # JSON of .NET, in both cases
    "sk-canary/5\\u002B7\\u003D12",
]


def post(url: str, key: str | None = KEY, timeout: float = 20.0, **more: Any) -> httpx2.Response:
    with open_client(url, key) as client:
        headers = {"authorization": f"Bearer {key}"} if key else {}
        return client.post(url, json={}, timeout=timeout, headers=headers, **more)


@contextmanager
def raw_server(*parts: bytes, gap: float = 0.0, then_hold: bool = False) -> Iterator[str]:
    """Sends the parts with gaps between them, for ever the last one if it holds; gives its URL."""
    listener = socket.create_server(("127.0.0.1", 0))
    stop = threading.Event()

    def serve() -> None:
        connection, _ = listener.accept()
        with connection:
            connection.recv(65536)
            sent = 0
            while sent < len(parts) or (then_hold and not stop.is_set()):
                try:
                    connection.sendall(parts[min(sent, len(parts) - 1)])
                except OSError:
                    return
                sent += 1
                stop.wait(gap)

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}/"
    finally:
        stop.set()
        listener.close()
        thread.join()


def test_a_plain_answer_arrives_as_it_was_sent() -> None:
    with loopback() as server:
        server.queue(Said({"said": "déjà vu"}, headers={"x-request-id": "r-1"}))
        answer = post(server.url)
    assert answer.json() == {"said": "déjà vu"}
    assert (answer.status_code, answer.headers["x-request-id"]) == (200, "r-1")
    assert server.asked[0].headers["authorization"] == f"Bearer {KEY}"


@pytest.mark.parametrize("form", FORMS)
def test_a_key_that_the_server_repeats_is_taken_out_of_body_and_headers(form: str) -> None:
    said = Said(f'{{"error": "wrong key {form}"}}'.encode(), status=401, headers={"x-request-id": form})
    packed = Said(gzip.compress(said.data), status=401, headers={**said.headers, "content-encoding": "gzip"})
    with loopback() as server:
        server.queue(said, packed)
        answers = [post(server.url), post(server.url)]
    for answer in answers:
        assert answer.content == b'{"error": "wrong key [key]"}'
        assert answer.headers["x-request-id"] == "[key]"
        assert "content-encoding" not in answer.headers


@pytest.mark.parametrize(
    ("key", "form"),
    [
        ("sk-<canary>&0123", "sk-\\u003ccanary\\u003e\\u00260123"),  # JSON of Go
        ("sk-<canary>&0123", "sk-&lt;canary&gt;&amp;0123"),  # a page
        ('sk-"canary"\\0123', 'sk-\\"canary\\"\\\\0123'),
        ("sk-canary-0123", "a sk-canary-0123 and sk-canary-0123"),
    ],
)
def test_keys_of_any_signs_are_taken_out_as_they_are_written(key: str, form: str) -> None:
    told = Scrubber(key).text(f"wrong key {form}.")
    assert "canary" not in told
    assert told.startswith("wrong key ") and "[key]" in told and told.endswith(".")


def test_a_key_in_the_reason_phrase_is_taken_out() -> None:
    with raw_server(f"HTTP/1.1 401 No {KEY}\r\ncontent-length: 0\r\n\r\n".encode()) as url:
        assert post(url).reason_phrase == "No [key]"


def test_a_word_that_stands_for_no_key_changes_nothing() -> None:
    """Local servers take any word; taking "none" out of what the model says would garble it."""
    with loopback() as server:
        server.queue({"said": "none of these"})
        assert post(server.url, key="none").json() == {"said": "none of these"}


@pytest.mark.parametrize(
    "parts",
    [
        pytest.param((b"HTTP/1.1 200 OK\r\ncontent-length: 99999\r\n\r\n", b"x"), id="body"),
        pytest.param((b"HTTP/1.1 200 OK\r\nx-slow: ", b"x"), id="headers"),
        pytest.param((b"",), id="silence"),
    ],
)
def test_a_server_that_drips_does_not_hold_us_beyond_the_timeout(parts: tuple[bytes, ...]) -> None:
    started = time.monotonic()
    # A byte every 0.02 s would go on for half an hour; a bound on single reads never applies.
    with raw_server(*parts, gap=0.02, then_hold=True) as url:
        client = open_client(url, KEY)
        with pytest.raises(httpx2.ReadTimeout) as caught:
            client.post(url, json={}, timeout=0.4)
        # Nobody goes on reading behind our back, though the server goes on and the client is not closed.
        while calls := [thread for thread in threading.enumerate() if thread.name == "model-call"]:
            assert time.monotonic() - started < 60
            calls[0].join(0.1)
    assert str(caught.value) == "no whole response within 0.4 s"
    assert time.monotonic() - started < 60


def test_a_client_goes_on_after_a_timeout() -> None:
    with loopback() as server, open_client(server.url, KEY) as client:
        server.queue(Said(b"x" * 1000, drip=0.05), {"said": "hello"})
        with pytest.raises(httpx2.ReadTimeout):
            client.post(server.url, json={}, timeout=0.3)
        assert client.post(server.url, json={}, timeout=20).json() == {"said": "hello"}


@pytest.mark.parametrize("packed", [False, True])
def test_a_response_that_is_too_large_is_refused(packed: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wire, "MAX_RESPONSE_BYTES", 1 << 20)
    body, headers = b"0" * ((1 << 20) + 1), {}
    if packed:
        body, headers = gzip.compress(body), {"content-encoding": "gzip"}
    with loopback() as server:
        server.queue(Said(body, headers=headers))
        with pytest.raises(httpx2.DecodingError, match="larger than 1 MiB"):
            post(server.url)


def test_a_body_that_is_not_compressed_as_it_says_is_an_error() -> None:
    with loopback() as server:
        server.queue(Said(b"plain", headers={"content-encoding": "gzip"}))
        with pytest.raises(httpx2.DecodingError):
            post(server.url)


def test_errors_keep_their_class_and_hold_no_key() -> None:
    def fails(key: str, url: str) -> str:
        try:
            post(url, key)
        except httpx2.RequestError as error:
            told = repr(error) + "".join(traceback.format_exception(error))
            assert "canary" not in told
            return type(error).__name__
        raise AssertionError("it did not fail")

    with loopback() as server:
        server.queue(Said(hang_up=True), Said(b"x" * 100, cut=10))
        assert fails(KEY, server.url) == "ReadError"
        assert fails(KEY, server.url) in (
            "ReadError",
            "RemoteProtocolError",
        )
        assert fails("sk-canary\x00-broken", server.url) == "LocalProtocolError"
    assert fails(KEY, server.url) == "ConnectError"
    with raw_server(f"{KEY} is not HTTP\r\n\r\n".encode()) as url:
        assert fails(KEY, url) == "RemoteProtocolError"


def test_redirects_are_not_followed_since_they_would_take_the_key_along() -> None:
    with loopback() as server, loopback() as elsewhere:
        elsewhere.queue({})
        server.queue(Said(status=307, headers={"location": elsewhere.url}))
        assert post(server.url).status_code == 307
    assert elsewhere.asked == []


def test_proxies_come_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    with loopback() as server, loopback() as proxy:
        server.queue({"from": "server"})
        proxy.queue({"from": "proxy"})
        monkeypatch.setenv("http_proxy", proxy.root)
        monkeypatch.setenv("no_proxy", "127.0.0.1")
        assert post(server.url).json() == {"from": "server"}
        assert post("http://endpoint.invalid/v1").json() == {"from": "proxy"}
    assert proxy.asked[0].path == "http://endpoint.invalid/v1"


@pytest.mark.parametrize(
    ("proxy", "fix"),
    [
        ("socks5://me:secret@127.0.0.1:1", "pip install socksio"),
        ("ftp://me:secret@127.0.0.1:1", "write http://host:port"),
        ("http://[::1", "write http://host:port"),
        ("http://", "write http://host:port"),
        ("secret:port", "write http://host:port"),
    ],
)
@pytest.mark.parametrize("variable", ["http_proxy", "all_proxy"])
def test_a_proxy_that_cannot_be_used_is_refused_before_the_first_call(
    proxy: str, fix: str, variable: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("http_proxy", raising=False)
    monkeypatch.setenv(variable, proxy)
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    monkeypatch.setenv("GEMINI_API_KEY", KEY)
    for name in ("vllm/x", "google/x"):
        with pytest.raises(InputError) as caught:
            make_model(ModelConfig(name=name, base_url="http://endpoint.invalid/v1"))
        assert variable in str(caught.value) and fix in str(caught.value)
        assert "secret" not in str(caught.value)
        # Whoever needs no proxy needs none that works.
        make_model(ModelConfig(name=name, base_url="http://127.0.0.1:1/v1"))
        make_model(ModelConfig(name=name, base_url="http://endpoint.invalid/v1"), Player([]))


def test_certificates_are_read_once_for_all_clients() -> None:
    assert wire._certificates() is wire._certificates()


LOGGING = """
import logging, sys, traceback
logging.basicConfig(level=logging.DEBUG, stream=sys.stderr)
from harness.models.wire.client import open_client
from harness.models.wire.tapes import Recorder
from pathlib import Path
key, root, sdk, path = sys.argv[1:]
client = open_client(root, key, Recorder(Path(path)))
try:
    if sdk == "openai":
        import openai
        openai.OpenAI(api_key=key, base_url=root, http_client=client, max_retries=0).responses.create(
            model="m", input="x", timeout=20
        )
    else:
        from google import genai
        options = genai.types.HttpOptions(base_url=root, httpx_client=client, timeout=20000)
        genai.Client(api_key=key, http_options=options).models.generate_content(model="m", contents="x")
except Exception:
    traceback.print_exc()
"""


@pytest.mark.parametrize("sdk", ["openai", "google"])
def test_no_key_in_logs_at_debug_nor_in_the_sdks_errors_nor_on_the_tape(sdk: str, tmp_path: Any) -> None:
    key, tape = "sk-canary-0123456789", tmp_path / "exchanges.jsonl"
    echo = {"error": {"message": f"Incorrect API key provided: {key}", "code": 401, "status": key}}
    headers = {"x-request-id": key, "www-authenticate": f"Bearer {key}", "set-cookie": f"k={key}"}
    with loopback() as server:
        server.queue(Said(echo, status=401, headers=headers))
        done = subprocess.run(
            [sys.executable, "-c", LOGGING, key, server.root, sdk, str(tape)],
            env={**os.environ, "OPENAI_LOG": "debug"},
            capture_output=True,
            text=True,
            timeout=120,
        )
    assert key in json.dumps(server.asked[0].headers)
    assert "HTTP Request: POST" in done.stderr  # logging did work
    assert "Incorrect API key provided: [key]" in done.stderr  # and so did the traceback
    assert "Incorrect API key provided: [key]" in tape.read_text()
    assert key not in done.stderr + done.stdout + tape.read_text()
