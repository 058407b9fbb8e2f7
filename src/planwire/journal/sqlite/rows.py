"""The rows of a SQLite journal: every statement that reads or writes them, and every check on them.

SQLite does not notice when the content of a row changes on the disk. So each event has a checksum. The `chain` shows
more than that. A key has a checksum, too, because nothing else would show that it stands for other events.
"""

import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Final, TypeAlias
from zlib import crc32

from planwire.journal.protocol import Once, StoredEvent
from planwire.journal.sqlite.errors import damaged
from planwire.journal.store import PAGE_BYTES, PAGE_EVENTS, KeySpan, SessionEnd, StoreEntry, TailRow

#: Anything that executes a statement. A cursor serves one statement at a time.
Executor: TypeAlias = sqlite3.Connection | sqlite3.Cursor

_INSERT: Final = """INSERT INTO events (session, seq, at, by, event, checksum, link)
    VALUES (?, ?, ?, ?, CAST(? AS TEXT), ?, ?)"""
_EVENT: Final = "CAST(event AS BLOB), seq, at, by, link, checksum"
_READ: Final = f"SELECT {_EVENT} FROM events WHERE session = ? AND seq > ? AND seq <= ? ORDER BY seq"  # noqa: S608
_TAIL: Final = f"""SELECT {_EVENT}, position, id FROM events LEFT JOIN sessions ON number = session
    WHERE position > ? AND position <= ? AND session <> 0 ORDER BY position"""  # noqa: S608
#: The bound on seq skips texts, which sort after all numbers: another program may have put them there.
_ENDS: Final = """SELECT id, number, last.seq, last.link, last.position, first.at, last.at FROM sessions
    {} JOIN events first ON first.session = number AND first.seq = 1
    {} JOIN events last ON last.session = number
    AND last.seq = (SELECT max(seq) FROM events WHERE session = number AND seq < 9223372036854775807) {}"""
_ALL_ENDS: Final = _ENDS.format("", "", "ORDER BY number")
_ONE_END: Final = _ENDS.format("LEFT", "LEFT", "WHERE id = ?")
#: The index alone answers this.
_LAST_POSITIONS: Final = """SELECT id, (SELECT position FROM events
    WHERE session = number AND seq < 9223372036854775807 ORDER BY seq DESC LIMIT 1) FROM sessions {} ORDER BY number"""
#: SQLite gives a new event the position after the last one. If that were the position of a forgotten event, a follower
#: would miss the new event. So an empty event of no session takes the last position.
_TOMBSTONE: Final = """INSERT OR REPLACE INTO events (position, session, seq, at, by, event, checksum)
    VALUES (?, 0, 0, 0, '', '', 0)"""
_KEYS: Final = "SELECT after, last, source, n, checksum FROM once WHERE session = ?"
_DELETE: Final = (
    "DELETE FROM events WHERE session = ?",
    "DELETE FROM sessions WHERE number = ?",
    "DELETE FROM entries WHERE session = ?",
)


def last_position(connection: Executor) -> int:
    (found,) = connection.execute("SELECT max(position) FROM events").fetchone()
    return int(found or 0)


def all_ends(connection: Executor) -> list[SessionEnd]:
    """The ends of the sessions whose names are text."""
    return [_end(*row) for row in connection.execute(_ALL_ENDS).fetchall() if isinstance(row[0], str)]


def last_positions(connection: Executor, beginning: str) -> dict[str, int]:
    """The last positions of the sessions whose names are text with this beginning."""
    values = (len(beginning), bindable(beginning)) if beginning else ()
    found = connection.execute(_LAST_POSITIONS.format("WHERE substr(id, 1, ?) = ?" if values else ""), values)
    return {session: position for session, position in found.fetchall() if isinstance(session, str) and position}


def end_of(connection: Executor, session: str, place: object = None) -> SessionEnd:
    """The end of a session, for whoever appends after it: the store's `place` goes with it."""
    found = connection.execute(_ONE_END, (session,)).fetchone()
    return _end(*found, place=place) if found else SessionEnd(session=session)


def _end(*row: Any, place: object = None) -> SessionEnd:
    """The end of a session in a row. What is no number counts as 0 here; reading that event reports it."""
    session, number, last, link, position, first_at, last_at = row
    last, position, first_at, last_at = (
        each if isinstance(each, int) else 0 for each in (last, position, first_at, last_at)
    )
    return SessionEnd(
        session=session,
        number=number,
        last=last,
        link=link if isinstance(link, bytes) else None,
        position=position,
        first_at=first_at,
        last_at=last_at,
        place=place,
    )


def insert(connection: sqlite3.Cursor, end: SessionEnd, rows: Iterable[StoredEvent], place: object) -> SessionEnd:
    """Write new events after the end of a session, which may be new. Returns the new end. One loop does it all, because
    this is the one place where an append spends time in Python."""
    session, number, last, link, at = end.session, end.number, end.last, end.link, end.last_at
    if not number:
        number = connection.execute("INSERT INTO sessions (id) VALUES (?)", (session,)).lastrowid or 0
    for each in rows:
        last, link, at, text = each.seq, each.link, each.at, each.text
        values = (number, last, at, each.by, text, checksum(session, last, at, each.by, text), link)
        connection.execute(_INSERT, values)
    return SessionEnd(
        session=session,
        number=number,
        last=last,
        link=link,
        position=connection.lastrowid or 0,
        first_at=end.first_at,
        last_at=at,
        place=place,
    )


def read(connection: Executor, end: SessionEnd, after: int, upto: int, path: Path) -> list[StoredEvent]:
    """A page of a session's events."""
    found = page(connection, _READ, (end.number, min(after, 2**63 - 1), min(upto, 2**63 - 1)))
    if not all(isinstance(row[1], int) for row in found):
        raise damaged(path, f"session {end.session!r} has an event whose number is not an integer")
    return [_stored(end.session, *row) for row in found]


def tail(connection: Executor, after: int, last: int) -> list[TailRow]:
    """A page of the events after a position."""
    return [
        TailRow(position, session if isinstance(session, str) else "", _stored(session, *row))
        for *row, position, session in page(connection, _TAIL, (after, last))
    ]


def delete_sessions(connection: Executor, sessions: Iterable[str]) -> None:
    last = last_position(connection)
    for session in sessions:
        number = end_of(connection, session).number
        for statement, value in zip(_DELETE, (number, number, session), strict=True):
            connection.execute(statement, (value,))
    connection.execute("DELETE FROM once WHERE session NOT IN (SELECT number FROM sessions)")
    if last_position(connection) < last:
        connection.execute(_TOMBSTONE, (last,))


def find_key(connection: Executor, number: int, once: Once, path: Path) -> KeySpan | None:
    query = f"{_KEYS} AND source = ? AND n = ?"
    found = connection.execute(query, (number, once.source, once.n)).fetchone()
    if found is None:
        return None
    span = KeySpan(found[0], found[1], once)
    if found[4] != key_checksum(number, once.source, once.n, *found[:2]):
        raise damaged(path, f"the key {once.n} of {once.source!r} is not as it was written")
    return span


def keep_key(connection: Executor, number: int, key: KeySpan) -> None:
    values = (number, key.once.source, key.once.n, key.after, key.last)
    connection.execute("INSERT INTO once VALUES (?, ?, ?, ?, ?, ?)", (*values, key_checksum(*values)))


def keys_between(connection: Executor, number: int, first: int, last: int) -> list[KeySpan]:
    """The keys that a session's events from one number to another were written with, in order."""
    found = connection.execute(f"{_KEYS} AND last >= ? AND after < ?", (number, first, last)).fetchall()
    spans = [
        KeySpan(after, end, Once(source, n))
        for after, end, source, n, _ in found
        if isinstance(source, str) and all(isinstance(each, int) for each in (after, end, n))
    ]
    return sorted(spans, key=lambda each: each.after)


def entries(connection: Executor, kind: str, session: str | None, name: str | None) -> Iterator[StoreEntry]:
    query = "SELECT session, name, CAST(value AS BLOB), number FROM entries WHERE kind = ?"
    values: tuple[str, ...] = (kind,)
    if session is not None and name is not None:
        query, values = f"{query} AND session = ? AND name = ?", (kind, session, name)
    for row in connection.execute(f"{query} ORDER BY number", values).fetchall():
        if isinstance(row[0], str) and isinstance(row[1], str) and isinstance(row[2], bytes):
            yield StoreEntry(*row)


def put_entry(connection: Executor, kind: str, session: str, name: str, value: bytes | None) -> None:
    if value is None:
        statement = "DELETE FROM entries WHERE kind = ? AND session = ? AND name = ?"
        connection.execute(statement, (kind, session, name))
    else:
        statement = """INSERT INTO entries (kind, session, name, value) VALUES (?, ?, ?, ?)
            ON CONFLICT DO UPDATE SET value = excluded.value"""
        connection.execute(statement, (kind, session, name, value))


def bindable(session: str) -> str | bytes:
    """A session's name as SQLite takes it. A name that is not valid text becomes bytes, which equal no stored name."""
    try:
        session.encode()
    except UnicodeEncodeError:
        return b""
    return session


def page(connection: Executor, query: str, values: Sequence[object]) -> list[Any]:
    """The first rows of a query whose first column is bytes, as many as fit into memory with ease."""
    cursor = connection.execute(query, values)
    found: list[Any] = []
    room = PAGE_BYTES
    for row in cursor:
        found.append(row)
        room -= len(row[0])
        if room <= 0 or len(found) == PAGE_EVENTS:
            break
    cursor.close()
    return found


def _stored(session: Any, text: bytes, seq: Any, at: Any, by: Any, link: Any, check: Any) -> StoredEvent:
    """An event as it is stored. Another program may have put values of any type there: SQLite accepts them."""
    fits = isinstance(at, int) and isinstance(by, str) and isinstance(link, bytes | None)
    is_sound = fits and check == checksum(session, seq, at, by, text)
    if not fits:
        at, by, link = at if isinstance(at, int) else 0, str(by), link if isinstance(link, bytes) else None
    return StoredEvent(seq, at, by, text, link, is_sound)


def checksum(session: str, seq: int, at: int, by: str, text: bytes) -> int:
    """The checksum of an event, by which a reader notices that it was changed."""
    return crc32(text, crc32(f"{session}\0{seq} {at} {by}".encode()))


def key_checksum(number: int, source: str, n: int, after: int, last: int) -> int:
    return crc32(f"{number} {n} {after} {last} {source}".encode())
