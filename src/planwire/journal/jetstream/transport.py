"""The socket of a NATS connection, which other threads may write to as well as the event loop.

Waking the loop for every message would cost every append another thread switch. A lock keeps the bytes of a message
together. What the socket doesn't take at once is left to the loop, and sent before anything later.
"""

import asyncio
import os
import socket
from threading import Lock
from typing import Any, Final

from planwire.extras import missing_extra

try:
    from nats.aio.transport import TcpTransport
except ImportError as error:
    raise missing_extra("a journal on NATS", "nats", error) from error

#: Seconds that a server gets to end a connection properly.
_GOODBYE: Final = 0.5


class SharedTransport(TcpTransport):  # type: ignore[misc, unused-ignore]
    """nats-py's transport, with a second handle of its socket. Not with TLS, where only the loop can encrypt."""

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self._lock = Lock()
        self._handle: socket.socket | None = None
        self._rest = b""
        self._loop = asyncio.get_running_loop()
        self.is_plain = True

    def __bool__(self) -> bool:
        return True  # otherwise nats-py would replace it

    def share(self) -> None:
        """Let other threads write until the connection ends. Only after the login, which must come first."""
        with self._lock:
            self._drop()
            if self.is_plain and self._io_writer is not None:
                self._handle = socket.socket(fileno=os.dup(self._io_writer.get_extra_info("socket").fileno()))
                self._handle.setblocking(False)

    def send_now(self, command: bytes) -> bool:
        """Send from any thread. False if the loop must do it instead; then nothing was sent."""
        with self._lock:
            writer = self._io_writer
            if self._handle is None or writer is None or self._rest or writer.transport.get_write_buffer_size():
                return False
            try:
                sent = self._handle.send(command)
            except OSError:
                return False
            if sent < len(command):
                self._rest = command[sent:]
                self._loop.call_soon_threadsafe(self.write, b"")
            return True

    async def connect(self, *given: Any, **named: Any) -> None:
        self.abort()  # nats-py doesn't close a connection on which the login failed
        self.is_plain = True
        await super().connect(*given, **named)

    async def connect_tls(self, *given: Any, **named: Any) -> None:
        self.is_plain = False
        await super().connect_tls(*given, **named)
        if self._io_writer is not None:
            protocol: Any = self._io_writer.transport.get_protocol()
            protocol._over_ssl = True  # otherwise asyncio complains on stderr when the server hangs up

    def write(self, payload: bytes) -> None:
        with self._lock:
            rest, self._rest = self._rest, b""
            if self._io_writer is not None:
                self._io_writer.write(rest + payload)

    def writelines(self, payload: list[bytes]) -> None:
        self.write(b"".join(payload))

    def close(self) -> None:
        with self._lock:
            self._drop()
        super().close()  # type: ignore[no-untyped-call]

    async def wait_closed(self) -> None:
        """Wait for the connection to end, but not for a silent server: with TLS that would take half a minute, in which
        nats-py tries no other server."""
        end = self._loop.call_later(_GOODBYE, self.abort)
        try:
            await super().wait_closed()  # type: ignore[no-untyped-call]
        finally:
            end.cancel()

    def abort(self) -> None:
        """Close the connection at once, dropping anything unsent."""
        with self._lock:
            self._drop()
        if self._io_writer is not None:
            self._io_writer.transport.abort()

    def _drop(self) -> None:
        self._rest = b""
        if self._handle is not None:
            self._handle.close()
            self._handle = None
