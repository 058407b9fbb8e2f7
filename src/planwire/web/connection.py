"""Limits on a connection before it is a request: the size of a request, and the time for its head.

The guard sees a request once its head is complete. Until then anybody could send headers without an end, which fill the
memory, or hold a silent connection; a process has only so many of them.
"""

import socket
from asyncio import TimerHandle, Transport
from typing import Any, Final

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

__all__ = ["HEAD_SECONDS", "LARGEST_REQUEST", "LimitedConnection"]

#: The bytes of a request with its head. Below it, the guard says what is too large, and in words.
LARGEST_REQUEST: Final = 256 * 1024
#: Seconds until the head of a request must be complete. Browsers open connections before they need them.
HEAD_SECONDS: Final = 20.0


class LimitedConnection(HttpToolsProtocol):
    """uvicorn's connection, which hangs up on a peer that sends too much or takes too long to ask."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self._received = 0
        self._deadline: TimerHandle | None = None

    def connection_made(self, transport: Transport) -> None:  # type: ignore[override]
        # An answer is a head and a body. Without this, the body waits for the other end to confirm the head: 40 ms.
        transport.get_extra_info("socket").setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        super().connection_made(transport)
        self._wait_for_a_head()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_waiting()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        self._received += len(data)
        if self._received > LARGEST_REQUEST:
            self.transport.close()
        elif self.cycle is None or self.cycle.response_complete:
            self._wait_for_a_head()

    def on_message_begin(self) -> None:
        self._received = 0
        super().on_message_begin()

    def on_headers_complete(self) -> None:
        self._stop_waiting()
        super().on_headers_complete()

    def _wait_for_a_head(self) -> None:
        if self._deadline is None and not self.transport.is_closing():
            self._deadline = self.loop.call_later(HEAD_SECONDS, self.transport.close)

    def _stop_waiting(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None
