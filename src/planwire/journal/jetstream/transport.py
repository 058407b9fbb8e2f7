"""The socket of a NATS connection, which callers on other threads may write to as well as the event loop.

To wake the loop for every message would be one more switch of threads in every append. A lock keeps the bytes of one
message together. What the socket does not take at once is left to the loop, and goes before all that comes later.
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

__all__ = ["SharedTransport"]

#: Seconds for a server to say goodbye.
_GOODBYE: Final = 0.5


class SharedTransport(TcpTransport):  # type: ignore[misc, unused-ignore]
    """nats-py's transport, with a second handle of its socket. With TLS there is none: only the loop can encrypt."""

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self._lock = Lock()
        self._handle: socket.socket | None = None
        self._rest = b""
        self._loop = asyncio.get_running_loop()
        self.is_plain = True

    def __bool__(self) -> bool:
        return True  # or nats-py would take another one

    def share(self) -> None:
        """Let other threads write from now on, until the connection ends: the server has heard who this is."""
        with self._lock:
            self._drop()
            if self.is_plain and self._io_writer is not None:
                self._handle = socket.socket(fileno=os.dup(self._io_writer.get_extra_info("socket").fileno()))
                self._handle.setblocking(False)

    def send_now(self, command: bytes) -> bool:
        """Send from any thread. False if that is for the loop to do; then nothing was sent."""
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
        self.abort()  # nats-py only forgets a connection on which no login was possible
        self.is_plain = True
        await super().connect(*given, **named)

    async def connect_tls(self, *given: Any, **named: Any) -> None:
        self.is_plain = False
        await super().connect_tls(*given, **named)
        if self._io_writer is not None:
            protocol: Any = self._io_writer.transport.get_protocol()
            protocol._over_ssl = True  # or asyncio complains on stderr when the server hangs up

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
        """Wait for the end of the connection, but not for the goodbye of a silent server: with TLS that would be half a
        minute, in which nats-py tries no other one."""
        end = self._loop.call_later(_GOODBYE, self.abort)
        try:
            await super().wait_closed()  # type: ignore[no-untyped-call]
        finally:
            end.cancel()

    def abort(self) -> None:
        """Close the connection without a word, whatever was left to send."""
        with self._lock:
            self._drop()
        if self._io_writer is not None:
            self._io_writer.transport.abort()

    def _drop(self) -> None:
        self._rest = b""
        if self._handle is not None:
            self._handle.close()
            self._handle = None
