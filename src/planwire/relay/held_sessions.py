"""The relay's leases: it holds one for each session that it has recorded something of, and renews it with every turn.

They tell readers of the journal which sessions are alive. They are a courtesy: without a lease, events are recorded all
the same, and the next try waits a while.
"""

from collections.abc import Callable
from contextlib import suppress
from time import monotonic
from typing import Final

from planwire.errors import JournalError
from planwire.journal.protocol import Journal, Lease, Terms

#: Seconds until the next try after a failed one.
_RETRY: Final = 5.0


class HeldSessions:
    """The leases by the names of their sessions. `terms` tells, by a session's id on the wire, what its lease should
    say now."""

    def __init__(self, terms: Callable[[str], Terms]) -> None:
        self._terms = terms
        self._leases: dict[str, Lease] = {}
        self._next_try = 0.0

    def hold(self, journal: Journal, wire_id: str, name: str, *, is_new: bool) -> None:
        """Renew the lease of a session. Take one if there is something new to record (`is_new`), or a turn is on.

        Call it before the events of a turn are written, so that a reader of the turn's end never finds the turn still
        on.
        """
        terms = self._terms(wire_id)
        lease = self._leases.get(name)
        if monotonic() < self._next_try or (lease is None and not is_new and not terms.is_working):
            return
        try:
            if lease is None:
                self._leases[name] = journal.lease(name, terms)
            else:
                lease.renew(terms)
        except (JournalError, ValueError):  # an id that is no text can't be recorded either
            self._next_try = monotonic() + _RETRY

    def let_go(self, name: str) -> None:
        """Release the lease of a session that turned out to be another's."""
        lease = self._leases.pop(name, None)
        if lease is not None:
            with suppress(JournalError):
                lease.release()
