"""The statements of a PostgreSQL store, and what it makes of their rows.

Reads take a page at a time, so that none holds the connection for long, however long a session is. Names are bytes; a
person with rights on the tables may have stored some that are no text.
"""

from collections.abc import Iterable, Sequence
from struct import Struct
from typing import Any, Final

from planwire.journal.codec import is_text
from planwire.journal.postgres.order import MOST
from planwire.journal.protocol import Once, StoredEvent
from planwire.journal.store import PAGE_BYTES, PAGE_EVENTS, Append, Appended, KeySpan, SessionEnd, StoreEntry, TailRow

#: The innermost query takes rows by an index; the next one drops those beyond the page size.
_PAGE: Final = f"""SELECT {{columns}} FROM (
    SELECT *, sum(octet_length(event)) OVER (ORDER BY {{order}} ROWS UNBOUNDED PRECEDING) - octet_length(event) AS sum
    FROM (SELECT * FROM planwire.events WHERE {{rows}} ORDER BY {{order}} LIMIT {PAGE_EVENTS}) most
) page {{join}} WHERE sum < {PAGE_BYTES} ORDER BY {{order}}"""  # noqa: S608
READ: Final = _PAGE.format(
    columns="seq, at, by, event, link", order="seq", rows="session = %b AND seq > %b AND seq <= %b", join=""
)
TAIL: Final = _PAGE.format(
    columns="position, id, seq, at, by, event, link",
    order="position",
    rows="position > %b AND position <= %b",
    join="JOIN planwire.sessions ON number = session",
)
KEYS: Final = """SELECT after, last, source, n FROM planwire.once
    WHERE session = %b AND last >= %b AND after < %b ORDER BY after"""
#: One row after an end that is known, which is nearly always there: a third of the time that `planwire.append` takes.
#: If it is not there, the session comes out as NULL, which the column refuses. `OFFSET 0` keeps PostgreSQL from moving
#: anything across the lock.
APPEND_ONE: Final = """INSERT INTO planwire.events (session, seq, at, by, event, link)
    SELECT (SELECT number FROM planwire.sessions WHERE number = $1 AND EXISTS (
        SELECT 1 FROM planwire.events WHERE session = $1 AND seq = $2 - 1 AND link = $7
    ) FOR NO KEY UPDATE), $2, $3, $4, $5, $6 FROM (SELECT pg_advisory_xact_lock_shared(LOCK) OFFSET 0) held
    RETURNING position"""
#: The types bigint and bytea, as PostgreSQL numbers them.
TYPES_OF_ONE: Final = (20, 20, 20, 17, 17, 17, 17)
_bigint: Final = Struct("!q").pack
APPEND: Final = f"SELECT * FROM planwire.append({', '.join(['%b'] * 14)})"  # noqa: S608
ENDS: Final = """SELECT id, number, newest.seq, link, position, first_at, newest.at
    FROM planwire.sessions CROSS JOIN LATERAL
    (SELECT seq, link, position, at FROM planwire.events WHERE session = number ORDER BY seq DESC LIMIT 1) newest"""
ALL_ENDS: Final = f"{ENDS} ORDER BY number"
ONE_END: Final = f"{ENDS} WHERE sha256(id) = sha256(%b)"
LAST: Final = "SELECT greatest(forgotten, (SELECT max(position) FROM planwire.events)) FROM planwire.journal"
_ENTRY: Final = "kind = %s AND sha256(session) = sha256(%b) AND sha256(name) = sha256(%b)"
GET: Final = "SELECT session, name, value, number FROM planwire.entries WHERE kind = %s"
GET_ONE: Final = f"SELECT session, name, value, number FROM planwire.entries WHERE {_ENTRY}"  # noqa: S608
REMOVE: Final = f"DELETE FROM planwire.entries WHERE {_ENTRY}"  # noqa: S608
REPLACE: Final = f"UPDATE planwire.entries SET value = %b WHERE {_ENTRY} AND value = %b"  # noqa: S608
ADD: Final = """INSERT INTO planwire.entries (kind, session, name, value) VALUES (%s, %b, %b, %b)
    ON CONFLICT (kind, sha256(session), sha256(name)) DO """
STATE_ALIVE: Final = """INSERT INTO planwire.holders VALUES (%b, now() + make_interval(secs => %s))
    ON CONFLICT (name) DO UPDATE SET until = excluded.until"""
#: No holder can state that it is alive while the server is down, so none is dead until the server has been up for long.
IS_ALIVE: Final = """SELECT until > now() OR pg_postmaster_start_time() > now() - make_interval(secs => %s)
    FROM planwire.holders WHERE name = %b"""
#: Waits for appends under way in these sessions. Later appends wait in turn, and find the session gone.
_LOCK: Final = """SELECT number FROM planwire.sessions
    WHERE sha256(id) IN (SELECT sha256(name) FROM unnest(%b::bytea[]) name) ORDER BY number FOR UPDATE"""
#: The last position stays what it is, even if the last events are deleted.
_NOTE: Final = """UPDATE planwire.journal
    SET forgotten = greatest(forgotten, (SELECT max(position) FROM planwire.events))"""
_BY_SESSION: Final = "DELETE FROM planwire.entries WHERE session = ANY(%b::bytea[])"
_BY_NUMBER: Final = (
    "DELETE FROM planwire.events WHERE session = ANY(%b::bigint[])",
    "DELETE FROM planwire.sessions WHERE number = ANY(%b::bigint[])",
)


def delete_sessions(sql: Any, connection: Any, sessions: Sequence[str]) -> None:
    """Delete sessions with all that refers to them, in the caller's transaction."""
    names = [name.encode() for name in sessions]
    connection.execute(sql(_BY_SESSION), (names,))
    numbers = [number for (number,) in connection.execute(sql(_LOCK), (names,)).fetchall()]
    connection.execute(sql(_NOTE))
    for statement in _BY_NUMBER:
        connection.execute(sql(statement), (numbers,))


def append_values(appends: Sequence[Append]) -> list[list[Any]]:
    """The values of the server's function `append` (`schema`)."""
    rows = [row for each in appends for row in each.rows]
    keys = [(place, key) for place, each in enumerate(appends, start=1) for key in each.keys]
    return [
        [each.session.encode() for each in appends],
        [each.after.last for each in appends],
        [each.after.link for each in appends],
        [len(each.rows) for each in appends],
        [row.seq for row in rows],
        [row.at for row in rows],
        [row.by.encode() for row in rows],
        [row.text for row in rows],
        [row.link for row in rows],
        [place for place, _ in keys],
        [key.once.source.encode() for _, key in keys],
        [key.once.n for _, key in keys],
        [key.after for _, key in keys],
        [key.last for _, key in keys],
    ]


def values_of_one(append: Append) -> list[bytes | None]:
    """The values of `APPEND_ONE`, in PostgreSQL's binary form."""
    [row], after = append.rows, append.after
    numbers = [_bigint(after.number), _bigint(row.seq), _bigint(row.at)]
    return [*numbers, row.by.encode(), row.text, row.link, after.link]


def appended_one(append: Append, position: bytes) -> Appended:
    [row], after = append.rows, append.after
    end = SessionEnd(
        session=append.session,
        number=after.number,
        last=row.seq,
        link=row.link,
        position=int.from_bytes(position),
        first_at=after.first_at,
        last_at=row.at,
    )
    return Appended(end, is_written=True)


def appended(append: Append, row: Sequence[Any]) -> Appended:
    """The outcome of an append in a row of that function."""
    is_written, key, after, last, *end = row
    keyed = None if key is None else KeySpan(after, last, append.keys[key].once)
    return Appended(end_in((append.session.encode(), *end)), is_written, keyed)


def end_in(row: Sequence[Any]) -> SessionEnd:
    name, number, last, link, position, first_at, last_at = row
    return SessionEnd(
        session=name.decode(),
        number=number or 0,
        last=last or 0,
        link=link,
        position=position or 0,
        first_at=first_at or 0,
        last_at=last_at or 0,
    )


def stored(seq: int, at: int, by: bytes, text: bytes, link: bytes | None) -> StoredEvent:
    return StoredEvent(seq, at, by.decode(errors="replace"), text, link, is_utf8(by))


def tail_rows(rows: Iterable[Any]) -> list[TailRow]:
    return [TailRow(position, name.decode(), stored(*row)) for position, name, *row in rows if is_utf8(name)]


def key_spans(rows: Iterable[Any]) -> list[KeySpan]:
    return [KeySpan(after, last, Once(source.decode(), n)) for after, last, source, n in rows if is_utf8(source)]


def entries(rows: Iterable[Any]) -> list[StoreEntry]:
    return [StoreEntry(session.decode(), name.decode(), value, number) for session, name, value, number in rows]


def is_utf8(name: bytes) -> bool:
    """Whether a stored name is text."""
    return is_text(name.decode(errors="surrogateescape"))


def bounded(number: int) -> int:
    """A number of the caller's, as PostgreSQL can take it."""
    return min(number, MOST)
