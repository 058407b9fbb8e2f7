"""The tables of a PostgreSQL journal, and how they come into a database.

All are in one schema. Its table `journal` has one row: the number of the format, and the position up to which events
were forgotten. Names, authors and events are bytes: PostgreSQL's text can't hold a NUL, and in some databases not every
letter either. To read them in psql, `SELECT convert_from(event, 'UTF8') FROM planwire.events`. An index can't hold
values of more than 2,700 bytes, so names are found by their hashes.

No append changes the row of its session, so writers never wait for each other there. An append does hold that row,
which puts it and a simultaneous `forget` of the session one after the other. So events need no foreign key, which the
tables of an earlier planwire have.

A migration runs in one transaction under a lock: of all that open a journal at the same time, one makes its tables.
"""

from collections.abc import Sequence
from typing import Final

from psycopg import errors

from planwire.errors import DamagedJournal, NewerJournal, NotAJournal
from planwire.journal.postgres.server import JournalServer, PostgresConnection
from planwire.journal.unusable import absent

__all__ = ["FORMAT", "check_format", "migrate"]

#: The statements that lead to a format from the one before it.
_MIGRATIONS: Final[Sequence[Sequence[str]]] = (
    (
        "CREATE TABLE planwire.journal (format int NOT NULL, forgotten bigint NOT NULL)",
        "INSERT INTO planwire.journal VALUES (0, 0)",
        """CREATE TABLE planwire.sessions (
            number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
            id bytea NOT NULL,
            first_at bigint NOT NULL
        )""",
        "CREATE UNIQUE INDEX sessions_id ON planwire.sessions (sha256(id))",
        """CREATE TABLE planwire.events (
            position bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
            session bigint NOT NULL,
            seq bigint NOT NULL,
            at bigint NOT NULL,
            by bytea NOT NULL,
            event bytea NOT NULL,
            link bytea
        )""",
        "CREATE UNIQUE INDEX events_seq ON planwire.events (session, seq) INCLUDE (at)",
        """CREATE TABLE planwire.once (
            session bigint NOT NULL REFERENCES planwire.sessions ON DELETE CASCADE,
            source bytea NOT NULL,
            n bigint NOT NULL,
            after bigint NOT NULL,
            last bigint NOT NULL
        )""",
        "CREATE UNIQUE INDEX once_key ON planwire.once (session, sha256(source), n)",
        """CREATE TABLE planwire.snapshots (
            session bigint NOT NULL REFERENCES planwire.sessions ON DELETE CASCADE,
            name bytea NOT NULL,
            seq bigint NOT NULL,
            data bytea NOT NULL,
            PRIMARY KEY (session, name)
        )""",
        """CREATE TABLE planwire.leases (
            number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
            name bytea NOT NULL,
            session bytea NOT NULL,
            holder text NOT NULL,
            machine bytea NOT NULL,
            process bytea NOT NULL,
            terms bytea NOT NULL,
            until timestamptz NOT NULL,
            ended timestamptz
        )""",
        "CREATE UNIQUE INDEX leases_name ON planwire.leases (sha256(name))",
        "CREATE INDEX leases_holder ON planwire.leases (holder)",
    ),
)
FORMAT: Final = len(_MIGRATIONS)


def check_format(server: JournalServer, connection: PostgresConnection) -> None:
    """Raise `NewerJournal` or `NoJournal` unless this planwire knows the tables that are there."""
    found = _format(server, connection)
    if found is None or found < FORMAT:
        raise absent(server.shown)
    if found > FORMAT:
        raise NewerJournal(
            f"a newer planwire wrote the journal {server.shown} (format {found}, this one knows {FORMAT}): install a "
            "newer planwire. Nothing was changed"
        )


def migrate(server: JournalServer, connection: PostgresConnection) -> None:
    """Make the tables of the newest format unless they are there. Existing ones can be used without the right to make
    tables."""
    found = _format(server, connection)
    if found is None or found < FORMAT:
        try:
            with connection.transaction():
                _make(server, connection)
        except (errors.DuplicateTable, errors.DuplicateObject) as error:
            raise _foreign(server, error) from None
    check_format(server, connection)


def _make(server: JournalServer, connection: PostgresConnection) -> None:
    connection.execute("SELECT pg_advisory_xact_lock(%b)", (server.migration_lock,))
    if not _is_there(connection, "SELECT 1 FROM pg_namespace WHERE nspname = %s", server.schema):
        connection.execute(server.sql("CREATE SCHEMA planwire.").removesuffix(b"."))
    tables = "SELECT 1 FROM pg_tables WHERE schemaname = %s AND tablename = 'journal'"
    begun = _format(server, connection) if _is_there(connection, tables, server.schema) else 0
    for number, statements in enumerate(_MIGRATIONS[begun or 0 :], start=(begun or 0) + 1):
        for statement in statements:
            connection.execute(server.sql(statement))
        connection.execute(server.sql("UPDATE planwire.journal SET format = %b"), (number,))


def _is_there(connection: PostgresConnection, query: str, name: str) -> bool:
    return connection.execute(query.encode(), (name,)).fetchone() is not None


def _format(server: JournalServer, connection: PostgresConnection) -> int | None:
    try:
        found = connection.execute(server.sql("SELECT format, forgotten FROM planwire.journal")).fetchone()
    except (errors.UndefinedTable, errors.InvalidSchemaName):
        return None
    except (errors.UndefinedColumn, errors.WrongObjectType) as error:
        raise _foreign(server, error) from None
    if found is None:
        raise DamagedJournal(
            f"the journal {server.shown} has lost the one row of its table {server.schema}.journal, which says what "
            "format it has: restore a backup, or name another schema. Nothing was changed"
        )
    if not isinstance(found[0], int):
        raise _foreign(server, "the format in its table journal is not a number")
    return found[0]


def _foreign(server: JournalServer, why: object) -> NotAJournal:
    said = str(why).partition("\n")[0]
    return NotAJournal(
        f"the schema {server.schema} of {server.shown} is not planwire's, and stays as it is ({said}): name another "
        "one with schema= in the URL"
    )
