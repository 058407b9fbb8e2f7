"""Leases of a journal whose server can be away: remembered, and taken as soon as it is back."""

import logging
from collections.abc import Callable
from threading import Lock

from planwire.errors import EngineAway, JournalError
from planwire.journal.protocol import Journal, Lease, Terms

_log = logging.getLogger("planwire")


class _KeptLease:
    """A `Lease` as its holder wants it, and the server's lease in `taken` once there is one."""

    def __init__(self, leases: "AwayLeases", session: str, terms: Terms) -> None:
        self.session = session
        self.terms = terms
        self.is_released = False
        self.taken: Lease | None = None
        self.settling = Lock()
        self._leases = leases

    def renew(self, terms: Terms) -> None:
        self.terms = terms
        if not self.is_released:
            self._leases.settle(self)

    def release(self) -> None:
        if not self.is_released:
            self.is_released = True
            self._leases.settle(self)

    def settle(self, engine: Journal) -> None:
        """Have a server hold what is wanted."""
        if self.is_released:
            if self.taken is not None:
                self.taken.release()
        elif self.taken is None:
            self.taken = engine.lease(self.session, self.terms)
        else:
            self.taken.renew(self.terms)


class AwayLeases:
    """The leases that this process wants. `ask` asks the server, and raises `EngineAway` while it is away."""

    def __init__(self, ask: Callable[[Callable[[Journal], None]], None]) -> None:
        self._ask = ask
        self._unsettled: dict[_KeptLease, None] = {}

    def lease(self, session: str, terms: Terms) -> _KeptLease:
        lease = _KeptLease(self, session, terms)
        self.settle(lease)
        return lease

    def settle(self, lease: _KeptLease, *, is_new: bool = True) -> None:
        """Have the server hold what the holder of a lease wants, now or later."""
        with lease.settling:
            if is_new or lease in self._unsettled:
                self._unsettled[lease] = None
                try:
                    self._ask(lease.settle)
                except EngineAway:
                    return
                except BaseException:
                    del self._unsettled[lease]
                    raise
                del self._unsettled[lease]

    def settle_all(self) -> None:
        """Settle the leases that the server did not get yet. One that it refuses is let go, because delivery must not
        fail for it. If another thread does the same, a lease is still taken only once."""
        for lease in tuple(self._unsettled):
            try:
                self.settle(lease, is_new=False)
            except (JournalError, ValueError) as error:
                _log.warning("the lease of session %s is let go: %s", lease.session, error)
