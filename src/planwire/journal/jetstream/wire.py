"""nats-py's client as a JetStream journal uses it.

nats-py keeps the connection: logins, TLS, pings, other servers of a cluster. Messages bypass its queues and tasks:
outgoing ones go straight to the socket, and incoming ones straight to their handlers. `WireClient` is the only class
that uses private parts of nats-py for that.
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

#: Seconds to wait for the answer to our own ping.
_ANSWER: Final = 4.0
#: Seconds between two looks at whether the connection is still there.
_GLANCE: Final = 0.05


class WireMessage(NamedTuple):
    """An answer of the server, or a message from a consumer. `reply` is the subject to answer it on."""

    subject: str
    reply: str
    headers: bytes
    body: bytes

    @property
    def status(self) -> str:
        """The status code in the first line of the headers, as in HTTP; empty for a message."""
        return self.headers[9:12].decode() if self.headers[8:9] == b" " else ""


class WireClient(Client):  # type: ignore[misc, unused-ignore]
    """nats-py's client, but it hands over messages as they come in, and sends without delay."""

    def __init__(self) -> None:
        super().__init__()
        self._transport: SharedTransport = SharedTransport()
        self._direct: dict[int, Callable[[WireMessage], None]] = {}  # by number of subscription

    async def hand_over(self, subject: str, hear: Callable[[WireMessage], None]) -> int:
        """Subscribe, and call `hear` with each message. Returns the number of the subscription, for `end`."""
        subscription = await self.subscribe(subject, cb=_unheard)
        number: int = subscription._id
        self._direct[number] = hear
        await self._settle()  # a request sent from now on must not overtake the subscription
        return number

    async def _settle(self) -> None:
        """Wait until the server has what was sent. If the connection is lost meanwhile, nats-py subscribes again on the
        next one, and the wait begins anew there. nats-py's own `flush` would wait for an answer on the lost one."""
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
        """Hang up. After a failed attempt to connect, nats-py would leave the socket open."""
        try:
            await super().close()
        finally:
            self._transport.abort()

    async def end(self, number: int) -> None:
        self._direct.pop(number, None)
        subscription = self._subs.get(number)
        if subscription is not None:
            with suppress(Error):  # a closed connection has no subscriptions
                await subscription.unsubscribe()

    def share(self) -> None:
        """Let other threads send without the loop."""
        self._transport.share()

    def send_now(self, command: bytes) -> bool:
        """Send from any thread. False if that can't be done at once; then nothing was sent."""
        return self._transport.send_now(command)

    def write(self, command: bytes) -> bool:
        """Send from the loop's thread. False if there is no connection to send it on."""
        if not self.is_connected:
            return False
        self._transport.write(command)
        return True

    def _connect_command(self) -> bytes:
        """The login command. Without TLS, nats-py would send the login in clear to any server that doesn't ask for TLS,
        also to one in the middle."""
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
