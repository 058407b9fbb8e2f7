"""Checks of a PostgreSQL journal's tables beyond chains of hashes: sessions without events, events without a session,
positions that are out of order, keys that don't fit.

The server looks after its files. But a person with rights on the tables may delete rows, and the keys of appends show
which events were there.
"""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from psycopg import Cursor

from planwire.journal.checked import PositionCheck, Trouble
from planwire.journal.postgres.rows import is_utf8
from planwire.journal.postgres.server import JournalServer

#: Seconds that a check may take: it reads all keys, of which there may be millions.
CHECKING: Final = 600.0

_EMPTY: Final = """SELECT id FROM planwire.sessions
    WHERE NOT EXISTS (SELECT 1 FROM planwire.events WHERE session = number) ORDER BY number"""
_STRAY: Final = """SELECT DISTINCT session FROM planwire.events
    WHERE NOT EXISTS (SELECT 1 FROM planwire.sessions WHERE number = session) ORDER BY session"""
#: How many positions are read at a time: there may be millions.
_PAGE: Final = 20_000
_POSITIONS: Final = """SELECT position, session, seq FROM planwire.events
    WHERE position > %b ORDER BY position LIMIT %b"""
#: Sessions that end before the last event that was written with a key.
_CUT_OFF: Final = """SELECT id, ends.last, keyed.last FROM planwire.sessions
    JOIN (SELECT session, max(last) AS last FROM planwire.once GROUP BY session) keyed ON keyed.session = number
    JOIN LATERAL (SELECT max(seq) AS last FROM planwire.events WHERE session = number) ends ON ends.last < keyed.last
    ORDER BY number"""
#: Keys that cover no events, and keys that overlap another one.
_ODD: Final = """SELECT id, source, n FROM (
        SELECT *, lag(last, 1, 0::bigint) OVER (PARTITION BY session ORDER BY last, after) AS before FROM planwire.once
    ) keys JOIN planwire.sessions ON number = session WHERE after < before OR after >= last ORDER BY number, after"""


def troubles(server: JournalServer, cursor: "Cursor[tuple[Any, ...]]") -> Iterator[Trouble]:
    """All that is wrong with the tables, each trouble with its session."""
    names = dict(cursor.execute(server.sql("SELECT number, id FROM planwire.sessions ORDER BY number")).fetchall())
    for session in names.values():
        if not is_utf8(session):
            yield Trouble(f"the name {session!r} of a session is not valid text")
    yield from _of_positions(server, cursor, names)
    for [session] in cursor.execute(server.sql(_EMPTY)).fetchall():
        yield _trouble("session {!r} has no events", session)
    for [number] in cursor.execute(server.sql(_STRAY)).fetchall():
        yield Trouble(f"the session with the number {number} has events, but the row with its name is gone")
    for session, end, last in cursor.execute(server.sql(_CUT_OFF)).fetchall():
        yield _trouble("session {!r} ends with event {}, but had {} events", session, end, last)
    for session, source, n in cursor.execute(server.sql(_ODD)).fetchall():
        yield _trouble(
            "session {!r}: the key {} of {!r} is not as it was written", session, n, source.decode(errors="replace")
        )


def _of_positions(
    server: JournalServer, cursor: "Cursor[tuple[Any, ...]]", names: Mapping[int, bytes]
) -> Iterator[Trouble]:
    check, after = PositionCheck(), -(2**63)
    while page := cursor.execute(server.sql(_POSITIONS), (after, _PAGE)).fetchall():
        for after, number, seq in page:
            if number in names:  # or the session was begun after its name was read
                yield from check.troubles(number, names[number].decode(errors="replace"), seq, after)


def _trouble(words: str, session: bytes, *others: object) -> Trouble:
    name = session.decode(errors="replace")
    return Trouble(words.format(name, *others), name)
