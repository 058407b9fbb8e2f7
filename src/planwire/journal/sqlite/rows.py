"""The rows of a SQLite journal: every statement that reads or writes them, and every check on them.

SQLite does not notice when the content of a row changes on the disk, or when a row goes missing. So each event has a
checksum, and the event numbers of a session must have no gaps. The `chain` shows more than that. A snapshot ends with
its checksum, too; one whose checksum does not fit counts as none.
"""

import sqlite3
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias
from zlib import crc32

from planwire.journal.chain import NO_LINK, ChainEnd, link
from planwire.journal.codec import EventRow, decode
from planwire.journal.protocol import Followed, KnownSession, Snapshot, StoredEvent
from planwire.journal.sqlite.errors import damaged
from planwire.journal.stored_pages import PAGE_BYTES, PAGE_EVENTS
from planwire.model.events import Recorded

#: Anything that executes a statement. A cursor serves one statement at a time.
Executor: TypeAlias = sqlite3.Connection | sqlite3.Cursor

_INSERT = "INSERT INTO events (session, seq, at, by, event, checksum, link) VALUES (?, ?, ?, ?, ?, ?, ?)"
#: An event of another journal is stored as it is, even if it is not valid text.
_INSERT_BYTES = _INSERT.replace("?, ?, ?)", "CAST(? AS TEXT), ?, ?)")
_READ = """SELECT CAST(event AS BLOB), seq, at, by, checksum FROM events
    WHERE session = ? AND seq > ? AND seq <= ? ORDER BY seq"""
_FOLLOW = """SELECT CAST(event AS BLOB), seq, at, by, checksum, position, id
    FROM events LEFT JOIN sessions ON number = session
    WHERE position > ? AND position <= ? AND session <> 0 AND (?3 IS NULL OR id = ?3) ORDER BY position"""
#: The bound on seq skips texts, which sort after all numbers: another program may have put them there.
_FIND = """SELECT number, (SELECT max(seq) FROM events WHERE session = number AND seq < 9223372036854775807)
    FROM sessions WHERE id = ?"""
_SESSIONS = """SELECT id, last.seq, first.at, last.at FROM sessions
    JOIN events first ON first.session = number AND first.seq = 1
    JOIN events last ON last.session = number
    AND last.seq = (SELECT max(seq) FROM events WHERE session = number AND seq < 9223372036854775807)
    ORDER BY number"""
#: SQLite gives a new event the position after the last one. If that were the position of a forgotten event, a follower
#: would miss the new event. So an empty event of no session takes the last position.
_TOMBSTONE = """INSERT OR REPLACE INTO events (position, session, seq, at, by, event, checksum)
    VALUES (?, 0, 0, 0, '', '', 0)"""
_KEEP = """INSERT INTO snapshots (session, name, seq, data) VALUES (?, ?, ?, ?) ON CONFLICT DO UPDATE
    SET seq = excluded.seq, data = excluded.data WHERE excluded.seq >= snapshots.seq"""
#: The size of the checksum at the end of a snapshot.
_SUM_BYTES = 4


class SessionEnd(NamedTuple):
    """Where a session ends in this file: the number that stands for the session, and that of its last event."""

    number: int | None
    last: int


def find(connection: Executor, session: str) -> SessionEnd:
    found = connection.execute(_FIND, (bindable(session),)).fetchone()
    return SessionEnd(None, 0) if found is None else SessionEnd(found[0], found[1] or 0)


def last_position(connection: Executor) -> int:
    (found,) = connection.execute("SELECT max(position) FROM events").fetchone()
    return int(found or 0)


def known_sessions(connection: sqlite3.Connection) -> list[KnownSession]:
    """The sessions whose names are text. A time that is no number counts as 0 here; reading that event reports it."""
    found = [row for row in connection.execute(_SESSIONS) if isinstance(row[0], str)]
    return [KnownSession(name, *(each if isinstance(each, int) else 0 for each in others)) for name, *others in found]


def insert(
    connection: Executor, session: str, end: ChainEnd, rows: Iterable[EventRow]
) -> tuple[ChainEnd, tuple[Recorded, ...]]:
    """Write new events after the last one of a session, which may be new. One loop does it all, because this is the one
    place where an append spends time in Python."""
    number, last, before = end if end.number is not None else _numbered(connection, session, end)
    before = before or NO_LINK
    written = []
    for at, by, text, event in rows:
        last += 1
        encoded = text.encode()
        before = link(before, session, last, at, by, encoded)
        values = (number, last, at, by, text, checksum(session, last, at, by, encoded), before)
        connection.execute(_INSERT, values)
        written.append(Recorded(session, last, at, by, event))
    return ChainEnd(number, last, before), tuple(written)


def insert_stored(connection: Executor, session: str, end: ChainEnd, events: Iterable[StoredEvent]) -> ChainEnd:
    """Write events of another journal after the last one of a session, as they are."""
    end = _numbered(connection, session, end)
    for each in events:
        check = checksum(session, each.seq, each.at, each.by, each.text)
        connection.execute(_INSERT_BYTES, (end.number, each.seq, each.at, each.by, each.text, check, each.link))
        end = ChainEnd(end.number, each.seq, each.link)
    return end


def _numbered(connection: Executor, session: str, end: ChainEnd) -> ChainEnd:
    if end.number is not None:
        return end
    return ChainEnd(connection.execute("INSERT INTO sessions (id) VALUES (?)", (session,)).lastrowid, end.last, None)


def page_of_session(connection: sqlite3.Connection, number: int | None, after: int, last: int) -> list[Any]:
    """A page of a session's events, raw: `recorded_in_order` decodes them after the lock has been released."""
    return page(connection.execute(_READ, (number, after, last)))


def recorded_in_order(page: list[Any], session: str, after: int, path: Path) -> Iterator[Recorded]:
    if not page or [row[1] for row in page] != [*range(after + 1, after + 1 + len(page))]:
        hole = next((seq for seq, row in enumerate(page, after + 1) if row[1] != seq), after + 1)
        raise damaged(path, f"event {hole} of session {session!r} is missing")
    return (_recorded(path, session, *row) for row in page)


def page_behind(connection: sqlite3.Connection, position: int, last: int, session: str | None) -> list[Any]:
    """A page of events after a position, of one session or of all, raw."""
    return page(connection.execute(_FOLLOW, (position, last, session if session is None else bindable(session))))


def followed(page: list[Any], path: Path) -> list[Followed]:
    return [Followed(position, _recorded(path, session, *row)) for *row, position, session in page]


def snapshot(connection: sqlite3.Connection, session: str, name: str) -> Snapshot | None:
    query = "SELECT seq, CAST(data AS BLOB) FROM snapshots WHERE session = ? AND name = ?"
    found = connection.execute(query, (find(connection, session).number, name)).fetchone()
    if found is None:
        return None
    seq, kept = found
    data = kept[:-_SUM_BYTES]
    return Snapshot(seq, data) if kept == _summed(session, seq, data, name) else None


def keep_snapshot(connection: Executor, session: str, seq: int, data: bytes, name: str) -> None:
    number, last = find(connection, session)
    if 0 < seq <= last:
        connection.execute(_KEEP, (number, name, seq, _summed(session, seq, data, name)))


def _summed(session: str, seq: int, data: bytes, name: str) -> bytes:
    """A snapshot with its checksum."""
    return data + checksum(session, seq, 0, name, data).to_bytes(_SUM_BYTES)


def delete_sessions(connection: Executor, sessions: Iterable[str]) -> None:
    last = last_position(connection)
    for session in sessions:
        number = find(connection, session).number
        for statement in (
            "DELETE FROM events WHERE session = ?",
            "DELETE FROM snapshots WHERE session = ?",
            "DELETE FROM sessions WHERE number = ?",
        ):
            connection.execute(statement, (number,))
    if last_position(connection) < last:
        connection.execute(_TOMBSTONE, (last,))


def bindable(session: str) -> str | bytes:
    """A session's name as SQLite takes it. A name that is not valid text becomes bytes, which equal no stored name."""
    try:
        session.encode()
    except UnicodeEncodeError:
        return b""
    return session


def page(cursor: sqlite3.Cursor) -> list[Any]:
    """The first rows of a query whose first column is bytes, as many as fit into memory with ease."""
    found: list[Any] = []
    room = PAGE_BYTES
    for row in cursor:
        found.append(row)
        room -= len(row[0])
        if room <= 0 or len(found) == PAGE_EVENTS:
            break
    cursor.close()
    return found


def _recorded(path: Path, session: str, text: bytes, seq: int, at: int, by: str, check: int) -> Recorded:
    if check != checksum(session, seq, at, by, text):
        raise damaged(path, f"event {seq} of session {session!r} is not as it was written")
    return decode(session, seq, at, by, text)


def checksum(session: str, seq: int, at: int, by: str, text: bytes) -> int:
    """The checksum of an event, by which a reader notices that it was changed."""
    return crc32(text, crc32(f"{session}\0{seq} {at} {by}".encode()))
