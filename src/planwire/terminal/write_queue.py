"""The writes of the person at this terminal: in order, and away from the event loop.

Another writer may lock a journal for seconds; the screen goes on meanwhile.
"""

import asyncio
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial

from planwire.errors import PlanError
from planwire.journal import Journal
from planwire.readmodel.card import PlanId
from planwire.readmodel.shown import ShownSession
from planwire.session.pending_reviews import undo_delay
from planwire.session.steering import Steered, steer
from planwire.steering.wanted import Wanted


class WriteQueue:
    """Writes to a journal by the person named `by`. Raises `MovedOn`, `PlanError` and `JournalError` as they come."""

    def __init__(self, journal: Journal, by: str | None) -> None:
        self._journal = journal
        self._by = by
        self._undo = undo_delay()
        self._thread = ThreadPoolExecutor(1, "planwire-writes")
        self._latest: Future[Steered] | None = None

    def author(self) -> str:
        """The name of the person. Raises `PlanError` without one: they may only look."""
        if self._by is None:
            raise PlanError("an agent started this, so it only shows: planwire watch --as NAME --yes steers, as NAME")
        return self._by

    async def write(self, session: ShownSession, plan_id: PlanId, wanted: Wanted) -> Steered:
        """Write what a person wants. The write goes on even if the caller gets cancelled."""
        file = session.files.get(plan_id)
        state, steps = session.journalled, file.readable if file else None
        write = partial(steer, self._journal, state, plan_id, wanted, self.author(), steps, undo=self._undo)
        self._latest = self._thread.submit(write)
        return await asyncio.shield(asyncio.wrap_future(self._latest))

    @property
    def is_writing(self) -> bool:
        return self._latest is not None and not self._latest.done()

    def close(self) -> None:
        """Wait for all writes."""
        self._thread.shutdown()
