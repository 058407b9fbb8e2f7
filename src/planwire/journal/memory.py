"""A store in memory: for tests, for trying things out, and as the plainest statement of what a store does."""

from bisect import bisect_right
from collections.abc import Generator, Sequence
from itertools import count
from threading import Lock
from typing import Final

from planwire.journal.bell import Bell
from planwire.journal.polling import polled
from planwire.journal.protocol import JournalFacts, Once, StoredEvent
from planwire.journal.store import (
    ANY,
    PAGE_EVENTS,
    AnyValue,
    Append,
    Appended,
    KeySpan,
    SessionEnd,
    StoredPage,
    StoreEntry,
    TailPage,
    TailRow,
)

#: A holder here is a part of this process, and ends with it.
_WHERE: Final = "this process"


class _MemorySession:
    """The rows and keys of a session."""

    def __init__(self, number: int) -> None:
        self.number = number
        self.rows: list[StoredEvent] = []
        self.keys: dict[Once, KeySpan] = {}
        self.position = 0


class MemoryStore:
    """A `Store` that ends with its process."""

    where = _WHERE
    thoughts = None
    is_hasty = False
    has_clock = False

    def __init__(self) -> None:
        self._lock = Lock()
        self._bell = Bell()
        self._numbers = count(1)
        self._tail: list[TailRow] = []
        self._last = 0
        self._sessions: dict[str, _MemorySession] = {}
        self._entries: dict[tuple[str, str, str], StoreEntry] = {}
        self._alive: set[str] = set()
        self._closed = False

    def append(self, appends: Sequence[Append]) -> list[Appended | Exception]:
        with self._lock:
            appended: list[Appended | Exception] = [self._append(each) for each in appends]
        self._bell.ring()
        return appended

    def read(self, end: SessionEnd, after: int, upto: int, *, keys: bool = False) -> StoredPage:
        with self._lock:
            session = self._sessions.get(end.session)
            if session is None or session.number != end.number:
                return StoredPage([], [])
            return StoredPage(session.rows[after:upto][:PAGE_EVENTS], [*session.keys.values()] if keys else [])

    def tail(self, after: int | None) -> Generator[TailPage, None, None]:
        if after is None:
            after = self._last
            yield TailPage([], after, is_end=True)
        yield from polled(after, self._look, lambda: self._last, self._bell)

    def ends(self, session: str | None = None) -> list[SessionEnd]:
        with self._lock:
            names = list(self._sessions) if session is None else [session]
            return [self._end(name) for name in names if name in self._sessions]

    def delete(self, sessions: Sequence[str]) -> None:
        with self._lock:
            self._tail = [row for row in self._tail if row.session not in sessions]
            self._entries = {key: each for key, each in self._entries.items() if each.session not in sessions}
            for session in sessions:
                self._sessions.pop(session, None)

    def get(self, kind: str, session: str | None = None, name: str | None = None) -> list[StoreEntry]:
        with self._lock:
            if session is not None and name is not None:
                found = self._entries.get((kind, session, name))
                return [found] if found else []
            return [each for key, each in self._entries.items() if key[0] == kind]

    def put(
        self, kind: str, session: str, name: str, value: bytes | None, instead: bytes | AnyValue | None = ANY
    ) -> bool:
        with self._lock:
            found = self._entries.get((kind, session, name))
            if instead is not ANY and instead != (found.value if found else None):
                return False
            if value is None:
                self._entries.pop((kind, session, name), None)
            else:
                number = found.number if found else next(self._numbers)
                self._entries[kind, session, name] = StoreEntry(session, name, value, number)
            return True

    def alive(self, holder: str, seconds: float | None = None) -> bool:
        if seconds:
            self._alive.add(holder)
        elif seconds == 0:
            self._alive.discard(holder)
        return holder in self._alive

    def facts(self) -> JournalFacts:
        return JournalFacts("memory", self.where, "an append is there until this process ends")

    def close(self) -> None:
        self._closed = True
        self._bell.ring()

    def _append(self, append: Append) -> Appended:
        session = self._sessions.get(append.session)
        end = self._end(append.session)
        for key in append.keys:
            if session is not None and key.once in session.keys:
                return Appended(end, keyed=session.keys[key.once])
        if not append.rows or (append.after.last, append.after.link) != (end.last, end.link):
            return Appended(end)
        if session is None:
            session = self._sessions[append.session] = _MemorySession(next(self._numbers))
        session.rows += append.rows
        session.keys |= {each.once: each for each in append.keys}
        self._tail += [TailRow(self._last + n, append.session, row) for n, row in enumerate(append.rows, start=1)]
        session.position = self._last = self._last + len(append.rows)
        return Appended(self._end(append.session), is_written=True)

    def _end(self, name: str) -> SessionEnd:
        session = self._sessions.get(name)
        if session is None:
            return SessionEnd(session=name)
        first, last = session.rows[0], session.rows[-1]
        return SessionEnd(
            session=name,
            number=session.number,
            last=last.seq,
            link=last.link,
            position=session.position,
            first_at=first.at,
            last_at=last.at,
        )

    def _look(self, after: int) -> TailPage | None:
        with self._lock:
            if self._closed:
                return None
            begin = bisect_right(self._tail, after, key=lambda row: row.position)
            rows = self._tail[begin : begin + PAGE_EVENTS]
            return TailPage(rows, rows[-1].position if rows else max(after, self._last), is_end=not rows)
