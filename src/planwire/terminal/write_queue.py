"""The pen of the person at this terminal: what they do is written in order, and away from the event loop.

A journal may be locked for seconds by somebody else; the screen goes on meanwhile. And who ticks three steps in a row
is faster than the screen: what they did themselves since the revision that was shown does not count as moved on.
"""

import asyncio
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Final

from planwire.errors import PlanError
from planwire.journal import Journal
from planwire.model.events import Event, PlanReviewed
from planwire.model.fold import SessionState
from planwire.model.plan import PlanId
from planwire.session.moved_on import MovedOn
from planwire.session.writer import steer
from planwire.steering.commands import withdraw
from planwire.terminal.deeds import BACK, Deed

__all__ = ["Pen"]

#: How many revisions are remembered that somebody knows the next one of.
REMEMBERED: Final = 1_000


class Pen:
    """Writes to a journal. `MovedOn`, `PlanError` and `JournalError` are raised as they come."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        self._thread = ThreadPoolExecutor(1, "planwire-pen")
        self._latest: Future[SessionState] | None = None
        self._known: dict[tuple[str, PlanId, int], int] = {}

    async def write(self, session: SessionState, deed: Deed) -> SessionState:
        """Do it, and return the session as it is then. It is done also if nobody waits for it any more."""
        self._latest = self._thread.submit(self._write, session, deed)
        return await asyncio.shield(asyncio.wrap_future(self._latest))

    @property
    def is_writing(self) -> bool:
        return self._latest is not None and not self._latest.done()

    def close(self) -> None:
        """Wait until all of it is written."""
        self._thread.shutdown()

    def _write(self, session: SessionState, deed: Deed) -> SessionState:
        revision = deed.revision
        while revision is not None and (session.id, deed.plan_id, revision) in self._known:
            revision = self._known[session.id, deed.plan_id, revision]
        state = self._steer(session, deed, revision)
        if deed.instead_of is not None:
            wish = deed.instead_of
            instead = Deed(BACK, deed.plan_id, "", None, lambda state, _revision: withdraw(state, deed.plan_id, wish))
            try:
                state = self._steer(state, instead, None)
            except PlanError:  # it has come true, or somebody else took it back
                return state
        return state

    def _steer(self, session: SessionState, deed: Deed, revision: int | None) -> SessionState:
        made: list[tuple[int, int]] = []

        def prepare(state: SessionState) -> Event:
            event = deed.make(state, revision)
            if not isinstance(event, PlanReviewed):  # a review leaves the plan at its revision
                made[:] = [(state.plans[deed.plan_id].revision, state.seq + 1)]
            return event

        after = steer(self._journal, session, deed.plan_id, prepare)
        for before, now in made:
            self._follow_on(session.id, deed.plan_id, before, now)
        return after

    def has_seen(self, session: str, moved: MovedOn) -> None:
        """Somebody was shown how a plan moved on: what they decide after that is about the plan as it is now."""
        self._follow_on(session, moved.plan_id, moved.seen, moved.revision)

    def _follow_on(self, session: str, plan_id: PlanId, before: int, now: int) -> None:
        if before < now:
            self._known[session, plan_id, before] = now
        if len(self._known) > REMEMBERED:
            del self._known[next(iter(self._known))]
