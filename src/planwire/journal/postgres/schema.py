"""The tables of a PostgreSQL journal, and how they come into a database.

All are in one schema. Its table `journal` has one row: the number of the format, and the position up to which events
were forgotten. Names, authors and events are bytes: PostgreSQL's text can't hold a NUL, and in some databases not every
letter either. To read them in psql, `SELECT convert_from(event, 'UTF8') FROM planwire.events`. An index can't hold
values of more than 2,700 bytes, so names are found by their hashes.

No append changes the row of its session, so writers never wait for each other there. An append does hold that row,
which puts it and a simultaneous `forget` of the session one after the other. So events need no foreign key.

The tables are made in one transaction under a lock: of all that open a journal at the same time, one makes them.
"""

from collections.abc import Sequence
from typing import Final

from psycopg import errors

from planwire.errors import DamagedJournal, NotAJournal
from planwire.journal.format import FORMAT, development, newer
from planwire.journal.postgres.server import JournalServer, PostgresConnection
from planwire.journal.unusable import absent

#: The number of the format is in the column `version`. Development versions looked for it in one called `format`: there
#: they find more than they know, and refuse. Without it they would take the server to be away, and wait for it.
_NOT_THEIRS: Final = 1_000_000
_OLD: Final = """SELECT 1 FROM information_schema.columns
    WHERE table_schema = %s AND table_name = 'journal' AND column_name = 'format' AND data_type = 'integer'"""
_TABLES: Final[Sequence[str]] = (
    f"CREATE TABLE planwire.journal (version int NOT NULL DEFAULT {FORMAT}, forgotten bigint NOT NULL, "
    f"format int NOT NULL DEFAULT {_NOT_THEIRS})",
    "INSERT INTO planwire.journal (forgotten) VALUES (0)",
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
)


def check_format(server: JournalServer, connection: PostgresConnection) -> None:
    """Raise `NewerJournal` or `NoJournal` unless this planwire knows the tables that are there."""
    found = _format(server, connection)
    if found is None:
        raise absent(server.shown)
    if found > FORMAT:
        raise newer(f"the journal {server.shown}", found)


def make_tables(server: JournalServer, connection: PostgresConnection) -> None:
    """Make the tables unless they are there. Existing ones can be used without the right to make tables."""
    if _format(server, connection) is None:
        try:
            with connection.transaction():
                _make(server, connection)
        except (errors.DuplicateTable, errors.DuplicateObject) as error:
            raise _foreign(server, error) from None
    check_format(server, connection)


def _make(server: JournalServer, connection: PostgresConnection) -> None:
    connection.execute("SELECT pg_advisory_xact_lock(%b)", (server.tables_lock,))
    if not _is_there(connection, "SELECT 1 FROM pg_namespace WHERE nspname = %s", server.schema):
        connection.execute(server.sql("CREATE SCHEMA planwire.").removesuffix(b"."))
    if not _is_there(
        connection, "SELECT 1 FROM pg_tables WHERE schemaname = %s AND tablename = 'journal'", server.schema
    ):
        for statement in _TABLES:
            connection.execute(server.sql(statement))


def _is_there(connection: PostgresConnection, query: str, name: str) -> bool:
    return connection.execute(query.encode(), (name,)).fetchone() is not None


def _format(server: JournalServer, connection: PostgresConnection) -> int | None:
    try:
        found = connection.execute(server.sql("SELECT version, forgotten FROM planwire.journal")).fetchone()
    except (errors.UndefinedTable, errors.InvalidSchemaName):
        return None
    except (errors.UndefinedColumn, errors.WrongObjectType) as error:
        if _is_there(connection, _OLD, server.schema):
            move = "rename that schema, or name another one with schema= in the URL"
            raise development(f"the schema {server.schema} of {server.shown}", move) from None
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
