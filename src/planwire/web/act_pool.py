"""Threads for acts, apart from those that read pages: while a writer hangs, people can still look.

An act waits for the journal's lock, for as long as somebody else holds it. So only a few wait at once, a few more stand
in line for some seconds, and the rest are told at once to come again.
"""

import asyncio
from collections.abc import Callable
from typing import Final, TypeVar

from anyio import CapacityLimiter, to_thread

__all__ = ["ActPool", "ActsWait"]

THREADS: Final = 8
LINE: Final = 32
#: Seconds in line until an act is sent back.
LINE_SECONDS: Final = 8.0

_T = TypeVar("_T")


class ActsWait(Exception):
    """Too many acts wait already. This one was not begun."""


class ActPool:
    """A few threads with a short line before them."""

    def __init__(self) -> None:
        self._free = asyncio.Semaphore(THREADS)
        self._limiter = CapacityLimiter(THREADS)
        self._waiting = 0

    async def run(self, work: Callable[[], _T]) -> _T:
        """Do it in a thread. Raises `ActsWait` if its turn does not come."""
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
