"""A stream of output that is kept within bounds."""

from __future__ import annotations

import os

CHUNK = 65_536


class BoundedOutput:
    """Keeps the head and the tail of a stream, and counts what it left out."""

    def __init__(self, limit: int) -> None:
        self.half = max(limit // 2, 1)
        self.head = bytearray()
        self.tail = bytearray()
        self.total = 0

    def add(self, data: bytes) -> None:
        """Append to the stream."""
        self.total += len(data)
        room = self.half - len(self.head)
        self.head += data[:room]
        self.tail += data[room:] if room > 0 else data
        if len(self.tail) > 2 * self.half:
            del self.tail[: -self.half]

    def drain(self, reader: int) -> None:
        """Add what still lies in a pipe, without waiting for more."""
        os.set_blocking(reader, False)
        drained = 0
        # Bounded: a survivor that keeps writing must not keep us reading.
        while drained < 16 * CHUNK:
            try:
                data = os.read(reader, CHUNK)
            except BlockingIOError:
                return
            if not data:
                return
            drained += len(data)
            self.add(data)

    def text(self) -> str:
        """Head and tail, with a note of how much was left out between them."""
        tail = bytes(self.tail[-self.half :])
        left_out = self.total - len(self.head) - len(tail)
        note = f"\n... {left_out} bytes left out ...\n".encode() if left_out else b""
        return (bytes(self.head) + note + tail).decode("utf-8", errors="replace")
