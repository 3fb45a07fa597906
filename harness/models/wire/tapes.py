"""What stands between a client and the network: it writes exchanges down, or gives those written down."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    import httpx2

#: Asks the network; raises an ``httpx2.RequestError`` when it gives no answer.
Send = Callable[[], "httpx2.Response"]


class Tape(Protocol):
    """Handles every exchange of one trial, in order."""

    def exchange(self, request: httpx2.Request, send: Send) -> httpx2.Response:
        """Answer a request: by ``send``, which asks the network, or from what was recorded.

        Neither the request, which is a copy, nor the response or the error that ``send`` gives holds the key.
        """
        ...
