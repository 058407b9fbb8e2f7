"""The writes of the person at this terminal: in order, and away from the event loop.

Another writer may lock a journal for seconds; the screen goes on meanwhile. And a person who ticks three steps in a row
is faster than the screen: each tick is for the revision on it, which their own tick before has replaced. So the queue
remembers its own writes as a chain of revisions, and follows it: a plan that no one else touched has not moved on.
"""

import asyncio
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from typing import Final

from planwire.errors import PlanError
from planwire.journal import Journal
from planwire.model.events import Event, PlanReviewed
from planwire.model.fold import SessionState
from planwire.model.plan import PlanId
from planwire.session.moved_on import MovedOn
from planwire.session.writer import steer
from planwire.steering.commands import withdraw
from planwire.terminal.deeds import Deed

__all__ = ["WriteQueue"]

#: Length limit of the chain of our own writes.
REMEMBERED: Final = 1_000


class WriteQueue:
    """Writes to a journal. Raises `MovedOn`, `PlanError` and `JournalError` as they come."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        self._thread = ThreadPoolExecutor(1, "planwire-writes")
        self._latest: Future[SessionState] | None = None
        self._next: dict[tuple[str, PlanId, int], int] = {}

    async def write(self, session: SessionState, deed: Deed) -> SessionState:
        """Write a deed, and return the session after it. The write goes on even if the caller gets cancelled."""
        self._latest = self._thread.submit(self._write, session, deed)
        return await asyncio.shield(asyncio.wrap_future(self._latest))

    @property
    def is_writing(self) -> bool:
        return self._latest is not None and not self._latest.done()

    def close(self) -> None:
        """Wait for all writes."""
        self._thread.shutdown()

    def _write(self, session: SessionState, deed: Deed) -> SessionState:
        revision = deed.revision
        while revision is not None and (session.id, deed.plan_id, revision) in self._next:
            revision = self._next[session.id, deed.plan_id, revision]
        state = self._steer(session, deed.plan_id, lambda state: deed.make(state, revision))
        suggestion = deed.instead_of
        if suggestion is not None:
            with suppress(PlanError):  # it has come true, or another person took it back
                state = self._steer(state, deed.plan_id, lambda state: withdraw(state, deed.plan_id, suggestion))
        return state

    def _steer(self, session: SessionState, plan_id: PlanId, make: Callable[[SessionState], Event]) -> SessionState:
        made: list[tuple[int, int]] = []

        def prepare(state: SessionState) -> Event:
            event = make(state)
            if not isinstance(event, PlanReviewed):  # a review leaves the plan at its revision
                made[:] = [(state.plans[plan_id].revision, state.seq + 1)]
            return event

        after = steer(self._journal, session, plan_id, prepare)
        for before, now in made:
            self._link(session.id, plan_id, before, now)
        return after

    def has_seen(self, session: str, moved: MovedOn) -> None:
        """A person saw how a plan moved on: what they decide next is about the plan as it is now."""
        self._link(session, moved.plan_id, moved.seen, moved.revision)

    def _link(self, session: str, plan_id: PlanId, before: int, now: int) -> None:
        if before < now:
            self._next[session, plan_id, before] = now
        if len(self._next) > REMEMBERED:
            del self._next[next(iter(self._next))]
