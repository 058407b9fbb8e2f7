"""The connection of a JetStream journal: nats-py on an event loop in its own thread, for callers on any other thread.

A request costs its caller two thread switches and nothing else: no task, and no asyncio future.
"""

import asyncio
from collections.abc import Callable
from concurrent.futures import Future, wait
from contextlib import suppress
from threading import Event, Lock, Thread
from time import monotonic, sleep
from typing import Any, Final

from planwire.errors import EngineAway, JournalUnavailable
from planwire.journal.forks import forks
from planwire.journal.jetstream.dialing import CONNECT, Dialer
from planwire.journal.jetstream.inbox import Handler, NatsInbox, deaf, forbidden
from planwire.journal.jetstream.settings import JetStreamSettings
from planwire.journal.jetstream.wire import WireClient, WireMessage
from planwire.journal.unusable import closed, forked
from planwire.journal.waiting import MOMENT

#: Seconds to wait for the connection to come back before a call gives up.
AWAY: Final = 2.0
_AGAIN: Final = 0.2
#: Seconds until a user who may not subscribe to answers tries again.
LISTEN_AGAIN: Final = 2.0
#: Bytes that an answer adds to the message in it.
_ANSWER: Final = 512


class Unanswered(Exception):
    """A request got no answer; the server may or may not have acted on it."""


class NatsConnection:
    """A connection that any thread may use. It reconnects by itself."""

    def __init__(self, settings: JetStreamSettings) -> None:
        self._settings = settings
        self.owner = forks()
        self.is_closed = False
        self.is_hasty = False  # see `haste`
        self.interruptions = 0  # what was known before one may not hold any more: see `sessions`
        self.since = monotonic()  # when the connection came up
        self._back = Event()
        self._down: float | None = self.since
        self._regular: list[Callable[[], None]] = []
        self._inbox = NatsInbox(settings.inbox_prefix)
        self._client: WireClient | None = None
        self._hearing = 0  # the number of the subscription to answers
        self._listening: asyncio.Task[None] | None = None
        self._dialer = Dialer(settings)
        self._dialer.find_server()
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
    def where(self) -> str:
        return self._settings.where

    @property
    def max_payload(self) -> int:
        return self._client.max_payload if self._client else 0

    @property
    def room(self) -> int:
        """The largest message, headers included, that can also be read back: an answer holds it in base64, a third
        longer, and no leaf node passes on an answer larger than `max_payload`."""
        return (self.max_payload - _ANSWER) * 3 // 4

    @property
    def server(self) -> dict[str, Any]:
        """What the server says of itself."""
        return dict(self._client._server_info) if self._client else {}

    def expect(self, handler: Handler, asked: str = "") -> str:
        """A new token, whose messages go to the handler until `drop`; `asked` is the subject of the request."""
        return self._inbox.expect(handler, asked)

    def drop(self, token: str, asked: str = "") -> None:
        """Stop expecting messages. `JournalUnavailable` if the server denied this user the request, or all answers."""
        if self._inbox.drop(token):
            raise forbidden(self.where, asked)
        if self._inbox.is_deaf:
            self.check()

    def check_flow(self) -> None:
        """Raise `JournalUnavailable` if this user may not tell a consumer that there is room for more messages."""
        if not self._inbox.may_ask_for_more:
            raise forbidden(self.where, "$JS.FC.>")

    def send(self, subject: str, body: bytes = b"", headers: bytes = b"", token: str = "") -> None:
        """Send a message soon. The token's handler gets None if there is no connection to send it on."""
        reply = f" {self._inbox.reply_subject(token)}" if token else ""
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
            self._inbox.fail(token)

    def request(self, subject: str, body: bytes = b"", headers: bytes = b"", timeout: float = 2.0) -> WireMessage:
        """The answer to a message, or `Unanswered`."""
        answer: list[WireMessage | None] = []
        come = Lock()
        come.acquire()

        def hear(reply: WireMessage | None) -> None:
            if not answer:
                answer.append(reply)
                come.release()

        token = self._inbox.expect(hear, subject)
        try:
            self.send(subject, body, headers, token)
            has_come = come.acquire(timeout=max(timeout, 0))
        finally:
            self.drop(token, subject)
        if not has_come:
            raise Unanswered(f"no answer within {max(timeout, 0):.1f} s{self._last_words()}")
        if answer[0] is None:
            raise Unanswered(f"the connection is lost{self._last_words()}")
        return answer[0]

    def subscribe(self, handler: Handler) -> tuple[str, Callable[[], None]]:
        """Subscribe a handler to a new subject; returns the subject and a function that ends the subscription. (The
        shared wildcard subscription won't do: consumers don't deliver to one.)"""
        token = self.expect(handler)
        client, subject = self._client, f"{self._inbox.subject}-{token}"
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
            raise self.away(str(error)) from None

        def end() -> None:
            self.drop(token)
            with suppress(RuntimeError):
                self._loop.call_soon_threadsafe(lambda: self._loop.create_task(client.end(number)))

        return subject, end

    def every(self, seconds: float, do: Callable[[], None]) -> None:
        """Call `do` every so many seconds, and whenever the connection comes back, on the loop's thread. Its
        `JournalUnavailable` is dropped: the journal's callers meet the same error themselves."""

        def quietly() -> None:
            with suppress(JournalUnavailable):
                do()

        def again() -> None:
            if not self.is_closed:
                self._loop.call_later(seconds, again)
                quietly()

        with suppress(RuntimeError):
            self._regular.append(quietly)
            self._loop.call_soon_threadsafe(again)

    def check(self) -> None:
        """Raise `JournalUnavailable` if the journal is closed, was opened before this process was forked off, or may
        not subscribe to answers."""
        if self.is_closed:
            raise closed(self.where)
        if self.owner != forks():
            raise forked(self.where)
        if self._inbox.is_deaf:
            raise deaf(self.where, self._settings.inbox_prefix)

    def wait(self, seconds: float) -> None:
        """Wait for the connection to come back, or a moment if it is up. `EngineAway` if it has been down too long."""
        self.check()
        down = self._down
        longest = MOMENT if self.is_hasty else AWAY
        if down is not None and monotonic() - down > longest:
            raise self.away()
        if not self._back.wait(min(seconds, longest)) or down is not None:
            return
        sleep(min(seconds, 0.05))

    def away(self, reason: str = "") -> EngineAway:
        return self._dialer.away(reason)

    def close(self) -> None:
        if self.is_closed or self.owner != forks():
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
            while left := asyncio.all_tasks(self._loop):  # again: tasks may start others as they end
                for task in left:
                    task.cancel()
                self._loop.run_until_complete(asyncio.gather(*left, return_exceptions=True))
        finally:
            self._loop.close()

    def _write(self, command: bytes, token: str) -> None:
        if self._client is None or not self._client.write(command):
            self._inbox.fail(token)

    async def _connect(self) -> None:
        client = WireClient()
        self._inbox.begin()

        async def was_closed() -> None:
            if client is self._client and not self.is_closed:
                self._loop.create_task(self._connect_again())

        callbacks = {"disconnected_cb": self._was_lost, "reconnected_cb": self._was_found, "closed_cb": was_closed}
        try:
            await self._dialer.dial(client, self._was_told, callbacks)
            self._hearing = await client.hand_over(f"{self._inbox.subject}.*", self._inbox.hear)
        except BaseException as error:  # also if the server goes away again, or the journal is closed meanwhile
            with suppress(Exception):
                await client.close()
            if isinstance(error, JournalUnavailable) or not isinstance(error, Exception):
                raise
            raise self.away(str(error)) from None
        self._client = client
        self._came_back()

    def _was_told(self, trouble: str) -> bool:
        """Note a trouble; whether it is a missing permission. If the user may not subscribe to answers, keep trying:
        the permission can be given while the connection lasts."""
        is_taken = self._inbox.deny(trouble)
        if self._inbox.is_deaf and (self._listening is None or self._listening.done()):
            self._listening = self._loop.create_task(self._listen_again())
        return is_taken

    async def _listen_again(self) -> None:
        while self._inbox.is_deaf and not self.is_closed:
            await asyncio.sleep(LISTEN_AGAIN)
            client, refusals = self._client, self._inbox.refusals
            if client is None or not self._inbox.is_deaf:
                return
            with suppress(Exception):  # if the connection is lost meanwhile, nats-py subscribes again on the next one
                await client.end(self._hearing)
                self._hearing = await client.hand_over(f"{self._inbox.subject}.*", self._inbox.hear)
                if self._inbox.refusals == refusals:
                    self._inbox.begin()

    async def _was_lost(self) -> None:
        if self._down is None:
            self._down = monotonic()
        self._inbox.begin()  # now, not on reconnecting: by then the next server may have refused something
        self._back.clear()
        self.interruptions += 1
        self._inbox.fail_all()

    async def _was_found(self) -> None:
        self._came_back()

    def _came_back(self) -> None:
        self._dialer.trouble = ""
        self._down = None
        self.since = monotonic()
        if self._client is not None:
            self._client.share()
        self._back.set()
        for do in self._regular:
            do()

    async def _connect_again(self) -> None:
        """Connect anew after nats-py gave up on a refused login: a server that just started may not have its users
        yet."""
        await self._was_lost()
        while not self.is_closed:
            await asyncio.sleep(_AGAIN)
            try:
                await self._connect()
            except JournalUnavailable:
                continue
            return

    async def _end(self) -> None:
        self._inbox.fail_all()
        if self._client is not None:
            with suppress(Exception):
                await asyncio.wait_for(self._client.close(), 1.0)
        self._loop.stop()

    # -- on any thread

    def _last_words(self) -> str:
        return f" ({self._dialer.trouble})" if self._dialer.trouble else ""
