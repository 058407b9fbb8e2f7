"""What a PostgreSQL journal writes besides events: it keeps snapshots and deletes whole sessions."""

from collections.abc import Sequence
from contextlib import suppress
from typing import Final

from psycopg.errors import ForeignKeyViolation

from planwire.journal.postgres.rows import MOST, bytes_of
from planwire.journal.postgres.server import JournalServer, PostgresConnection

#: Seconds that a `forget` of many events may take.
FORGETTING: Final = 600.0

_KEEP: Final = """INSERT INTO planwire.snapshots (session, name, seq, data)
    SELECT number, %b, %b, %b FROM planwire.sessions
    WHERE sha256(id) = sha256(%b) AND %b <= (SELECT max(seq) FROM planwire.events WHERE session = number)
    ON CONFLICT (session, name) DO UPDATE SET seq = excluded.seq, data = excluded.data
    WHERE excluded.seq >= snapshots.seq"""
#: Waits for appends under way in these sessions. Later appends wait in turn, and find the session gone.
_LOCK: Final = """SELECT number FROM planwire.sessions
    WHERE sha256(id) IN (SELECT sha256(name) FROM unnest(%b::bytea[]) name) ORDER BY number FOR UPDATE"""
#: The last position stays what it is, even if the last events are deleted.
_NOTE: Final = """UPDATE planwire.journal
    SET forgotten = greatest(forgotten, (SELECT max(position) FROM planwire.events))"""
_DELETE_EVENTS: Final = "DELETE FROM planwire.events WHERE session = ANY(%b::bigint[])"
_DELETE_SESSIONS: Final = "DELETE FROM planwire.sessions WHERE number = ANY(%b::bigint[])"


def keep_snapshot(
    server: JournalServer, connection: PostgresConnection, session: str, seq: int, data: bytes, name: str
) -> None:
    key = bytes_of(session)
    if key is not None and 0 < seq <= MOST:
        with suppress(ForeignKeyViolation):  # the session is being forgotten
            connection.execute(server.sql(_KEEP), (name.encode(), seq, bytes(data), key, seq))


def forget_sessions(server: JournalServer, connection: PostgresConnection, names: Sequence[bytes]) -> None:
    """Delete sessions and all rows that refer to them, in the caller's transaction."""
    with connection.taking(FORGETTING):
        numbers = [number for (number,) in connection.execute(server.sql(_LOCK), (list(names),)).fetchall()]
        connection.execute(server.sql(_NOTE))
        for statement in (_DELETE_EVENTS, _DELETE_SESSIONS):
            connection.execute(server.sql(statement), (numbers,))
