"""One connection of a PostgreSQL journal: made when it is first needed, and made again when it is lost.

    with line as connection:
        connection.execute(…)

One thread at a time uses it. Before each use the line checks whether the server has hung up. So a server restart, or a
cut while the connection was idle, costs a new connection but no error. A connection that is lost in the middle of a
statement raises `EngineAway`: there is no telling whether the statement was executed.

A line that was connected before waits a little for its server, which may be restarting. If that did not help, the next
uses try only once before they say that the server is away. A thread that waited for the line while another one tried in
vain does not try itself: with a silent server, the last of many threads would wait for the sum of all their tries.
"""

import select
from collections.abc import Callable, Mapping
from contextlib import suppress
from threading import Lock
from time import monotonic, sleep
from types import TracebackType
from typing import Final

import psycopg

from planwire.errors import EngineAway
from planwire.journal.postgres.refusals import meaning
from planwire.journal.postgres.server import JournalServer, PostgresConnection
from planwire.journal.unusable import closed
from planwire.journal.waiting import MOMENT

#: Seconds that a line waits for a server that it has reached before, between two tries, and from a failure until it
#: waits so long again.
PATIENCE: Final = 3.0
BETWEEN: Final = 0.05
AGAIN: Final = 10.0
#: Seconds after a use in which the line does not check for a hang-up: the check costs a busy writer a percent.
TRUSTED: Final = 0.001


class ServerLine:
    """A connection that is made on demand. `greet` is called with each new one; `settings` are PostgreSQL's."""

    def __init__(self, server: JournalServer, greet: Callable[[PostgresConnection], None], **settings: str) -> None:
        self.greet = greet
        self._lock = Lock()
        self._server = server
        self._settings: Mapping[str, str] = settings
        self._connection: PostgresConnection | None = None
        self._has_hung_up: Callable[[], bool] = bool
        self._is_known = False
        self._used_at = 0.0
        self._patient_from = 0.0
        self._failed_at = 0.0
        self._failure: EngineAway | None = None
        self._closed = False

    def __enter__(self) -> PostgresConnection:
        came = None
        if not self._lock.acquire(blocking=False):
            came = monotonic()
            self._lock.acquire()
        try:
            if self._closed:
                raise closed(self._server.shown)
            if self._connection is None or self._connection.closed or self._is_lost():
                if came is not None and self._failure is not None and came < self._failed_at:
                    raise type(self._failure)(*self._failure.args)
                self._connect()
            assert self._connection is not None
        except BaseException:
            self._lock.release()
            raise
        return self._connection

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            if error is not None:
                self._judge(error)
            self._used_at = monotonic()
        finally:
            self._lock.release()

    def close(self) -> None:
        """Hang up, after the thread that is using the line has finished."""
        with self._lock:
            self._closed = True
            self._drop()

    def _is_lost(self) -> bool:
        return monotonic() - self._used_at > TRUSTED and self._has_hung_up()

    def _connect(self) -> None:
        self._drop()
        patience = MOMENT if self._server.is_hasty else PATIENCE
        end = monotonic() + patience if self._is_known and monotonic() >= self._patient_from else 0
        while True:
            try:
                connection = self._server.connect(self._settings)
                self._greet(connection)
                break
            except EngineAway as error:
                away = error
            if monotonic() >= end:
                self._failed_at, self._failure = monotonic(), away
                self._patient_from = self._failed_at + AGAIN
                raise away from None
            sleep(BETWEEN)
        self._connection = connection
        self._has_hung_up = _watch(connection.fileno())
        self._is_known = True
        self._patient_from = 0.0

    def _greet(self, connection: PostgresConnection) -> None:
        try:
            self.greet(connection)
        except BaseException as error:
            is_lost = connection.closed
            connection.close()
            if isinstance(error, psycopg.Error):
                raise meaning(self._server, error, is_lost=is_lost) from error
            raise

    def _drop(self) -> None:
        if self._connection is not None:
            with suppress(psycopg.Error):
                self._connection.close()
            self._connection = None

    def _judge(self, error: BaseException) -> None:
        """Raise psycopg's error as one of planwire's. Drop a connection that is not idle: it can't be used again."""
        connection = self._connection
        if connection is not None and connection.pgconn.transaction_status:  # anything but idle
            self._drop()
        if not isinstance(error, psycopg.Error):
            return
        found = meaning(self._server, error, is_lost=self._connection is None)
        if isinstance(found, EngineAway):
            self._drop()
        raise found from error


def _watch(socket: int) -> Callable[[], bool]:
    """A check whether the server has sent anything unasked, which nearly always means that it has hung up."""
    if not hasattr(select, "poll"):
        return lambda: bool(select.select([socket], [], [], 0)[0])
    poll = select.poll()
    poll.register(socket, select.POLLIN)
    return lambda: bool(poll.poll(0))
