"""The keys of appends that may be repeated: which events of a session were written with which key."""

from pathlib import Path
from typing import Final, NamedTuple
from zlib import crc32

from planwire.journal.protocol import Once
from planwire.journal.sqlite.errors import damaged
from planwire.journal.sqlite.rows import Executor
from planwire.journal.stored_pages import KeySpan

#: Sessions that end before the last event that was written with a key.
_CUT_OFF: Final = """SELECT id, (SELECT max(seq) FROM events WHERE session = number) AS end, max(last) AS keyed
    FROM once JOIN sessions ON number = once.session GROUP BY number HAVING end < keyed"""


class Written(NamedTuple):
    """The events that an append wrote: those of its session after number `after`, up to and including `last`."""

    after: int
    last: int


def find(connection: Executor, session: int | None, once: Once, path: Path) -> Written | None:
    query = "SELECT after, last, checksum FROM once WHERE session = ? AND source = ? AND n = ?"
    found = connection.execute(query, (session, once.source, once.n)).fetchone()
    if found is None:
        return None
    written = Written(*found[:2])
    if found[2] != _checksum(session, once.source, once.n, written):
        raise damaged(path, f"the key {once.n} of {once.source!r} is not as it was written")
    return written


def keep(connection: Executor, session: int | None, once: Once, written: Written) -> None:
    values = (session, once.source, once.n, *written, _checksum(session, once.source, once.n, written))
    connection.execute("INSERT INTO once VALUES (?, ?, ?, ?, ?, ?)", values)


def between(connection: Executor, session: int | None, after: int, last: int) -> list[KeySpan]:
    """The keys that a session's events after `after`, up to and including `last`, were written with, in order."""
    query = "SELECT after, last, source, n FROM once WHERE session = ? AND last > ? AND after < ?"
    found = connection.execute(query, (session, after, last)).fetchall()
    spans = [
        KeySpan(begin, end, Once(source, n))
        for begin, end, source, n in found
        if isinstance(source, str) and all(isinstance(each, int) for each in (begin, end, n))
    ]
    return sorted(spans, key=lambda each: each.after)


def troubles(connection: Executor) -> list[str]:
    """What is wrong with the keys, a sentence each: one was changed, or its events are missing."""
    changed = [
        f"the key {n} of {source!r} is not as it was written"
        for session, source, n, after, last, check in connection.execute("SELECT * FROM once")
        if check != _checksum(session, source, n, Written(after, last))
    ]
    return changed + [
        f"session {session!r} ends with event {end}, but had {last} events"
        for session, end, last in connection.execute(_CUT_OFF)
    ]


def delete_orphans(connection: Executor) -> None:
    """Delete the keys of sessions that are gone."""
    connection.execute("DELETE FROM once WHERE session NOT IN (SELECT number FROM sessions)")


def _checksum(session: int | None, source: str, n: int, written: Written) -> int:
    return crc32(f"{session} {n} {written.after} {written.last} {source}".encode())
