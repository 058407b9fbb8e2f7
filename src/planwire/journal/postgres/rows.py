"""Reading the rows of a PostgreSQL journal: every statement that does so, and every check on what it finds.

Reads take a page at a time, so that none holds the connection for long, however long a session is. The event numbers of
a session must have no gaps: PostgreSQL's checksums detect a disk that lies, but not a row that is missing.
"""

from collections.abc import Iterable, Iterator
from typing import Any, Final, NamedTuple, TypeAlias

from psycopg import Cursor

from planwire.errors import DamagedJournal
from planwire.journal.chain import ChainEnd
from planwire.journal.codec import decode
from planwire.journal.postgres.server import JournalServer
from planwire.journal.protocol import Followed, KnownSession, Once, Snapshot, StoredEvent
from planwire.journal.stored_pages import PAGE_BYTES, PAGE_EVENTS, KeySpan, StoredPage
from planwire.model.events import Recorded

#: The largest number that PostgreSQL keeps.
MOST: Final = 2**63 - 1

#: The innermost query takes rows by an index; the next one drops those beyond the page size.
_PAGE: Final = f"""SELECT {{columns}} FROM (
    SELECT *, sum(octet_length(event)) OVER (ORDER BY {{order}} ROWS UNBOUNDED PRECEDING) - octet_length(event) AS sum
    FROM (SELECT * FROM planwire.events WHERE {{rows}} ORDER BY {{order}} LIMIT {PAGE_EVENTS}) most
) page {{join}} WHERE sum < {PAGE_BYTES} ORDER BY {{order}}"""  # noqa: S608
_OF_SESSION: Final = "session = %b AND seq > %b AND seq <= %b"
_READ: Final = _PAGE.format(columns="seq, at, by, event", order="seq", rows=_OF_SESSION, join="")
_STORED: Final = _PAGE.format(columns="seq, at, by, event, link", order="seq", rows=_OF_SESSION, join="")
_KEYS: Final = """SELECT source, n, after, last FROM planwire.once
    WHERE session = %b AND last >= %b AND after < %b ORDER BY after"""
_FOLLOW: Final = _PAGE.format(
    columns="position, id, seq, at, by, event",
    order="position",
    rows="position > %b AND position <= %b",
    join="JOIN planwire.sessions ON number = session",
)
_FOLLOW_ONE: Final = _FOLLOW.replace(
    "position <= %b",
    "position <= %b AND session = (SELECT number FROM planwire.sessions WHERE sha256(id) = sha256(%b))",
)
_FIND: Final = """SELECT number, seq, link FROM planwire.sessions LEFT JOIN LATERAL
    (SELECT seq, link FROM planwire.events WHERE session = number ORDER BY seq DESC LIMIT 1) newest ON true
    WHERE sha256(id) = sha256(%b)"""
_KEY: Final = """SELECT number, after, last FROM planwire.once JOIN planwire.sessions ON number = session
    WHERE sha256(id) = sha256(%b) AND sha256(source) = sha256(%b) AND n = %b"""
_SESSIONS: Final = """SELECT id, newest.seq, first_at, newest.at FROM planwire.sessions CROSS JOIN LATERAL
    (SELECT seq, at FROM planwire.events WHERE session = number ORDER BY seq DESC LIMIT 1) newest ORDER BY number"""
_SNAPSHOT: Final = """SELECT seq, data FROM planwire.snapshots JOIN planwire.sessions ON number = session
    WHERE sha256(id) = sha256(%b) AND name = %b"""
_AT: Final = """SELECT id, seq, at FROM planwire.events JOIN planwire.sessions ON number = session
    WHERE position = %b"""
_LAST: Final = """SELECT greatest(forgotten, (SELECT max(position) FROM planwire.events)) FROM planwire.journal"""

_Cursor: TypeAlias = Cursor[tuple[Any, ...]]

#: The end of a session that has no events.
NO_END: Final = ChainEnd(None, 0, None)


class KeyedEvents(NamedTuple):
    """The events that an append wrote: those of session `number` after event `after`, up to and including `last`."""

    number: int
    after: int
    last: int


class Reads:
    """The queries of a journal. Every call takes a cursor that returns binary results."""

    def __init__(self, server: JournalServer) -> None:
        self._sql = server.sql
        self._shown = server.shown

    def find(self, cursor: _Cursor, session: str) -> ChainEnd:
        name = bytes_of(session)
        found = name is not None and self._ask(cursor, _FIND, name).fetchone()
        return ChainEnd(found[0], found[1] or 0, found[2]) if found else NO_END

    def find_key(self, cursor: _Cursor, session: str, once: Once) -> KeyedEvents | None:
        found = self._ask(cursor, _KEY, session.encode(), once.source.encode(), once.n).fetchone()
        return None if found is None else KeyedEvents(*found)

    def last_position(self, cursor: _Cursor) -> int:
        [[found]] = self._ask(cursor, _LAST).fetchall()
        return int(found)

    def sessions(self, cursor: _Cursor) -> list[KnownSession]:
        found = self._ask(cursor, _SESSIONS).fetchall()
        return [KnownSession(name.decode(), *others) for name, *others in found if is_utf8(name)]

    def snapshot(self, cursor: _Cursor, session: str, name: str) -> Snapshot | None:
        key = bytes_of(session)
        found = key is not None and self._ask(cursor, _SNAPSHOT, key, name.encode()).fetchone()
        return Snapshot(*found) if found else None

    def page(self, cursor: _Cursor, number: int | None, after: int, last: int) -> list[Any]:
        """A page of a session's events, raw: `recorded` decodes them after the connection has been released."""
        return self._ask(cursor, _READ, number, min(after, MOST), min(last, MOST)).fetchall()

    def recorded(self, page: list[Any], session: str, after: int) -> Iterator[Recorded]:
        if not page or [row[0] for row in page] != [*range(after + 1, after + 1 + len(page))]:
            hole = next((seq for seq, row in enumerate(page, after + 1) if row[0] != seq), after + 1)
            raise DamagedJournal(
                f"event {hole} of session {session!r} is missing from {self._shown}: restore a backup, or forget the "
                "session. Nothing was changed"
            )
        return (decode(session, *row) for row in page)

    def stored_page(self, cursor: _Cursor, number: int | None, after: int, last: int) -> StoredPage:
        """A page of a session's events as they are stored, with the keys that any of them was written with."""
        rows = self._ask(cursor, _STORED, number, min(after, MOST), min(last, MOST)).fetchall()
        if not rows:
            return StoredPage([], [])
        keys = self._ask(cursor, _KEYS, number, rows[0][0], rows[-1][0]).fetchall()
        events = [
            StoredEvent(seq, at, by.decode(errors="replace"), text, link, is_utf8(by))
            for seq, at, by, text, link in rows
        ]
        spans = [KeySpan(after, last, Once(source.decode(), n)) for source, n, after, last in keys if is_utf8(source)]
        return StoredPage(events, spans)

    def behind(self, cursor: _Cursor, position: int, upto: int, session: str | None) -> list[Any]:
        """A page of events after a position, of one session or of all, raw."""
        position, upto = min(position, MOST), min(upto, MOST)
        if session is None:
            return self._ask(cursor, _FOLLOW, position, upto).fetchall()
        name = bytes_of(session)
        return [] if name is None else self._ask(cursor, _FOLLOW_ONE, position, upto, name).fetchall()

    def event_at(self, cursor: _Cursor, position: int) -> tuple[bytes, int, int] | None:
        """The session, the number and the time of the event at a position."""
        found = self._ask(cursor, _AT, position).fetchone()
        return (found[0], found[1], found[2]) if found else None

    def _ask(self, cursor: _Cursor, statement: str, *values: Any) -> _Cursor:
        return cursor.execute(self._sql(statement), values, prepare=True)


def followed(page: Iterable[Any]) -> list[Followed]:
    return [Followed(position, decode(name.decode(), *row)) for position, name, *row in page if is_utf8(name)]


def is_utf8(stored: bytes) -> bool:
    """Whether a stored name is text. A person with rights on the tables may have stored something else."""
    try:
        stored.decode()
    except UnicodeDecodeError:
        return False
    return True


def bytes_of(name: str) -> bytes | None:
    """A name as it is stored; None if it is not valid text, so that no stored name can equal it."""
    try:
        return name.encode()
    except UnicodeEncodeError:
        return None
