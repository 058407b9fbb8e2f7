"""A client at the other end of a session: the task that sends it what it does not know yet."""

import asyncio
import logging
from collections.abc import Callable
from contextlib import suppress

from planwire.session.blocking import BlockingPlanSession
from planwire.session.client_sync import ClientSync, Peer

__all__ = ["PeerConnection"]

_log = logging.getLogger("planwire")


class PeerConnection:
    """A client that hears of every change. `error` is why that ended, if it did."""

    def __init__(self, blocking: BlockingPlanSession, peer: Peer, session_id: str) -> None:
        self.error: Exception | None = None
        self._blocking = blocking
        self._peer = peer
        self._sync = ClientSync(peer.dialect, session_id)
        self._news = asyncio.Event()
        self._knows_all = asyncio.Event()
        self._loop = asyncio.get_running_loop()
        self._ignore: Callable[[], None] | None = blocking.on_change(self._call)
        self._task = self._loop.create_task(self._tell(), name=f"planwire peer of {session_id}")

    async def flush(self) -> None:
        """Wait until the client knows the newest state, or is gone."""
        await asyncio.sleep(0)  # news that a thread left for the loop comes first
        await self._knows_all.wait()

    async def close(self) -> None:
        """Send this client nothing more."""
        if self._ignore is not None:
            self._ignore()
            self._ignore = None
        self._task.cancel()
        await asyncio.wait([self._task])
        self._knows_all.set()

    def _call(self) -> None:
        """Wake the task, from any thread. A loop that is closed has no clients any more."""
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
                while lines := self._sync.next_lines(self._blocking.state):
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
