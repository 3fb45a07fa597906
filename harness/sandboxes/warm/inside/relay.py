"""Carries a sandbox's connections to the proxy outside, over the one socket that is shown inside.

A sandbox has no network. Programs inside connect to a port of its own loopback; the relay forwards each
connection to a Unix socket, on which the harness serves the proxy of ``harness.sandboxes.network.egress``.
The relay decides nothing: what may be reached is decided outside.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import socket
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import NoReturn

#: The port of the sandbox's loopback that the proxy variables name.
PORT = 3128
#: Connections served at a time; more wait until one is free.
CONNECTIONS = 64
_CHUNK = 1 << 16
_BACKLOG = 128
_RETRY_SECONDS = 0.5


def listen(port: int = PORT) -> socket.socket:
    """A listening socket on the sandbox's loopback; open it before the run that needs it begins."""
    return socket.create_server(("127.0.0.1", port), backlog=_BACKLOG)


def serve(listener: socket.socket, path: str) -> NoReturn:
    """Forward what connects to ``listener`` to the Unix socket ``path``, until killed.

    For a forked process of its own: it closes all descriptors but the listener, so that code inside, which
    runs as the same user, finds nothing of the harness here.
    """
    try:
        null = os.open(os.devnull, os.O_RDWR)
        for standard in range(3):
            os.dup2(null, standard)
        for entry in Path("/proc/self/fd").iterdir():
            if int(entry.name) > 2 and int(entry.name) != listener.fileno():
                with contextlib.suppress(OSError):
                    os.close(int(entry.name))
        asyncio.run(_forward_all(listener, path))
    finally:
        os._exit(1)


async def _forward_all(listener: socket.socket, path: str) -> NoReturn:
    async def forward(client: asyncio.StreamReader, to_client: asyncio.StreamWriter) -> None:
        outside = socket.socket(socket.AF_UNIX)
        outside.setblocking(False)
        try:
            await asyncio.get_running_loop().sock_connect(outside, path)
        except OSError:
            outside.close()
            raise
        async with streams(outside) as (proxy, to_proxy):
            both = [
                asyncio.ensure_future(pump(client, to_proxy)),
                asyncio.ensure_future(pump(proxy, to_client)),
            ]
            try:
                await asyncio.gather(*both)
            finally:
                for one in both:
                    one.cancel()

    await accept(listener, forward)


async def accept(
    listener: socket.socket,
    handle: Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]],
    pause: float = 0.0,
) -> NoReturn:
    """Serve each connection in a task of its own, at most :data:`CONNECTIONS` at a time.

    Args:
        listener: a listening socket.
        handle: serves a connection, which is closed afterwards. An ``OSError`` or ``EOFError`` ends that
            connection only.
        pause: seconds between two connections; it bounds what a flood of them costs.
    """
    loop = asyncio.get_running_loop()
    listener.setblocking(False)
    free = asyncio.Semaphore(CONNECTIONS)
    tasks: set[asyncio.Task[None]] = set()

    async def serve_one(connection: socket.socket) -> None:
        try:
            async with streams(connection) as (reader, writer):
                await handle(reader, writer)
        except (OSError, EOFError):
            pass
        finally:
            free.release()

    while True:
        await free.acquire()
        while True:
            try:
                connection, _ = await loop.sock_accept(listener)
                break
            except OSError:  # out of descriptors, or the client has gone again
                await asyncio.sleep(_RETRY_SECONDS)
        task = loop.create_task(serve_one(connection))
        tasks.add(task)  # the loop alone does not keep it alive
        task.add_done_callback(tasks.discard)
        await asyncio.sleep(pause)


@contextlib.asynccontextmanager
async def streams(
    connection: socket.socket,
) -> AsyncIterator[tuple[asyncio.StreamReader, asyncio.StreamWriter]]:
    """The two streams of a connected socket, which is closed at the end."""
    reader, writer = await asyncio.open_connection(sock=connection)
    # Then ``drain`` waits until all is sent, and closing loses nothing and waits for nobody.
    writer.transport.set_write_buffer_limits(0)
    try:
        yield reader, writer
    finally:
        writer.transport.abort()


async def pump(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, moved: Callable[[], None] = lambda: None
) -> None:
    """Copy bytes until their end, and pass the end on. ``moved`` is called for each chunk."""
    while data := await reader.read(_CHUNK):
        moved()
        writer.write(data)
        await writer.drain()
    writer.write_eof()
