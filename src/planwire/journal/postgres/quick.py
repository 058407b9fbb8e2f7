"""A statement without results that goes to libpq by the shortest way, for what every append executes.

A psycopg cursor does much more than an append needs, and does it right after a wait, when the processor's caches are
cold: that would cost a quarter of an append's time. The caller passes the values in PostgreSQL's binary form.
"""

import select
from collections.abc import Sequence
from typing import Final

import psycopg
from psycopg import errors
from psycopg.pq import ExecStatus, Format

from planwire.journal.postgres.server import PostgresConnection

_DONE: Final = (ExecStatus.COMMAND_OK, ExecStatus.TUPLES_OK)
_BINARY: Final = Format.BINARY


class QuickStatement:
    """A statement with values `$1`, `$2` … of these types (their numbers in PostgreSQL). Each connection prepares it
    once, and again after a rollback, because psycopg then drops everything that is prepared. Not for transactions:
    there the failed try would spoil what comes after it."""

    def __init__(self, name: str, statement: bytes, types: Sequence[int]) -> None:
        self._name = name.encode()
        self._statement = statement
        self._types = types
        self._formats = [_BINARY] * len(types)
        self._prepared: PostgresConnection | None = None
        self._polled: _Polled | None = None
        self._values: Sequence[bytes | None] = ()

    def execute(self, connection: PostgresConnection, values: Sequence[bytes | None]) -> None:
        """Execute it and wait for the answer, or raise as psycopg does."""
        self.send(connection, values)
        self.finish()

    def send(self, connection: PostgresConnection, values: Sequence[bytes | None]) -> None:
        """Have the server execute it. Other work between this and `finish` costs no time: the server is busy anyway."""
        polled = self._polled
        if polled is None or self._prepared is not connection:
            self._polled = polled = _Polled(connection)
            connection.pgconn.send_prepare(self._name, self._statement, self._types)
            polled.finish()
            self._prepared = connection
        self._values = values
        connection.pgconn.send_query_prepared(self._name, values, self._formats)

    def finish(self) -> None:
        """Wait for the answer to what was sent."""
        assert self._polled is not None
        values, self._values = self._values, ()
        try:
            self._polled.finish()
        except errors.InvalidSqlStatementName:
            assert self._prepared is not None
            connection, self._prepared = self._prepared, None
            self.send(connection, values)
            self._polled.finish()


class _Polled:
    """A wait for the answer to what was sent on a connection."""

    def __init__(self, connection: PostgresConnection) -> None:
        self._connection = connection
        self._pgconn = connection.pgconn
        self._socket = self._pgconn.socket
        self._poll = select.poll() if hasattr(select, "poll") else None
        if self._poll is not None:
            self._poll.register(self._socket, select.POLLIN)

    def finish(self) -> None:
        pgconn = self._pgconn
        while pgconn.flush():
            self._wait(to_write=True)
        error: psycopg.Error | None = None
        while True:
            while pgconn.is_busy():
                self._wait()
                pgconn.consume_input()
            result = pgconn.get_result()
            if result is None:
                break
            if result.status not in _DONE:
                error = errors.error_from_result(result)
        if error is not None:
            raise error

    def _wait(self, *, to_write: bool = False) -> None:
        """Wait until the connection can go on. Only silence has a limit: a slow network may take long over much."""
        seconds = self._connection.answers_within
        if self._poll is None:
            ready: object = any(select.select([self._socket], [self._socket] if to_write else [], [], seconds))
        elif to_write:
            self._poll.modify(self._socket, select.POLLIN | select.POLLOUT)
            ready = self._poll.poll(seconds * 1_000)
            self._poll.modify(self._socket, select.POLLIN)
        else:
            ready = self._poll.poll(seconds * 1_000)
        if not ready:
            self._pgconn.finish()
            raise psycopg.OperationalError(f"no answer for {seconds:g} seconds")
        if to_write:
            self._pgconn.consume_input()  # or both sides would wait for each other
