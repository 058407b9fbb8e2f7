"""Threads for acts, separate from those that read pages: while a writer hangs, people can still look.

An act waits for the journal's lock as long as another program holds it. So only a few acts wait at once, a few more
queue for some seconds, and the rest are told at once to try again.
"""

import asyncio
from collections.abc import Callable
from typing import Final, TypeVar

from anyio import CapacityLimiter, to_thread

THREADS: Final = 8
LINE: Final = 32
#: Seconds that an act queues before it is turned away.
LINE_SECONDS: Final = 8.0

_T = TypeVar("_T")


class ActsWait(Exception):
    """Too many acts are waiting already. This one was not started."""


class ActPool:
    """A few threads with a short queue in front of them."""

    def __init__(self) -> None:
        self._free = asyncio.Semaphore(THREADS)
        self._limiter = CapacityLimiter(THREADS)
        self._waiting = 0

    async def run(self, work: Callable[[], _T]) -> _T:
        """Run `work` in a thread. Raises `ActsWait` if the queue is full, or its turn does not come in time."""
        if self._waiting >= LINE:
            raise ActsWait
        self._waiting += 1
        try:
            await asyncio.wait_for(self._free.acquire(), LINE_SECONDS)
        except TimeoutError:
            raise ActsWait from None
        finally:
            self._waiting -= 1
        try:
            return await to_thread.run_sync(work, limiter=self._limiter)
        finally:
            self._free.release()
