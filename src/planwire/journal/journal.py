"""The journal over any store: everything that a journal does and a store knows nothing of.

A journal must not cross a fork: two processes on one connection would take each other's answers. One that did says so
instead of working; open another one in the child.
"""

from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path
from time import monotonic
from typing import Final, Self
from zlib import crc32

import msgspec

from planwire.errors import EngineAway, JournalUnavailable, UnstorableEvent
from planwire.journal.appends import Appends
from planwire.journal.checked import PositionCheck, Trouble
from planwire.journal.codec import encode, is_text
from planwire.journal.forks import forks
from planwire.journal.leases import HeldLease, Leases
from planwire.journal.protocol import (
    Followed,
    JournalFacts,
    KnownLease,
    KnownSession,
    Once,
    Snapshot,
    Stamped,
    Stop,
    StoredAppend,
    Terms,
    Thoughts,
)
from planwire.journal.reading import EventReader
from planwire.journal.store import CheckedStore, PlacedStore, SessionEnd, Store
from planwire.journal.stored_pages import by_keys
from planwire.journal.unusable import closed, forked
from planwire.model.events import Recorded

#: The kind of the entries that hold snapshots.
SNAPSHOT: Final = "snapshot"


class _StoredSnapshot(msgspec.Struct, array_like=True, frozen=True):
    """A snapshot as it is stored: the number of its session in the store, so that it is never taken for one of the
    session's successor, and a checksum over the rest."""

    number: int
    seq: int
    data: bytes
    check: int

    @classmethod
    def of(cls, session: str, name: str, number: int, seq: int, data: bytes) -> Self:
        return cls(number, seq, data, crc32(data, crc32(f"{session}\0{name}\0{number} {seq}".encode())))


_encode: Final = msgspec.msgpack.Encoder().encode
_snapshots: Final = msgspec.msgpack.Decoder(_StoredSnapshot)


class StoreJournal:
    """The `Journal` over a store."""

    def __init__(self, store: Store) -> None:
        self.base = store  #: the store below
        self.thoughts: Thoughts = _thoughts_of(store)
        self._store = store
        self._owner = forks()
        self._closed = False
        self._reader = EventReader(store)
        self._appends = Appends(store, self._reader)
        self._leases = Leases(store)

    @property
    def is_hasty(self) -> bool:
        """Whether the journal gives up on its server soon (see `haste`)."""
        return self._store.is_hasty

    @is_hasty.setter
    def is_hasty(self, value: bool) -> None:
        self._store.is_hasty = value

    def append(
        self, session: str, events: Sequence[Stamped], expected_seq: int | None = None, once: Once | None = None
    ) -> tuple[Recorded, ...]:
        rows = encode(session, events)
        self._check()
        if not (rows or is_text(session)):
            return ()
        try:
            return self._appends.append(session, rows, expected_seq, once)
        except EngineAway:
            if once is None or self.is_hasty:
                raise
        return self._appends.append(session, rows, expected_seq, once)  # the key makes that safe

    def read(self, session: str, after: int = 0, upto: int | None = None) -> Iterator[Recorded]:
        end = self._end(session)
        if end is None:
            return iter(())
        return self._reader.events(end, max(after, 0), end.last if upto is None else min(end.last, upto))

    def stored(self, session: str, after: int = 0) -> Iterator[StoredAppend]:
        end = self._end(session)
        return by_keys(self._reader.pages(end, max(after, 0), end.last, keys=True)) if end else iter(())

    def store(self, session: str, appends: Sequence[StoredAppend]) -> None:
        self._check()
        if not is_text(session):
            raise UnstorableEvent(f"{session!r} can't name a session: it is not valid text")
        self._appends.store(session, appends)

    def facts(self) -> JournalFacts:
        self._check()
        return self._store.facts()

    def troubles(self) -> Iterator[Trouble]:
        """What is wrong with the storage (see `checked`): the order in which followers get events, and whatever the
        store can check itself."""
        self._check()
        if isinstance(self._store, CheckedStore):
            yield from self._store.troubles()
        check = PositionCheck()
        with closing(self._store.tail(0)) as pages:
            for page in pages:
                for row in page.rows:
                    if isinstance(row.event.seq, int):
                        yield from check.of_event(row.session, row.event.seq)
                if page.is_end and not page.rows:
                    break

    def last_seq(self, session: str) -> int:
        end = self._end(session)
        return end.last if end else 0

    def last_position(self) -> int:
        self._check()
        with closing(self._store.tail(None)) as pages:
            page = next(pages, None)
        if page is None:
            raise closed(self._store.where)
        return page.position

    def sessions(self) -> list[KnownSession]:
        self._check()
        return [
            KnownSession(each.session, each.last, each.first_at, each.last_at, each.link, each.position)
            for each in self._store.ends()
        ]

    def last_positions(self, beginning: str = "") -> dict[str, int]:
        self._check()
        if isinstance(self._store, PlacedStore):
            return self._store.last_positions(beginning)
        return {each.session: each.position for each in self._store.ends() if each.session.startswith(beginning)}

    def follow(
        self,
        after: int | None = None,
        *,
        session: str | None = None,
        stop: Stop | None = None,
        timeout: float | None = None,
    ) -> Iterator[Followed]:
        if after is None:
            after = self.last_position()
        return self._follow(max(after, 0), session, stop, timeout)

    def snapshot(self, session: str, name: str = "state") -> Snapshot | None:
        kept, end = self._kept_snapshot(session, name)
        if kept is None or end is None or kept.seq > end.last:
            return None
        return Snapshot(kept.seq, kept.data)

    def keep_snapshot(self, session: str, seq: int, data: bytes, name: str = "state") -> None:
        kept, end = self._kept_snapshot(session, name)
        if end is None or not 0 < seq <= end.last or (kept is not None and kept.seq > seq):
            return
        row = _StoredSnapshot.of(session, name, end.number, seq, bytes(data))
        self._store.put(SNAPSHOT, session, name, _encode(row))
        if [each.number for each in self._store.ends(session)] != [end.number]:  # it was forgotten meanwhile
            self._store.put(SNAPSHOT, session, name, None)

    def lease(self, session: str, terms: Terms = Terms()) -> HeldLease:
        self._check()
        return HeldLease(session, terms, self._keep_lease, self._release_lease)

    def leases(self) -> list[KnownLease]:
        self._check()
        return self._leases.known()

    def end_lease(self, known: KnownLease, events: Sequence[Stamped] = (), expected_seq: int | None = None) -> None:
        """Append the events, then remove the lease. After a crash in between, the next caller finds the events by their
        key and only removes the lease. In haste, because it is not urgent."""
        self._check()
        lapsed, was_hasty = self._leases.lapsed(known), self.is_hasty
        if lapsed is None:
            return
        self.is_hasty = True
        try:
            once = Once(f"the end of lease {known.name}", lapsed.number)
            self.append(known.session, events, expected_seq, once)
            self._leases.remove(lapsed)
        finally:
            self.is_hasty = was_hasty

    def forget(self, *sessions: str) -> None:
        self._check()
        self.thoughts.forget(*sessions)  # first: if it fails, a person can still name the sessions and try again
        with self._appends.group.turn:
            self._appends.forget(*sessions)
            self._store.delete([each for each in dict.fromkeys(sessions) if is_text(each)])

    def close(self) -> None:
        if self._closed or self._owner != forks():
            return
        self._closed = True
        self.is_hasty = True
        self.thoughts.close()
        self._leases.close()
        with self._appends.group.turn:
            self._store.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    # -- reading

    def _end(self, session: str) -> SessionEnd | None:
        self._check()
        found = self._store.ends(session) if is_text(session) else []
        return found[0] if found else None

    def _follow(self, after: int, session: str | None, stop: Stop | None, timeout: float | None) -> Iterator[Followed]:
        if self._closed:  # in the meantime
            return
        self._check()
        pages, heard = self._store.tail(after), monotonic()
        try:
            for page in pages:
                for row in page.rows:
                    if stop is not None and stop.is_set():
                        return
                    if session in (None, row.session):
                        yield Followed(row.position, self._reader.recorded(row.session, row.event))
                        heard = monotonic()
                if (stop is not None and stop.is_set()) or self._closed:
                    return
                if timeout is not None and page.is_end and not page.rows and monotonic() - heard >= timeout:
                    return
        except JournalUnavailable:
            if not self._closed:
                raise
        finally:
            pages.close()

    # -- snapshots and leases

    def _kept_snapshot(self, session: str, name: str) -> tuple[_StoredSnapshot | None, SessionEnd | None]:
        """The snapshot of a session under a name, if it is sound and its own, and the end of the session."""
        end = self._end(session)
        for each in self._store.get(SNAPSHOT, session, name) if end and is_text(name) else ():
            try:
                kept = _snapshots.decode(each.value)
            except msgspec.MsgspecError:
                continue
            if end and kept == _StoredSnapshot.of(session, name, end.number, kept.seq, kept.data):
                return kept, end
        return None, end

    def _keep_lease(self, name: str, session: str, terms: Terms) -> None:
        self._check()
        self._leases.keep(name, session, terms)

    def _release_lease(self, name: str, session: str) -> None:
        if self._owner == forks() and not self._closed:
            self._leases.release(name, session)

    def _check(self) -> None:
        """Raise `JournalUnavailable` if the journal is closed, or was opened before this process was forked off."""
        if self._closed:
            raise closed(self._store.where)
        if self._owner != forks():
            raise forked(self._store.where)


def _thoughts_of(store: Store) -> Thoughts:
    if store.thoughts is None:
        from planwire.journal.thoughts import MemoryThoughts  # noqa: PLC0415  (only a journal in memory needs it)

        return MemoryThoughts()
    from planwire.journal.thoughts_file import FileThoughts  # noqa: PLC0415  (it imports SQLite)

    return FileThoughts(Path(store.thoughts))
