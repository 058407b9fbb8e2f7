"""The connection of a JetStream journal: nats-py on an event loop of its own thread, for callers on any other thread.

A question costs its caller two hops from thread to thread, and nothing else: no task, and no future of asyncio's. There
is one subscription for all answers, and the last word of its subject says who waits for this one.
"""

import asyncio
import os
import socket
import ssl
from collections.abc import Callable
from concurrent.futures import Future, wait
from contextlib import suppress
from itertools import count
from threading import Event, Lock, Thread
from time import monotonic
from typing import Any, Final

from planwire.errors import EngineAway, JournalUnavailable
from planwire.journal.jetstream_settings import JetStreamSettings
from planwire.journal.jetstream_wire import WireClient, WireMessage, wire_options

__all__ = ["Handler", "NatsConnection", "Unanswered"]

#: Seconds to wait for a server when a journal is opened, and for the connection to come back before a call gives up.
CONNECT: Final = 4.0
AWAY: Final = 2.0
_AGAIN: Final = 0.2
#: What gets the messages for a token, on the thread of the loop; None once the connection is lost.
Handler = Callable[[WireMessage | None], None]


class Unanswered(Exception):
    """A question without an answer: nobody knows whether the server has heard it."""


class NatsConnection:
    """A connection that any thread may use. It connects again by itself."""

    def __init__(self, settings: JetStreamSettings) -> None:
        self._settings = settings
        self.owner = os.getpid()
        self.is_closed = False
        self.was_interrupted = False
        self.since = monotonic()  # when the connection came up
        self._back = Event()
        self._down: float | None = self.since
        self._trouble = ""
        self._handlers: dict[str, Handler] = {}
        self._regular: list[Callable[[], None]] = []
        self._tokens = count(1)
        self._inbox = f"_INBOX.{os.urandom(11).hex()}"
        self._skip = len(self._inbox) + 1
        self._client: WireClient | None = None
        self._options = wire_options(settings)
        self._find_server()
        self._loop = asyncio.new_event_loop()
        self._thread = Thread(target=self._run, name="planwire-nats", daemon=True)
        self._thread.start()
        try:
            asyncio.run_coroutine_threadsafe(self._connect(), self._loop).result(CONNECT + 1)
        except BaseException as error:
            self.close()
            if isinstance(error, TimeoutError):
                raise self.away() from None
            raise

    @property
    def max_payload(self) -> int:
        return self._client.max_payload if self._client else 0

    @property
    def server(self) -> dict[str, Any]:
        """What the server says of itself."""
        return dict(self._client._server_info) if self._client else {}

    def expect(self, handler: Handler) -> str:
        """A new token, whose messages the handler will get until `drop`."""
        token = str(next(self._tokens))
        self._handlers[token] = handler
        return token

    def drop(self, token: str) -> None:
        self._handlers.pop(token, None)

    def send(self, subject: str, body: bytes = b"", headers: bytes = b"", token: str = "") -> None:
        """Send a message soon. The handler of the token hears None if there is no connection to send it on."""
        reply = f" {self._inbox}.{token}" if token else ""
        if headers:
            first = f"HPUB {subject}{reply} {len(headers)} {len(headers) + len(body)}\r\n"
        else:
            first = f"PUB {subject}{reply} {len(body)}\r\n"
        command = b"%b%b%b\r\n" % (first.encode(), headers, body)
        if self._client is not None and self._client.send_now(command):
            return
        try:
            self._loop.call_soon_threadsafe(self._write, command, token)
        except RuntimeError:  # the loop is closed
            self._write_failed(token)

    def request(self, subject: str, body: bytes = b"", headers: bytes = b"", timeout: float = 2.0) -> WireMessage:
        """The answer to a message, or `Unanswered`."""
        answer: list[WireMessage | None] = []
        come = Lock()
        come.acquire()

        def hear(reply: WireMessage | None) -> None:
            if not answer:
                answer.append(reply)
                come.release()

        token = self.expect(hear)
        try:
            self.send(subject, body, headers, token)
            if not come.acquire(timeout=max(timeout, 0)):
                raise Unanswered(f"no answer within {timeout:.1f} s{self._last_words()}")
        finally:
            self.drop(token)
        if answer[0] is None:
            raise Unanswered(f"the connection is lost{self._last_words()}")
        return answer[0]

    def subscribe(self, handler: Handler) -> tuple[str, Callable[[], None]]:
        """A subject of its own for a handler, and how to end that. (A consumer delivers to no wildcard.)"""
        token = self.expect(handler)
        client, subject = self._client, f"{self._inbox}-{token}"
        if client is None:
            raise self.away()
        done: Future[int] = Future()

        async def begin() -> None:
            try:
                done.set_result(await client.hand_over(subject, handler))
            except Exception as error:
                done.set_exception(error)

        try:
            self._loop.call_soon_threadsafe(lambda: self._loop.create_task(begin()))
            end_of_patience = monotonic() + CONNECT
            while not done.done() and monotonic() < end_of_patience:
                self.check()
                wait([done], 0.1)
            number = done.result(0)
        except Exception as error:
            self.drop(token)
            self.check()
            raise self.away(str(error) or type(error).__name__) from None

        def end() -> None:
            self.drop(token)
            with suppress(RuntimeError):
                self._loop.call_soon_threadsafe(lambda: self._loop.create_task(client.end(number)))

        return subject, end

    def every(self, seconds: float, do: Callable[[], None]) -> None:
        """Do something every so often, and whenever the connection came back, on the thread of the loop."""

        def again() -> None:
            if not self.is_closed:
                do()
                self._loop.call_later(seconds, again)

        with suppress(RuntimeError):
            self._regular.append(do)
            self._loop.call_soon_threadsafe(again)

    def check(self) -> None:
        """Raise `JournalUnavailable` if the journal is closed, or belongs to the process that this one is a fork of."""
        if self.is_closed:
            raise JournalUnavailable(f"the journal {self._settings.where} is closed: open it again")
        if self.owner != os.getpid():
            raise JournalUnavailable(
                f"the journal {self._settings.where} was opened before this process was forked off: open it again here"
            )

    def wait(self, seconds: float) -> None:
        """Wait for the connection to be there, or a moment if it is. `EngineAway` once it was gone for too long."""
        self.check()
        down = self._down
        if down is not None and monotonic() - down > AWAY:
            raise self.away()
        if not self._back.wait(min(seconds, AWAY)) or down is not None:
            return
        Event().wait(min(seconds, 0.05))

    def away(self, reason: str = "") -> EngineAway:
        said = reason or self._trouble or "it does not answer"
        return EngineAway(
            f"the NATS server at {self._settings.where} is away ({said}): start it, or look for an error in the name "
            "of the journal (--journal or PLANWIRE_JOURNAL)"
        )

    def close(self) -> None:
        if self.is_closed or self.owner != os.getpid():
            self.is_closed = True
            return
        self.is_closed = True
        with suppress(RuntimeError):
            self._loop.call_soon_threadsafe(lambda: self._loop.create_task(self._end()))
        self._thread.join(CONNECT)

    # -- on the thread of the loop

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        try:
            self._loop.run_forever()
        finally:
            self._loop.close()

    def _write(self, command: bytes, token: str) -> None:
        if self._client is None or not self._client.write(command):
            self._write_failed(token)

    def _write_failed(self, token: str) -> None:
        if handler := self._handlers.get(token):
            handler(None)

    def _hear(self, reply: WireMessage) -> None:
        if handler := self._handlers.get(reply.subject[self._skip :]):
            handler(reply)

    async def _connect(self) -> None:
        client = WireClient()
        refused: asyncio.Future[Exception] = self._loop.create_future()

        async def troubled(error: Exception) -> None:
            self._trouble = str(error) or type(error).__name__
            if not refused.done() and (isinstance(error, ssl.SSLError) or "authori" in self._trouble.lower()):
                refused.set_result(error)  # to try again, as nats-py would, changes nothing

        async def closed() -> None:
            if client is self._client and not self.is_closed:
                self._loop.create_task(self._connect_again())

        callbacks: dict[str, Any] = {
            "disconnected_cb": self._was_lost,
            "reconnected_cb": self._was_found,
            "closed_cb": closed,
        }
        task: asyncio.Future[Any] = self._loop.create_task(
            client.connect(**self._options, **callbacks, error_cb=troubled)
        )
        waited: set[asyncio.Future[Any]] = {task, refused}
        done, _ = await asyncio.wait(waited, timeout=CONNECT, return_when=asyncio.FIRST_COMPLETED)
        if task not in done:
            task.cancel()
            with suppress(Exception, asyncio.CancelledError):
                await task
            with suppress(Exception):
                await client.close()
            if refused.done() and not isinstance(refused.result(), ssl.SSLError):
                raise JournalUnavailable(
                    f"the NATS server at {self._settings.where} refuses this login: look at the user, the password, "
                    "the token or the credentials that the journal's URL or its context names"
                )
            raise self.away()
        try:
            task.result()
        except Exception as error:
            raise self.away(str(error) or type(error).__name__) from None
        await client.hand_over(f"{self._inbox}.*", self._hear)
        self._client = client
        self._came_back()

    async def _was_lost(self) -> None:
        if self._down is None:
            self._down = monotonic()
        self._back.clear()
        self.was_interrupted = True
        for handler in tuple(self._handlers.values()):
            handler(None)

    async def _was_found(self) -> None:
        self._came_back()

    def _came_back(self) -> None:
        self._trouble = ""
        self._down = None
        self.since = monotonic()
        if self._client is not None:
            self._client.share()
        self._back.set()
        for do in self._regular:
            do()

    async def _connect_again(self) -> None:
        """nats-py gives up when a server refuses the login, which may be a server that is about to get its users."""
        await self._was_lost()
        while not self.is_closed:
            await asyncio.sleep(_AGAIN)
            try:
                await self._connect()
            except JournalUnavailable:
                continue
            return

    async def _end(self) -> None:
        for handler in tuple(self._handlers.values()):
            handler(None)
        if self._client is not None:
            with suppress(Exception):
                await asyncio.wait_for(self._client.close(), 1.0)
        for task in asyncio.all_tasks(self._loop) - {asyncio.current_task()}:
            task.cancel()
        await asyncio.sleep(0)
        self._loop.stop()

    # -- on any thread

    def _find_server(self) -> None:
        """Raise `EngineAway` if nobody listens at any of the addresses: nats-py would go on trying."""
        for server in self._settings.servers:
            host, _, port = server.rpartition(":")
            try:
                socket.create_connection((host.strip("[]"), int(port)), CONNECT / 2).close()
            except OSError as error:
                self._trouble = error.strerror or str(error)
            else:
                return
        raise self.away()

    def _last_words(self) -> str:
        return f" ({self._trouble})" if self._trouble else ""
