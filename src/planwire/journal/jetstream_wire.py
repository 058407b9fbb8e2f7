"""nats-py's client as a JetStream journal uses it.

nats-py keeps the connection: logins, TLS, pings, other servers of a cluster. Messages take a shorter way than its own:
what is sent goes straight to the socket, and what comes in goes to whoever waits, without a queue and a task in
between. `WireClient` is the one class that reaches below the public surface of nats-py for that.
"""

import ssl
from collections.abc import Callable
from contextlib import suppress
from typing import Any, Final, NamedTuple

from planwire.errors import UnknownJournal
from planwire.extras import missing_extra
from planwire.journal.jetstream_settings import JetStreamSettings
from planwire.journal.jetstream_transport import SharedTransport

try:
    from nats.aio.client import Client
    from nats.errors import Error
except ImportError as error:
    raise missing_extra("a journal on NATS", "nats", error) from error

__all__ = ["WireClient", "WireMessage", "wire_options"]

_RECONNECT_WAIT: Final = 0.2
#: Seconds without a sign of the server until nats-py asks for one, and unanswered questions until it gives up.
_PING: Final = 5
_PINGS: Final = 2
#: Seconds for an answer to a ping of our own.
_ANSWER: Final = 4


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
        await self.flush(_ANSWER)  # a question that is sent now must not overtake it
        return number

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


def wire_options(settings: JetStreamSettings) -> dict[str, Any]:
    """How to connect. Nothing secret is in the addresses, which nats-py may show."""
    options: dict[str, Any] = {
        "servers": [f"{'tls' if settings.is_tls else 'nats'}://{server}" for server in settings.servers],
        "name": "planwire",
        "connect_timeout": 2,
        "reconnect_time_wait": _RECONNECT_WAIT,
        "max_reconnect_attempts": -1,
        "ping_interval": _PING,
        "max_outstanding_pings": _PINGS,
        "pending_size": 0,  # nothing is to be sent later that its caller has given up by then
        "tls": _tls_context(settings),
        "user": settings.user or None,
        "password": settings.password or None,
        "token": settings.token or None,
        "user_credentials": settings.creds or None,
        "nkeys_seed": settings.nkey or None,
    }
    return {name: value for name, value in options.items() if value is not None}


async def _unheard(message: object) -> None:
    raise AssertionError(f"nats-py did not hand over {message!r}: this version of it is not known to planwire")


def _tls_context(settings: JetStreamSettings) -> ssl.SSLContext | None:
    if not settings.is_tls:
        return None
    try:
        context = ssl.create_default_context(cafile=settings.ca or None)
        if settings.cert:
            context.load_cert_chain(settings.cert, settings.key or None)
    except (OSError, ssl.SSLError) as error:
        raise UnknownJournal(
            f"the certificates of the journal {settings.where} can't be read: {error.strerror or error}. Look at "
            "tls_ca, tls_cert and tls_key in its URL or its context"
        ) from None
    return context
