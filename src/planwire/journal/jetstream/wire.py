"""nats-py's client as a JetStream journal uses it.

nats-py keeps the connection: logins, TLS, pings, other servers of a cluster. Messages take a shorter way than its own:
what is sent goes straight to the socket, and what comes in goes to whoever waits, without a queue and a task in
between. `WireClient` is the one class that reaches below the public surface of nats-py for that.
"""

import asyncio
import ssl
from collections.abc import Callable
from contextlib import suppress
from typing import Final, NamedTuple

from planwire.extras import missing_extra
from planwire.journal.jetstream.transport import SharedTransport

try:
    from nats.aio.client import Client
    from nats.errors import Error, FlushTimeoutError
except ImportError as error:
    raise missing_extra("a journal on NATS", "nats", error) from error

__all__ = ["WireClient", "WireMessage"]

#: Seconds for an answer to a ping of our own.
_ANSWER: Final = 4.0
#: Seconds between two looks at whether the connection is still there.
_GLANCE: Final = 0.05


class WireMessage(NamedTuple):
    """An answer of the server, or a message of a consumer: its subject, and where it could be answered."""

    subject: str
    reply: str
    headers: bytes
    body: bytes

    @property
    def status(self) -> str:
        """The number in the first line of the headers, as in HTTP; empty for a message."""
        return self.headers[9:12].decode() if self.headers[8:9] == b" " else ""


class WireClient(Client):  # type: ignore[misc, unused-ignore]
    """nats-py's client, which hands over the messages of one subscription as they come in, and sends without delay."""

    def __init__(self) -> None:
        super().__init__()
        self._transport: SharedTransport = SharedTransport()
        self._direct: dict[int, Callable[[WireMessage], None]] = {}  # by the number of a subscription

    async def hand_over(self, subject: str, hear: Callable[[WireMessage], None]) -> int:
        """Subscribe, and call `hear` with what comes. The number of the subscription, for `end`."""
        subscription = await self.subscribe(subject, cb=_unheard)
        number: int = subscription._id
        self._direct[number] = hear
        await self._settle()  # a question that is sent now must not overtake it
        return number

    async def _settle(self) -> None:
        """Wait until the server has what was sent. If the connection is lost meanwhile, nats-py subscribes again by the
        next one, on which the answer is awaited anew; its own `flush` would wait for that of the lost one."""
        loop = asyncio.get_running_loop()
        end = loop.time() + _ANSWER
        while loop.time() < end:
            connection, answer = self.stats["reconnects"], loop.create_future()
            if self.is_connected:
                await self._send_ping(answer)
            while loop.time() < end and self.is_connected and self.stats["reconnects"] == connection:
                if (await asyncio.wait([answer], timeout=_GLANCE))[0]:
                    return
            await asyncio.sleep(_GLANCE)
        raise FlushTimeoutError

    async def close(self) -> None:
        """Hang up. nats-py does nothing if its last attempt to connect failed, also where the server took that."""
        try:
            await super().close()
        finally:
            self._transport.abort()

    async def end(self, number: int) -> None:
        self._direct.pop(number, None)
        subscription = self._subs.get(number)
        if subscription is not None:
            with suppress(Error):  # a connection that is closed has none
                await subscription.unsubscribe()

    def share(self) -> None:
        """Let callers on other threads send without the loop."""
        self._transport.share()

    def send_now(self, command: bytes) -> bool:
        """Send from any thread, if that can be done at once."""
        return self._transport.send_now(command)

    def write(self, command: bytes) -> bool:
        """Send from the thread of the loop. Whether there is a connection that took it."""
        if not self.is_connected:
            return False
        self._transport.write(command)
        return True

    def _connect_command(self) -> bytes:
        """The login. nats-py would say it in clear to whoever does not ask for TLS, also in between."""
        if "tls" in self.options and self._transport.is_plain:
            raise ssl.SSLError(1, "it offers no TLS, which the journal's URL demands")
        command: bytes = super()._connect_command()
        return command

    async def _process_msg(self, sid: int, subject: bytes, reply: bytes, data: bytes, headers: bytes) -> None:
        hear = self._direct.get(sid)
        if hear is not None:
            hear(WireMessage(subject.decode(), reply.decode() if reply else "", headers or b"", data))
        else:
            await super()._process_msg(sid, subject, reply, data, headers)


async def _unheard(message: object) -> None:
    raise AssertionError(f"nats-py did not hand over {message!r}: this version of it is not known to planwire")
