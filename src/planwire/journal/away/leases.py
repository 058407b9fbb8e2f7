"""Leases of a journal whose server can be away: remembered, and taken as soon as it is back."""

import logging
from collections.abc import Callable
from threading import Lock

from planwire.errors import EngineAway, JournalError
from planwire.journal.protocol import Journal, Lease, Terms

_log = logging.getLogger("planwire")


class AwayLease:
    """A lease as its holder wants it. `ask` asks the server, and raises `EngineAway` while it is away: then the lease
    is among the `unsettled` ones."""

    def __init__(
        self, ask: Callable[[Callable[[Journal], None]], None], unsettled: "set[AwayLease]", session: str, terms: Terms
    ) -> None:
        self._ask, self._unsettled = ask, unsettled
        self.session = session
        self._taken: Lease | None = None
        self._is_released = False
        self._settling = Lock()
        self.renew(terms)

    def renew(self, terms: Terms) -> None:
        if not self._is_released:
            self._terms = terms
            self._want()

    def release(self) -> None:
        if not self._is_released:
            self._is_released = True
            self._want()

    def settle(self) -> None:
        """Have the server hold what is wanted, unless another thread has. What it refuses is wanted no longer."""
        with self._settling:
            if self in self._unsettled:
                self._unsettled.discard(self)
                try:
                    self._ask(self._hold)
                except EngineAway:
                    self._unsettled.add(self)

    def _want(self) -> None:
        self._unsettled.add(self)
        self.settle()

    def _hold(self, engine: Journal) -> None:
        if self._taken is None:
            self._taken = None if self._is_released else engine.lease(self.session, self._terms)
        elif self._is_released:
            self._taken.release()
        else:
            self._taken.renew(self._terms)


def settle_all(unsettled: set[AwayLease]) -> None:
    """Settle the leases that the server did not get yet. One that it refuses is let go: delivery must not fail for
    it."""
    for lease in tuple(unsettled):
        try:
            lease.settle()
        except (JournalError, ValueError) as error:
            _log.warning("the lease of session %s is let go: %s", lease.session, error)
