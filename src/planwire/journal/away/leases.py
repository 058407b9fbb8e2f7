"""Leases of a journal whose server can be away: remembered, and taken as soon as it is back."""

import logging
from collections.abc import Callable
from threading import Lock

from planwire.errors import EngineAway, JournalError
from planwire.journal.protocol import Journal, Lease, Terms

_log = logging.getLogger("planwire")


class AwayLeases:
    """The leases that this process wants. `ask` asks the server, and raises `EngineAway` while it is away."""

    def __init__(self, ask: Callable[[Callable[[Journal], None]], None]) -> None:
        self.ask = ask
        self.unsettled: dict[_KeptLease, None] = {}

    def lease(self, session: str, terms: Terms) -> Lease:
        """Have the server hold a lease, now or later."""
        lease = _KeptLease(self, session, terms)
        lease.settle()
        return lease

    def settle_all(self) -> None:
        """Settle the leases that the server did not get yet. One that it refuses is let go, because delivery must not
        fail for it. If another thread does the same, a lease is still taken only once."""
        for lease in tuple(self.unsettled):
            try:
                lease.settle(is_new=False)
            except (JournalError, ValueError) as error:
                _log.warning("the lease of session %s is let go: %s", lease.session, error)


class _KeptLease:
    """A `Lease` as its holder wants it, and the server's lease once there is one."""

    def __init__(self, leases: AwayLeases, session: str, terms: Terms) -> None:
        self.session = session
        self._leases, self._terms = leases, terms
        self._is_released = False
        self._taken: Lease | None = None
        self._settling = Lock()

    def renew(self, terms: Terms) -> None:
        self._terms = terms
        if not self._is_released:
            self.settle()

    def release(self) -> None:
        if not self._is_released:
            self._is_released = True
            self.settle()

    def settle(self, *, is_new: bool = True) -> None:
        """Have the server hold what is wanted, now or later."""
        unsettled = self._leases.unsettled
        with self._settling:
            if is_new or self in unsettled:
                unsettled[self] = None
                try:
                    self._leases.ask(self._hold)
                except EngineAway:
                    return
                except BaseException:
                    del unsettled[self]
                    raise
                del unsettled[self]

    def _hold(self, engine: Journal) -> None:
        if self._taken is None:
            self._taken = None if self._is_released else engine.lease(self.session, self._terms)
        elif self._is_released:
            self._taken.release()
        else:
            self._taken.renew(self._terms)
