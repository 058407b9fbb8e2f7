"""The leases of a JetStream journal: one bucket of rows that name their holders, and another of the holders alive.

Each opened journal that takes a lease puts its name into the `alive` bucket, and again every third of `TTL` seconds.
The server drops a name that is not renewed for `TTL` seconds, by its own clock. On the holder's machine, a lease also
lapses as soon as the holder's process has ended. For a lease of another process (`Terms.process`), only that process's
machine knows whether it still runs. Other machines trust each statement of its terms for `PROCESS_TTL` seconds, by a
third bucket.

No holder can renew its name while the server is away. So no lease lapses until `TTL` seconds after the connection came
back. Nor does a journal that was opened less than `TTL` seconds ago end a lease: the server may just have come back.

A holder that was cut off for longer may be alive and find that its lease was ended. So with each renewal it looks for
its leases, and writes those again that are gone. If the session is gone as well, they were forgotten with it.
"""

import os
from contextlib import suppress
from threading import Lock, Thread
from time import monotonic
from typing import Final

import msgspec

from planwire.errors import JournalError
from planwire.journal.codec import decode_terms
from planwire.journal.held_lease import TTL
from planwire.journal.jetstream.api import new_id
from planwire.journal.jetstream.buckets import Bucket, Row
from planwire.journal.jetstream.client import NatsConnection
from planwire.journal.jetstream.messages import is_text, token_of
from planwire.journal.jetstream.sessions import SessionSubjects
from planwire.journal.machines import this_machine
from planwire.journal.processes import is_running, process_name
from planwire.journal.protocol import KnownLease


class _LeaseValue(msgspec.Struct, frozen=True, omit_defaults=True):
    """A lease as it is stored. `taken` is the revision of its first row (0 in that row). `holder` is the name of a
    journal in the `alive` bucket, or empty for the lease of another process."""

    session: str
    name: str
    holder: str
    machine: str
    process: str
    terms: str
    taken: int = 0


_rows: Final = msgspec.json.Decoder(_LeaseValue)
_encode: Final = msgspec.json.Encoder().encode


class JetStreamLeases:
    """The leases in their buckets, and this journal's own name in `alive` once it has taken one."""

    def __init__(
        self, connection: NatsConnection, sessions: SessionSubjects, leases: Bucket, alive: Bucket, stated: Bucket
    ) -> None:
        self._connection = connection
        self._sessions = sessions
        self._leases = leases
        self._alive = alive
        self._stated = stated
        self._holder = ""
        self._naming = Lock()
        self._own: dict[str, _LeaseValue] = {}  # this journal's own leases, by name
        self._owning = Lock()  # held while one is written again: it may be released meanwhile

    def keep(self, name: str, session: str, terms: str, process: str) -> None:
        """Write a lease, new or with other terms, or again after a `forget` removed it."""
        key = _key(session, name)
        if process:
            self._stated.put(key, b"")
        else:
            self._live()
        while True:
            found = self._leases.get(key)
            row = _LeaseValue(
                session,
                name,
                "" if process else self._holder,
                this_machine(),
                process or process_name(os.getpid()) or "",
                terms,
                _taken(found) if found else 0,
            )
            if self._leases.put(key, _encode(row), found.revision if found else 0) is not None:
                break
        if not process:
            self._own[name] = row

    def known(self) -> list[KnownLease]:
        found = sorted(self._leases.rows(), key=_taken)
        rows = [row for row in map(_read, found) if row is not None]
        held: dict[str, bool] = {}
        for row in rows:
            if row.holder and row.holder not in held:
                held[row.holder] = self._is_held(row, self._in_doubt())
        return [
            KnownLease(
                row.session, row.name, decode_terms(row.terms), held[row.holder] if row.holder else self._is_held(row)
            )
            for row in rows
        ]

    def lapsed(self, known: KnownLease) -> tuple[int, int] | None:
        """The revisions of a lapsed lease and of its first row; None if the lease is held, or gone."""
        found = self._leases.get(_key(known.session, known.name))
        in_doubt = self._in_doubt() or monotonic() - self._connection.since < TTL
        row = _read(found) if found is not None else None
        if found is None or row is None or self._is_held(row, in_doubt):
            return None
        return found.revision, _taken(found)

    def remove(self, revision: int) -> None:
        self._leases.delete(revision)

    def release(self, session: str, name: str) -> None:
        with self._owning:
            self._own.pop(name, None)
        found = self._leases.get(_key(session, name))
        if found is not None:
            self._leases.delete(found.revision)

    def forget(self, session: str) -> None:
        if is_text(session):
            self._leases.purge(f"{token_of(session)}.>")
            self._stated.purge(f"{token_of(session)}.>")

    def close(self) -> None:
        """Give back this journal's own leases, as far as the server can be reached."""
        for each in tuple(self._own.values()):  # other threads may still release leases
            self.release(each.session, each.name)
        if self._holder:
            self._alive.purge(self._holder)
        self._holder = ""

    def _live(self) -> None:
        """Put this journal's name into `alive`, once, before any row names it as the holder."""
        with self._naming:
            if not self._holder:
                holder = new_id()
                self._alive.put(holder, b"")
                self._holder = holder
                self._connection.every(TTL / 3, self._beat)

    def _beat(self) -> None:
        """Renew the name, on the thread of the connection, without waiting for an answer: the next beat comes soon."""
        if self._holder:
            self._connection.send(self._alive.reachable(self._holder))
            Thread(target=self._take_back, name="planwire-leases", daemon=True).start()

    def _take_back(self) -> None:
        """Write those of this journal's own leases again that others ended."""
        with suppress(JournalError):
            there = {row.key for row in self._leases.rows()}
            for name, lease in tuple(self._own.items()):
                key = _key(lease.session, name)
                if key not in there and self._sessions.last(lease.session) is not None:
                    with self._owning:
                        if name in self._own:
                            self._leases.put(key, _encode(self._own[name]), 0)

    def _in_doubt(self) -> bool:
        return bool(self._connection.interruptions) and monotonic() - self._connection.since < TTL

    def _is_held(self, row: _LeaseValue, in_doubt: bool = False) -> bool:
        if row.holder and row.holder == self._holder:
            return True
        if row.machine == this_machine() and row.process and not is_running(row.process):
            return False
        if not row.holder:
            return row.machine == this_machine() or self._stated.get(_key(row.session, row.name)) is not None
        return in_doubt or self._alive.get(row.holder) is not None


def _key(session: str, name: str) -> str:
    with suppress(UnicodeEncodeError):
        return f"{token_of(session)}.{token_of(name)}"
    return "==.=="  # the key of no lease


def _taken(found: Row) -> int:
    row = _read(found)
    return row.taken if row is not None and row.taken else found.revision


def _read(found: Row) -> _LeaseValue | None:
    """The lease in a value; None for a value that is not planwire's."""
    try:
        return _rows.decode(found.value)
    except msgspec.MsgspecError:
        return None
