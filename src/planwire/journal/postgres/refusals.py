"""What the errors of a PostgreSQL server mean to a journal: away, not writable now, or not permitted to this user.

The first two characters of an error code say whether the server, or this connection, can't go on for now and trying
later may help. psycopg has a class for each code, but none for these groups.
"""

from typing import Final

import psycopg
from psycopg import errors

from planwire.errors import JournalUnavailable, NotWritable
from planwire.journal.postgres.server import JournalServer

#: Insufficient resources, and operator intervention, such as a shutdown or a statement that took too long.
_FOR_NOW: Final = ("53", "57")
_STANDBY: Final = (
    "The server is a standby, or read-only otherwise: it can be read. To write, name the primary; in a URL with all "
    "hosts, target_session_attrs=read-write finds it"
)
_NO_ROOM: Final = "Make room on the server's disk"


def meaning(server: JournalServer, error: psycopg.Error, *, is_lost: bool) -> JournalUnavailable:
    """The error to raise in place of psycopg's. `is_lost`: the connection is gone as well."""
    where = f"the journal {server.shown}"
    if isinstance(error, errors.LockNotAvailable):
        return JournalUnavailable(f"{where} is busy: others write to it. Try again")
    if isinstance(error, errors.ReadOnlySqlTransaction):
        return NotWritable(f"{where} can't be written: {server.said(error)}. {_STANDBY}")
    if isinstance(error, errors.DiskFull) and not is_lost:
        return NotWritable(f"{where} can't be written: {server.said(error)}. {_NO_ROOM}")
    if isinstance(error, errors.ReservedName):
        return JournalUnavailable(
            f"{where} can't be made ({server.said(error)}): choose another name for schema= in its URL"
        )
    if isinstance(error, errors.InsufficientPrivilege):
        schema, said = server.schema, str(error).partition("\n")[0]
        return JournalUnavailable(
            f"{where} does not let this user do that ({said}): have the owner open the journal once, which makes the "
            f"tables, and GRANT the user USAGE ON SCHEMA {schema}, and SELECT ON ALL TABLES IN SCHEMA {schema} to "
            "read, with INSERT, UPDATE and DELETE to write"
        )
    is_for_now = (error.sqlstate or "").startswith(_FOR_NOW)
    if is_lost or is_for_now or isinstance(error, errors.IdleInTransactionSessionTimeout):
        return server.away(error)
    if isinstance(error, (errors.UndefinedTable, errors.InvalidSchemaName)):
        return JournalUnavailable(f"{where} was removed from its database ({server.said(error)}): open it again")
    return JournalUnavailable(f"{where} can't do that: {server.said(error)}")
