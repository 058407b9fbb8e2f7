"""PlanSession: one agent session on an event loop. Journal, plan tools, the model's context, and clients to tell.

    async with PlanSession.open("plans.db", "session-1", format="anthropic") as plans:
        reply = await ask(messages + await plans.pending(), tools=plans.tools())
        result = await plans.call(name, arguments)

The work is done by `BlockingPlanSession`, in threads: the event loop never waits for a disk.
"""

import asyncio
import inspect
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from threading import Event as Flag
from threading import Thread
from typing import Any, Final, Self

from planwire.chat import Compaction, about_tokens
from planwire.chat.compaction import TAIL, Counter
from planwire.errors import JournalError
from planwire.model.events import SessionOpened
from planwire.model.fold import SessionState
from planwire.model.plan import Fields
from planwire.session.blocking import Answer, BlockingPlanSession
from planwire.session.client_sync import PeerLike, Teller
from planwire.session.live_history import JournalLike, opened

__all__ = ["Connection", "PlanSession"]

#: How long closing a session waits for clients that are still being told.
PARTING_SECONDS: Final = 2.0

Summarise = Callable[[Sequence[Fields]], str | Awaitable[str]]

_log = logging.getLogger("planwire")


class PlanSession:
    """An agent session. Open it with `PlanSession.open`; every method may be awaited by several tasks at once."""

    def __init__(self, blocking: BlockingPlanSession) -> None:
        self._blocking = blocking
        self._connections: list[Connection] = []
        self._follower: _Follower | None = None

    @classmethod
    @asynccontextmanager
    async def open(cls, journal: JournalLike, session_id: str, **options: Any) -> AsyncIterator[Self]:
        """A session in a journal, or in the one that a URL or a path names.

        The options are those of `BlockingPlanSession`: `format`, `by`, `folders`, `oversize`, `mode`, `about`,
        `wait_seconds`.
        """
        source = opened(journal)
        found = await asyncio.to_thread(source.__enter__)
        try:
            session = cls(await asyncio.to_thread(BlockingPlanSession, found, session_id, **options))
            try:
                yield session
            finally:
                await session._close()
        finally:
            await asyncio.to_thread(source.__exit__, None, None, None)

    @property
    def id(self) -> str:
        return self._blocking.id

    @property
    def state(self) -> SessionState:
        """The session as it was known last. It is a value: it never changes, the next one does."""
        return self._blocking.state

    def tools(self) -> list[Fields]:
        """The plan tools, as the provider's API takes them."""
        return self._blocking.tools()

    async def call(self, name: str, arguments: Any = None) -> Answer:
        """Answer a call of a plan tool. Whatever is wrong with it is part of the answer: a model can act on that."""
        deadline = asyncio.get_running_loop().time() + self._blocking.wait_seconds
        since = self.state.seq
        while True:
            seq = self.state.seq
            answer = await asyncio.to_thread(self._blocking.call_now, name, arguments, since)
            if not answer.is_waiting:
                return answer
            try:
                async with asyncio.timeout_at(deadline):
                    await self.changed(seq)
            except TimeoutError:
                return answer

    async def describe(self, about: SessionOpened) -> None:
        """Write down what is known of the session, if it is news."""
        await asyncio.to_thread(self._blocking.describe, about)

    async def pending(self) -> list[Fields]:
        """For those who keep their own history: the messages to append now, at a point where no call is open."""
        return await asyncio.to_thread(self._blocking.pending)

    async def recap(self) -> list[Fields]:
        """For those who keep their own history: what to put first once they compacted it."""
        return await asyncio.to_thread(self._blocking.recap)

    async def add(self, *messages: Any) -> None:
        """Put messages into the chat, as the provider gave them or will be given them."""
        await asyncio.to_thread(self._blocking.add, *messages)

    async def context(self) -> list[Fields]:
        """The messages to send to the provider. Calls that nobody answered are cancelled for good by asking."""
        return await asyncio.to_thread(self._blocking.context)

    async def export(self) -> bytes:
        """The chat as a JSON list of messages in their stored shapes."""
        return await asyncio.to_thread(self._blocking.export)

    async def compact(
        self,
        budget: int | None = None,
        *,
        tail: int = TAIL,
        count: Counter = about_tokens,
        summarise: Summarise | None = None,
    ) -> Compaction:
        """Make the context fit a budget of tokens. `summarise` may be a coroutine function: it runs on this loop."""
        loop = asyncio.get_running_loop()
        given_up = Flag()
        asked: list[asyncio.Task[Any] | None] = []

        async def ask(messages: Sequence[Fields]) -> str:
            assert summarise is not None
            asked.append(asyncio.current_task())
            if given_up.is_set():
                raise asyncio.CancelledError
            return await _text(summarise, messages)

        def wait_for_summary(messages: Sequence[Fields]) -> str:
            return asyncio.run_coroutine_threadsafe(ask(messages), loop).result()

        try:
            return await asyncio.to_thread(
                self._blocking.compact,
                budget,
                tail=tail,
                count=count,
                summarise=wait_for_summary if summarise else None,
            )
        except asyncio.CancelledError:  # nobody waits for a summary any more, and without it nothing is compacted
            given_up.set()
            for task in asked:
                if task is not None:
                    task.cancel()
            raise

    async def rebase(self) -> None:
        """Fold every plan and the changes since it was set into one message, at the end of the context."""
        await asyncio.to_thread(self._blocking.rebase)

    async def end_turn(self, stop_reason: str = "end_turn") -> None:
        """Say that the agent stopped: what is still in progress is shown as stopped, not as running."""
        await asyncio.to_thread(self._blocking.end_turn, stop_reason)

    async def refresh(self) -> SessionState:
        """The session as it is now, whoever changed it."""
        return await asyncio.to_thread(self._blocking.refresh)

    async def changed(self, seq: int) -> SessionState:
        """Wait until the session is elsewhere than at its event number `seq`, whoever brought it there."""
        self._follow()
        loop, news = asyncio.get_running_loop(), asyncio.Event()

        def hear() -> None:
            with suppress(RuntimeError):  # the loop is closed
                loop.call_soon_threadsafe(news.set)

        ignore = self._blocking.on_change(hear)
        try:
            while self.state.seq == seq:
                await news.wait()
                news.clear()
            return self.state
        finally:
            ignore()

    def connect(self, peer: PeerLike, session_id: str | None = None) -> "Connection":
        """Tell a client of every change from now on, and of the plans that there are: complete, in order, the newest
        state if it is slow. `session_id` is the client's id of the session, if it has another one."""
        self._follow()
        connection = Connection(self._blocking, peer, session_id or self.id)
        self._connections.append(connection)
        return connection

    async def flush(self) -> None:
        """Wait until every client knows the newest state, or is gone."""
        for connection in self._connections:
            await connection.flush()

    def _follow(self) -> None:
        if self._follower is None:
            self._follower = _Follower(self._blocking)

    async def _close(self) -> None:
        if self._follower is not None:
            await asyncio.to_thread(self._follower.stop)
        with suppress(TimeoutError):
            await asyncio.wait_for(self.flush(), PARTING_SECONDS)
        for connection in self._connections:
            await connection.close()


class Connection:
    """A client that is being told. `error` is why that ended, if it did."""

    def __init__(self, blocking: BlockingPlanSession, peer: PeerLike, session_id: str) -> None:
        self.error: Exception | None = None
        self._blocking = blocking
        self._peer = peer
        self._teller = Teller(peer.dialect, session_id)
        self._news = asyncio.Event()
        self._knows_all = asyncio.Event()
        self._loop = asyncio.get_running_loop()
        self._ignore = blocking.on_change(self._call)
        self._task = self._loop.create_task(self._tell(), name=f"planwire peer of {session_id}")

    async def flush(self) -> None:
        """Wait until the client knows the newest state, or is gone."""
        await asyncio.sleep(0)  # news that a thread left for the loop comes first
        await self._knows_all.wait()

    async def close(self) -> None:
        """Tell this client nothing more."""
        self._ignore()
        self._ignore = _nothing
        self._task.cancel()
        await asyncio.wait([self._task])
        self._knows_all.set()

    def _call(self) -> None:
        """From any thread. A loop that is closed has no clients any more."""
        with suppress(RuntimeError):
            self._loop.call_soon_threadsafe(self._hear)

    def _hear(self) -> None:
        if not self._task.done():
            self._knows_all.clear()
            self._news.set()

    async def _tell(self) -> None:
        try:
            while True:
                self._news.clear()
                while lines := self._teller.next_lines(self._blocking.state):
                    for line in lines:
                        await self._peer.send(line)
                if not self._news.is_set():
                    self._knows_all.set()
                await self._news.wait()
        except Exception as error:
            self.error = error
            _log.warning("a client of session %s is gone: %s", self._blocking.id, error)
        finally:
            self._knows_all.set()


class _Follower:
    """Takes in what others write to a session, so that its clients hear of it at once."""

    def __init__(self, blocking: BlockingPlanSession) -> None:
        self._stop = Flag()
        self._blocking = blocking
        self._thread = Thread(target=self._follow, name="planwire-follower", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        self._stop.set()
        self._thread.join()

    def _follow(self) -> None:
        blocking = self._blocking
        try:
            events = blocking.journal.follow(session=blocking.id, stop=self._stop)
            blocking.refresh()  # what came before it began to listen
            for followed in events:
                if followed.recorded.seq > blocking.state.seq:
                    blocking.refresh()
        except JournalError as error:
            _log.warning("changes that others make to session %s are not heard of any more: %s", blocking.id, error)


async def _text(summarise: Summarise, messages: Sequence[Fields]) -> str:
    text = summarise(messages)
    return await text if inspect.isawaitable(text) else text


def _nothing() -> None:
    """There is nothing to stop any more."""
