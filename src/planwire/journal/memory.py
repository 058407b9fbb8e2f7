"""A journal in memory: for tests, for trying things out, and as the plainest statement of what a journal does.

It stores events as text too, so that reading gives what any other engine would give.
"""

from collections.abc import Iterator, Sequence
from itertools import groupby
from threading import Lock
from typing import Final, NamedTuple

from msgspec.structs import replace

from planwire.errors import Conflict
from planwire.journal.codec import chained, decode, decode_terms, encode, refuse_unless_next
from planwire.journal.held_lease import HeldLease
from planwire.journal.polling import Found, PolledJournal
from planwire.journal.processes import is_running
from planwire.journal.protocol import (
    Followed,
    JournalFacts,
    KnownLease,
    KnownSession,
    Once,
    Snapshot,
    Stamped,
    StoredAppend,
    StoredEvent,
    Terms,
)
from planwire.journal.thoughts import MemoryThoughts
from planwire.journal.unusable import closed
from planwire.model.events import Recorded

#: `follow` takes this many events at a time, so that it never holds up writers for long.
PAGE: Final = 1_000


class _MemoryEvent(NamedTuple):
    """An event of a session, and the key that it was written with."""

    session: str
    stored: StoredEvent
    once: Once | None

    def recorded(self) -> Recorded:
        return decode(self.session, self.stored.seq, self.stored.at, self.stored.by, self.stored.text)


class MemoryJournal(PolledJournal):
    """A `Journal` that ends with its process."""

    def __init__(self) -> None:
        super().__init__()
        self.thoughts = MemoryThoughts()
        self._lock = Lock()
        self._all: list[_MemoryEvent | None] = []  # by position; None where a forgotten event was
        self._sessions: dict[str, list[_MemoryEvent]] = {}
        self._snapshots: dict[tuple[str, str], Snapshot] = {}
        self._once: dict[tuple[str, Once | None], list[_MemoryEvent]] = {}
        self._leases: dict[str, KnownLease] = {}
        self._closed = False

    def append(
        self, session: str, events: Sequence[Stamped], expected_seq: int | None = None, once: Once | None = None
    ) -> tuple[Recorded, ...]:
        rows = encode(session, events)
        with self._open():
            if written := self._once.get((session, once)):
                return tuple(each.recorded() for each in written)
            kept = self._sessions.get(session, [])
            current = len(kept)
            if expected_seq is not None and expected_seq != current:
                raise Conflict(session, expected_seq, current)
            if not rows:
                return ()
            self._keep(session, chained(session, current, kept[-1].stored.link if kept else None, rows), once)
        self._ring()
        return tuple(Recorded(session, current + n, row.at, row.by, row.event) for n, row in enumerate(rows, start=1))

    def read(self, session: str, after: int = 0, upto: int | None = None) -> Iterator[Recorded]:
        with self._open():
            kept = self._sessions.get(session, [])[max(after, 0) : None if upto is None else max(upto, 0)]
        return (each.recorded() for each in kept)

    def stored(self, session: str, after: int = 0) -> Iterator[StoredAppend]:
        with self._open():
            kept = self._sessions.get(session, [])[max(after, 0) :]
        by_key = groupby(kept, lambda each: each.once)
        return (StoredAppend(tuple(each.stored for each in of_key), once) for once, of_key in by_key)

    def store(self, session: str, appends: Sequence[StoredAppend]) -> None:
        with self._open():
            current = len(self._sessions.get(session, ()))
            refuse_unless_next(session, current, appends)
            for append in appends:
                self._keep(session, append.events, append.once)
        self._ring()

    def facts(self) -> JournalFacts:
        return JournalFacts("memory", "this process", "an append is there until this process ends")

    def last_seq(self, session: str) -> int:
        with self._open():
            return len(self._sessions.get(session, ()))

    def last_position(self) -> int:
        with self._open():
            return len(self._all)

    def sessions(self) -> list[KnownSession]:
        with self._open():
            return [
                KnownSession(name, len(kept), kept[0].stored.at, kept[-1].stored.at)
                for name, kept in self._sessions.items()
            ]

    def snapshot(self, session: str, name: str = "state") -> Snapshot | None:
        with self._open():
            return self._snapshots.get((session, name))

    def keep_snapshot(self, session: str, seq: int, data: bytes, name: str = "state") -> None:
        with self._open():
            kept = self._snapshots.get((session, name))
            if (kept.seq if kept else 1) <= seq <= len(self._sessions.get(session, ())):
                self._snapshots[session, name] = Snapshot(seq, bytes(data))

    def lease(self, session: str, terms: Terms = Terms()) -> HeldLease:
        return HeldLease(session, terms, self._keep_lease, self._release_lease)

    def leases(self) -> list[KnownLease]:
        with self._open():
            return [_as_it_is(each) for each in self._leases.values()]

    def end_lease(self, known: KnownLease, events: Sequence[Stamped] = (), expected_seq: int | None = None) -> None:
        if _as_it_is(known).is_held:
            return
        with self._open():
            ended = self._leases.pop(known.name, None)
        try:
            if ended is not None:
                self.append(known.session, events, expected_seq)
        except BaseException:
            with self._lock:
                self._leases.setdefault(known.name, known)
            raise

    def forget(self, *sessions: str) -> None:
        self.thoughts.forget(*sessions)
        with self._open():
            self._all = [None if each is not None and each.session in sessions else each for each in self._all]
            self._snapshots = {key: kept for key, kept in self._snapshots.items() if key[0] not in sessions}
            self._once = {key: written for key, written in self._once.items() if key[0] not in sessions}
            self._leases = {name: each for name, each in self._leases.items() if each.session not in sessions}
            for session in sessions:
                self._sessions.pop(session, None)

    def close(self) -> None:
        with self._lock:
            self._closed = True
        self.thoughts.close()
        self._ring()

    def _keep(self, session: str, events: Sequence[StoredEvent], once: Once | None) -> None:
        new = [_MemoryEvent(session, each, once) for each in events]
        self._sessions.setdefault(session, []).extend(new)
        self._all += new
        if once is not None and new:
            self._once[session, once] = new

    def _keep_lease(self, name: str, session: str, terms: str, _process: str) -> None:
        with self._open():
            self._leases[name] = KnownLease(session, name, decode_terms(terms), True)

    def _release_lease(self, name: str) -> None:
        with self._lock:
            self._leases.pop(name, None)

    def _look(self, position: int, session: str | None) -> Found | None:
        with self._lock:
            if self._closed:
                return None
            page = self._all[position : position + PAGE]
        found = [
            Followed(place, each.recorded())
            for place, each in enumerate(page, start=position + 1)
            if each is not None and session in (None, each.session)
        ]
        return Found(found, position + len(page))

    def _glance(self) -> object:
        return len(self._all)

    def _open(self) -> Lock:
        if self._closed:
            raise closed()
        return self._lock


def _as_it_is(lease: KnownLease) -> KnownLease:
    """A lease as it is now. One of this process is held: its holder and its readers are the same process. Only another
    process's lapses."""
    process = lease.terms.process
    return replace(lease, is_held=False) if process and not is_running(process) else lease
