"""The way out of a sandbox: an HTTP proxy that reaches the hosts of an allow-list and no other.

A sandbox has no network at all. This proxy listens on a Unix socket that is shown inside, where
:mod:`harness.sandboxes.warm.inside.relay` forwards a port of the loopback to it. So no packet of the sandbox
leaves it: what it asks for is asked for again from here, once the host and the address that it leads to are
allowed.
"""

from __future__ import annotations

import asyncio
import shutil
import socket
import tempfile
import threading
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self

from harness.sandboxes.kernel import leftovers
from harness.sandboxes.network.hosts import (
    DEFAULT_PORTS,
    Address,
    AllowList,
    as_address,
    check_hosts,
    join_port,
    split_port,
)
from harness.sandboxes.network.http_heads import END, TUNNEL_OPEN, Refused, Request, parse_answer
from harness.sandboxes.warm.inside import relay

HEAD_SECONDS = 15.0
CONNECT_SECONDS = 10.0
IDLE_SECONDS = 300.0
_LINGER_SECONDS = 1.0
# Between two connections, so that a flood of them does not take the harness's time.
_PAUSE_SECONDS = 0.005
_RECORDED = 1_000
_BACKLOG = 128
_CHUNK = 1 << 16


@dataclass(frozen=True)
class Connection:
    """What a sandbox asked for, and how often.

    Attributes:
        host: the name or address asked for; ``(others)``, with port 0, for all after the first thousand.
        port: its port.
        allowed: whether the allow-list let it through.
        count: how many connections were asked for.
    """

    host: str
    port: int
    allowed: bool
    count: int


class Egress:
    """A proxy for one sandbox; a context manager that closes it.

    Tunnels (``CONNECT``) and plain ``http://`` requests pass; of the latter one per connection. Names are
    looked up here, once, and the address that was checked is the one connected to. What flows through a
    tunnel is not looked at. Connections are made directly: proxy variables of the harness do not count.

    Args:
        allow_hosts: see :func:`harness.sandboxes.network.hosts.check_hosts`.

    Raises:
        InputError: a pattern cannot be read.
    """

    def __init__(self, allow_hosts: Iterable[str]) -> None:
        self.allow_hosts = check_hosts(allow_hosts)
        self._allowed = AllowList(self.allow_hosts)
        self._seen: dict[tuple[str, int, bool], int] = {}
        self._lock = threading.Lock()
        self._folder: Path | None = None

    @property
    def socket(self) -> Path:
        """The Unix socket to show inside; there while the proxy is open."""
        if self._folder is None:
            raise RuntimeError("the proxy is not open")
        return self._folder / "egress.sock"

    @property
    def connections(self) -> tuple[Connection, ...]:
        """What was asked for so far."""
        with self._lock:
            seen = sorted(self._seen.items())
        return tuple(Connection(*key, count) for key, count in seen)

    def start(self) -> Self:
        """Open the socket and serve it from a thread."""
        self._folder = Path(tempfile.mkdtemp(prefix=leftovers.prefix("egress"), dir=leftovers.SHORT))
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(str(self.socket))
        self.socket.chmod(0o666)  # the user inside is another one; the folder keeps users outside away
        self._listener.listen(_BACKLOG)
        self._lookups = ThreadPoolExecutor(4, thread_name_prefix="egress-lookup")
        self._loop = asyncio.new_event_loop()
        self._closing = asyncio.Event()
        self._thread = threading.Thread(target=self._run, name="egress", daemon=True)
        self._thread.start()
        return self

    def close(self) -> None:
        """End all connections and remove the socket. Safe to call twice, and from any thread."""
        with self._lock:
            folder, self._folder = self._folder, None
        if folder is None:
            return
        self._loop.call_soon_threadsafe(self._closing.set)
        self._thread.join()
        self._listener.close()
        # Not waited for: a name server that does not answer would hold us up.
        self._lookups.shutdown(wait=False, cancel_futures=True)
        shutil.rmtree(folder, ignore_errors=True)

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _run(self) -> None:
        with asyncio.Runner(loop_factory=lambda: self._loop) as runner:
            runner.run(self._serve())  # and then ends every task that is left

    async def _serve(self) -> None:
        accepting = asyncio.create_task(relay.accept(self._listener, self._handle, _PAUSE_SECONDS))
        await self._closing.wait()
        accepting.cancel()

    async def _handle(self, client: asyncio.StreamReader, to_client: asyncio.StreamWriter) -> None:
        try:
            request = Request.parse(await _read_head(client))
            addresses = await self._addresses(request.host, request.port)
            upstream = await _connect(request.host, addresses, request.port)
        except Refused as refused:
            await _refuse(client, to_client, refused)
            return
        async with relay.streams(upstream) as (host, to_host):
            try:
                await _exchange(request, client, to_client, host, to_host)
            except* (OSError, EOFError):
                pass  # one of the two sides has gone, or both are silent

    async def _addresses(self, host: str, port: int) -> list[Address]:
        """The allowed addresses of an allowed host; empty when the name leads to none at all."""
        if not self._allowed.allows_host(host, port):
            self._record(host, port, allowed=False)
            option = host if port in DEFAULT_PORTS else join_port(host, port)
            raise Refused(
                403, f"{join_port(host, port)} is not allowed here (--allow-host {option} allows it)"
            )
        found = await self._lookup(host, port)
        allowed = [address for address in found if self._allowed.allows_address(address, port)]
        self._record(host, port, allowed=bool(allowed) or not found)
        if found and not allowed:
            raise Refused(
                403,
                f"{join_port(host, port)} leads to an address that is not public "
                "(--allow-host with that address as well allows it)",
            )
        return allowed

    async def _lookup(self, host: str, port: int) -> list[Address]:
        """The addresses of a host, looked up once; empty when it has none."""
        if address := as_address(host):
            return [address]
        loop = asyncio.get_running_loop()
        try:
            async with asyncio.timeout(CONNECT_SECONDS):
                found = await loop.run_in_executor(
                    self._lookups, lambda: socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
                )
        except OSError:
            return []
        addresses = (as_address(str(entry[4][0])) for entry in found)
        return list(dict.fromkeys(address for address in addresses if address))

    def _record(self, host: str, port: int, allowed: bool) -> None:
        key = (host, port, allowed)
        with self._lock:
            if key not in self._seen and len(self._seen) >= _RECORDED:
                key = ("(others)", 0, allowed)
            self._seen[key] = self._seen.get(key, 0) + 1


def proxy_environment(allow_hosts: Iterable[str] = ()) -> dict[str, str]:
    """The variables that send HTTP and HTTPS of the usual clients to the relay inside.

    The sandbox's own loopback stays direct, unless the list opens it on the host.
    """
    url = f"http://127.0.0.1:{relay.PORT}"
    listed = {split_port(pattern)[0] for pattern in check_hosts(allow_hosts)}
    direct = ",".join(name for name in ("localhost", "127.0.0.1", "::1") if name not in listed)
    values = {"http_proxy": url, "https_proxy": url, "all_proxy": url, "no_proxy": direct}
    return {**values, **{name.upper(): value for name, value in values.items()}, "NODE_USE_ENV_PROXY": "1"}


async def _read_head(client: asyncio.StreamReader) -> bytes:
    """The head of a request, with its empty line."""
    try:
        async with asyncio.timeout(HEAD_SECONDS):
            return await client.readuntil(END)
    except TimeoutError as error:
        raise Refused(408, f"no whole request came within {HEAD_SECONDS:.0f} s") from error
    except asyncio.LimitOverrunError as error:
        raise Refused(431, "the head of the request is longer than 64 KiB") from error
    except asyncio.IncompleteReadError as error:
        raise Refused(400, "the request ends within its head") from error


async def _connect(host: str, addresses: Iterable[Address], port: int) -> socket.socket:
    """A connection to the first address that takes one."""
    for address in addresses:
        upstream = socket.socket(socket.AF_INET if address.version == 4 else socket.AF_INET6)
        upstream.setblocking(False)
        try:
            async with asyncio.timeout(CONNECT_SECONDS):
                await asyncio.get_running_loop().sock_connect(upstream, (str(address), port))
        except OSError:
            upstream.close()
        except asyncio.CancelledError:
            upstream.close()
            raise
        else:
            return upstream
    raise Refused(502, f"{join_port(host, port)} cannot be reached from the machine of the harness")


async def _exchange(
    request: Request,
    client: asyncio.StreamReader,
    to_client: asyncio.StreamWriter,
    host: asyncio.StreamReader,
    to_host: asyncio.StreamWriter,
) -> None:
    """Let bytes flow both ways until both sides have ended, one has failed, or none has moved for long."""
    loop = asyncio.get_running_loop()
    async with asyncio.timeout(IDLE_SECONDS) as idle, asyncio.TaskGroup() as group:

        def moved() -> None:
            if not idle.expired():
                idle.reschedule(loop.time() + IDLE_SECONDS)

        if not request.head:
            to_client.write(TUNNEL_OPEN)
        to_host.write(request.head)
        sending = group.create_task(relay.pump(client, to_host, moved))
        if request.head:
            await _answer_head(host, to_client)
        await relay.pump(host, to_client, moved)
        if request.head:
            sending.cancel()  # one request per connection: its answer ends it


async def _answer_head(host: asyncio.StreamReader, to_client: asyncio.StreamWriter) -> None:
    """Pass on the head of an answer, and the interim ones before it."""
    interim = True
    while interim:
        try:
            head, interim = parse_answer(await host.readuntil(END))
        except (asyncio.LimitOverrunError, asyncio.IncompleteReadError, ValueError) as error:
            to_client.write(Refused(502, "the host did not answer in HTTP/1").answer())
            await to_client.drain()
            raise EOFError from error
        to_client.write(head)
        await to_client.drain()


async def _refuse(client: asyncio.StreamReader, to_client: asyncio.StreamWriter, refused: Refused) -> None:
    """Answer, then take for a moment what the client still sends: a reset could overtake the answer."""
    async with asyncio.timeout(_LINGER_SECONDS):
        to_client.write(refused.answer())
        await to_client.drain()
        to_client.write_eof()
        while await client.read(_CHUNK):
            pass
