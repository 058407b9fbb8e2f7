"""A client of a session on an event loop: a task sends it what it does not know yet."""

import asyncio
import logging
from collections.abc import Callable
from contextlib import suppress
from typing import Final

from planwire.model.records import SessionState
from planwire.session.blocking import BlockingPlanSession
from planwire.session.change import SessionChange
from planwire.session.client_sync import ClientSync, Peer
from planwire.session.pool import in_pool

#: Seconds between two looks at plan files for a client that can't read them itself.
FILES_PACE: Final = 1.0

_log = logging.getLogger("planwire")


class PeerConnection:
    """A client that is sent every change. `error` is why that ended, if it did.

    A plan file's text changes without an event. So for a client that gets its checkboxes as a list, the file is read
    once a second while the plan lives.
    """

    def __init__(self, blocking: BlockingPlanSession, peer: Peer, session_id: str) -> None:
        self.error: Exception | None = None
        self._blocking = blocking
        self._peer = peer
        self._sync = ClientSync(peer.dialect, session_id, blocking.read_file)
        self._known: SessionState | None = None
        self._looks_again = False
        self._news, self._progress = asyncio.Event(), asyncio.Event()
        self._task = asyncio.create_task(self._tell(), name=f"planwire peer of {session_id}")

    @property
    def is_over(self) -> bool:
        """Whether this client gets nothing more."""
        return self._task.done()

    async def flush(self) -> None:
        """Wait until the client is gone or knows the newest state, with plan files as they are now."""
        if self._sync.follows_files(self._blocking.state):
            self._known, self._looks_again = None, True
            self._news.set()
        while self._known is not self._blocking.state and not self.is_over:
            await self._progress.wait()

    async def close(self) -> None:
        """Send this client nothing more."""
        self._task.cancel()
        await asyncio.wait([self._task])
        self._progress.set()

    async def _tell(self) -> None:
        try:
            while True:
                state, self._looks_again = self._blocking.state, False
                if lines := await self._next_lines(state):
                    for line in lines:
                        if (sent := self._peer.send(line)) is not None:
                            await sent
                    continue
                if self._looks_again:
                    continue
                self._known = state
                self._progress.set()
                self._progress.clear()
                with suppress(TimeoutError):
                    pace = FILES_PACE if self._sync.follows_files(state) else None
                    unknown = next_state(self._blocking, lambda newest: newest is self._known, self._news)
                    await asyncio.wait_for(unknown, pace)
        except Exception as error:
            self.error = error
            _log.warning("a client of session %s is gone: %s", self._blocking.id, error)
        finally:
            self._progress.set()

    async def _next_lines(self, state: SessionState) -> list[bytes]:
        """The next lines; made in the pool if a file has to be read for them."""
        if self._sync.follows_files(state):
            return await in_pool(self._sync.next_lines, state)
        return self._sync.next_lines(state)


async def next_state(
    blocking: BlockingPlanSession, is_known: Callable[[SessionState], bool], news: asyncio.Event | None = None
) -> SessionState:
    """Wait on the event loop for a state that is not known yet, from any thread. Setting `news` wakes the wait."""
    loop, news = asyncio.get_running_loop(), news or asyncio.Event()

    def hear(_: SessionChange) -> None:
        with suppress(RuntimeError):  # the loop is closed
            loop.call_soon_threadsafe(news.set)

    ignore = blocking.on_change(hear)
    try:
        while is_known(blocking.state):
            await news.wait()
            news.clear()
        return blocking.state
    finally:
        ignore()
