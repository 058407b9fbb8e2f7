"""An engine over three tables of a database that any program may have: here of SQLite, without its finer points."""

import os
import sqlite3
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from pathlib import Path
from threading import RLock
from time import time
from typing import Any, Final

from planwire.journal.bell import Bell
from planwire.journal.engines import Engine
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

__all__ = ["ENGINE", "TableStore"]

_TABLES: Final = """
CREATE TABLE IF NOT EXISTS sessions (number INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT UNIQUE);
CREATE TABLE IF NOT EXISTS rows (position INTEGER PRIMARY KEY AUTOINCREMENT, session INT, seq INT, at INT, by TEXT,
    text BLOB, link BLOB, UNIQUE (session, seq));
CREATE TABLE IF NOT EXISTS keys (session INT, source TEXT, n INT, after INT, last INT,
    PRIMARY KEY (session, source, n));
CREATE TABLE IF NOT EXISTS entries (number INTEGER PRIMARY KEY AUTOINCREMENT, kind TEXT, session TEXT, name TEXT,
    value BLOB, UNIQUE (kind, session, name));
CREATE TABLE IF NOT EXISTS alive (holder TEXT PRIMARY KEY, until REAL);
"""
_ENDS: Final = """SELECT id, number, last.seq, last.link, last.position, first.at, last.at FROM sessions
    JOIN rows first ON first.session = number AND first.seq = 1 JOIN rows last ON last.session = number
    AND last.seq = (SELECT max(seq) FROM rows WHERE session = number)"""
_FIELDS: Final = ("session", "number", "last", "link", "position", "first_at", "last_at")


class TableStore:
    """A `Store` in a file. Whoever holds a lease is alive for a time by this machine's clock."""

    has_clock = True

    def __init__(self, path: Path) -> None:
        self.where = str(path)
        self.thoughts = f"{path}.thoughts"
        self.is_hasty = False
        self._lock, self._bell, self._closed = RLock(), Bell(), False
        self._tables = sqlite3.connect(path, timeout=30, isolation_level=None, check_same_thread=False)
        self._tables.executescript(f"PRAGMA journal_mode = WAL; {_TABLES}")

    def append(self, appends: Sequence[Append]) -> list[Appended | Exception]:
        with self._transaction() as do:
            outcomes: list[Appended | Exception] = [self._append(do, each) for each in appends]
        self._bell.ring()
        return outcomes

    def _append(self, do: Any, append: Append) -> Appended:
        end = self._end(do, append.session)
        for key in append.keys:
            query = "SELECT after, last FROM keys WHERE session = ? AND source = ? AND n = ?"
            if found := do(query, end.number, key.once.source, key.once.n):
                return Appended(end, keyed=KeySpan(found[0][0], found[0][1], key.once))
        if not append.rows or (end.last, end.link) != (append.after.last, append.after.link):
            return Appended(end)
        if not end.number:
            do("INSERT INTO sessions (id) VALUES (?)", append.session)
        [[number]] = do("SELECT number FROM sessions WHERE id = ?", append.session)
        for row in append.rows:
            values = number, row.seq, row.at, row.by, row.text, row.link
            do("INSERT INTO rows (session, seq, at, by, text, link) VALUES (?, ?, ?, ?, ?, ?)", *values)
        for key in append.keys:
            do("INSERT INTO keys VALUES (?, ?, ?, ?, ?)", number, key.once.source, key.once.n, key.after, key.last)
        return Appended(self._end(do, append.session), is_written=True)

    def _end(self, do: Any, session: str) -> SessionEnd:
        found = do(f"{_ENDS} WHERE id = ?", session)
        return SessionEnd(**dict(zip(_FIELDS, found[0], strict=True))) if found else SessionEnd(session=session)

    def read(self, end: SessionEnd, after: int, upto: int, *, keys: bool = False) -> StoredPage:
        with self._transaction() as do:
            query = f"""SELECT seq, at, by, text, link FROM rows WHERE session = ? AND seq > ? AND seq <= ?
                ORDER BY seq LIMIT {PAGE_EVENTS}"""
            page = [StoredEvent(*row) for row in do(query, end.number, min(after, 2**62), min(upto, 2**62))]
            known = do("SELECT after, last, source, n FROM keys WHERE session = ? ORDER BY after", end.number)
            return StoredPage(
                page, [KeySpan(begin, last, Once(source, n)) for begin, last, source, n in known] if keys else []
            )

    def tail(self, after: int | None) -> Generator[TailPage, None, None]:
        if after is None:
            after = self._last()
            yield TailPage([], after, is_end=True)
        yield from polled(min(after, 2**62), self._look, self._last, self._bell)

    def _look(self, after: int) -> TailPage | None:
        with self._lock:
            return None if self._closed else self._page(after)

    def _page(self, after: int) -> TailPage:
        with self._transaction() as do:
            query = f"""SELECT position, id, seq, at, by, text, link FROM rows JOIN sessions ON number = session
                WHERE position > ? ORDER BY position LIMIT {PAGE_EVENTS}"""
            rows = [TailRow(position, session, StoredEvent(*row)) for position, session, *row in do(query, after)]
        return TailPage(rows, rows[-1].position if rows else max(after, self._last()), is_end=not rows)

    def _last(self) -> int:
        with self._lock:
            return 0 if self._closed else self._newest()

    def _newest(self) -> int:
        with self._transaction() as do:
            found = do("SELECT seq FROM sqlite_sequence WHERE name = 'rows'")
            return int(found[0][0]) if found else 0

    def ends(self, session: str | None = None) -> list[SessionEnd]:
        with self._transaction() as do:
            if session is not None:
                end = self._end(do, session)
                return [end] if end.last else []
            return [SessionEnd(**dict(zip(_FIELDS, row, strict=True))) for row in do(f"{_ENDS} ORDER BY number")]

    def delete(self, sessions: Sequence[str]) -> None:
        with self._transaction() as do:
            for session in sessions:
                for table in ("rows", "keys"):
                    do(f"DELETE FROM {table} WHERE session = (SELECT number FROM sessions WHERE id = ?)", session)
                do("DELETE FROM sessions WHERE id = ?", session)
                do("DELETE FROM entries WHERE session = ?", session)

    def get(self, kind: str, session: str | None = None, name: str | None = None) -> list[StoreEntry]:
        with self._transaction() as do:
            query = """SELECT session, name, value, number FROM entries WHERE kind = ?1 AND (?2 IS NULL OR session = ?2)
                AND (?3 IS NULL OR name = ?3) ORDER BY number"""
            return [StoreEntry(*row) for row in do(query, kind, session, name)]

    def put(
        self, kind: str, session: str, name: str, value: bytes | None, instead: bytes | AnyValue | None = ANY
    ) -> bool:
        with self._transaction() as do:
            found = do("SELECT value FROM entries WHERE kind = ? AND session = ? AND name = ?", kind, session, name)
            if instead is not ANY and instead != (found[0][0] if found else None):
                return False
            if value is None:
                do("DELETE FROM entries WHERE kind = ? AND session = ? AND name = ?", kind, session, name)
            else:
                insert = "INSERT INTO entries (kind, session, name, value) VALUES (?, ?, ?, ?)"
                do(f"{insert} ON CONFLICT DO UPDATE SET value = excluded.value", kind, session, name, value)
            return True

    def alive(self, holder: str, seconds: float | None = None) -> bool:
        with self._transaction() as do:
            if seconds is not None:
                do("INSERT OR REPLACE INTO alive VALUES (?, ?)", holder, time() + seconds)
            return bool(do("SELECT 1 FROM alive WHERE holder = ? AND until > ?", holder, time()))

    def facts(self) -> JournalFacts:
        return JournalFacts("plain tables", self.where, "an append is in the file")

    def close(self) -> None:
        with self._lock:
            self._closed = True
            self._tables.close()
        self._bell.ring()

    @contextmanager
    def _transaction(self) -> Generator[Any, None, None]:
        """A function that executes a statement, while no other thread or process does."""
        with self._lock:
            self._tables.execute("BEGIN IMMEDIATE")
            try:
                yield lambda statement, *values: self._tables.execute(statement, values).fetchall()
            except BaseException:
                self._tables.execute("ROLLBACK")
                raise
            self._tables.execute("COMMIT")


ENGINE = Engine("tables:/FILE", lambda rest, _: TableStore(Path(os.fspath(rest))), "tables:{}".format)
