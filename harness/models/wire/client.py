"""The HTTP client that every model client uses: bounded in time and size, recorded, and free of keys."""

from __future__ import annotations

import functools
import logging
import ssl
import threading
import urllib.request
from collections.abc import Callable
from concurrent.futures import Future, wait
from typing import TypeVar

import httpx2

from harness.errors import InputError
from harness.models.wire.secrets import Scrubber
from harness.models.wire.tapes import Tape

T = TypeVar("T")

#: The most bytes of one response, decoded.
MAX_RESPONSE_BYTES = 64 << 20

#: Headers that describe how a body travelled, which no longer holds once it has been read and decoded.
_TRAVEL_HEADERS = (b"content-encoding", b"content-length", b"transfer-encoding", b"connection")


def open_client(url: str, key: str | None, tape: Tape | None = None) -> httpx2.Client:
    """A client for one endpoint, to be handed to a provider's SDK.

    The read timeout of a request bounds all of it, from its start to the last byte of the response; without
    one it may take forever, so callers set one for each request. Whatever goes wrong is raised as the
    ``httpx2.RequestError`` that httpx2 itself raises for it: ``ReadTimeout`` when the time is up,
    ``DecodingError`` for a response that is too large or not compressed as it says. Redirects are not
    followed, since they would carry the key to where it was not meant to go. Proxies and certificate
    authorities come from the environment and the system, as in the SDKs' own clients.

    Args:
        url: the endpoint's.
        key: what must not show in anything that comes back, is logged or is recorded.
        tape: records the exchanges, or answers in the network's place.

    Raises:
        InputError: the environment names a proxy for the endpoint that cannot be used.
    """
    # These write response headers down at DEBUG as they come in, before the key is taken out of them.
    logging.getLogger("httpcore2").setLevel(logging.INFO)
    proxy = _proxy_of(httpx2.URL(url)) if tape is None or tape.live else None
    return httpx2.Client(transport=_Transport(Scrubber(key), proxy, tape))


class _Transport(httpx2.BaseTransport):
    """Sends requests, reads whole responses, and shows them to a tape."""

    def __init__(self, scrubber: Scrubber, proxy: str | None, tape: Tape | None) -> None:
        self._scrubber = scrubber
        self._proxy = proxy
        self._tape = tape
        self._network: httpx2.HTTPTransport | None = None

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        if self._tape is None:
            return self._ask(request)
        return self._tape.exchange(self._scrubber.request(request), lambda: self._ask(request))

    def close(self) -> None:
        network, self._network = self._network, None
        if network is not None:
            network.close()

    def _ask(self, request: httpx2.Request) -> httpx2.Response:
        """Ask the network; neither the response nor the error holds the key."""
        network = self._network = self._network or _open_network(self._proxy)
        asked = _in_background(lambda: _read_whole(network.handle_request(request)))
        seconds = request.extensions.get("timeout", {}).get("read")
        if wait([asked], seconds).done:
            error = asked.exception()
        else:
            # Closing its connections ends the thread that still reads from one.
            self.close()
            error = httpx2.ReadTimeout("")
        if error is None:
            return self._clean(asked.result())
        if not isinstance(error, httpx2.RequestError):
            raise error
        text = self._scrubber.text(str(error)) or type(error).__name__
        if isinstance(error, httpx2.ReadTimeout):
            text = f"no whole response within {seconds:g} s"
        elif isinstance(error, httpx2.LocalProtocolError):
            # Its own text quotes the offending header.
            text = "the request cannot be written as HTTP"
        raise type(error)(text, request=request)

    def _clean(self, response: httpx2.Response) -> httpx2.Response:
        reason = response.extensions.get("reason_phrase", b"")
        return httpx2.Response(
            response.status_code,
            headers=self._scrubber.headers(response.headers.raw),
            content=self._scrubber.data(response.content),
            extensions={"reason_phrase": self._scrubber.data(reason)},
        )


def _proxy_of(url: httpx2.URL) -> str | None:
    """The proxy that the environment names for an address.

    Raises:
        InputError: it cannot be used; the message names the variable and not its value, which may hold a
            password.
    """
    proxies = urllib.request.getproxies()
    name = url.scheme if proxies.get(url.scheme) else "all"
    proxy = proxies.get(name)
    if not proxy or urllib.request.proxy_bypass(url.host):
        return None
    if "://" not in proxy:
        proxy = f"http://{proxy}"
    try:
        usable = bool(httpx2.URL(proxy).host)
        _open_network(proxy).close()
    except ImportError:
        raise InputError(f"{name}_proxy: SOCKS needs the package socksio; pip install socksio") from None
    except (ValueError, httpx2.InvalidURL):
        usable = False
    if not usable:
        raise InputError(f"{name}_proxy: not the address of a proxy; write http://host:port, or unset it")
    return proxy


def _open_network(proxy: str | None) -> httpx2.HTTPTransport:
    return httpx2.HTTPTransport(verify=_certificates(), proxy=proxy)


@functools.cache
def _certificates() -> ssl.SSLContext:
    """The system's certificate authorities; reading them takes tens of milliseconds, so once."""
    return httpx2.create_ssl_context()


def _read_whole(response: httpx2.Response) -> httpx2.Response:
    """The response with all of its body, decoded."""
    try:
        body = bytearray()
        for part in response.iter_bytes():
            body += part
            if len(body) > MAX_RESPONSE_BYTES:
                raise httpx2.DecodingError(f"the response is larger than {MAX_RESPONSE_BYTES >> 20} MiB")
    finally:
        response.close()
    headers = [(name, value) for name, value in response.headers.raw if name.lower() not in _TRAVEL_HEADERS]
    return httpx2.Response(
        response.status_code,
        headers=headers,
        content=bytes(body),
        extensions={"reason_phrase": response.extensions.get("reason_phrase", b"")},
    )


def _in_background(work: Callable[[], T]) -> Future[T]:
    """Do work in a thread that does not keep the process alive."""
    done: Future[T] = Future()

    def run() -> None:
        try:
            done.set_result(work())
        except BaseException as error:  # noqa: BLE001 - it is raised where the result is waited for
            done.set_exception(error)

    threading.Thread(target=run, name="model-call", daemon=True).start()
    return done
