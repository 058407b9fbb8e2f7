"""A pool of sessions, for programs that serve many conversations: one session per conversation, by its key.

    plans = Plans("plans.db", format="anthropic")

    async with plans.session(thread_id) as session:     # or: with plans.session(thread_id) as session
        messages += await session.pending()

A session opens with its first use and stays open while in use. An idle session is closed after a while, and opened from
the journal again with its next use. So a program may serve any number of conversations, and none sees the plan of
another.
"""

import asyncio
import os
from collections.abc import Generator
from concurrent.futures import Future
from threading import Lock
from time import monotonic
from typing import Any, Final, Self, Unpack

from planwire.journal import Journal, open_journal
from planwire.session.blocking import BlockingPlanSession
from planwire.session.live_history import JournalLike
from planwire.session.options import SessionOptions, check_options, with_options
from planwire.session.plan_session import PlanSession
from planwire.session.pool import in_pool, start_in_pool

#: Seconds after which an idle session is closed.
IDLE_SECONDS: Final = 300.0
#: How many idle sessions stay open at most: the most recently used ones.
IDLE_SESSIONS: Final = 1_000
#: How often the pool looks for idle sessions, in seconds.
_LOOK_SECONDS: Final = 1.0


class _Kept:
    """A session in the pool, with the number of its users and when the last one left."""

    def __init__(self, blocking: BlockingPlanSession) -> None:
        self.blocking = blocking
        self.plans = PlanSession(blocking)
        self.users = 0
        self.idle_since = monotonic()


class Plans:
    """The sessions of one journal by key. `options` apply to every session. `idle_seconds` and `idle_sessions` limit
    how long, and how many, idle sessions stay open."""

    def __init__(
        self,
        journal: JournalLike = None,
        *,
        idle_seconds: float = IDLE_SECONDS,
        idle_sessions: int = IDLE_SESSIONS,
        **options: Unpack[SessionOptions],
    ) -> None:
        check_options(options)
        self._named = journal if journal is None or isinstance(journal, str | os.PathLike) else None
        self._journal: Journal | None = None if journal is None or isinstance(journal, str | os.PathLike) else journal
        self._is_own = self._journal is None
        self._options = options
        self._idle_seconds = idle_seconds
        self._idle_sessions = idle_sessions
        self._kept: dict[str, _Kept] = {}  # the most recently used last
        self._looked_at = monotonic()
        self._lock = Lock()

    def session(self, key: str, **options: Unpack[SessionOptions]) -> "Lent":
        """The session of a conversation: use it in `async with` or `with`. Or `await` it; it then counts as idle as
        soon as you have it, but works all the same."""
        check_options(options)
        return Lent(self, key, with_options(self._options, options))

    def __len__(self) -> int:
        """The number of sessions that are open."""
        return len(self._kept)

    def close(self) -> None:
        """Close all sessions, and the journal if the pool opened it. A second call does nothing."""
        with self._lock:
            kept, self._kept = [*self._kept.values()], {}
            journal, self._journal = self._journal, None if self._is_own else self._journal
        for each in kept:
            each.blocking.close()
        if journal is not None and self._is_own:
            journal.close()

    async def aclose(self) -> None:
        """Like `close`, but first send the sessions' clients what they don't know yet."""
        with self._lock:
            kept = [*self._kept.values()]
        await asyncio.gather(*(each.plans.close() for each in kept))
        await in_pool(self.close)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *error: object) -> None:
        await self.aclose()

    def take(self, key: str, options: SessionOptions) -> _Kept:
        """The session of a key, opened if necessary, with one more user."""
        with self._lock:
            if self._journal is None:
                self._journal = open_journal(self._named)
            kept = self._kept.pop(key, None) or _Kept(BlockingPlanSession(self._journal, key, **options))
            self._kept[key] = kept
            kept.users += 1
        return kept

    def give_back(self, kept: _Kept) -> None:
        """Count one user less, and close the sessions that have been idle for too long or are too many."""
        now = monotonic()
        with self._lock:
            kept.users -= 1
            kept.idle_since = now
            if now < self._looked_at + _LOOK_SECONDS and len(self._kept) <= self._idle_sessions:
                return
            self._looked_at = now
            idle = [key for key, each in self._kept.items() if not each.users and not each.plans.has_clients]
            surplus = len(idle) - self._idle_sessions
            gone = [
                key
                for number, key in enumerate(idle)
                if number < surplus or now - self._kept[key].idle_since >= self._idle_seconds
            ]
            closing = [self._kept.pop(key) for key in gone]
        for each in closing:
            each.blocking.close()


class Lent:
    """A session of a pool, for as long as someone uses it."""

    def __init__(self, pool: Plans, key: str, options: SessionOptions) -> None:
        self._pool = pool
        self._key = key
        self._options = options
        self._taken: list[_Kept] = []

    def __enter__(self) -> BlockingPlanSession:
        self._taken.append(self._pool.take(self._key, self._options))
        return self._taken[-1].blocking

    def __exit__(self, *error: object) -> None:
        self._pool.give_back(self._taken.pop())

    async def __aenter__(self) -> PlanSession:
        taking = start_in_pool(self._pool.take, self._key, self._options)
        try:
            self._taken.append(await asyncio.shield(asyncio.wrap_future(taking)))
        except asyncio.CancelledError:
            taking.add_done_callback(self._give_up)
            raise
        return self._taken[-1].plans

    async def __aexit__(self, *error: object) -> None:
        await asyncio.shield(in_pool(self._pool.give_back, self._taken.pop()))

    def _give_up(self, taking: Future[_Kept]) -> None:
        """Give back a session whose task was cancelled while it opened."""
        if taking.exception() is None:
            self._pool.give_back(taking.result())

    def __await__(self) -> Generator[Any, None, PlanSession]:
        return self._open().__await__()

    async def _open(self) -> PlanSession:
        async with self as session:
            return session
