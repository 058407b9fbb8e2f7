"""The leases of a PostgreSQL journal: rows that say how long they last, and who renews them.

If the holder is on the same machine, a reader asks the system whether it still runs, and so notices its end at once.
For other machines the server's clock decides: a thread renews all leases of an open journal in one statement, and a
lease that was not renewed for a while has lapsed. No lease can be renewed while the server is down, so none counts as
lapsed until the server has been up for as long as a lease lasts.

A holder that was cut off for longer may be alive and find that its lease was ended. So the row of an ended lease stays
for a day, and its holder takes it back. If the row is gone, the lease was forgotten with its session.
"""

import logging
import os
from collections.abc import Callable, Iterable
from threading import Event, Thread
from typing import Final, NamedTuple

from planwire.errors import JournalError
from planwire.journal.codec import decode_terms
from planwire.journal.held_lease import PROCESS_TTL, TTL
from planwire.journal.machines import this_machine
from planwire.journal.postgres.server import JournalServer, PostgresConnection
from planwire.journal.processes import is_running, process_name
from planwire.journal.protocol import KnownLease

#: Seconds between renewals, and until the next try after one that failed.
BEAT: Final = TTL / 3
RETRY: Final = 2.0

_log = logging.getLogger("planwire")

_KEEP: Final = """INSERT INTO planwire.leases (name, session, holder, machine, process, terms, until)
    VALUES (%b, %b, %s, %b, %b, %b, now() + make_interval(secs => %s))
    ON CONFLICT (sha256(name)) DO UPDATE SET terms = excluded.terms, until = excluded.until, ended = NULL,
    holder = excluded.holder, machine = excluded.machine, process = excluded.process"""
_KNOWN: Final = """SELECT session, name, terms, machine, process,
    until > now() OR pg_postmaster_start_time() > now() - make_interval(secs => %s)
    FROM planwire.leases WHERE ended IS NULL"""
_RENEW: Final = """UPDATE planwire.leases SET until = now() + make_interval(secs => %s), ended = NULL
    WHERE holder = %s"""
_SWEEP: Final = "DELETE FROM planwire.leases WHERE ended < now() - interval '1 day'"


class StoredLease(NamedTuple):
    """A lease as it is stored. `is_current`: by the server's clock, it has not lapsed."""

    session: bytes
    name: bytes
    terms: bytes
    machine: bytes
    process: bytes
    is_current: bool

    def known(self) -> KnownLease:
        return KnownLease(self.session.decode(), self.name.decode(), decode_terms(self.terms.decode()), self.is_held())

    def is_held(self) -> bool:
        if self.process and self.machine == this_machine().encode():
            return is_running(self.process.decode())
        return self.is_current


class PostgresLeases:
    """What a journal does with leases. The journal passes its connection, and lets only one thread write at a time."""

    def __init__(self, server: JournalServer, renew: Callable[[], None]) -> None:
        self._sql = server.sql
        self._renew = renew
        self._holder = os.urandom(12).hex()
        self._process = process_name(os.getpid()) or ""
        self._heart: Thread | None = None
        self._closing = Event()

    def keep(self, connection: PostgresConnection, name: str, session: str, terms: str, process: str) -> None:
        """Write a lease, new or with other terms. It is this journal's own, or that of a `process` if one is named."""
        holder, owner, lasts = ("", process, PROCESS_TTL) if process else (self._holder, self._process, TTL)
        row = (name.encode(), session.encode(), holder, this_machine().encode(), owner.encode(), terms.encode(), lasts)
        connection.execute(self._sql(_KEEP), row)
        if not process and self._heart is None:
            self._heart = Thread(target=self._beat, name="planwire-leases", daemon=True)
            self._heart.start()

    def rows(self, connection: PostgresConnection) -> list[StoredLease]:
        found = connection.execute(self._sql(f"{_KNOWN} ORDER BY number"), (TTL,), binary=True).fetchall()
        return [StoredLease(*row) for row in found]

    def release(self, connection: PostgresConnection, name: str) -> None:
        connection.execute(self._sql("DELETE FROM planwire.leases WHERE sha256(name) = sha256(%b)"), (name.encode(),))

    def end(self, connection: PostgresConnection, name: str) -> bool:
        """End a lease in the caller's transaction, unless it is held. Says whether it did; only one of several callers
        succeeds."""
        key = (name.encode(),)
        query = f"{_KNOWN} AND sha256(name) = sha256(%b) FOR UPDATE"
        found = connection.execute(self._sql(query), (TTL, *key), binary=True).fetchone()
        if found is None or StoredLease(*found).is_held():
            return False
        ended = "UPDATE planwire.leases SET ended = now() WHERE sha256(name) = sha256(%b)"
        connection.execute(self._sql(ended), key)
        connection.execute(self._sql(_SWEEP))
        return True

    def forget(self, connection: PostgresConnection, sessions: Iterable[bytes]) -> None:
        connection.execute(self._sql("DELETE FROM planwire.leases WHERE session = ANY(%b::bytea[])"), (list(sessions),))

    def renew(self, connection: PostgresConnection) -> None:
        """Renew all leases of this journal, also those that others ended meanwhile."""
        connection.execute(self._sql(_RENEW), (TTL, self._holder))

    def release_all(self, connection: PostgresConnection) -> None:
        connection.execute(self._sql("DELETE FROM planwire.leases WHERE holder = %s"), (self._holder,))

    @property
    def are_held(self) -> bool:
        """Whether this journal may have leases of its own."""
        return self._heart is not None

    def close(self) -> None:
        """Stop renewing."""
        self._closing.set()

    def _beat(self) -> None:
        wait = BEAT
        while not self._closing.wait(wait):
            wait = RETRY
            try:
                self._renew()
                wait = BEAT
            except JournalError:
                continue
            except Exception:  # if this thread died, the leases of a live process would lapse
                _log.exception("the leases of a journal could not be renewed")
